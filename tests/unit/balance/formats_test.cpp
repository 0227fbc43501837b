// SPDX-License-Identifier: Apache-2.0
// Whatever formats a user requests: what the optimizer makes of them, the balancer takes and no rule of netlists refuses.
#include "unit/balance/fixture.hpp"
#include "unit/balance/golden_model.hpp"
#include "unit/passes/default_pipeline.hpp"
#include "unit/passes/random_graphs.hpp"
#include "unit/passes/values.hpp"

#include <buda/netlist/check/check.hpp>
#include <buda/ops/whole_graph/evaluate_formats.hpp>
#include <buda/tensor/check/compare.hpp>

namespace buda::balance {
namespace {

class Requests {
 public:
  Requests(std::uint64_t seed, const device::DeviceDescriptor& device) : rng_(seed), device_(device) {}

  passes::FormatOptions options() {
    passes::FormatOptions o;
    if (chance(50)) o.standard = floating();
    if (chance(40)) o.accumulate = accumulator();
    o.fidelity = fidelity();
    if (chance(30)) add(o, passes::amp_level_rules(static_cast<std::int64_t>(1 + rng_.below(2)), family()));
    if (chance(30)) add(o, passes::amp_light_rules(static_cast<std::int64_t>(1 + rng_.below(2))));
    if (chance(20)) add(o, passes::bfp8_conversion_rules());
    for (std::uint64_t n = rng_.below(4); n > 0; --n) add(o, {rule()});
    return o;
  }

 private:
  bool chance(unsigned percent) { return rng_.below(100) < percent; }
  static void add(passes::FormatOptions& o, const std::vector<passes::PrecisionRule>& rules) {
    o.rules.insert(o.rules.end(), rules.begin(), rules.end());
  }
  ExponentFamily family() { return chance(50) ? ExponentFamily::a : ExponentFamily::b; }
  graph::MathFidelity fidelity() { return static_cast<graph::MathFidelity>(rng_.below(4)); }
  DataFormat floating() {
    for (;;) {
      DataFormat f = device_.formats[rng_.below(device_.formats.size())];
      if (is_float(f)) return f;
    }
  }
  DataFormat accumulator() {
    constexpr DataFormat kAll[] = {DataFormat::float16_b, DataFormat::float16, DataFormat::float32};
    return kAll[rng_.below(device_.features.fp32_accumulate ? 3 : 2)];
  }
  passes::PrecisionRule rule() {
    static const std::vector<std::string> ops = {"matmul", "input", "parameter", "constant", "softmax", "add", "nop", "reduce", "multiply"};
    passes::PrecisionRule r;
    if (chance(80)) r.op_type = ops[rng_.below(ops.size())];
    if (chance(30)) r.name_regex = chance(50) ? ".*[13579]" : "add.*";
    if (chance(70)) r.output_df = floating();
    if (chance(30)) r.intermediate_df = floating();
    if (chance(30)) r.accumulate_df = accumulator();
    if (chance(30)) r.math_fidelity = fidelity();
    if (chance(20)) r.input_df = floating();
    if (chance(20)) r.input_dfs[static_cast<std::int64_t>(rng_.below(3))] = {floating(), chance(50)};
    return r;
  }

  Rng rng_;
  const device::DeviceDescriptor& device_;
};

class AnyFormats : public ::testing::TestWithParam<std::string> {};

TEST_P(AnyFormats, MakeLegalNetlists) {
  passes::Pipeline pipeline = passes::default_pipeline();
  int balanced = 0;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    passes::Bench bench;
    bench.device = board(GetParam());
    bench.context.decompositions = &passes::plugin_decompositions();
    bench.context.fallback.enabled = false;  // graphs of the device only
    bench.context.formats = Requests(seed, bench.device).options();
    graph::Graph graph = passes::random_graph(seed).graph;
    auto runs = passes::run_pipeline(pipeline, graph, bench.context, {.level = static_cast<std::int64_t>(seed % 3)});
    if (!runs) {
      for (const auto& d : runs.failure().diagnostics()) EXPECT_EQ(d.code, "PA020") << "seed " << seed << ": " << d.message;
      continue;
    }
    auto result = balance_with(graph, GetParam(), {}, seed % 2 == 0);
    if (!result.ok()) {
      for (const auto& d : result.failure().diagnostics()) {
        // Batches along several axes and the like are refused; never formats.
        EXPECT_NE(d.code, "BL004") << "seed " << seed << ": " << d.message;
        EXPECT_NE(d.fault, Fault::bug) << "seed " << seed << ": " << d.message;
        EXPECT_EQ(d.message.find("_df"), std::string::npos) << "seed " << seed << ": " << d.message;
      }
      continue;
    }
    ++balanced;
    for (const auto& d : netlist::check_netlist(result->built.netlist, board(GetParam()), {netlist::CheckLevel::run}))
      EXPECT_NE(d.severity, Severity::error) << "seed " << seed << ": " << d.code << ' ' << d.message << '\n' << passes::listing(graph);
  }
  EXPECT_GT(balanced, 60);
}

// A graph evaluated in its formats is what the golden target makes of the netlist. Both round the same numbers at the same places; sums are
// added in another order, so that now and then one ends up on the other side of a rounding, and what follows differs by that.
TEST_P(AnyFormats, AreEvaluatedAsTheGoldenTargetDoes) {
  passes::Pipeline pipeline = passes::default_pipeline();
  int compared = 0;
  std::size_t elements = 0, equal = 0, fused = 0;
  for (std::uint64_t seed = 1001; seed <= 1080; ++seed) {
    passes::Bench bench;
    bench.device = board(GetParam());
    bench.context.decompositions = &passes::plugin_decompositions();
    bench.context.fallback.enabled = false;  // graphs of the device only
    bench.context.formats = Requests(seed, bench.device).options();
    // Partial sums in another format than the register's are stored where the blocking says so, which the graph does not know.
    for (auto& rule : bench.context.formats.rules) rule.intermediate_df.reset();
    passes::RandomGraph random = passes::random_graph(seed);
    graph::Graph graph = random.graph;
    if (!passes::run_pipeline(pipeline, graph, bench.context, {.level = static_cast<std::int64_t>(seed % 3)})) continue;
    // Nor does it know which ops the balancer gives more bits.
    BalanceOptions options;
    options.wide_sums = false;
    auto balanced = balance_with(graph, GetParam(), options, seed % 2 == 0);
    if (!balanced.ok()) continue;
    auto ours = ops::evaluate_graph_in_formats(graph, random.inputs);
    ASSERT_TRUE(ours.ok()) << "seed " << seed << ": " << text_of(ours.failure());
    fused += balanced->built.netlist.fused_ops.size();
    auto session = GoldenSession::open(*balanced, arith::Mode::exact);
    ASSERT_TRUE(session.ok()) << text_of(session.failure());
    NamedTensors used;  // nothing is pushed for the others
    for (auto id : graph.inputs())
      if (graph.use_count(id) != 0) used.emplace(graph.node(id).name(), random.inputs.at(graph.node(id).name()));
    auto theirs = session->run(used);
    ASSERT_TRUE(theirs.ok()) << "seed " << seed << ": " << text_of(theirs.failure());
    for (const auto& [name, tensor] : *ours) {
      auto same = compare(theirs->at(name), tensor);
      ASSERT_TRUE(same.ok()) << text_of(same.failure());
      double range = 1e-3;
      for (float v : tensor.to_f32()) range = std::max(range, std::abs(static_cast<double>(v)));
      elements += same->count;
      equal += same->equal;
      EXPECT_LT(same->mean_abs_error / range, 2e-3) << "seed " << seed << ", " << name << '\n' << passes::listing(graph);
    }
    ++compared;
  }
  EXPECT_GT(compared, 25);
  EXPECT_GT(fused, 5u) << "optimisation level 2 makes fused ops";
  EXPECT_GT(static_cast<double>(equal), 0.97 * static_cast<double>(elements)) << equal << " of " << elements;
}

INSTANTIATE_TEST_SUITE_P(Boards, AnyFormats, ::testing::Values("e75", "n150"), [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace buda::balance
