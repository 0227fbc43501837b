// Random device graphs of every size, on all boards: what is balanced is sound, and what is not says why.
#include "unit/balance/fixture.hpp"

#include <buda/base/rng.hpp>
#include <buda/netlist/check.hpp>
#include <buda/netlist/parse.hpp>
#include <buda/netlist/write.hpp>

namespace buda::balance {
namespace {

// Perceptrons with residual adds, softmax-like tails, heads along z, several inputs and outputs. Sizes are skewed: mostly small, sometimes
// such that epochs, streaming from DRAM, or nothing at all helps.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : rng_(seed), g_(cat("random_", seed)) { g_.with_values = false; }

  graph::Graph run() {
    std::int64_t rows = 32 * size(8);
    std::int64_t cols = 32 * size(24);
    graph::NodeId x = g_.input("input one", {1, 1, rows, cols}, {rows, cols}, format());
    std::uint64_t layers = 1 + rng_.below(6);
    for (std::uint64_t i = 0; i < layers; ++i) {
      graph::NodeId before = x;
      std::int64_t next = rng_.below(3) == 0 ? cols : 32 * size(32);
      x = g_.linear(cat("layer/", i), x, rows, cols, next, activation());
      if (next == cols && rng_.below(2) == 0) x = g_.op(cat("residual:", i), "add", {x, before}, {1, 1, rows, cols}, {}, format());
      cols = next;
      if (rng_.below(4) == 0) x = softmax(x, i, rows, cols);
      if (rng_.below(4) == 0) x = heads(x, i, rows, cols);
      if (rng_.below(5) == 0) g_.output(cat("tap", i), x);
    }
    g_.output("result", x, {rows, cols});
    return std::move(g_.graph);
  }

 private:
  std::int64_t size(std::int64_t most) {
    auto n = static_cast<std::int64_t>(1 + rng_.below(static_cast<std::uint64_t>(most)));
    if (rng_.below(12) == 0) n *= 16;
    if (rng_.below(60) == 0) n *= 211;  // a prime: no grid divides it
    return n;
  }
  DataFormat format() {
    constexpr DataFormat kFormats[] = {DataFormat::float16_b, DataFormat::bfp8_b, DataFormat::float16_b, DataFormat::bfp4_b};
    return kFormats[rng_.below(4)];
  }
  graph::AttrMap activation() {
    if (rng_.below(2) == 0) return {};
    return {{"relu_en", true}, {"relu_mode", std::string("min")}, {"relu_threshold", 0.0}};
  }
  graph::NodeId softmax(graph::NodeId x, std::uint64_t i, std::int64_t rows, std::int64_t cols) {
    Shape shape{1, 1, rows, cols}, column{1, 1, rows, 32};
    auto most = g_.op(cat("max", i), "reduce", {x}, column, {{"dim", std::string("c")}, {"type", std::string("max")}});
    auto low = g_.op(cat("low", i), "subtract", {x, graph::Edge(most, {graph::Tm::broadcast(graph::TmDim::c, cols / 32)})}, shape);
    auto e = g_.op(cat("exp", i), "exp", {low}, shape);
    auto ones = g_.parameter(cat("ones", i), {1, 1, cols, 32}, DataFormat::float16_b, "constant");
    auto sum = g_.op(cat("sum", i), "matmul", {e, ones}, column);
    auto inverse = g_.op(cat("inverse", i), "reciprocal", {sum}, column);
    return g_.op(cat("softmax", i), "multiply", {e, graph::Edge(inverse, {graph::Tm::broadcast(graph::TmDim::c, cols / 32)})}, shape);
  }
  // Cut along the columns into slices of z, multiplied with their transposes, and put together again.
  graph::NodeId heads(graph::NodeId x, std::uint64_t i, std::int64_t rows, std::int64_t cols) {
    auto all = divisors(cols / 32);
    std::int64_t n = all[rng_.below(all.size())];
    graph::Tm cut = graph::Tm::hslice(n), join = graph::Tm::hstack(n);
    auto scores =
        g_.op(cat("scores", i), "matmul", {graph::Edge(x, {cut}), graph::Edge(x, {cut, graph::Tm::transpose()})}, {1, n, rows, rows});
    auto mixed = g_.op(cat("mixed", i), "matmul", {scores, graph::Edge(x, {cut})}, {1, n, rows, cols / n});
    return g_.op(cat("joined", i), "nop", {graph::Edge(mixed, {join})}, {1, 1, rows, cols});
  }

  Rng rng_;
  DeviceGraph g_;
};

class Random : public ::testing::TestWithParam<std::string> {};

TEST_P(Random, WhatIsBalancedIsSoundAndWhatIsNotSaysWhy) {
  int balanced = 0, refused = 0, several_epochs = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    graph::Graph graph = Generator(seed).run();
    BalanceOptions options;
    options.models.allow_transpose = seed % 4 == 0;
    options.models.resident_parameters = seed % 5 != 0;
    auto result = balance_with(graph, GetParam(), options, seed % 2 == 0);
    if (!result.ok()) {
      ++refused;
      for (const auto& d : result.failure().diagnostics()) {
        EXPECT_EQ(d.fault, Fault::fit) << "seed " << seed << ": " << d.message;
        EXPECT_FALSE(d.node.empty()) << "seed " << seed << ": " << d.message;
      }
      continue;
    }
    ++balanced;
    several_epochs += result->choice.epochs() > 1 ? 1 : 0;
    std::string text = netlist::write_netlist(result->built.netlist);
    auto parsed = netlist::parse_netlist(text, "net.yaml");
    ASSERT_TRUE(parsed.ok()) << "seed " << seed << ": " << text_of(parsed.failure());
    EXPECT_TRUE(*parsed == result->built.netlist) << "seed " << seed;
    for (const auto& d : netlist::check_netlist(*parsed, board(GetParam()), {netlist::CheckLevel::run}))
      EXPECT_NE(d.severity, Severity::error) << "seed " << seed << ": " << d.code << ' ' << d.message;
    // The resource model says the same of the netlist that was read back.
    for (const auto& g : parsed->graphs)
      for (const auto& op : g.ops) EXPECT_TRUE(l1_usage(op, {}, board(GetParam())).fits()) << "seed " << seed << ": " << op.name;
  }
  // The generator has to reach all three.
  EXPECT_GT(balanced, 30);
  EXPECT_GT(refused, 0);
  EXPECT_GT(several_epochs, 3);
}

INSTANTIATE_TEST_SUITE_P(Boards, Random, ::testing::ValuesIn(kBoards), [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace buda::balance
