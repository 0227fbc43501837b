// SPDX-License-Identifier: Apache-2.0
// Rules of mixed precision: reading them, whom they are for, and what assign-formats makes of them.
#include "values.hpp"

#include <buda/graph/tags/training.hpp>
#include <buda/passes/formats/precision_rules.hpp>

namespace buda::passes {
namespace {

using F = DataFormat;
using graph::MathFidelity;

PrecisionRule rule(const std::string& text) {
  auto r = parse_precision_rule(text);
  EXPECT_TRUE(r.ok()) << text << ": " << (r ? "" : Bench::message(r.failure()));
  return r ? *r : PrecisionRule{};
}

std::string mistake(const std::string& text) {
  auto r = parse_precision_rule(text);
  if (r) return "no error";
  std::string out;
  for (const Diagnostic& d : r.failure().diagnostics()) out += cat(out.empty() ? "" : "\n", d.code, ": ", d.message);
  return out;
}

TEST(PrecisionRule, IsReadFromAFlowMap) {
  PrecisionRule r = rule(
      "{op_type: matmul, name_regex: 'a.*', layer: encoder, epoch_type: Forward, is_gradient_op: false, output_df: Bfp8_b, "
      "intermediate_df: Float16_b, accumulate_df: Float32, math_fidelity: LoFi}");
  EXPECT_EQ(r.op_type, "matmul");
  EXPECT_EQ(r.name_regex, "a.*");
  EXPECT_EQ(r.layer, "encoder");
  EXPECT_EQ(r.epoch_type, "Forward");
  EXPECT_EQ(r.is_gradient_op, false);
  EXPECT_EQ(r.output_df, F::bfp8_b);
  EXPECT_EQ(r.intermediate_df, F::float16_b);
  EXPECT_EQ(r.accumulate_df, F::float32);
  EXPECT_EQ(r.math_fidelity, MathFidelity::lofi);
  EXPECT_EQ(rule("{name_regex_match: x, input_df: Bfp4_b}").input_df, F::bfp4_b);
  auto by_operand = rule("{input_df: {0: [Bfp8_b, true], 2: Float16_b}}").input_dfs;
  EXPECT_EQ(by_operand, (std::map<std::int64_t, PrecisionRule::InputFormat>{{0, {F::bfp8_b, true}}, {2, {F::float16_b, false}}}));
  EXPECT_EQ(rule("{input_parameter_indices_to_optimize: [[1, 8], [2, 4]]}").parameter_bits,
            (std::map<std::int64_t, std::int64_t>{{1, 8}, {2, 4}}));
}

TEST(PrecisionRule, SeveralInBrackets) {
  auto rules = parse_precision_rules("[{op_type: add, output_df: Bfp8_b}, {math_fidelity: LoFi}]");
  ASSERT_TRUE(rules.ok());
  ASSERT_EQ(rules->size(), 2u);
  EXPECT_EQ((*rules)[0].op_type, "add");
  EXPECT_EQ((*rules)[1].math_fidelity, MathFidelity::lofi);
  EXPECT_EQ(parse_precision_rules("{math_fidelity: LoFi}")->size(), 1u);
  EXPECT_EQ(parse_precision_rules("[{math_fidelity: Low}, {}, 3]").failure().diagnostics().size(), 3u);
}

TEST(PrecisionRule, MistakesAreNamed) {
  EXPECT_EQ(mistake("{op_typ: matmul, output_df: Bfp8_b}").substr(0, 37), "PA050: there is no key 'op_typ'; know");
  EXPECT_EQ(mistake("{output_df: Bfp8_c}").substr(0, 20), "PA050: 'output_df': ");
  EXPECT_EQ(mistake("{op_type: matmul}").substr(0, 22), "PA050: it sets nothing");
  EXPECT_EQ(mistake("{name_regex: '(', output_df: Bfp8_b}").substr(0, 54), "PA050: 'name_regex': '(' is not a regular expression: ");
  EXPECT_EQ(mistake("{math_fidelity: HiFi5}"), "PA050: 'math_fidelity': expected LoFi, HiFi2, HiFi3 or HiFi4, found the string 'HiFi5'");
  EXPECT_EQ(mistake("{epoch_type: Fwd, output_df: Bfp8_b}"),
            "PA050: 'epoch_type': expected Forward, Backward, Optimizer, found the string 'Fwd'");
  EXPECT_EQ(mistake("{input_parameter_indices_to_optimize: [[1, 7]]}").substr(0, 55),
            "PA050: 'input_parameter_indices_to_optimize': expected ");
  EXPECT_EQ(mistake("{input_df: {a: Bfp8_b}}").substr(0, 28), "PA050: 'input_df': expected ");
  EXPECT_EQ(mistake("[1, 2]").substr(0, 28), "PA050: expected a map such a");
  EXPECT_EQ(mistake("{a: ").substr(0, 7), "PA050: ");
  EXPECT_NE(mistake("{output_df: Bfp9, math_fidelity: 3}").find('\n'), std::string::npos) << "all mistakes at once";
}

// x -> fc1 (weights, bias) -> a softmax's ops -> fc2 -> y, and a residual from fc1.
Graph precision_network() {
  Builder b("g", graph::Level::device);
  auto x = b.input("x", {64, 64});
  auto fc1 = called(
      b, "fc1", b.matmul(x, b.parameter("w1", varied({64, 64})), Edge(b.parameter("b1", varied({1, 64})), {Tm::broadcast(TmDim::r, 2)})));
  auto e = called(b, "softmax.exp", b.exp(fc1));
  b.node(e).tags[kOriginalOpType] = "softmax";
  auto fc2 = called(b, "layer.1.query", b.matmul(e, b.parameter("layer.1.query.weight", varied({64, 64}))));
  b.node(fc2).tags[kLayer] = "layer.1";
  b.node(fc2).origins = {{"m.onnx", "/attention/MatMul"}};
  auto sum = called(b, "sum", b.add(fc2, fc1));
  b.output("y", called(b, "last", b.exp(sum)));
  return finished(b);
}

struct Precision : Bench {
  Graph graph = precision_network();
  void with(const std::vector<std::string>& rules) {
    for (const std::string& text : rules) {
      context.formats.rules.push_back(rule(text));
      context.formats.rules.back().title = cat("rule ", context.formats.rules.size());
      context.formats.rules.back().given_by_user = true;
    }
    run(kAssignFormats, graph);
  }
  std::string of(const char* name) const {
    const Node& n = graph.node(graph.find(name));
    std::string out(format_name(*n.outputs[0].format));
    if (n.is_op())
      out += cat(' ', format_name(*n.precision.intermediate), ' ', format_name(*n.precision.accumulate), ' ',
                 graph::fidelity_name(*n.precision.fidelity));
    return out;
  }
  std::string warnings() const {
    std::string out;
    for (const Diagnostic& d : sink.diagnostics()) out += cat(d.code, ": ", d.message, '\n');
    return out;
  }
};

constexpr const char* kBasicFormats = "Float16_b Float16_b Float16_b HiFi3";

TEST(MixedPrecision, ByOpTypeNameLayerAndOrigin) {
  Precision p;
  p.with({"{op_type: matmul, math_fidelity: HiFi2, accumulate_df: Float32, output_df: Bfp8_b}",
          "{name_regex: 'layer.*(query|key).weight', output_df: Bfp4_b}", "{op_type: softmax, intermediate_df: Bfp8_b}",
          "{layer: 'layer\\.\\d', math_fidelity: LoFi}", "{name_regex: /attention/MatMul, output_df: Float16_b}",
          "{op_type: input, output_df: Float32}"});
  EXPECT_EQ(p.of("fc1"), "Bfp8_b Float32 Float32 HiFi2");
  EXPECT_EQ(p.of("layer.1.query"), "Float16_b Float32 Float32 LoFi") << "later rules override";
  EXPECT_EQ(p.of("layer.1.query.weight"), "Bfp4_b");
  EXPECT_EQ(p.of("w1"), "Float16_b");
  EXPECT_EQ(p.of("softmax.exp"), "Float16_b Bfp8_b Float16_b HiFi3");
  EXPECT_EQ(p.of("x"), "Float32");
  EXPECT_EQ(p.of("sum"), kBasicFormats);
  EXPECT_EQ(p.warnings(), "");
  EXPECT_EQ(p.run(kAssignFormats, p.graph).rewrites, 0u) << "a second time changes nothing";
}

TEST(MixedPrecision, NamesAreMatchedWhole) {
  Precision p;
  p.with({"{name_regex: fc, output_df: Bfp8_b}", "{epoch_type: Backward, output_df: Bfp8_b}", "{name_regex: '', math_fidelity: HiFi4}"});
  EXPECT_EQ(p.of("fc1"), "Float16_b Float16_b Float16_b HiFi4");
  EXPECT_EQ(p.warnings(), "PA036: rule 1 applies to no node of the graph\nPA036: rule 2 applies to no node of the graph\n");
}

TEST(MixedPrecision, ByPhaseOfATrainingStep) {
  Precision p;
  p.graph.node(p.graph.find("fc1")).tags[graph::kPhase] = graph::kPhaseBackward;
  p.graph.node(p.graph.find("softmax.exp")).tags[graph::kPhase] = graph::kPhaseOptimizer;
  p.graph.node(p.graph.find("sum")).tags[graph::kTraining] = graph::kTrainingGradient;
  p.with({"{epoch_type: Backward, math_fidelity: HiFi2}", "{epoch_type: Optimizer, math_fidelity: HiFi4}",
          "{epoch_type: Forward, is_gradient_op: true, output_df: Float32}",
          "{epoch_type: Forward, is_gradient_op: false, math_fidelity: LoFi}"});
  EXPECT_EQ(p.of("fc1"), "Float16_b Float16_b Float16_b HiFi2");
  EXPECT_EQ(p.of("softmax.exp"), "Float16_b Float16_b Float16_b HiFi4");
  EXPECT_EQ(p.of("sum"), "Float32 Float32 Float32 HiFi4");
  EXPECT_EQ(p.of("layer.1.query"), "Float16_b Float16_b Float16_b LoFi");
  EXPECT_EQ(p.warnings(), "");
}

TEST(MixedPrecision, ByInput) {
  Precision p;
  p.with({"{op_type: matmul, input_df: {0: Bfp8_b, 1: Bfp4_b}}"});
  EXPECT_EQ(p.of("x"), "Bfp8_b");
  EXPECT_EQ(p.of("w1"), "Bfp4_b");
  EXPECT_EQ(p.of("softmax.exp"), kBasicFormats) << "an op gives it";
  Precision q;
  q.with({"{op_type: matmul, input_df: {0: [Bfp8_b, true]}}"});
  EXPECT_EQ(q.of("softmax.exp"), "Bfp8_b Float16_b Float16_b HiFi3");
  Precision r;
  r.with({"{name_regex: sum, input_df: Bfp8_b}"});
  EXPECT_EQ(r.of("layer.1.query"), "Bfp8_b Float16_b Float16_b HiFi3");
  EXPECT_EQ(r.of("fc1"), "Bfp8_b Float16_b Float16_b HiFi3");
}

TEST(MixedPrecision, TheSwitches) {
  Precision light;
  light.context.formats.rules = amp_light_rules(1);
  light.with({});
  EXPECT_EQ(light.of("w1"), "Bfp8_b");
  EXPECT_EQ(light.of("b1"), "Bfp8_b");
  EXPECT_EQ(light.of("x"), "Float16_b");
  EXPECT_EQ(light.of("fc1"), "Float16_b Float16_b Float16_b HiFi2");
  EXPECT_EQ(light.of("sum"), kBasicFormats);
  Precision lighter;
  lighter.context.formats.rules = amp_light_rules(2);
  lighter.with({});
  EXPECT_EQ(lighter.of("w1"), "Bfp4_b");
  EXPECT_EQ(lighter.of("fc1"), "Float16_b Float16_b Float16_b LoFi");
  Precision level;
  level.context.formats.rules = amp_level_rules(1, ExponentFamily::b);
  level.with({});
  EXPECT_EQ(level.of("x"), "Bfp8_b");
  EXPECT_EQ(level.of("fc1"), "Bfp8_b Float16_b Float16_b HiFi2");
  EXPECT_EQ(level.of("softmax.exp"), kBasicFormats);
  EXPECT_EQ(level.of("sum"), "Bfp8_b Float16_b Float16_b HiFi3");
  EXPECT_EQ(level.of("last"), kBasicFormats) << "the host reads it";
  Precision other;
  other.device.formats.push_back(F::bfp4);
  other.context.formats.rules = amp_level_rules(2, ExponentFamily::a);
  other.with({});
  EXPECT_EQ(other.of("fc1"), "Bfp8 Float16 Float16 HiFi2");
  EXPECT_EQ(other.of("softmax.exp"), "Float16 Float16 Float16 HiFi3");
  Precision weights;
  weights.context.formats.rules = bfp8_conversion_rules();
  weights.context.formats.standard = F::float16;
  weights.with({});
  EXPECT_EQ(weights.of("w1"), "Bfp8");
  EXPECT_EQ(weights.of("fc1"), "Float16 Float16 Float16 HiFi3");
  for (auto* p : {&light, &lighter, &level, &other, &weights}) EXPECT_EQ(p->warnings(), "");
}

TEST(MixedPrecision, ValuesThatAreReadTogetherHaveOneExponentWidth) {
  // The residual ties fc1 to fc2; of two requests against one the two win.
  Precision p;
  p.with({"{name_regex: fc1, output_df: Bfp8}", "{name_regex: layer.1.query, output_df: Bfp8_b}"});
  EXPECT_EQ(p.of("fc1"), "Bfp8_b Float16_b Float16_b HiFi3") << "a tie is the standard's";
  EXPECT_EQ(p.warnings(),
            "PA035: rule 1: 'fc1' is kept in Bfp8_b instead of Bfp8, since ops read it together with values whose exponents have "
            "another width\n");
  Precision q;
  q.with({"{name_regex: 'fc1', output_df: Bfp8}"});
  EXPECT_EQ(q.of("fc1"), "Bfp8 Float16_b Float16_b HiFi3") << "nothing else requests a format";
  EXPECT_EQ(q.of("layer.1.query"), "Float16 Float16_b Float16_b HiFi3") << "read together with it";
  EXPECT_EQ(q.of("last"), "Float16_b Float16_b Float16_b HiFi3");
  EXPECT_EQ(q.of("w1"), "Float16_b");
  EXPECT_EQ(q.warnings(), "");
  // A chip that cannot change the exponents while it accumulates ties a matmul's result to its operands.
  Precision g;
  g.device = grayskull_like();
  g.with({"{name_regex: 'fc1', output_df: Bfp8}"});
  EXPECT_EQ(g.of("fc1"), "Bfp8 Float16 Float16 HiFi3");
  EXPECT_EQ(g.of("x"), "Float16");
  EXPECT_EQ(g.of("sum"), "Float16_b Float16 Float16 HiFi3");
}

TEST(MixedPrecision, AMatmulDoesNotAddUpInCoarseFormats) {
  Precision p;
  p.with({"{op_type: matmul, intermediate_df: Bfp4_b}"});
  EXPECT_EQ(p.of("fc1"), "Float16_b Bfp8_b Float16_b HiFi3");
}

TEST(MixedPrecision, WhatTheDeviceCannotIsRefused) {
  auto refused = [](const std::string& text, const device::DeviceDescriptor& device) {
    Precision p;
    p.device = device;
    p.context.formats.rules = {rule(text)};
    p.context.formats.rules[0].title = "rule 1";
    return p.error(kAssignFormats, p.graph).substr(0, 56);
  };
  EXPECT_EQ(refused("{output_df: Lf8}", wormhole_like()), "PA034: rule 1: device 'test-b' has no format Lf8; it has");
  EXPECT_EQ(refused("{input_df: {0: Bfp2_b}}", wormhole_like()), "PA034: rule 1: device 'test-b' has no format Bfp2_b; it ");
  EXPECT_EQ(refused("{accumulate_df: Float32}", grayskull_like()), "PA034: rule 1: device 'test-a' does not accumulate in Fl");
  EXPECT_EQ(refused("{accumulate_df: Bfp8_b}", wormhole_like()), "PA034: rule 1: device 'test-b' does not accumulate in Bf");
  EXPECT_EQ(refused("{output_df: Float16_b}", wormhole_like()), "no error");
}

TEST(MixedPrecision, ElementTypesDecideWithoutRequests) {
  Builder b("g", graph::Level::device);
  auto x = b.input("x", {32, 32}, DType::f16);
  b.output("y", called(b, "e", b.exp(x)));
  Precision p;
  p.graph = finished(b);
  p.with({});
  EXPECT_EQ(p.of("x"), "Float16");
  EXPECT_EQ(p.of("e"), "Float16 Float16 Float16 HiFi3");
}

// Source registers take exponents of one width, and those of a Float32 have 8 bits there.
TEST(MixedPrecision, WhatMeetsAFloat32HasNoExponentsOf5Bits) {
  Precision p;
  p.with({"{name_regex: fc1, output_df: Float16}", "{name_regex: layer.1.query, output_df: Float32}"});
  EXPECT_EQ(p.of("fc1").substr(0, 8), "Float32 ") << "read together with it, by the residual";
  EXPECT_EQ(p.warnings(),
            "PA035: rule 1: 'fc1' is kept in Float32 instead of Float16, since ops read it together with values whose exponents have "
            "another width\n");
}

// Indices are exact in Float32, whatever the format of what is searched: searches find them in reductions and differences of both.
TEST(MixedPrecision, SearchesOfFloat16) {
  for (const char* op : {"argmin", "argmax"}) {
    Builder b("g");
    auto x = b.input("x", {1, 33}, DType::f16);
    b.output("y", b.op(op, {b.exp(x)}, {{"dim", std::int64_t{1}}}));
    Bench bench;
    Graph graph = finished(b);
    bench.context.decompositions = &plugin_decompositions();
    for (const Pass* pass : {&kDecompose, &kLowerToDevice, &kAssignFormats}) bench.run(*pass, graph);
    std::size_t with_float32 = 0;
    for (NodeId id : graph.topological_order()) {
      const Node& n = graph.node(id);
      if (!n.is_op()) continue;
      std::size_t wide = 0, narrow = 0;
      for (const graph::Edge& edge : n.inputs()) {
        const F f = *graph.type(edge.source)->format;
        wide += f == F::float32 ? 1 : 0;
        narrow += exponent_family(f) == ExponentFamily::a ? 1 : 0;
      }
      EXPECT_FALSE(wide != 0 && narrow != 0) << op << ": " << n.name() << '\n' << listing(graph);
      EXPECT_FALSE(n.op() == "reduce" && n.precision.accumulate == F::float32 && narrow != 0) << op << ": " << n.name();
      with_float32 += wide != 0 ? 1 : 0;
    }
    EXPECT_GT(with_float32, 3u) << listing(graph);
  }
}

// A model's softmax is known as such after decomposition and lowering.
TEST(MixedPrecision, FollowsTheModelsOpsThroughDecomposition) {
  Builder b("g");
  auto x = b.input("x", {64, 50});
  b.output("y", b.op("softmax", {b.matmul(x, b.parameter("w", varied({50, 40})))}, {{"dim", std::int64_t{-1}}}));
  Bench bench;
  Graph graph = finished(b);
  bench.context.decompositions = &plugin_decompositions();
  bench.context.formats.rules = amp_level_rules(1, ExponentFamily::b);
  for (const Pass* pass : {&kDecompose, &kLowerToDevice, &kCommonSubexpressionElimination, &kAssignFormats}) bench.run(*pass, graph);
  std::size_t fine = 0;
  for (NodeId id : graph.topological_order()) {
    const Node& n = graph.node(id);
    if (!n.is_op()) continue;
    bool softmax = n.tags.contains(kOriginalOpType);
    EXPECT_EQ(*n.outputs[0].format, softmax ? F::float16_b : F::bfp8_b) << n.name();
    fine += softmax ? 1 : 0;
  }
  EXPECT_GE(fine, 5u) << listing(graph);
}

}  // namespace
}  // namespace buda::passes
