// SPDX-License-Identifier: Apache-2.0
// The list of passes, running one, and counting rewrites.
#include "harness.hpp"

#include <set>

namespace buda::passes {
namespace {

TEST(StandardPasses, HaveNamesSummariesAndLevels) {
  std::set<std::string_view> names;
  for (const Pass* pass : standard_passes()) {
    EXPECT_TRUE(names.insert(pass->name).second) << pass->name << " is listed twice";
    EXPECT_EQ(pass->name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-"), std::string_view::npos) << pass->name;
    EXPECT_FALSE(pass->summary.empty()) << pass->name;
    EXPECT_NE(pass->run, nullptr) << pass->name;
    EXPECT_EQ(find_pass(pass->name), pass);
  }
  EXPECT_EQ(names.size(), 34u);
}

TEST(StandardPasses, UnknownNameGetsAHint) {
  auto pass = require_pass("fuse-bais");
  ASSERT_FALSE(pass.ok());
  const Diagnostic& d = pass.failure().diagnostics().front();
  EXPECT_EQ(d.code, "PA001");
  EXPECT_NE(d.message.find("no pass is called 'fuse-bais'; known: infer-types, fracture"), std::string::npos) << d.message;
  EXPECT_EQ(d.hint, "did you mean 'fuse-bias'?");
}

Graph small(graph::Level level) {
  Builder b("g", level);
  b.output("y", b.op("nop", {b.input("x", {2, 3})}));
  return finished(b);
}

TEST(RunPass, RefusesTheWrongLevel) {
  Bench bench;
  Graph device = small(graph::Level::device);
  EXPECT_EQ(bench.error(kFuseBias, device), "PA002: pass 'fuse-bias' works at tensor level, and the graph 'g' is at device level");
  Graph tensor = small(graph::Level::tensor);
  EXPECT_EQ(bench.error(kFuseRelu, tensor), "PA002: pass 'fuse-relu' works at device level, and the graph 'g' is at tensor level");
  EXPECT_EQ(bench.run(kDeadCodeElimination, device).rewrites, 0u);
}

TEST(RunPass, NeedsADeviceWhereThePassDoes) {
  Bench bench;
  bench.context.device = nullptr;
  Graph graph = small(graph::Level::tensor);
  EXPECT_EQ(bench.error(kLowerToDevice, graph), "PA003: pass 'lower-to-device' needs to know the device: choose one with --device");
}

TEST(RewriteCounter, StopsAtItsLimitAndNamesBothSides) {
  Builder b("g");
  auto x = b.input("x", {2});
  b.output("p", called(b, "first", b.op("nop", {x})));
  b.output("q", called(b, "second", b.op("nop", {x})));
  b.output("r", called(b, "third", b.op("nop", {x})));
  Graph graph = finished(b);
  Bench bench;
  bench.context.rewrites = RewriteCounter(2);
  EXPECT_EQ(bench.run(kAlgebraicSimplification, graph).rewrites, 2u);
  EXPECT_EQ(bench.context.rewrites.done(), 2u);
  EXPECT_EQ(bench.context.rewrites.last_done(), "algebraic-simplification at 'second'");
  EXPECT_EQ(bench.context.rewrites.first_refused(), "algebraic-simplification at 'third'");
  EXPECT_TRUE(graph.find("third").valid());
  EXPECT_FALSE(graph.find("second").valid());
}

TEST(RewriteCounter, LimitZeroDoesNothing) {
  Bench bench;
  bench.context.rewrites = RewriteCounter(0);
  Graph graph = small(graph::Level::tensor);
  std::string before = listing(graph);
  for (const Pass* pass : {&kAlgebraicSimplification, &kConstantFolding, &kFuseBias, &kFoldScale, &kCommonSubexpressionElimination})
    EXPECT_FALSE(bench.run(*pass, graph).changed()) << pass->name;
  EXPECT_EQ(listing(graph), before);
  EXPECT_EQ(bench.context.rewrites.last_done(), "");
}

}  // namespace
}  // namespace buda::passes
