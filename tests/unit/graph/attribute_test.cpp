// SPDX-License-Identifier: Apache-2.0
// Which type an attribute takes from what it is made of, and maps of attributes.
#include <buda/graph/attribute.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace buda::graph {
namespace {

TEST(Attr, ItsTypeIsThatOfTheArgument) {
  EXPECT_EQ(attr_type(Attr()), AttrType::boolean);
  EXPECT_EQ(attr_type(Attr(true)), AttrType::boolean);
  EXPECT_EQ(attr_type(Attr(1)), AttrType::integer);
  EXPECT_EQ(attr_type(Attr(std::uint32_t{4294967295})), AttrType::integer);
  EXPECT_EQ(std::get<std::int64_t>(Attr(std::uint32_t{4294967295})), 4294967295);
  EXPECT_EQ(attr_type(Attr(0.5f)), AttrType::real);
  // A pointer would convert to bool.
  EXPECT_EQ(attr_type(Attr("text")), AttrType::text);
  EXPECT_EQ(attr_type(Attr(std::vector<std::string>{"a"})), AttrType::texts);
  // It has numbers that no attribute can hold.
  EXPECT_FALSE((std::is_constructible_v<Attr, std::uint64_t>));
  EXPECT_FALSE((std::is_constructible_v<Attr, void*>));
}

TEST(Attr, EqualOnlyWithOneOfTheSameType) {
  EXPECT_EQ(Attr(1), Attr(std::int64_t{1}));
  EXPECT_NE(Attr(1), Attr(1.0));
  EXPECT_NE(Attr(1), Attr(true));
}

TEST(AttrMap, IsBuiltByNameAndCopied) {
  AttrMap a = {{"dim", 1}, {"mode", "linear"}, {"dim", 2}};
  EXPECT_EQ(a.size(), 2u);
  EXPECT_EQ(a.at("dim"), Attr(1));
  EXPECT_THROW(std::as_const(a).at("axis"), std::out_of_range);
  EXPECT_FALSE(a.contains("axis"));
  AttrMap b = a;
  EXPECT_EQ(a, b);
  b["axis"] = 3;
  b["dim"] = false;
  EXPECT_EQ(b.find("axis")->second, Attr(3));
  EXPECT_EQ(b.begin()->first, "axis");
  EXPECT_EQ(a.at("dim"), Attr(1));
  EXPECT_NE(a, b);
  EXPECT_FALSE(same_attrs(a, b));
  AttrMap moved = std::move(b);
  EXPECT_EQ(moved.size(), 3u);
}

}  // namespace
}  // namespace buda::graph
