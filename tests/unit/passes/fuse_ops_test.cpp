// SPDX-License-Identifier: Apache-2.0
// fuse-ops: which ops become one, in which order, and where their values wait.
#include "values.hpp"

#include <buda/graph/tags/training.hpp>
#include <buda/ops/device/fused_body.hpp>
#include <buda/passes/fuse/fuse_ops.hpp>
#include <buda/passes/fuse/fusing.hpp>
#include <buda/passes/lower/lowering_tags.hpp>

namespace buda::passes {
namespace {

const graph::AttrMap kFuseOpsRelu = {{"relu_en", true}, {"relu_mode", std::string("min")}, {"relu_threshold", 0.0}};

struct Fusing : Bench {
  Builder b{"g", graph::Level::device};
  Graph graph;

  void run_on(Builder& builder) {
    graph = finished(builder);
    expect_equivalence(graph, *this, {&kFuseOps});
  }
  std::vector<std::string> steps(const char* name) {
    NodeId id = graph.find(name);
    if (!id.valid() || graph.node(id).op() != "fused_op") return {"not fused"};
    std::vector<std::string> out;
    for (const graph::FusedSubOp& step : body(name).steps) out.push_back(text(step));
    return out;
  }
  const graph::FusedBody& body(const char* name) { return *std::get<graph::SharedBody>(graph.node(graph.find(name)).attrs.at("sub_ops")); }
  std::int64_t intermediates(const char* name) { return body(name).intermediates; }
};

using Steps = std::vector<std::string>;

TEST(FuseOps, AChainStaysInTheRegister) {
  Fusing f;
  auto x = f.b.input("x", {64, 64}), m = f.b.input("m", {32, 64}), g = f.b.parameter("g", varied({32, 64}));
  auto s = called(f.b, "s", f.b.op("subtract", {x, Edge(m, {Tm::broadcast(TmDim::r, 2)})}));
  f.b.node(s).origins = {{"m.onnx", "Sub_1"}};
  auto y = called(f.b, "p", f.b.op("multiply", {s, Edge(g, {Tm::broadcast(TmDim::r, 2)})}));
  f.b.node(y).origins = {{"m.onnx", "Mul_2"}};
  f.b.output("out", y);
  f.run_on(f.b);
  EXPECT_EQ(f.steps("p"), (Steps{"{name: s, type: subtract, inputs: [input0, input1], output: dest}",
                                 "{name: p, type: multiply, inputs: [dest, input2], output: output}"}));
  EXPECT_EQ(f.intermediates("p"), 0);
  const Node& n = f.graph.node(f.graph.find("p"));
  ASSERT_EQ(n.inputs().size(), 3u);
  EXPECT_EQ(n.inputs()[1].tms, std::vector<Tm>{Tm::broadcast(TmDim::r, 2)});
  EXPECT_EQ(n.origins, (std::vector<graph::Origin>{{"m.onnx", "Sub_1"}, {"m.onnx", "Mul_2"}}));
  EXPECT_FALSE(f.graph.find("s").valid());
}

TEST(FuseOps, WhatIsUsedTwiceWaitsInABuffer) {
  Fusing f;
  auto x = f.b.input("x", {32, 32}), y = f.b.input("y", {32, 32});
  auto a = called(f.b, "a", f.b.add(x, y));
  auto t = called(f.b, "t", f.b.tanh(a));
  auto r = called(f.b, "r", f.b.multiply(a, t));
  f.b.output("out", r);
  f.run_on(f.b);
  EXPECT_EQ(f.steps("r"), (Steps{"{name: a, type: add, inputs: [input0, input1], output: intermed0}",
                                 "{name: t, type: tanh, inputs: [intermed0], output: dest}",
                                 "{name: r, type: multiply, inputs: [dest, intermed0], pop: [intermed0], output: output}"}))
      << "operands of a product are exchanged";
  EXPECT_EQ(f.intermediates("r"), 1);
}

TEST(FuseOps, BuffersAreUsedAgain) {
  Fusing f;
  ValueRef v = f.b.input("x", {32, 32});
  for (int i = 0; i < 4; ++i) v = f.b.add(f.b.op("square", {v}), v);
  f.b.output("out", called(f.b, "last", v));
  f.run_on(f.b);
  EXPECT_LE(f.intermediates("last"), 2);
  EXPECT_EQ(f.steps("last").size(), 8u);
}

TEST(FuseOps, TheRegistersRules) {
  {
    Fusing f;  // a maximum neither reads nor writes the register
    auto x = f.b.input("x", {32, 32}), y = f.b.input("y", {32, 32});
    auto most = called(f.b, "most", f.b.op("maximum", {called(f.b, "t", f.b.tanh(x)), y}));
    f.b.output("out", called(f.b, "last", f.b.add(most, y)));
    f.run_on(f.b);
    EXPECT_EQ(f.steps("last")[0], "{name: t, type: tanh, inputs: [input0], output: intermed0}");
    EXPECT_EQ(f.steps("last")[1], "{name: most, type: maximum, inputs: [intermed0, input1], pop: [intermed0], output: intermed0}");
  }
  {
    Fusing f;  // a ReLU is the packer's, which packs into a buffer
    auto x = f.b.input("x", {32, 32});
    f.b.output("out", called(f.b, "last", f.b.tanh(called(f.b, "r", f.b.op("nop", {x}, kFuseOpsRelu)))));
    f.run_on(f.b);
    EXPECT_EQ(f.steps("last")[0],
              "{name: r, type: nop, inputs: [input0], output: intermed0, attributes: {relu_en: true, relu_mode: min, "
              "relu_threshold: 0}}");
  }
  for (bool second : {false, true}) {
    Fusing f;  // x - tanh(y): the register as second operand
    f.device.features.dest_as_operand_1 = second;
    auto x = f.b.input("x", {32, 32}), y = f.b.input("y", {32, 32});
    f.b.output("out", called(f.b, "last", f.b.op("subtract", {x, called(f.b, "t", f.b.tanh(y))})));
    f.run_on(f.b);
    EXPECT_EQ(f.intermediates("last"), second ? 0 : 1);
  }
}

TEST(FuseOps, WhoStaysAlone) {
  auto fused = [](const std::function<void(Fusing&)>& build) {
    Fusing f;
    build(f);
    f.graph = finished(f.b);
    return f.run(kFuseOps, f.graph).rewrites;
  };
  auto pair = [](Fusing& f) {
    auto t = called(f.b, "t", f.b.tanh(f.b.input("x", {32, 64})));
    f.b.output("y", called(f.b, "u", f.b.op("square", {t})));
    return t;
  };
  EXPECT_EQ(fused([&](Fusing& f) { pair(f); }), 1u);
  EXPECT_EQ(fused([&](Fusing& f) { f.b.output("too", pair(f)); }), 0u) << "the value is seen outside";
  EXPECT_EQ(fused([&](Fusing& f) { f.b.node(pair(f)).tags[kDontFuse] = ""; }), 0u);
  EXPECT_EQ(fused([&](Fusing& f) {
              pair(f);
              auto rule = parse_precision_rule("{op_type: tanh, output_df: Bfp8_b}");
              f.context.formats.rules = {*rule};
              f.context.formats.rules[0].given_by_user = true;
            }),
            0u);
  EXPECT_EQ(fused([](Fusing& f) {
              auto e = f.b.exp(f.b.input("x", {32, 64}));
              f.b.output("y", f.b.tanh(e));
            }),
            0u)
      << "nothing behind an exp";
  EXPECT_EQ(fused([](Fusing& f) {
              auto s = f.b.op("square", {f.b.input("x", {32, 64})});
              f.b.output("y", f.b.exp(s));
            }),
            1u)
      << "but before it";
  EXPECT_EQ(fused([](Fusing& f) {
              auto t = f.b.tanh(f.b.input("x", {32, 64}));
              f.b.output("y", f.b.op("square", {Edge(t, {Tm::transpose()})}));
            }),
            0u);
  EXPECT_EQ(fused([](Fusing& f) {
              auto t = f.b.tanh(f.b.input("x", {32, 64}));
              f.b.output("y", f.b.add(Edge(t, {Tm::broadcast(TmDim::r, 2)}), f.b.input("z", {64, 64})));
            }),
            0u)
      << "another shape";
}

TEST(FuseOps, NoMoreInputsThanStreams) {
  Fusing f;
  ValueRef v = f.b.input("x", {32, 32});
  for (int i = 0; i < 20; ++i) v = f.b.add(v, f.b.input(cat("x", i).c_str(), {32, 32}));
  f.b.output("out", v);
  f.run_on(f.b);
  std::size_t fused = 0;
  for (NodeId id : f.graph.ids()) {
    if (f.graph.node(id).op() != "fused_op") continue;
    ++fused;
    EXPECT_LE(f.graph.node(id).inputs().size(), 6u);
  }
  EXPECT_EQ(fused, 4u);
}

TEST(FuseOps, GroupsOfTheUser) {
  Fusing f;
  ValueRef v = f.b.input("x", {32, 32});
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    v = called(f.b, name, f.b.tanh(v));
    if (*name != 'e') f.b.node(v).tags[kFuseGroup] = *name < 'c' ? "0" : "1";
  }
  f.b.output("out", v);
  f.run_on(f.b);
  EXPECT_EQ(f.steps("b").size(), 2u);
  EXPECT_EQ(f.steps("d").size(), 2u);
  EXPECT_EQ(f.steps("e"), Steps{"not fused"});
}

TEST(FuseOps, FormatsAreThoseOfTheWhole) {
  Fusing f;
  auto t = f.b.tanh(f.b.input("x", {32, 64}));
  f.b.output("y", called(f.b, "u", f.b.op("square", {t})));
  f.run_on(f.b);
  f.run(kAssignFormats, f.graph);
  const Node& n = f.graph.node(f.graph.find("u"));
  EXPECT_EQ(n.outputs[0].format, DataFormat::float16_b);
  EXPECT_EQ(n.precision.intermediate, DataFormat::float16_b);
}

TEST(FusedBody, WhatIsWrongIsSaid) {
  auto problem = [](std::vector<std::string> steps, std::int64_t buffers = 0) {
    auto attrs = graph::fused_attrs_from_file({{"sub_ops", std::move(steps)}, {"intermediates", buffers}});
    if (!attrs) return attrs.failure().diagnostics()[0].message;
    auto body = ops::fused_body(*attrs, 2);
    if (body) return std::string("fine");
    const Diagnostic& d = body.failure().diagnostics()[0];
    EXPECT_TRUE(d.code == "OP070" || d.code == "OP002") << d.code << " is neither that of bodies nor that of attributes: " << d.message;
    return d.message;
  };
  EXPECT_EQ(problem({"{name: a, type: add, inputs: [input0, input1], output: output}"}), "fine");
  EXPECT_EQ(problem({}), "it has no sub-ops");
  EXPECT_EQ(problem({"{name: a, type: tanh, inputs: [input2], output: output}"}), "sub-op 'a': 'input2' has no value here");
  EXPECT_EQ(problem({"{name: a, type: tanh, inputs: [dest], output: output}"}), "sub-op 'a': 'dest' has no value here");
  EXPECT_EQ(problem({"{name: a, type: tanh, inputs: [input0], output: dest}"}),
            "sub-op 'a': the last sub-op, and no other, writes 'output'");
  EXPECT_EQ(
      problem({"{name: a, type: tanh, inputs: [input0], output: intermed0}", "{name: b, type: tanh, inputs: [intermed0], output: output}"},
              1),
      "an intermediate is never popped");
  EXPECT_EQ(
      problem({"{name: a, type: tanh, inputs: [input0], output: intermed1}", "{name: b, type: tanh, inputs: [input0], output: output}"}, 1),
      "sub-op 'a': there is no 'intermed1'");
  EXPECT_EQ(problem({"{name: a, type: fused_op, inputs: [input0], output: output}"}).substr(0, 45),
            "sub-op 0 of 'sub_ops': it needs a 'type', whi");
  EXPECT_EQ(problem({"{name: a, type: add, inputs: [input0], output: output}"}), "sub-op 0 of 'sub_ops': 'add' takes 2 inputs, not 1");
  EXPECT_EQ(problem({"{name: a, type: tanh, inputs: [input0], output: output, attributes: {slop: 1}}"}),
            "sub-op 0 of 'sub_ops': 'tanh' has no attribute 'slop'");
  EXPECT_EQ(problem({"{name: a, type: tanh, inputs: [input0], output: output, attributes: {relu_en: 1}}"}),
            "sub-op 0 of 'sub_ops': attribute 'relu_en' of 'tanh' is true or false, not an integer 1");
  EXPECT_EQ(problem({"{name: a, type: tanh, inputs: [input0], output: output, color: red}"}),
            "sub-op 0 of 'sub_ops': 'color: red' is not understood; keys are name, type, inputs, pop, output, attributes");
  EXPECT_NE(problem({"nonsense ]"}), "fine");
}

// fuse-updates joins ops of the optimizer's phase with one another, and no others.
TEST(FuseUpdates, OnlyOpsOfTheOptimizer) {
  Fusing f;
  auto x = f.b.input("x", {64, 64}), w = f.b.input("w", {64, 64}), rate = f.b.input("rate", {64, 64});
  auto a = called(f.b, "a", f.b.add(x, w)), g = called(f.b, "g", f.b.multiply(a, x));
  auto d = called(f.b, "d", f.b.multiply(g, rate)), next = called(f.b, "next", f.b.op("subtract", {w, d}));
  f.b.output("out", next);
  for (auto of_optimizer : {d, next}) f.b.node(of_optimizer).tags[graph::kPhase] = graph::kPhaseOptimizer;
  f.b.node(g).tags[graph::kPhase] = graph::kPhaseBackward;
  f.graph = finished(f.b);
  expect_equivalence(f.graph, f, {&kFuseUpdates});
  EXPECT_EQ(f.steps("next").size(), 2u);
  EXPECT_EQ(f.graph.node(f.graph.find("next")).tags.at(graph::kPhase), graph::kPhaseOptimizer);
  EXPECT_EQ(f.graph.node(f.graph.find("g")).op(), "multiply");
  EXPECT_EQ(f.graph.node(f.graph.find("a")).op(), "add");
}

// A hard swish becomes one op, with a register of 32 bits; a sum that a function reads stays apart.
TEST(FuseShifts, SumsWithConstantsThatAreMultiplied) {
  Fusing f;
  auto x = f.b.input("x", {64, 64}), three = f.b.parameter("three", varied({32, 32})), row = f.b.parameter("row", varied({32, 64}));
  auto shifted =
      called(f.b, "shifted", f.b.op("add", {x, Edge(three, {Tm::broadcast(TmDim::r, 2), Tm::broadcast(TmDim::c, 2)})}, kFuseOpsRelu));
  auto swish = called(f.b, "swish", f.b.op("multiply", {x, shifted}));
  auto biased = called(f.b, "biased", f.b.op("add", {x, Edge(row, {Tm::broadcast(TmDim::r, 2)})}));
  f.b.output("gated", swish);
  f.b.output("curved", called(f.b, "tanh", f.b.tanh(biased)));
  f.graph = finished(f.b);
  expect_equivalence(f.graph, f, {&kFuseShifts, &kAssignFormats});
  EXPECT_EQ(f.steps("swish").size(), 2u);
  EXPECT_EQ(f.graph.node(f.graph.find("biased")).op(), "add");
  EXPECT_EQ(f.graph.node(f.graph.find("tanh")).op(), "tanh");
  EXPECT_EQ(f.graph.node(f.graph.find("swish")).precision.accumulate, DataFormat::float32);
  EXPECT_EQ(f.graph.node(f.graph.find("biased")).precision.accumulate, DataFormat::float16_b);
}

// Integers are computed in Float32 at full fidelity, in a fused op, too, whichever of its steps asks for it; no sum of theirs is a shift.
TEST(FuseOps, ExactStepsMakeAnExactOp) {
  for (const Pass* pass : {&kFuseOps, &kFuseShifts}) {
    Fusing f;
    auto x = f.b.input("x", {64, 64}), c = f.b.parameter("c", varied({64, 64}));
    auto s = called(f.b, "s", f.b.op("subtract", {x, c}));
    f.b.node(s).tags[kExact] = "";
    f.b.output("out", called(f.b, "y", f.b.multiply(x, s)));
    f.graph = finished(f.b);
    expect_equivalence(f.graph, f, {pass, &kAssignFormats});
    const Node& y = f.graph.node(f.graph.find("y"));
    EXPECT_EQ(y.op(), pass == &kFuseOps ? "fused_op" : "multiply");
    if (pass == &kFuseOps) {
      EXPECT_TRUE(y.tags.contains(kExact));
      EXPECT_EQ(y.precision.fidelity, graph::MathFidelity::hifi4);
    }
  }
}

// A sum that waits in a buffer of 32 bits could not meet a Float16.
TEST(FuseShifts, OfFloat16InItsOwnFormat) {
  Fusing f;
  auto x = f.b.input("x", {64, 64}, DType::f16), c = f.b.parameter("c", varied({64, 64}).cast(DType::f16));
  auto shifted = called(f.b, "s", f.b.op("add", {x, c}, kFuseOpsRelu));
  f.b.output("out", called(f.b, "y", f.b.multiply(x, shifted)));
  f.graph = finished(f.b);
  f.run(kFuseShifts, f.graph);
  f.run(kAssignFormats, f.graph);
  EXPECT_EQ(f.graph.node(f.graph.find("y")).precision.accumulate, DataFormat::float16);
}

TEST(FuseShifts, NothingWhereTheRegisterHas16Bits) {
  Fusing f;
  f.device = grayskull_like();
  auto x = f.b.input("x", {64, 64}), c = f.b.parameter("c", varied({64, 64}));
  f.b.output("out", called(f.b, "y", f.b.multiply(x, called(f.b, "s", f.b.add(x, c)))));
  f.graph = finished(f.b);
  expect_equivalence(f.graph, f, {&kFuseShifts});
  EXPECT_EQ(f.graph.node(f.graph.find("y")).op(), "multiply");
}

}  // namespace
}  // namespace buda::passes
