// SPDX-License-Identifier: Apache-2.0
// Rows of attributes and the members that hold them.
#include <buda/netlist/model/op_attributes.hpp>
#include <buda/netlist/text/write_context.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <type_traits>

namespace buda::netlist {
namespace {

template <class T>
struct Unwrapped {
  using Type = T;
};
template <class T>
struct Unwrapped<std::optional<T>> {
  using Type = T;
};

TEST(OpAttributes, WordsAreThoseOfTheMembersType) {
  int enumerations = 0;
  OpAttributes attributes;
  for (const DeviceAttribute& row : ops::device_attributes()) {
    std::visit(
        [&](auto member) {
          using T = typename Unwrapped<std::remove_pointer_t<decltype(member)>>::Type;
          if constexpr (std::is_enum_v<T>) {
            auto words = row.words, known = names_of<T>();
            std::sort(words.begin(), words.end());
            std::sort(known.begin(), known.end());
            EXPECT_EQ(words, known) << row.key;
            ++enumerations;
          }
        },
        attribute_member(row, attributes));
  }
  EXPECT_EQ(enumerations, 7);
}

// What holds without an attribute is the default of its member.
TEST(OpAttributes, StandardsAreTheDefaultsOfMembers) {
  OpAttributes attributes;
  for (const DeviceAttribute& row : ops::device_attributes()) {
    if (!row.standard) continue;
    std::visit(
        [&](auto member) {
          using M = decltype(member);
          if constexpr (std::is_same_v<M, bool*>) {
            EXPECT_EQ(*member, std::get<bool>(*row.standard)) << row.key;
          } else if constexpr (std::is_same_v<M, std::int32_t*>) {
            EXPECT_EQ(*member, std::get<std::int64_t>(*row.standard)) << row.key;
          } else if constexpr (std::is_same_v<M, double*>) {
            EXPECT_EQ(*member, std::get<double>(*row.standard)) << row.key;
          } else if constexpr (!std::is_same_v<M, std::monostate>) {
            using T = typename Unwrapped<std::remove_pointer_t<M>>::Type;
            if constexpr (std::is_enum_v<T> && std::is_same_v<T, std::remove_pointer_t<M>>) {
              EXPECT_EQ(name_of(*member), row.standard_text()) << row.key;
            }
          }
        },
        attribute_member(row, attributes));
  }
}

TEST(OpAttributes, AreWrittenInTheOrderOfTheTable) {
  OpAttributes a;
  EXPECT_TRUE(attribute_fields(a, nullptr).empty());
  a.slope = 0.5;
  a.m_k = 2;
  a.reduce_dim = Dim::c;
  a.relu = {true, -0.0, ReluMode::max};
  a.zero_point = 1;
  a.granularity = Granularity::ublock;  // said, though it is what holds without it
  std::vector<OpInput> inputs(2);
  inputs[1].kernel_broadcast = {3, true};
  EXPECT_EQ(attribute_fields(a, &inputs).text(),
            "{m_k: 2, dim: c, type: max, relu_en: true, relu_mode: max, zero_point: 1.0, slope: 0.5, granularity: ublock, "
            "kernel_broadcast_per_t: {input_1: 3}}");
  EXPECT_EQ(attribute_fields(a, nullptr).text(),
            "{m_k: 2, dim: c, type: max, relu_en: true, relu_mode: max, slope: 0.5, granularity: ublock}");
}

}  // namespace
}  // namespace buda::netlist
