// SPDX-License-Identifier: Apache-2.0
// lower-to-device: the ops, edges and shapes that come out, and that they compute the same in spite of padding.
#include <buda/graph/values/value.hpp>

#include "lowering_harness.hpp"

namespace buda::passes {
namespace {

TEST(Lower, TheExampleOfTheHeader) {
  Lowerer l;
  Graph graph = l.lowered([](Builder& b) {
    auto x = b.input("x", {64, 100});
    auto w = b.parameter("w", varied({100, 10})), bias = b.parameter("b", varied({10}));
    auto y = called(b, "y", b.matmul(x, w, bias));
    b.output("out", called(b, "p", b.relu(y)));
  });
  EXPECT_EQ(listing(graph),
            "graph g, device level\n"
            "x = input model_shape=[64, 100] : F32 [1, 1, 64, 128]\n"
            "w = parameter : F32 [1, 1, 128, 32]\n"
            "b = parameter : F32 [1, 1, 32, 32]\n"
            "y = matmul(x, w, b {broadcast: {r: 2}}) bias=true : F32 [1, 1, 64, 32]\n"
            "p = nop(y) relu_en=true relu_mode=\"min\" relu_threshold=0 : F32 [1, 1, 64, 32]\n"
            "out = output(p) model_shape=[64, 10]\n");
}

TEST(Lower, KeepsWhereThingsComeFrom) {
  Lowerer l;
  Builder b("g");
  auto w = b.parameter("w", varied({3, 3}));
  b.node(w).value->source = graph::TensorSource{"m.safetensors", "w"};
  auto y = called(b, "y", b.matmul(b.input("x", {2, 3}), w));
  b.node(y).origins = {{"m.onnx", "MatMul_3"}};
  b.node(y).tags["mine"] = "1";
  b.output("out", y);
  Graph graph = finished(b);
  graph.tags["made-by"] = "test";
  l.run(kLowerToDevice, graph);
  EXPECT_EQ(graph.node(graph.find("y")).origins, (std::vector<graph::Origin>{{"m.onnx", "MatMul_3"}}));
  EXPECT_EQ(graph.node(graph.find("y")).tags.at("mine"), "1");
  EXPECT_EQ(graph.node(graph.find("w")).value->source->path, "m.safetensors");
  EXPECT_EQ(graph.node(graph.find("w")).value->tensor.shape(), (Shape{3, 3}));
  EXPECT_EQ(graph.tags.at("made-by"), "test");
}

TEST(Lower, InputsAndOutputsKeepTheirOrder) {
  Lowerer l;
  Graph graph = l.lowered([](Builder& b) {
    auto x = b.input("x", {2, 2}), unused = b.input("unused", {5}), y = b.input("y", {2, 2});
    static_cast<void>(unused);
    b.output("b", b.exp(y));
    b.output("a", b.exp(x));
    b.output("same", x);
  });
  std::string order;
  for (NodeId id : graph.inputs()) order += graph.node(id).name() + ' ';
  for (NodeId id : graph.outputs()) order += graph.node(id).name() + ' ';
  EXPECT_EQ(order, "x unused y b a same ");
  EXPECT_EQ(graph.node(graph.node(graph.find_output("same")).inputs()[0].source.node).op(), "nop") << "a queue is filled by an op";
}

TEST(Lower, KnownOutputsArePassedThroughAnOp) {
  Lowerer l;
  Graph graph = l.lowered([](Builder& b) { b.output("y", b.add(b.constant(varied({3, 4})), b.parameter("w", varied({3, 4}, 2)))); });
  EXPECT_EQ(ops_of(graph), "nop");
}

TEST(LowerInputs, RefuseNumbersThatF32DoesNotHold) {
  Lowerer l;
  Builder b("g");
  b.output("y", b.identity(b.input("x", {2}, DType::f64)));
  b.output("i", b.identity(b.input("n", {2}, DType::i64)));
  Graph graph = finished(b);
  l.run(kLowerToDevice, graph);
  auto error = [&](double x, std::int64_t n) {
    auto out = ops::evaluate_graph(
        graph, {{"x", Tensor(Shape{2}, std::vector<double>{1, x})}, {"n", Tensor(Shape{2}, std::vector<std::int64_t>{n, 1})}});
    return out ? "" : Bench::message(out.failure());
  };
  EXPECT_EQ(error(1e30, -(std::int64_t{1} << 24)), "");
  EXPECT_EQ(error(std::numeric_limits<double>::infinity(), std::int64_t{1} << 40), "");
  EXPECT_NE(error(1e200, 0).find("the input 'x' (F64) holds 1e+200, which F32"), std::string::npos) << error(1e200, 0);
  EXPECT_NE(error(0, (1 << 24) + 1).find("the input 'n' (I64) holds 16777217"), std::string::npos) << error(0, (1 << 24) + 1);
}

TEST(LowerRefuses, AllAtOnceAndOnlyCauses) {
  Lowerer l;
  Builder b("g");
  auto x = b.exp(b.input("x", {4, 2, 4, 4}));
  b.output("y", b.exp(called(b, "first", b.softmax(x, 0))));
  b.output("z", b.relu(called(b, "second", b.clip(x, 2, 1))));
  b.output("u", called(b, "third", b.divide(x, x)));
  Graph graph = finished(b);
  auto report = run_pass(kLowerToDevice, graph, l.context);
  ASSERT_FALSE(report.ok());
  std::vector<std::string> nodes;
  for (const Diagnostic& d : report.failure().diagnostics()) {
    nodes.push_back(d.node);
    EXPECT_EQ(d.code, "PA020");
    EXPECT_FALSE(d.hint.empty());
  }
  EXPECT_EQ(join(nodes, " "), "first second third");
}

TEST(LowerRefuses, IntegersAndUndecomposedOps) {
  Lowerer l;
  EXPECT_NE(l.refused([](Builder& b) {
               b.output("y", b.add(b.input("x", {2}, DType::i32), b.input("z", {2}, DType::i32)));
             }).first.find("it computes with I32, and the device computes with floating-point numbers"),
            std::string::npos);
  auto [message, hint] = l.refused([](Builder& b) { b.output("y", called(b, "s", b.softmax(b.input("x", {2}), 0))); });
  EXPECT_EQ(message, "PA020: node 's' (softmax, F32 [2] -> F32 [2]) cannot be lowered to the device: no device op does this");
  EXPECT_NE(hint.find("decomposition"), std::string::npos);
}

TEST(LowerInputs, WithoutElementsWhereNobodyReadsThem) {
  Lowerer l;
  Graph graph = l.lowered([](Builder& b) {
    b.input("axes", {0}, DType::i64);
    b.output("y", b.exp(b.input("x", {4})));
  });
  EXPECT_EQ(graph.inputs().size(), 2u);
}

TEST(LowerRefuses, EmptyValues) {
  Lowerer l;
  EXPECT_NE(l.refused([](Builder& b) { b.output("y", b.exp(b.input("x", {0, 4}))); }).first.find("has no elements"), std::string::npos);
}

TEST(LowerNames, NeverTakeTheNameOfAnotherValue) {
  Lowerer l;
  Graph graph = l.lowered([](Builder& b) {
    auto x = b.input("x", {2, 10});
    auto m = called(b, "m", b.reduce_max(b.exp(x), {1}));
    b.output("m.masked", called(b, "m.mask", b.exp(m)));
    b.output("y", called(b, "m.ones", b.exp(b.reduce_sum(called(b, "m.masked", b.log(b.exp(x))), {1}))));
  });
  EXPECT_EQ(graph.node(graph.find("m.mask")).op(), "exp");
  EXPECT_EQ(graph.node(graph.find("m.masked")).op(), "log");
}

}  // namespace
}  // namespace buda::passes
