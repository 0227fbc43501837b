// SPDX-License-Identifier: Apache-2.0
// Passes on device graphs: fuse-relu and assign-formats.
#include "values.hpp"

#include <buda/passes/fuse/fusing.hpp>
#include <buda/passes/lower/lowering_tags.hpp>

namespace buda::passes {
namespace {

const graph::AttrMap kRelu = {{"relu_en", true}, {"relu_mode", std::string("min")}, {"relu_threshold", 0.0}};

Builder device_graph() { return Builder("g", graph::Level::device); }

// ---- fuse-relu

TEST(FuseRelu, GoesIntoThePackerOfTheOpBefore) {
  Builder b = device_graph();
  auto x = b.input("x", {64, 64}), w = b.parameter("w", varied({64, 32}));
  auto y = called(b, "y", b.matmul(x, w));
  b.node(y).origins = {{"m.onnx", "MatMul_1"}};
  auto r = called(b, "r", b.op("nop", {y}, kRelu));
  b.node(r).origins = {{"m.onnx", "Relu_2"}};
  b.output("out", called(b, "e", b.exp(r)));
  b.output("too", r);
  Graph graph = finished(b);
  Bench bench;
  expect_equivalence(graph, bench, {&kFuseRelu});
  EXPECT_EQ(body(graph),
            "x = input model_shape=[64, 64] : F32 [1, 1, 64, 64]\n"
            "w = parameter : F32 [1, 1, 64, 32]\n"
            "r = matmul(x, w) relu_en=true relu_mode=\"min\" relu_threshold=0 : F32 [1, 1, 64, 32]\n"
            "e = exp(r) : F32 [1, 1, 64, 32]\n"
            "out = output(e)\n"
            "too = output(r)\n");
  EXPECT_EQ(graph.node(graph.find("r")).origins, (std::vector<graph::Origin>{{"m.onnx", "MatMul_1"}, {"m.onnx", "Relu_2"}}));
}

TEST(FuseRelu, LeavesOthers) {
  auto rewrites = [](const std::function<void(Builder&, Edge)>& build) {
    Builder b = device_graph();
    build(b, called(b, "before", b.exp(b.input("x", {32, 64}))));
    Graph graph = finished(b);
    Bench bench;
    return bench.run(kFuseRelu, graph).rewrites;
  };
  auto relu = [](Builder& b, Edge x) { return b.op("nop", {x}, kRelu); };
  EXPECT_EQ(rewrites([&](Builder& b, Edge x) { b.output("y", relu(b, x)); }), 1u);
  EXPECT_EQ(rewrites([&](Builder& b, Edge x) {
              b.output("y", relu(b, x));
              b.output("z", x);
            }),
            0u)
      << "the value before is used, too";
  EXPECT_EQ(rewrites([&](Builder& b, Edge x) { b.output("y", b.op("nop", {x})); }), 0u) << "no ReLU";
  EXPECT_EQ(rewrites([&](Builder& b, Edge x) { b.output("y", relu(b, Edge(x.source, {Tm::transpose()}))); }), 0u)
      << "something happens on the way";
  EXPECT_EQ(rewrites([&](Builder& b, Edge x) { b.output("y", relu(b, b.op("reduce", {x}, {{"dim", std::string("c")}}))); }), 0u);
  EXPECT_EQ(rewrites([&](Builder& b, Edge x) { b.output("y", relu(b, relu(b, x))); }), 1u) << "one ReLU per packer";
  EXPECT_EQ(rewrites([&](Builder& b, Edge) { b.output("y", relu(b, b.input("z", {3}))); }), 0u) << "inputs have no packer";
  EXPECT_EQ(rewrites([&](Builder& b, Edge x) {
              b.node(x.source).tags[kDontFuse] = "";
              b.output("y", relu(b, x));
            }),
            0u);
}

// ---- assign-formats

Graph network() {
  Builder b = device_graph();
  auto m = called(b, "m", b.matmul(b.input("x", {64, 64}), b.parameter("w", varied({64, 32}))));
  auto masked = called(b, "masked", b.add(m, b.constant(varied({64, 32}))));
  b.node(masked).tags[kWideRange] = "";
  auto n = called(b, "n", b.op("nop", {masked}));
  auto z = called(b, "z", b.op("reduce", {b.input("v", {2, 32, 32})}, {{"dim", std::string("z")}}));
  b.output("out", called(b, "last", b.exp(n)));
  b.output("most", called(b, "most", b.exp(z)));
  return finished(b);
}

struct Formats : Bench {
  Graph graph = network();
  std::string of(const char* name) const {
    const Node& n = graph.node(graph.find(name));
    std::string out(n.outputs[0].format ? format_name(*n.outputs[0].format) : "none");
    if (n.is_op())
      out += cat(' ', n.precision.intermediate ? format_name(*n.precision.intermediate) : "none", ' ',
                 n.precision.accumulate ? format_name(*n.precision.accumulate) : "none", ' ',
                 n.precision.fidelity ? graph::fidelity_name(*n.precision.fidelity) : "none");
    return out;
  }
};

TEST(AssignFormats, Defaults) {
  Formats f;
  EXPECT_TRUE(f.run(kAssignFormats, f.graph).changed());
  for (const char* source : {"x", "w", "constant"}) EXPECT_EQ(f.of(source), "Float16_b") << source;
  for (const char* op : {"m", "masked", "n", "last"}) EXPECT_EQ(f.of(op), "Float16_b Float16_b Float16_b HiFi3") << op;
  EXPECT_EQ(f.run(kAssignFormats, f.graph).rewrites, 0u) << "a second time changes nothing";
}

TEST(AssignFormats, BlockFloatsStopAtMasksAndOutputs) {
  Formats f;
  f.context.formats.standard = DataFormat::bfp8_b;
  f.context.formats.fidelity = graph::MathFidelity::lofi;
  f.run(kAssignFormats, f.graph);
  EXPECT_EQ(f.of("x"), "Bfp8_b");
  EXPECT_EQ(f.of("m"), "Bfp8_b Float16_b Float16_b LoFi");
  EXPECT_EQ(f.of("masked"), "Float16_b Float16_b Float16_b LoFi");
  EXPECT_EQ(f.of("n"), "Float16_b Float16_b Float16_b LoFi") << "a copy is as it was";
  EXPECT_EQ(f.of("last"), "Float16_b Float16_b Float16_b LoFi") << "the host reads it";
  EXPECT_EQ(f.of("z"), "Bfp8_b Bfp8_b Float16_b LoFi") << "one format in, out and between";
}

TEST(AssignFormats, TheOtherFamily) {
  Formats f;
  f.context.formats.standard = DataFormat::bfp8;
  f.run(kAssignFormats, f.graph);
  EXPECT_EQ(f.of("m"), "Bfp8 Float16 Float16 HiFi3");
  EXPECT_EQ(f.of("masked"), "Float16 Float16 Float16 HiFi3");
}

TEST(AssignFormats, Float32WhereTheDeviceCan) {
  Formats f;
  f.context.formats.standard = DataFormat::float32;
  f.run(kAssignFormats, f.graph);
  EXPECT_EQ(f.of("m"), "Float32 Float32 Float32 HiFi3");
  EXPECT_TRUE(f.sink.diagnostics().empty());

  Formats g;
  g.device = grayskull_like();
  g.context.formats.standard = DataFormat::float32;
  g.run(kAssignFormats, g.graph);
  EXPECT_EQ(g.of("m"), "Float16_b Float16_b Float16_b HiFi3");
  ASSERT_EQ(g.sink.diagnostics().size(), 1u);
  EXPECT_EQ(g.sink.diagnostics()[0].code, "PA031");
}

TEST(AssignFormats, AccumulationOnRequest) {
  Formats f;
  f.context.formats.accumulate = DataFormat::float32;
  f.run(kAssignFormats, f.graph);
  EXPECT_EQ(f.of("m"), "Float16_b Float32 Float32 HiFi3");
  for (DataFormat requested : {DataFormat::float32, DataFormat::bfp8_b}) {
    Formats g;
    g.device = grayskull_like();
    g.context.formats.accumulate = requested;
    g.run(kAssignFormats, g.graph);
    EXPECT_EQ(g.of("m"), "Float16_b Float16_b Float16_b HiFi3");
    ASSERT_EQ(g.sink.diagnostics().size(), 1u);
    EXPECT_EQ(g.sink.diagnostics()[0].code, "PA032");
  }
}

TEST(AssignFormats, WhatIsChosenStays) {
  Formats f;
  f.graph.node(f.graph.find("w")).outputs[0].format = DataFormat::bfp4_b;
  f.graph.node(f.graph.find("m")).precision = {DataFormat::float32, DataFormat::float32, graph::MathFidelity::hifi4};
  f.run(kAssignFormats, f.graph);
  EXPECT_EQ(f.of("w"), "Bfp4_b");
  EXPECT_EQ(f.of("m"), "Float16_b Float32 Float32 HiFi4");
}

TEST(AssignFormats, Impossible) {
  Formats f;
  f.context.formats.standard = DataFormat::lf8;
  EXPECT_EQ(f.error(kAssignFormats, f.graph).substr(0, 53), "PA030: device 'test-b' has no format Lf8; it has Floa");
  f.context.formats.standard = DataFormat::int8;
  EXPECT_EQ(f.error(kAssignFormats, f.graph), "PA030: the standard format Int8 is not a floating-point format");

  Formats g;
  g.graph.node(g.graph.find("w")).outputs[0].format = DataFormat::bfp2;
  EXPECT_EQ(g.error(kAssignFormats, g.graph).substr(0, 62), "PA033: node 'w': format Bfp2 does not exist on device 'test-b'");
  Formats h;
  h.graph.node(h.graph.find("x")).outputs[0].format = DataFormat::float16_b;
  h.graph.node(h.graph.find("w")).outputs[0].format = DataFormat::float16;
  EXPECT_EQ(
      h.error(kAssignFormats, h.graph),
      "PA033: node 'm': input 1 in Float16 mixes exponents of 5 and of 8 bits with the inputs before it; give them formats of one family");
  Formats i;
  i.device = grayskull_like();
  i.graph.node(i.graph.find("m")).precision.accumulate = DataFormat::float32;
  EXPECT_EQ(i.error(kAssignFormats, i.graph), "PA033: node 'm': accumulation in Float32 is not possible on device 'test-a'");
}

}  // namespace
}  // namespace buda::passes
