// SPDX-License-Identifier: Apache-2.0
// The table of attributes: who has which, and what it says to people.
#include <buda/ops/table/device_attribute.hpp>
#include <buda/ops/table/device_op.hpp>

#include <gtest/gtest.h>

#include <set>

namespace buda::ops {
namespace {

TEST(DeviceAttributes, RowsAgreeWithThemselvesAndWithThoseOfOps) {
  std::set<std::string_view> keys;
  for (const DeviceAttribute& a : device_attributes()) {
    EXPECT_TRUE(keys.insert(a.key).second) << a.key;
    EXPECT_FALSE(a.meaning.empty()) << a.key;
    EXPECT_FALSE(a.value_text().empty()) << a.key;
    EXPECT_LE(a.min, a.max) << a.key;
    EXPECT_EQ(a.used_by & ~a.accepted_by, 0u) << a.key;
    EXPECT_TRUE(a.words.empty() || a.type == AttrType::text) << a.key;
    EXPECT_TRUE(!a.standard || graph::attr_type(*a.standard) == a.type) << a.key;
  }
  for (const DeviceOp& op : device_ops())
    for (const OwnAttribute& own : op.attributes) EXPECT_EQ(keys.count(own.key), 1u) << op.name << ' ' << own.key;
}

TEST(DeviceAttributes, BelongToClassesOrToTheTypesThatNameThem) {
  const DeviceAttribute& slope = *find_device_attribute("slope");
  EXPECT_TRUE(slope.for_op(OpType::lrelu));
  EXPECT_TRUE(slope.for_sub_op(OpType::lrelu));
  EXPECT_TRUE(slope.for_op(OpType::fused_op));
  EXPECT_FALSE(slope.for_op(OpType::exp));
  const DeviceAttribute& m_k = *find_device_attribute("m_k");
  EXPECT_TRUE(m_k.for_op(OpType::exp));  // which TT-Buda accepts
  EXPECT_FALSE(m_k.is_used_by(OpType::exp));
  EXPECT_TRUE(m_k.is_used_by(OpType::topk));
  const DeviceAttribute& bias = *find_device_attribute("bias");
  EXPECT_FALSE(bias.for_sub_op(OpType::matmul));
  EXPECT_EQ(find_device_attribute("no such"), nullptr);
}

TEST(DeviceAttributes, AreDescribedByTypeWordsAndRange) {
  auto text = [](std::string_view key) { return find_device_attribute(key)->value_text(); };
  EXPECT_EQ(text("bias"), "true or false");
  EXPECT_EQ(text("dim"), "r, c or z");
  EXPECT_EQ(text("p"), "real in [0, 1]");
  EXPECT_EQ(text("relu_threshold"), "real >= 0");
  EXPECT_EQ(text("slope"), "real");
  EXPECT_EQ(text("seed"), "int");
  EXPECT_EQ(find_device_attribute("relu_mode")->standard_text(), "none");
  EXPECT_EQ(find_device_attribute("slope")->standard_text(), "0.01");
  EXPECT_EQ(find_device_attribute("m_k")->standard_text(), "");
  EXPECT_EQ(device_attr("relu_mode", "min").standard, Attr(std::string("min")));
}

}  // namespace
}  // namespace buda::ops
