// SPDX-License-Identifier: Apache-2.0
// choose-saved: what a training step keeps for its backward phase, and that what it computes again gives the same.
#include "values.hpp"

#include <buda/autograd/training_step.hpp>
#include <buda/graph/tags/training.hpp>
#include <buda/passes/pipeline/standard_passes.hpp>
#include <buda/passes/saved/min_cut.hpp>
#include <buda/passes/saved/saved_values.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace buda::passes {
namespace {

// ---- minimum cuts

struct RandomNetwork {
  struct Edge {
    std::size_t from, to;
    std::int64_t capacity;
  };
  std::size_t nodes = 0;
  std::vector<Edge> edges;

  // Without a way from node 0 to node 1 that has no limit.
  explicit RandomNetwork(std::uint64_t seed) {
    Rng rng(seed);
    nodes = 3 + static_cast<std::size_t>(rng.uniform(0, 5));
    const auto any = [&] { return static_cast<std::size_t>(rng.uniform(0, static_cast<double>(nodes) - 0.001)); };
    const auto count = 2 * nodes + static_cast<std::size_t>(rng.uniform(0, 6));
    for (std::size_t i = 0; i < count; ++i)
      if (const Edge e{any(), any(), static_cast<std::int64_t>(rng.uniform(0, 9))}; e.from != e.to) edges.push_back(e);
  }

  std::int64_t cut(const std::vector<bool>& sink_side) const {
    std::int64_t out = 0;
    for (const Edge& e : edges)
      if (!sink_side[e.from] && sink_side[e.to]) out += e.capacity;
    return out;
  }
};

TEST(MinCut, IsTheLeastOfAllAndNearestToTheSink) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const RandomNetwork network(seed);
    FlowNetwork flow(network.nodes);
    for (const auto& e : network.edges) flow.connect(e.from, e.to, e.capacity);
    const std::vector<bool> found = flow.sink_side(0, 1);
    EXPECT_FALSE(found[0]) << seed;
    EXPECT_TRUE(found[1]) << seed;
    for (std::size_t bits = 0; bits < std::size_t{1} << network.nodes; ++bits) {
      if ((bits & 1) != 0 || (bits & 2) == 0) continue;
      std::vector<bool> side(network.nodes);
      for (std::size_t i = 0; i < network.nodes; ++i) side[i] = (bits >> i & 1) != 0;
      ASSERT_GE(network.cut(side), network.cut(found)) << seed;
      if (network.cut(side) > network.cut(found)) continue;
      for (std::size_t i = 0; i < network.nodes; ++i) EXPECT_LE(found[i], side[i]) << seed;
    }
  }
}

// ---- steps

Graph step_of(Builder& b, autograd::StepForm form) {
  autograd::StepOptions options;
  options.loss = *autograd::parse_loss("mse");
  options.form = form;
  auto step = autograd::training_step(finished(b), options);
  EXPECT_TRUE(step.ok());
  return std::move(step->graph);
}

// Blocks of attention and of two products, each added to what it is given.
Graph transformer_step(std::int64_t blocks, autograd::StepForm form) {
  constexpr std::int64_t kRows = 40, kWidth = 64;
  Builder b("net");
  auto x = b.input("x", {kRows, kWidth});
  ValueRef at = x;
  for (std::int64_t i = 0; i < blocks; ++i) {
    const auto weight = [&](const char* name, std::int64_t rows, std::int64_t columns) {
      return b.parameter(cat(name, i), varied({rows, columns}, static_cast<std::uint64_t>(i) + 1));
    };
    auto q = b.matmul(at, weight("q", kWidth, kWidth)), k = b.matmul(at, weight("k", kWidth, kWidth));
    auto scores = b.matmul(q, b.transpose(k, {1, 0}));
    auto p = b.op("softmax", {scores}, {{"dim", std::int64_t{-1}}});
    auto h = b.add(at, b.matmul(p, at));
    auto wide = b.op("gelu", {b.matmul(h, weight("up", kWidth, 4 * kWidth))});
    at = b.add(h, b.matmul(wide, weight("down", 4 * kWidth, kWidth)));
  }
  b.output("y", at);
  return step_of(b, form);
}

// A random chain of formulas, products and movements of odd sizes, with ways around parts of it.
Graph random_step(std::uint64_t seed) {
  Rng rng(seed);
  const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(rng.uniform(0, static_cast<double>(n) - 0.001)); };
  Builder b("net");
  const std::int64_t rows = 3 + below(40);
  std::int64_t width = 5 + below(60);
  ValueRef at = b.input("x", {rows, width});
  std::vector<std::pair<std::int64_t, ValueRef>> before{{width, at}};
  const std::int64_t count = 6 + below(10);
  for (std::int64_t i = 0; i < count; ++i) {
    constexpr std::array kFormulas = {"tanh", "gelu", "sigmoid", "relu", "exp"};
    switch (below(4)) {
      case 0: {
        const std::int64_t next = 5 + below(60);
        at = b.matmul(at, b.parameter(cat("w", i), varied({width, next}, seed + static_cast<std::uint64_t>(i))));
        width = next;
        break;
      }
      case 1:
        at = b.op(kFormulas[static_cast<std::size_t>(below(4))], {at});
        break;
      case 2:
        at = b.op("softmax", {at}, {{"dim", std::int64_t{-1}}});
        break;
      default:
        for (const auto& [size, value] : before)
          if (size == width) {
            at = b.op("tanh", {b.add(at, value)});
            break;
          }
    }
    before.emplace_back(width, at);
  }
  b.output("y", b.matmul(at, b.parameter("last", varied({width, 3}, seed))));
  return step_of(b, autograd::StepForm::step);
}

std::int64_t kept(const Graph& graph, const Bench& bench) { return all_saved(forward_values(graph, bench.context)).bytes; }

// Runs the pass, and gives the bytes that are kept then.
std::int64_t kept_with(Graph graph, Recompute recompute, std::optional<std::int64_t> limit = {}) {
  Bench bench;
  bench.context.saved = {recompute, limit};
  const std::int64_t expected = choose_saved_values(forward_values(graph, bench.context), bench.context.saved).bytes;
  const std::size_t before = graph.size();
  expect_equivalence(graph, bench, {&kChooseSaved, &kCommonSubexpressionElimination});
  EXPECT_EQ(kept(graph, bench), expected) << "what is read is what was chosen";
  EXPECT_TRUE(recompute != Recompute::none || limit || graph.size() <= before);
  for (NodeId id : graph.ids())
    if (graph.node(id).tags.contains(kRecomputed)) EXPECT_EQ(graph.node(id).tags.at(graph::kPhase), graph::kPhaseBackward);
  EXPECT_EQ(bench.sink.diagnostics().empty(), !limit || expected <= *limit);
  if (!bench.sink.diagnostics().empty()) EXPECT_EQ(bench.sink.diagnostics().front().code, "PA094");
  return expected;
}

TEST(ChooseSaved, ATransformerKeepsLess) {
  for (autograd::StepForm form : {autograd::StepForm::step, autograd::StepForm::programs}) {
    const Graph graph = transformer_step(6, form);
    const std::int64_t all = kept_with(graph, Recompute::none), formulas = kept_with(graph, Recompute::formulas),
                       segments = kept_with(graph, Recompute::segments);
    EXPECT_LT(formulas, all * 3 / 4);
    EXPECT_LT(segments, formulas / 3);
    EXPECT_EQ(kept_with(graph, Recompute::none, all), all) << "what is within the limit stays as it is";
    EXPECT_EQ(kept_with(graph, Recompute::none, formulas), formulas);
    const std::int64_t between = (formulas + segments) / 2;
    EXPECT_LE(kept_with(graph, Recompute::none, between), between);
    EXPECT_EQ(kept_with(graph, Recompute::none, 1), segments) << "no more can be done, which is told";
  }
}

TEST(ChooseSaved, RandomStepsGiveTheSame) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = random_step(seed);
    const std::int64_t all = kept_with(graph, Recompute::none), formulas = kept_with(graph, Recompute::formulas);
    EXPECT_LE(formulas, all);
    EXPECT_LE(kept_with(graph, Recompute::segments), formulas);
  }
}

TEST(ChooseSaved, InferenceStays) {
  Bench bench;
  bench.context.saved.recompute = Recompute::segments;
  Builder b("net");
  b.output("y", b.op("gelu", {b.matmul(b.input("x", {4, 64}), b.parameter("w", varied({64, 64})))}));
  Graph graph = finished(b);
  EXPECT_FALSE(bench.run(kChooseSaved, graph).changed());
}

}  // namespace
}  // namespace buda::passes
