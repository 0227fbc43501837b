// SPDX-License-Identifier: Apache-2.0
// Passes on tensor graphs: what they rewrite, what they leave, and that the meaning stays.
#include "values.hpp"

#include <buda/graph/file/graph_file.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/passes/fuse/fusing.hpp>

#include <functional>

namespace buda::passes {
namespace {

// ---- infer-types

TEST(InferTypes, FillsInWhatIsOpen) {
  io::MemoryFileSystem fs;
  auto graph = graph::parse_graph(fs, R"({"schema": "buda.graph/1", "name": "g", "level": "tensor", "nodes": [
    {"name": "x", "op": "input", "types": [{"dtype": "F32", "shape": [1, 2]}]},
    {"name": "w", "op": "parameter", "types": [{"dtype": "F32", "shape": [2, 3]}], "value": "w"},
    {"name": "y", "op": "matmul", "inputs": ["x", "w"]},
    {"name": "out", "op": "output", "inputs": ["y"]}],
    "tensors": [{"name": "w", "dtype": "F32", "shape": [2, 3], "values": [1, 2, 3, 4, 5, 6]}]})",
                                  "g.json");
  ASSERT_TRUE(graph.ok()) << Bench::message(graph.failure());
  Bench bench;
  EXPECT_EQ(bench.run(kInferTypes, *graph).rewrites, 1u);
  EXPECT_EQ(graph->node(graph->find("y")).outputs.at(0).text(), "F32 [1, 3]");
  EXPECT_EQ(bench.run(kInferTypes, *graph).rewrites, 0u);
}

// ---- constant-folding

TEST(ConstantFolding, ComputesAllThatIsKnown) {
  Builder b("g");
  auto x = b.input("x", {4, 6});
  auto w = b.parameter("w", varied({3, 6}));
  auto t = called(b, "t", b.transpose(w, {1, 0}));
  b.output("y", b.matmul(x, called(b, "s", b.multiply(t, b.constant(0.5f)))));
  Graph graph = finished(b);
  Bench bench;
  expect_equivalence(graph, bench, {&kConstantFolding});
  EXPECT_EQ(body(graph), "x = input : F32 [4, 6]\ns = parameter : F32 [6, 3]\nmatmul = matmul(x, s) : F32 [4, 3]\ny = output(matmul)\n");
}

TEST(ConstantFolding, OfConstantsIsAConstant) {
  Builder b("g");
  b.output("y", b.add(b.input("x", {2}), called(b, "c", b.exp(b.constant(f32({2}, {0, 1}))))));
  Graph graph = finished(b);
  Bench bench;
  EXPECT_EQ(bench.run(kConstantFolding, graph).rewrites, 1u);
  const Node& c = graph.node(graph.find("c"));
  EXPECT_EQ(c.op(), "constant");
  EXPECT_FLOAT_EQ(c.value->tensor.as<float>()[1], 2.7182818f);
}

TEST(ConstantFolding, ComputesEveryResult) {
  Builder b("g");
  const ValueRef top = b.op("topk", {b.constant(f32({2, 3}, {1, 3, 2, 4, 6, 5}))}, {{"k", std::int64_t{2}}});
  b.output("y", b.add(b.input("x", {2, 2}), top));
  b.output("places", ValueRef(top.node, 1));
  Graph graph = finished(b);
  Bench bench;
  expect_equivalence(graph, bench, {&kConstantFolding});
  for (const NodeId id : graph.ids()) EXPECT_NE(graph.node(id).op(), "topk");
}

TEST(ConstantFolding, KeepsFilesSmall) {
  Builder b("g");
  auto row = b.parameter("row", varied({1000}));
  b.output("y", b.add(b.input("x", {1000, 1000}), b.broadcast(row, {1000, 1000})));
  Graph graph = finished(b);
  Bench bench;
  EXPECT_FALSE(bench.run(kConstantFolding, graph).changed());
}

TEST(ConstantFolding, WritesWeightsOfConvolutionsOut) {
  Builder b("g");
  auto weights = b.broadcast(b.constant(0.5f), {64, 32, 3, 3});
  b.output("y", b.conv2d(b.input("x", {1, 32, 8, 8}), called(b, "w", weights)));
  b.output("z", b.conv2d_transpose(b.input("u", {1, 64, 4, 4}), called(b, "v", b.broadcast(b.constant(0.25f), {64, 32, 3, 3}))));
  Graph graph = finished(b);
  Bench bench;
  expect_equivalence(graph, bench, {&kConstantFolding});
  for (const char* name : {"w", "v"}) {
    const Node& folded = graph.node(graph.find(name));
    EXPECT_EQ(folded.op(), "constant") << name;
    EXPECT_EQ(folded.outputs[0].text(), "F32 [64, 32, 3, 3]") << name;
  }
}

TEST(ConstantFolding, KeepsSourcesOfUnchangedTensors) {
  Builder b("g");
  auto w = b.parameter("w", varied({2, 2}));
  b.node(w).value->source = graph::TensorSource{"m.safetensors", "w"};
  b.output("y", b.matmul(b.input("x", {2, 2}), w));
  Graph graph = finished(b);
  Bench bench;
  bench.run(kConstantFolding, graph);
  EXPECT_TRUE(graph.node(graph.find("w")).value->source.has_value());
}

TEST(ConstantFolding, AnOutputThatIsConstant) {
  Builder b("g");
  b.input("x", {1});
  b.output("y", called(b, "sum", b.add(b.constant(1.0f), b.constant(2.0f))));
  Graph graph = finished(b);
  Bench bench;
  expect_equivalence(graph, bench, {&kConstantFolding});
  EXPECT_EQ(graph.node(graph.find("sum")).op(), "constant");
}

// ---- common-subexpression-elimination

TEST(CommonSubexpressionElimination, MergesWhatIsTheSame) {
  Builder b("g");
  auto x = b.input("x", {2, 3});
  auto c = called(b, "c", b.constant(f32({3}, {1, 2, 3}))), d = called(b, "d", b.constant(f32({3}, {1, 2, 3})));
  auto e = called(b, "e", b.exp(x)), f = called(b, "f", b.exp(x));
  auto p = called(b, "p", b.multiply(e, c)), q = called(b, "q", b.multiply(f, d));
  b.output("y", called(b, "sum", b.add(p, q)));
  Graph graph = finished(b);
  Bench bench;
  expect_equivalence(graph, bench, {&kCommonSubexpressionElimination});
  EXPECT_EQ(body(graph),
            "x = input : F32 [2, 3]\nc = constant : F32 [3]\ne = exp(x) : F32 [2, 3]\np = multiply(e, c) : F32 [2, 3]\nsum = add(p, p) : "
            "F32 [2, 3]\n"
            "y = output(sum)\n");
}

TEST(CommonSubexpressionElimination, LeavesWhatDiffers) {
  Builder b("g");
  auto x = b.input("x", {2, 3}), z = b.input("z", {2, 3});
  std::vector<Edge> parts = {b.exp(x),
                             b.exp(z),
                             b.clip(x, 0, 1),
                             b.clip(x, 0, 2),
                             b.subtract(x, z),
                             b.subtract(z, x),
                             b.constant(f32({2, 3}, {0, 0, 0, 0, 0, 0})),
                             b.constant(f32({2, 3}, {-0.0f, 0, 0, 0, 0, 0})),
                             b.parameter("v", varied({2, 3})),
                             b.parameter("w", varied({2, 3}))};
  auto tagged = b.exp(x);
  b.node(tagged).tags["mine"] = "1";
  parts.push_back(tagged);
  b.output("y", b.concatenate(parts, 0));
  Graph graph = finished(b);
  Bench bench;
  EXPECT_FALSE(bench.run(kCommonSubexpressionElimination, graph).changed());
}

TEST(CommonSubexpressionElimination, TiedWeightsAreOne) {
  Builder b("g");
  auto v = b.parameter("v", varied({2, 3})), w = b.parameter("w", varied({2, 3}));
  b.node(v).value->source = b.node(w).value->source = graph::TensorSource{"m.safetensors", "embed"};
  b.node(v).origins = {{"m.onnx", "a"}};
  b.node(w).origins = {{"m.onnx", "b"}};
  b.output("y", b.add(v, w));
  Graph graph = finished(b);
  Bench bench;
  EXPECT_EQ(bench.run(kCommonSubexpressionElimination, graph).rewrites, 1u);
  EXPECT_EQ(graph.node(graph.find("v")).origins, (std::vector<graph::Origin>{{"m.onnx", "a"}, {"m.onnx", "b"}}));
}

// ---- dead-code-elimination

TEST(DeadCodeElimination, RemovesAllBehindNothing) {
  Builder b("g");
  auto x = b.input("x", {2});
  b.input("unused", {3});
  b.exp(b.add(x, b.parameter("w", varied({2}))));
  b.output("y", called(b, "r", b.relu(x)));
  Graph graph = finished(b);
  Bench bench;
  EXPECT_EQ(bench.run(kDeadCodeElimination, graph).rewrites, 3u);
  EXPECT_EQ(body(graph), "x = input : F32 [2]\nunused = input : F32 [3]\nr = relu(x) : F32 [2]\ny = output(r)\n");
}

// ---- algebraic-simplification

using TensorPassesBuild = std::function<Edge(Builder&, Edge)>;

// The ops left of build(x), x being [2, 3, 4], as names in topological order.
std::string simplified(const TensorPassesBuild& build) {
  Builder b("g");
  Edge x = b.input("x", {2, 3, 4});
  b.output("y", build(b, x));
  Graph graph = finished(b);
  Bench bench;
  expect_equivalence(graph, bench, {&kAlgebraicSimplification, &kConstantFolding, &kAlgebraicSimplification, &kDeadCodeElimination});
  std::vector<std::string> left;
  for (NodeId id : graph.topological_order())
    if (graph.node(id).is_op()) left.push_back(graph.node(id).op());
  return join(left, " ");
}

TEST(AlgebraicSimplification, NeutralElements) {
  auto c = [](Builder& b, float v) { return Edge(b.constant(v)); };
  EXPECT_EQ(simplified([&](Builder& b, Edge x) { return b.multiply(x, c(b, 1)); }), "");
  EXPECT_EQ(simplified([&](Builder& b, Edge x) { return b.multiply(c(b, 1), x); }), "");
  EXPECT_EQ(simplified([&](Builder& b, Edge x) { return b.add(x, c(b, 0)); }), "");
  EXPECT_EQ(simplified([&](Builder& b, Edge x) { return b.add(c(b, 0), x); }), "");
  EXPECT_EQ(simplified([&](Builder& b, Edge x) { return b.subtract(x, c(b, 0)); }), "");
  EXPECT_EQ(simplified([&](Builder& b, Edge x) { return b.divide(x, c(b, 1)); }), "");
  EXPECT_EQ(simplified([&](Builder& b, Edge x) { return b.power(x, c(b, 1)); }), "");
  EXPECT_EQ(simplified([&](Builder& b, Edge x) { return b.identity(x); }), "");
  EXPECT_EQ(simplified([&](Builder& b, Edge x) { return b.add(x, Edge(b.constant(f32({4}, {0, 0, 0, 0})))); }), "");
}

TEST(AlgebraicSimplification, WhatLooksNeutralAndIsNot) {
  auto c = [](Builder& b, float v) { return Edge(b.constant(v)); };
  EXPECT_EQ(simplified([&](Builder& b, Edge x) { return b.subtract(c(b, 0), x); }), "subtract");
  EXPECT_EQ(simplified([&](Builder& b, Edge x) { return b.divide(c(b, 1), x); }), "divide");
  EXPECT_EQ(simplified([&](Builder& b, Edge x) { return b.multiply(x, c(b, 0)); }), "multiply");
  EXPECT_EQ(simplified([&](Builder& b, Edge x) {
              return b.add(x, Edge(b.constant(f32({2}, {0, 1}).reshaped({2, 1, 1}).value())));
            }),
            "add");
  // It makes the value larger.
  EXPECT_EQ(simplified([&](Builder& b, Edge x) { return b.multiply(x, Edge(b.constant(f32({2, 1, 1, 1}, {1, 1})))); }), "multiply");
}

TEST(AlgebraicSimplification, PairsThatCancelOrRepeat) {
  EXPECT_EQ(simplified([](Builder& b, Edge x) { return b.negative(b.negative(x)); }), "");
  EXPECT_EQ(simplified([](Builder& b, Edge x) { return b.relu(b.relu(x)); }), "relu");
  EXPECT_EQ(simplified([](Builder& b, Edge x) { return b.abs(b.abs(x)); }), "abs");
}

TEST(AlgebraicSimplification, Reshapes) {
  EXPECT_EQ(simplified([](Builder& b, Edge x) { return b.reshape(b.reshape(x, {6, 4}), {24}); }), "reshape");
  EXPECT_EQ(simplified([](Builder& b, Edge x) { return b.reshape(b.reshape(x, {6, 4}), {2, 3, 4}); }), "");
  EXPECT_EQ(simplified([](Builder& b, Edge x) { return b.squeeze(b.unsqueeze(x, {1}), {1}); }), "");
  EXPECT_EQ(simplified([](Builder& b, Edge x) { return b.reshape(x, {2, 3, 4}); }), "");
  EXPECT_EQ(simplified([](Builder& b, Edge x) { return b.broadcast(x, {2, 3, 4}); }), "");
  EXPECT_EQ(simplified([](Builder& b, Edge x) { return b.slice(x, 1, 0, 3); }), "");
  EXPECT_EQ(simplified([](Builder& b, Edge x) { return b.slice(x, 1, 2, -4, -1); }), "slice");
  EXPECT_EQ(simplified([](Builder& b, Edge x) { return b.pad(x, {0, 0, 0}, {0, 0, 0}); }), "");
  EXPECT_EQ(simplified([](Builder& b, Edge x) { return b.concatenate({x}, 0); }), "");
}

TEST(AlgebraicSimplification, Transposes) {
  EXPECT_EQ(simplified([](Builder& b, Edge x) { return b.transpose(b.transpose(x, {2, 0, 1}), {1, 2, 0}); }), "");
  EXPECT_EQ(simplified([](Builder& b, Edge x) { return b.transpose(b.transpose(x, {2, 0, 1}), {2, 0, 1}); }), "transpose");
  EXPECT_EQ(simplified([](Builder& b, Edge x) { return b.transpose(x, {0, 1, 2}); }), "");
  EXPECT_EQ(simplified([](Builder& b, Edge x) { return b.transpose(b.reshape(x, {6, 1, 4}), {1, 0, 2}); }), "reshape");
}

TEST(AlgebraicSimplification, ConstantsMeet) {
  EXPECT_EQ(simplified([](Builder& b, Edge x) { return b.add(b.add(x, b.constant(2.0f)), b.constant(f32({4}, {1, 2, 3, 4}))); }), "add");
  EXPECT_EQ(simplified([](Builder& b, Edge x) { return b.multiply(b.constant(0.5f), b.multiply(x, b.constant(2.0f))); }), "");
  EXPECT_EQ(simplified([](Builder& b, Edge x) { return b.multiply(b.add(x, b.constant(2.0f)), b.constant(3.0f)); }), "add multiply");
  // The sum in between is used, too.
  EXPECT_EQ(simplified([](Builder& b, Edge x) {
              auto s = b.add(x, b.constant(2.0f));
              return b.multiply(s, b.add(s, b.constant(1.0f)));
            }),
            "add add multiply");
}

// ---- fuse-bias

Graph linear(const TensorPassesBuild& after, Shape w = {6, 5}) {
  Builder b("g");
  auto x = b.input("x", {4, 6}), weights = b.parameter("w", varied(std::move(w)));
  auto m = called(b, "m", b.matmul(x, weights));
  b.output("y", after(b, m));
  return finished(b);
}

TEST(FuseBias, RowsBecomeBiases) {
  for (Shape row : {Shape{5}, Shape{1, 5}}) {
    for (bool first : {true, false}) {
      Graph graph = linear([&](Builder& b, Edge m) {
        Edge v = b.parameter("b", varied(row, 2));
        auto y = first ? called(b, "s", b.add(v, m)) : called(b, "s", b.add(m, v));
        b.node(y).tags["mine"] = "1";
        b.node(y).origins = {{"m.onnx", "Add_2"}};
        return Edge(y);
      });
      graph.node(graph.find("m")).origins = {{"m.onnx", "MatMul_1"}};
      graph.node(graph.find("m")).tags["theirs"] = "2";
      Bench bench;
      expect_equivalence(graph, bench, {&kFuseBias});
      const Node& y = graph.node(graph.find("s"));
      EXPECT_EQ(y.op(), "matmul");
      EXPECT_EQ(y.inputs().size(), 3u);
      EXPECT_FALSE(graph.find("m").valid());
      EXPECT_EQ(y.origins, (std::vector<graph::Origin>{{"m.onnx", "MatMul_1"}, {"m.onnx", "Add_2"}})) << "in the order of computation";
      EXPECT_EQ(y.tags.size(), 2u);
    }
  }
}

TEST(FuseBias, OthersStayAdds) {
  auto rewrites = [](const TensorPassesBuild& after, Shape w = {6, 5}) {
    Graph graph = linear(after, std::move(w));
    Bench bench;
    return bench.run(kFuseBias, graph).rewrites;
  };
  auto add = [](Shape shape) { return [shape](Builder& b, Edge m) { return Edge(b.add(m, b.parameter("b", varied(shape)))); }; };
  EXPECT_EQ(rewrites(add({5})), 1u);
  EXPECT_EQ(rewrites(add({4, 5})), 0u) << "a value of its own for each row";
  EXPECT_EQ(rewrites(add({4, 1})), 0u) << "a column";
  EXPECT_EQ(rewrites(add({1})), 0u) << "one number, which is no row";
  EXPECT_EQ(rewrites(add({2, 4, 5})), 0u) << "makes the result larger";
  EXPECT_EQ(rewrites(add({4}), {6}), 0u) << "the product with a vector has no columns";
  EXPECT_EQ(rewrites([&](Builder& b, Edge m) { return Edge(b.add(m, m)); }), 0u);
  EXPECT_EQ(rewrites([&](Builder& b, Edge m) {
              b.output("also", m);
              return Edge(b.add(m, b.parameter("b", varied({5}))));
            }),
            0u)
      << "the product is used otherwise";
  EXPECT_EQ(rewrites([&](Builder& b, Edge m) {
              auto y = b.add(m, b.parameter("b", varied({5})));
              b.node(y).tags[kDontFuse] = "";
              return Edge(y);
            }),
            0u);
  EXPECT_EQ(
      rewrites([&](Builder& b, Edge m) { return Edge(b.add(b.add(m, b.parameter("b", varied({5}))), b.parameter("c", varied({5})))); }), 1u)
      << "one bias is enough";
}

// ---- fold-scale

const std::vector<const Pass*> kFoldScales = {&kFoldScale, &kConstantFolding, &kDeadCodeElimination};

TEST(FoldScale, FactorsAfterTheProduct) {
  for (Shape shape : {Shape{}, Shape{1, 1}, Shape{5}, Shape{1, 5}}) {
    Graph graph = linear([&](Builder& b, Edge m) { return Edge(called(b, "s", b.multiply(m, b.constant(varied(shape, 3))))); });
    Bench bench;
    expect_equivalence(graph, bench, kFoldScales);
    EXPECT_EQ(body(graph),
              "x = input : F32 [4, 6]\ns.weights = parameter : F32 [6, 5]\ns = matmul(x, s.weights) : F32 [4, 5]\ny = output(s)\n");
  }
}

TEST(FoldScale, BiasesAreScaledWithTheWeights) {
  Builder b("g");
  auto m = b.matmul(b.input("x", {4, 6}), b.parameter("w", varied({6, 5})), b.parameter("b", varied({5}, 2)));
  b.output("y", called(b, "s", b.multiply(b.constant(varied({5}, 3)), m)));
  Graph graph = finished(b);
  Bench bench;
  expect_equivalence(graph, bench, kFoldScales);
  EXPECT_EQ(graph.node(graph.find("s")).op(), "matmul");
  EXPECT_TRUE(graph.find("s.bias").valid());
}

TEST(FoldScale, FactorsBeforeTheProduct) {
  for (Shape shape : {Shape{}, Shape{6}, Shape{1, 6}}) {
    Builder b("g");
    auto x = b.input("x", {4, 6});
    auto w = b.parameter("w", varied({6, 5})), bias = b.parameter("b", varied({5}, 2));
    b.output("y", called(b, "m", b.matmul(b.multiply(x, b.constant(varied(shape, 3))), w, bias)));
    Graph graph = finished(b);
    Bench bench;
    expect_equivalence(graph, bench, kFoldScales);
    EXPECT_EQ(
        body(graph),
        "x = input : F32 [4, 6]\nb = parameter : F32 [5]\nm.weights = parameter : F32 [6, 5]\nm = matmul(x, m.weights, b) : F32 [4, 5]\n"
        "y = output(m)\n");
  }
}

TEST(FoldScale, LeavesOthers) {
  auto rewrites = [](const TensorPassesBuild& after) {
    Graph graph = linear(after);
    Bench bench;
    return bench.run(kFoldScale, graph).rewrites;
  };
  EXPECT_EQ(rewrites([](Builder& b, Edge m) { return Edge(b.multiply(m, b.constant(varied({4, 1})))); }), 0u) << "a factor per row";
  EXPECT_EQ(rewrites([](Builder& b, Edge m) { return Edge(b.multiply(m, b.input("f", {}))); }), 0u) << "not known";
  EXPECT_EQ(rewrites([](Builder& b, Edge m) {
              b.output("also", m);
              return Edge(b.multiply(m, b.constant(2.0f)));
            }),
            0u);
}

TEST(FoldExactScale, PowersOfTwoOnly) {
  for (float factor : {0.25f, -2.0f, 1024.0f, 0.3f, 3.0f, 0.0f}) {
    Graph graph = linear([&](Builder& b, Edge m) { return Edge(b.multiply(m, b.constant(factor))); });
    Bench bench;
    bool is_power = factor == 0.25f || factor == -2 || factor == 1024;
    EXPECT_EQ(bench.run(kFoldExactScale, graph).rewrites, is_power ? 1u : 0u) << factor;
  }
  Graph graph = linear([&](Builder& b, Edge m) { return Edge(b.multiply(m, b.constant(f32({5}, {1, 2, 4, 8, 16})))); });
  Bench bench;
  EXPECT_FALSE(bench.run(kFoldExactScale, graph).changed()) << "not one number";
}

// Attention's scores, times a factor.
Graph scores(float factor, bool used_twice) {
  Builder b("g");
  auto x = b.input("x", {1, 6, 8});
  auto heads = [&](const std::string& name, std::vector<std::int64_t> order) {
    auto p = b.matmul(x, b.parameter(name + ".w", varied({8, 8})), b.parameter(name + ".b", varied({8}, 2)));
    if (used_twice) b.output(name, p);
    return b.transpose(b.reshape(p, {1, 6, 2, 4}), std::move(order));
  };
  auto q = heads("q", {0, 2, 1, 3}), k = heads("k", {0, 2, 3, 1});
  b.output("y", called(b, "s", b.multiply(b.matmul(q, k), b.constant(factor))));
  return finished(b);
}

TEST(FoldExactScale, OfScoresGoesIntoTheProjection) {
  Graph graph = scores(0.5f, false);
  Bench bench;
  expect_equivalence(graph, bench, {&kFoldExactScale, &kConstantFolding, &kDeadCodeElimination});
  EXPECT_EQ(graph.node(graph.find("s")).op(), "matmul");
  EXPECT_TRUE(graph.find("s.weights").valid() && graph.find("s.bias").valid()) << listing(graph);
  for (auto [factor, twice] : {std::pair(0.3f, false), std::pair(0.5f, true)}) {
    Graph other = scores(factor, twice);
    EXPECT_FALSE(bench.run(kFoldExactScale, other).changed());
  }
  Graph inexact = scores(0.3f, false);
  expect_equivalence(inexact, bench, kFoldScales);
  EXPECT_EQ(inexact.node(inexact.find("s")).op(), "matmul");
}

TEST(FoldScale, SharedWeightsAreNotStoredTwice) {
  Builder b("g");
  auto w = b.parameter("w", varied({6, 6}));
  auto m = b.matmul(b.input("x", {4, 6}), w);
  b.output("y", b.multiply(m, b.constant(2.0f)));
  b.output("z", b.matmul(b.input("x2", {4, 6}), w));
  Graph graph = finished(b);
  Bench bench;
  EXPECT_FALSE(bench.run(kFoldScale, graph).changed());
}

}  // namespace
}  // namespace buda::passes
