// SPDX-License-Identifier: Apache-2.0
// lower-to-device: elementwise ops.
#include "lowering_harness.hpp"

namespace buda::passes {
namespace {

TEST(LowerEltwise, EveryOp) {
  Lowerer l;
  NamedTensors inputs = {{"x", f32({2, 5}, {0.1f, 0.5f, 1, 2, 3, 0.25f, 0.75f, 1.5f, 2.5f, 4})}};
  Graph graph = l.lowered(
      [](Builder& b) {
        auto x = b.input("x", {2, 5});
        for (const char* op : {"exp", "log", "sqrt", "square", "reciprocal", "abs", "negative", "sine", "cosine", "tanh", "sigmoid", "relu",
                               "leaky_relu", "gelu", "nop"})
          b.output(op, b.op(op, {b.subtract(x, b.constant(op == std::string("log") || op == std::string("sqrt") ? 0.0f : 1.2f))}));
        b.output("gelu_tanh", b.gelu(x, "tanh"));
        b.output("leaky", b.leaky_relu(b.negative(x), 0.3));
        b.output("cube", b.power(x, b.constant(3.0f)));
        b.output("power", b.power(x, b.constant(2.5f)));
        b.output("least", b.minimum(x, b.constant(1.0f)));
        b.output("ratio", b.divide(b.constant(1.0f), x));
      },
      inputs);
  EXPECT_EQ(graph.level, graph::Level::device);
}

TEST(LowerEltwise, ClipsOfAllKinds) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  struct Case {
    double least, most;
    const char* ops;
  };
  for (const Case& c :
       {Case{0, kInfinity, "nop"}, Case{0, 1, "nop"}, Case{-1, 1, "multiply nop subtract"}, Case{-kInfinity, 0.5, "multiply nop subtract"},
        Case{0.5, kInfinity, "maximum"}, Case{-kInfinity, kInfinity, "nop"}, Case{0.25, 0.25, "nop maximum"},
        Case{-2, 0, "multiply multiply"}, Case{-2, -1, "multiply maximum multiply"}, Case{-kInfinity, -1, "multiply maximum multiply"}}) {
    Lowerer l;
    Graph graph = l.lowered([&](Builder& b) { b.output("y", b.clip(b.input("x", {5, 40}), c.least, c.most)); });
    EXPECT_EQ(ops_of(graph), c.ops) << c.least << ' ' << c.most;
  }
  Lowerer l;
  EXPECT_NE(l.refused([](Builder& b) { b.output("y", b.clip(b.input("x", {5}), 2, 1)); }).first.find("its bounds are 2 and 1"),
            std::string::npos);
}

TEST(LowerEltwise, OtherTypesOfFloats) {
  for (DType dtype : {DType::f16, DType::bf16, DType::f64}) {
    Lowerer l;
    Builder b("g");
    b.output("y", b.softmax(b.clip(b.input("x", {3, 10}, dtype), -1, 1), -1));
    Graph graph = finished(b);
    l.run(kDecompose, graph);
    l.run(kLowerToDevice, graph);
    const Node& in = graph.node(graph.inputs()[0]);
    EXPECT_EQ(in.outputs[0].dtype, DType::f32);
    EXPECT_EQ(in.attrs.at("model_type"), graph::Attr(std::string(dtype_name(dtype))));
  }
}

}  // namespace
}  // namespace buda::passes
