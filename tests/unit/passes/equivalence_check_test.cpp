// SPDX-License-Identifier: Apache-2.0
// The check that a pass keeps the meaning: it finds what changed, and only that.
#include <buda/graph/values/value.hpp>

#include "values.hpp"

namespace buda::passes {
namespace {

Graph equivalence_check_network() {
  Builder b("g");
  auto m = called(b, "m", b.matmul(b.input("x", {8, 6}), b.parameter("w", varied({6, 5}))));
  b.output("y", called(b, "s", b.softmax(called(b, "h", b.relu(m)), -1)));
  return finished(b);
}

struct Checked : Bench {
  Graph graph = equivalence_check_network();
  EquivalenceCheck check{host, ops::standard_ops()};

  Checked() {
    auto inputs = random_inputs(graph, 1);
    EXPECT_TRUE(inputs.ok());
    auto started = check.start(graph, std::move(*inputs));
    EXPECT_TRUE(started.ok()) << message(started.failure());
  }
  Diagnostic difference() {
    auto result = check.after(graph, "bad-pass");
    if (!result) return result.failure().diagnostics().front();
    ADD_FAILURE() << "no difference was found";
    return {};
  }
  void scale_weights(float factor) {
    Node& w = graph.node(graph.find("w"));
    std::vector<float> v = w.value->tensor.to_f32();
    for (float& e : v) e *= factor;
    w.value = graph::Value(f32({6, 5}, v));
  }
};

TEST(EquivalenceCheck, AcceptsTheSameGraph) {
  Checked c;
  EXPECT_TRUE(c.check.after(c.graph, "none").ok());
  c.scale_weights(1.0000001f);
  EXPECT_TRUE(c.check.after(c.graph, "rounding").ok());
}

TEST(EquivalenceCheck, NamesPassNodeAndOutputs) {
  Checked c;
  c.graph.node(c.graph.find("m")).origins = {{"m.onnx", "Gemm_4"}};
  c.scale_weights(1.01f);
  Diagnostic d = c.difference();
  EXPECT_EQ(d.code, "PA040");
  EXPECT_EQ(d.fault, Fault::mismatch);
  EXPECT_EQ(d.node, "m") << "the first in the order of computation, not the output";
  EXPECT_EQ(d.message.substr(0, 83), "pass 'bad-pass' changed the semantics of the graph: the value of node 'm' differs b") << d.message;
  std::string notes;
  for (const Note& n : d.notes) notes += n.message + '\n';
  EXPECT_NE(notes.find("'m' comes from node 'Gemm_4'"), std::string::npos) << notes;
  EXPECT_NE(notes.find("output 'y'"), std::string::npos) << notes;
}

TEST(EquivalenceCheck, AScaleThatCorrelationWouldForgive) {
  Checked c;
  c.scale_weights(1.0005f);
  EXPECT_NE(c.difference().message.find("differs by up to"), std::string::npos);
}

TEST(EquivalenceCheck, NoiseThatTheErrorWouldForgive) {
  Bench bench;
  auto graph_with = [](float noise) {
    Builder b("g");
    std::vector<float> v(1000);
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = i == 0 ? 1000.0f : static_cast<float>(i % 7) + (i % 2 == 0 ? noise : -noise);
    b.output("y", called(b, "sum", b.add(b.input("x", {1000}), b.constant(f32({1000}, v)))));
    return finished(b);
  };
  EquivalenceCheck strict(bench.host, ops::standard_ops(), {.min_correlation = 0.9999999, .max_error = 1e-2});
  Graph graph = graph_with(0);
  ASSERT_TRUE(strict.start(graph, {{"x", f32({1000}, std::vector<float>(1000, 0.0f))}}).ok());
  auto result = strict.after(graph_with(0.5f), "p");
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.failure().diagnostics()[0].message.find("correlates by 0.99"), std::string::npos) << Bench::message(result.failure());
}

TEST(EquivalenceCheck, ConstantValuesHaveNoCorrelation) {
  Bench bench;
  Builder b("g");
  b.output("y", called(b, "total", b.reduce_sum(b.softmax(b.input("x", {50, 10}), -1), {1})));
  Graph graph = finished(b);
  bench.context.decompositions = &plugin_decompositions();
  expect_equivalence(graph, bench, {&kDecompose, &kLowerToDevice});
}

TEST(EquivalenceCheck, NaNOnOneSideIsADifference) {
  Bench bench;
  auto graph_of = [](const char* op) {
    Builder b("g");
    b.output("y", called(b, "v", b.op(op, {b.input("x", {4})})));
    return finished(b);
  };
  EquivalenceCheck check(bench.host, ops::standard_ops());
  ASSERT_TRUE(check.start(graph_of("log"), {{"x", f32({4}, {1, 2, -1, 4})}}).ok());
  EXPECT_TRUE(check.after(graph_of("log"), "same").ok()) << "NaN in the same place is no difference";
  EquivalenceCheck other(bench.host, ops::standard_ops());
  ASSERT_TRUE(other.start(graph_of("abs"), {{"x", f32({4}, {1, 2, -1, 4})}}).ok());
  EXPECT_FALSE(other.after(graph_of("sqrt"), "p").ok());
}

TEST(EquivalenceCheck, WhatRoundingLeavesOfNumbersThatCancelIsNoDifference) {
  Bench bench;
  auto graph_of = [](bool left_first, float d) {
    Builder b("g");
    Edge a = b.input("a", {1}), small = b.constant(f32({1}, {0.1f})), other = b.constant(f32({1}, {0.2f}));
    ValueRef sum = left_first ? b.add(called(b, "left", b.add(a, small)), other) : b.add(a, called(b, "right", b.add(small, other)));
    b.output("y", called(b, "rest", b.subtract(sum, b.constant(f32({1}, {d})))));
    return finished(b);
  };
  EquivalenceCheck check(bench.host, ops::standard_ops());
  ASSERT_TRUE(check.start(graph_of(true, 10000.3f), {{"a", f32({1}, {10000})}}).ok());
  EXPECT_TRUE(check.after(graph_of(false, 10000.3f), "another order").ok());
  auto wrong = check.after(graph_of(false, 10001.3f), "bad-pass");
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.failure().diagnostics()[0].node, "rest");
}

TEST(EquivalenceCheck, ShapesAndLostOutputsAreDifferences) {
  Checked c;
  c.graph.erase(c.graph.find_output("y"));
  NodeId other = c.graph.add("z", "output", {Edge(c.graph.find("m"))});
  static_cast<void>(other);
  EXPECT_NE(c.difference().message.find("output 'y' is gone"), std::string::npos);
}

TEST(EquivalenceCheck, ComparesWithTheGraphBeforeAndTheFirstOutputs) {
  Checked c;
  c.scale_weights(1.01f);
  c.difference();
  auto again = c.check.after(c.graph, "innocent");
  ASSERT_FALSE(again.ok()) << "the outputs are still wrong";
  EXPECT_EQ(again.failure().diagnostics()[0].node, "y") << "but no node changed";
}

TEST(RandomInputs, KeepWhatIsPromised) {
  // The least and the largest of many random numbers for an input of this range.
  auto extremes = [](const char* range) {
    Builder b("g");
    b.output("o", b.input("i", {1000}, DType::i64));
    Graph graph = finished(b);
    graph.node(graph.find("i")).tags["value_range"] = range;
    const Tensor numbers = random_inputs(graph, 1)->at("i");
    const auto elements = numbers.as<std::int64_t>();
    const auto [least, most] = std::minmax_element(elements.begin(), elements.end());
    return cat(*least, ':', *most);
  };
  EXPECT_EQ(extremes("0:50256"), "0:3");
  EXPECT_EQ(extremes("0:1"), "0:1");
  EXPECT_EQ(extremes("2:9"), "2:5");
  EXPECT_EQ(extremes("-9:-5"), "-8:-5");
  EXPECT_EQ(extremes("7:7"), "7:7");
  EXPECT_EQ(extremes("-9223372036854775808:9223372036854775807"), "0:3");
  EXPECT_EQ(extremes("-9223372036854775808:-9223372036854775807"), "-9223372036854775808:-9223372036854775807");
}

TEST(RandomInputs, DependOnSeedAndNameOnly) {
  Builder b("g");
  auto x = b.input("x", {100}), y = b.input("y", {100});
  b.output("i", b.input("i", {100}, DType::i64));
  b.output("o", b.add(x, y));
  Graph graph = finished(b);
  NamedTensors one = *random_inputs(graph, 1), same = *random_inputs(graph, 1), two = *random_inputs(graph, 2);
  EXPECT_EQ(one, same);
  EXPECT_FALSE(one.at("x") == two.at("x"));
  EXPECT_FALSE(one.at("x") == one.at("y"));
  for (float v : one.at("x").as<float>()) EXPECT_TRUE(v >= -2 && v <= 2);
  for (std::int64_t v : one.at("i").as<std::int64_t>()) EXPECT_TRUE(v >= 0 && v < 4);
  Bench bench;
  bench.run(
      kLowerToDevice, graph = [] {
        Builder d("d");
        d.output("o", d.exp(d.input("x", {3, 5})));
        return finished(d);
      }());
  EXPECT_EQ(random_inputs(graph, 1)->at("x").shape(), (Shape{3, 5})) << "of a device graph too";
}

}  // namespace
}  // namespace buda::passes
