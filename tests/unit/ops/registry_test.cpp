// SPDX-License-Identifier: Apache-2.0
// The registry: what is in it is complete and consistent.
#include "running.hpp"

#include <buda/graph/node.hpp>

#include <set>

namespace buda::ops {
namespace {

TEST(Registry, EveryDefinitionIsWhole) {
  std::set<std::pair<Level, std::string>> seen;
  for (const OpDef* def : standard_ops().all()) {
    SCOPED_TRACE(def->name);
    EXPECT_TRUE(seen.insert({def->level, def->name}).second);
    EXPECT_EQ(graph::kind_of_op(def->name), graph::NodeKind::op);
    EXPECT_FALSE(def->summary.empty());
    EXPECT_NE(def->infer, nullptr);
    EXPECT_NE(def->evaluate, nullptr);
    EXPECT_LE(def->least_inputs, def->most_inputs);
    EXPECT_EQ(def->inputs.size(), def->most_inputs == kAnyNumber ? 1 : def->most_inputs);
    std::set<std::string> names;
    for (const auto& attr : def->attrs) {
      EXPECT_TRUE(names.insert(attr.name).second) << attr.name;
      EXPECT_FALSE(attr.doc.empty()) << attr.name;
      EXPECT_EQ(attr.standard ? graph::attr_type(*attr.standard) : attr.type, attr.type) << attr.name;
      if (!attr.choices.empty() && attr.standard) {
        const auto& value = std::get<std::string>(*attr.standard);
        EXPECT_NE(std::find(attr.choices.begin(), attr.choices.end(), value), attr.choices.end()) << attr.name;
      }
    }
  }
  // Nothing was lost to a name used twice.
  std::size_t defined = 0;
  for (const OpDef* def : standard_ops().all()) defined += def != nullptr;
  EXPECT_GE(defined, 54u);
}

TEST(Registry, RefusesASecondDefinition) {
  Registry registry;
  OpDef def = *standard_ops().find(Level::tensor, "add");
  ASSERT_TRUE(registry.add(def));
  EXPECT_FALSE(registry.add(def));
  def.level = Level::device;
  EXPECT_TRUE(registry.add(def));
}

TEST(Registry, HelpsWithNames) {
  auto hint = [](Level level, const std::string& name) {
    auto found = standard_ops().require(level, name);
    return found ? "found" : found.failure().diagnostics()[0].hint;
  };
  EXPECT_EQ(hint(Level::tensor, "matmull"), "did you mean 'matmul'?");
  EXPECT_EQ(hint(Level::device, "layernorm"), "it is one of tensor level: the optimizer lowers it to device ops");
  EXPECT_EQ(hint(Level::tensor, "datacopy"), "it is one of device level");
  EXPECT_EQ(standard_ops().find(Level::tensor, "input"), nullptr);
}

TEST(Attrs, AllFindingsAtOnce) {
  const OpDef* slice = standard_ops().find(Level::tensor, "slice");
  auto checked = check_attrs(*slice, {{"dim", std::int64_t{0}}, {"starts", 1.5}, {"stops", Ints{}}});
  ASSERT_FALSE(checked);
  std::vector<std::string> messages;
  for (const auto& d : checked.failure().diagnostics()) messages.push_back(d.message);
  EXPECT_EQ(messages, (std::vector<std::string>{"'slice' has no attribute 'dim'",
                                                "attribute 'starts' of 'slice' is a list of integers, not a number 1.5",
                                                "'slice' needs the attribute 'dims' (the axes)"}));
  EXPECT_EQ(checked.failure().diagnostics()[0].hint, "did you mean 'dims'?");
}

TEST(Flops, CountMultiplicationsAndAdditions) {
  const OpDef* matmul = standard_ops().find(Level::tensor, "matmul");
  std::vector<ValueType> in = {{DType::f32, {8, 2, 3}, {}}, {DType::f32, {3, 5}, {}}, {DType::f32, {5}, {}}},
                         out = {{DType::f32, {8, 2, 5}, {}}};
  EXPECT_EQ(flops(*matmul, in, out, {}), 8 * 2 * 5 * (2 * 3 + 1));
  const OpDef* gemm = standard_ops().find(Level::tensor, "gemm");
  std::vector<ValueType> ga = {{DType::f32, {3, 2}, {}}, {DType::f32, {3, 5}, {}}}, gc = {{DType::f32, {2, 5}, {}}};
  EXPECT_EQ(flops(*gemm, ga, gc, {{"trans_a", true}}), 2 * 5 * 2 * 3);
  const OpDef* device = standard_ops().find(Level::device, "matmul");
  std::vector<ValueType> da = {{DType::f32, {1, 4, 32, 64}, {}}, {DType::f32, {1, 4, 64, 32}, {}}}, dc = {{DType::f32, {1, 2, 32, 32}, {}}};
  EXPECT_EQ(flops(*device, da, dc, {{"accumulate", true}, {"z", std::int64_t{2}}}), 4.0 * 2 * 32 * 64 * 32);
  EXPECT_EQ(flops(*standard_ops().find(Level::tensor, "reshape"), in, out, {}), 0);
}

}  // namespace
}  // namespace buda::ops
