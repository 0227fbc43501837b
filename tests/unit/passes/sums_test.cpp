// SPDX-License-Identifier: Apache-2.0
// Long sums and movements of many bits: the error model, what assign-formats makes of it, and split-sums.
#include "values.hpp"

#include <buda/base/checked.hpp>
#include <buda/graph/tags/sum_blocks.hpp>
#include <buda/graph/values/sum_roundings.hpp>
#include <buda/ops/linear_algebra/sparse.hpp>
#include <buda/passes/formats/accumulation_error.hpp>
#include <buda/passes/formats/constant_signs.hpp>
#include <buda/passes/formats/format_facts.hpp>
#include <buda/passes/formats/value_signs.hpp>

namespace buda::passes {
namespace {

using F = DataFormat;

Tensor filled(Shape shape, float v) {
  const auto size = static_cast<std::size_t>(*shape.volume());
  return Tensor(std::move(shape), std::vector<float>(size, v));
}

std::string accumulator_of(const Graph& graph, const char* name) {
  return std::string(format_name(*graph.node(graph.find(name)).precision.accumulate));
}

TEST(ExpectedError, GrowsUntilTheSumStalls) {
  auto error = [](std::int64_t steps, double coherence = 1, int bits = 8) {
    return expected_error({.terms = 16 * steps, .steps = steps, .phases = 3, .coherence = coherence}, bits);
  };
  EXPECT_LT(error(1), kLargestExpectedError);
  EXPECT_GT(error(8), kLargestExpectedError);
  EXPECT_LT(error(8), 0.01);
  // Half of 16,384 terms, seven eighths of 65,536: what module numerics loses of sums of equal terms.
  EXPECT_NEAR(error(1024), 0.5, 0.15);
  EXPECT_NEAR(error(4096), 0.875, 0.15);
  EXPECT_LT(error(64, 0.02), kLargestExpectedError) << "terms of both signs";
  // Steps of terms of both signs are larger than their mean, so that their sum stalls later: 25,088 terms times trained weights.
  EXPECT_LT(error(1568, 0.01), kLargestExpectedError);
  EXPECT_GT(error(1568, 0.3), 0.05);
  EXPECT_EQ(error(1568, 0), 0);
  EXPECT_LT(error(64, 1, 11), kLargestExpectedError) << "a register of 11 bits";
  EXPECT_EQ(expected_error({.terms = 1, .steps = 1, .phases = 3, .coherence = 1}, 8), 0) << "a movement";
}

TEST(ConstantSigns, OfAllNumbersAndOfLines) {
  EXPECT_EQ(signs_of(filled({4, 4}, -2)).coherence, 1);
  EXPECT_LT(signs_of(varied({64, 64})).coherence, 0.1);
  EXPECT_EQ(signs_of(filled({4}, 0)).coherence, 0);
  // Columns of one sign each, rows of both.
  Tensor columns = f32({2, 2}, {1, -1, 2, -2});
  EXPECT_EQ(lines_of(columns, false).coherence, 1);
  EXPECT_EQ(lines_of(columns, true).coherence, 0);
  EXPECT_EQ(lines_of(filled({32, 3}, 1), false).density, 1);
  EXPECT_EQ(lines_of(filled({8, 3}, 1), false).density, 0.25) << "of a tile";
  EXPECT_FALSE(lines_of(filled({8, 3}, 1), false).low_bits(false));
  EXPECT_TRUE(lines_of(filled({8, 3}, 1.0078125f), false).low_bits(false));
  EXPECT_EQ(most_picks(Tensor(Shape{4, 2}, std::vector<std::int32_t>{1, 0, 2, 0, 3, 1, 0, 0}), 2), 2);
}

TEST(AssignFormats, LongSumsOfOneSignInFloat32) {
  Builder b("g", graph::Level::device);
  auto x = b.input("x", {64, 1024});
  auto other = b.input("other", {1024, 64});
  auto weights = b.parameter("weights", varied({1024, 64}));
  auto ones = b.constant(filled({1024, 32}, 1));
  b.output("y0", called(b, "unknown", b.matmul(x, other)));
  b.output("y1", called(b, "weighted", b.matmul(x, weights)));
  b.output("y2",
           called(b, "positive", b.matmul(b.exp(called(b, "mixed", b.matmul(x, b.parameter("more", varied({1024, 1024}, 2))))), ones)));
  b.output("y3", called(b, "of_both_signs", b.matmul(b.tanh(b.matmul(x, b.parameter("third", varied({1024, 1024}, 3)))), ones)));
  b.output("y4", called(b, "short", b.matmul(b.input("a", {32, 32}), b.constant(filled({32, 32}, 1)))));
  Graph graph = finished(b), asked = graph;
  Bench bench;
  bench.run(kAssignFormats, graph);
  EXPECT_EQ(accumulator_of(graph, "unknown"), "Float32");
  EXPECT_EQ(accumulator_of(graph, "weighted"), "Float16_b");
  EXPECT_EQ(accumulator_of(graph, "mixed"), "Float16_b");
  EXPECT_EQ(accumulator_of(graph, "positive"), "Float32");
  EXPECT_EQ(accumulator_of(graph, "of_both_signs"), "Float16_b");
  EXPECT_EQ(accumulator_of(graph, "short"), "Float16_b");

  Bench other_bench;
  other_bench.context.formats.accumulate = F::float16_b;
  other_bench.run(kAssignFormats, asked);
  EXPECT_EQ(accumulator_of(asked, "unknown"), "Float16_b") << "the user's option";
}

// Whether split-sums changes the graph on a device of 16 bits, and what stays the same in it.
std::size_t split(Graph& graph) {
  Bench bench;
  bench.device = grayskull_like();
  Graph wide = graph;
  Bench wormhole;
  EXPECT_EQ(wormhole.run(kSplitSums, wide).rewrites, 0u);
  const std::size_t before = graph.size();
  expect_equivalence(graph, bench, {&kSplitSums, &kAssignFormats});
  return graph.size() - before;
}

TEST(AssignFormats, MarkSumsThatMayHaveMoreBits) {
  Builder b("g", graph::Level::device);
  auto x = b.input("x", {64, 1024});
  b.output("y0", called(b, "weighted", b.matmul(x, b.parameter("weights", varied({1024, 64})))));
  b.output("y1", called(b, "positive", b.matmul(b.exp(x), b.constant(filled({1024, 32}, 1)))));
  b.output("y2", called(b, "sum", b.add(x, x)));
  const Graph graph = finished(b);
  auto roundings_of = [](const Graph& of, const char* name) {
    const auto& tags = of.node(of.find(name)).tags;
    const auto tag = tags.find(std::string(graph::kSumRoundings));
    return tag == tags.end() ? std::string() : tag->second;
  };
  Bench bench;
  Graph usual = graph;
  bench.run(kAssignFormats, usual);
  EXPECT_EQ(roundings_of(usual, "weighted"), "192") << "64 steps of 16 terms, in three phases";
  EXPECT_EQ(roundings_of(usual, "positive"), "") << "it has Float32 anyway";
  EXPECT_EQ(roundings_of(usual, "sum"), "");
  Graph asked = graph;
  bench.context.formats.accumulate = F::float16_b;
  bench.run(kAssignFormats, asked);
  EXPECT_EQ(roundings_of(asked, "weighted"), "") << "the user says how it adds up";
  Graph on_grayskull = graph;
  Bench grayskull;
  grayskull.device = grayskull_like();
  grayskull.run(kAssignFormats, on_grayskull);
  EXPECT_EQ(roundings_of(on_grayskull, "weighted"), "");
}

TEST(AssignFormats, CommonFactorsThatAre16BitsTooFewFor) {
  for (const auto& [factor, format] : {std::pair(1.0f / 6, F::float32), std::pair(0.125f, F::float16_b), std::pair(0.2f, F::float16_b)}) {
    Builder b("g", graph::Level::device);
    b.output("y", called(b, "scaled", b.multiply(b.input("x", {32, 32}), called(b, "factor", b.constant(filled({32, 32}, factor))))));
    Graph graph = finished(b);
    Bench bench;
    bench.run(kAssignFormats, graph);
    EXPECT_EQ(*graph.node(graph.find("factor")).outputs[0].format, format) << factor;
    EXPECT_EQ(*graph.node(graph.find("scaled")).outputs[0].format, F::float16_b) << factor;
  }
}

std::size_t count_of(const Graph& graph, std::string_view op) {
  std::size_t count = 0;
  for (NodeId id : graph.topological_order()) count += graph.node(id).op() == op;
  return count;
}

TEST(ValueSigns, OfRowsWithoutTheirMean) {
  Builder b("g", graph::Level::device);
  auto mean_of = [&](const char* name, Edge x, float factor = 1.0f / 1024) {
    return called(b, name, b.matmul(x, b.constant(filled({1024, 32}, factor))));
  };
  auto wide = [](Edge x) { return Edge(x.source, {Tm::broadcast(TmDim::c, 32)}); };
  auto x = b.input("x", {64, 1024});
  auto centred = b.subtract(x, wide(mean_of("unknown", x)));
  auto scaled = b.multiply(centred, wide(b.input("scale", {64, 32})));
  // A factor of one tile for all of a row's, as constants that are all alike are stored.
  auto ones = Edge(b.constant(filled({32, 32}, 1.0f / 1024)), {Tm::broadcast(TmDim::r, 32)});
  b.output("y7", mean_of("stored_once", b.subtract(x, wide(b.matmul(x, ones)))));
  b.output("y0", mean_of("again", b.add(scaled, b.parameter("shift", varied({64, 1024})))));
  b.output("y1", mean_of("squares", b.op("square", {centred})));
  b.output("y2", mean_of("gated", b.multiply(scaled, b.op("sigmoid", {scaled}))));
  b.output("y3", mean_of("of_two", b.subtract(x, wide(mean_of("twice", x, 2.0f / 1024)))));
  b.output("y4", called(b, "columns", b.matmul(b.constant(filled({32, 64}, 1)), scaled)));
  b.output("y5", called(b, "turned", b.matmul(b.constant(filled({32, 1024}, 1)), Edge(scaled, {Tm::transpose()}))));
  b.output("y6",
           called(b, "cut", b.matmul(Edge(scaled, {Tm::hslice(4)}), Edge(b.constant(filled({256, 32}, 1)), {Tm::broadcast(TmDim::z, 4)}))));
  Graph graph = finished(b);
  const ValueSigns signs(graph, device_nodes(graph));
  auto coherence = [&](const char* name) { return signs.sum_of(graph.node(graph.find(name)), graph::MathFidelity::hifi3)->coherence; };
  for (const char* name : {"unknown", "squares", "gated", "of_two", "columns", "cut"}) EXPECT_EQ(coherence(name), 1) << name;
  for (const char* name : {"again", "turned", "stored_once"}) EXPECT_LT(coherence(name), 0.1) << name;
}

TEST(SplitSums, AddedNumberIsTheBias) {
  for (bool same : {true, false}) {
    Tensor added = same ? filled({32, 32}, 0.25f) : varied({32, 32});
    Builder b("g", graph::Level::device);
    auto sum = b.matmul(b.input("x", {64, 1024}), b.constant(filled({1000, 32}, 1.0f / 1000)));
    b.output("y", b.add(sum, Edge(b.constant(std::move(added)), {Tm::broadcast(TmDim::r, 2)})));
    Graph graph = finished(b);
    EXPECT_GT(split(graph), 0u);
    EXPECT_EQ(count_of(graph, "add"), same ? 0u : 1u);
  }
}

TEST(SplitSums, OfEqualFactorsAlongEachAxis) {
  for (std::int64_t n : {160, 1024, 10016, 40000}) {
    const std::int64_t padded = (n + 31) / 32 * 32;
    Builder b("g", graph::Level::device);
    b.output("c", called(b, "columns", b.matmul(b.input("x", {32, padded}), b.constant(filled({n, 32}, 1.0f / static_cast<float>(n))))));
    b.output("r", called(b, "rows", b.matmul(b.constant(filled({32, n}, 0.5f)), b.input("v", {padded, 64}))));
    Graph graph = finished(b);
    EXPECT_GT(split(graph), 0u) << n;
    EXPECT_TRUE(graph.find("columns").valid());
  }
}

TEST(SplitSums, OfPaddingThatHoldsAnything) {
  Builder b("g", graph::Level::device);
  // 1001 terms; the rest of the last tile is no part of the sum.
  b.output("y", b.matmul(b.exp(b.input("x", {32, 1024})), b.constant(filled({1001, 32}, 1))));
  Graph graph = finished(b);
  EXPECT_GT(split(graph), 0u);
}

TEST(SplitSums, OfProducts) {
  for (std::int64_t tiles : {8, 13, 37, 320}) {
    Builder b("g", graph::Level::device);
    auto bias = Edge(b.parameter("bias", varied({1, 64})), {Tm::broadcast(TmDim::r, 2)});
    b.output("y", b.matmul(b.input("x", {64, 32 * tiles}), b.input("w", {32 * tiles, 64})));
    b.output("z", b.matmul(b.input("u", {64, 32 * tiles}), b.input("v", {32 * tiles, 64}), bias));
    Graph graph = finished(b);
    EXPECT_GT(split(graph), 0u) << tiles;
  }
  Builder b("g", graph::Level::device);
  b.output("y", b.matmul(b.input("x", {64, 1024}), b.parameter("w", varied({1024, 64}))));
  Graph graph = finished(b);
  EXPECT_EQ(split(graph), 0u) << "weights of both signs";
}

TEST(SplitSums, OfSmallResultsBySteps) {
  for (std::int64_t batch : {1, 3})
    for (std::int64_t rows : {32, 96})
      for (std::int64_t tiles : {5, 9, 71, 313}) {
        Builder b("g", graph::Level::device);
        b.output("y", b.matmul(b.input("x", {batch, rows, 32 * tiles}), b.input("w", {batch, 32 * tiles, 64})));
        Graph graph = finished(b);
        EXPECT_GT(split(graph), 0u) << tiles;
        EXPECT_EQ(count_of(graph, "depthwise"), 0u);
      }
}

// Pools: terms that a selection picks, each result's with a factor.
TEST(SplitSums, OfPickedTermsBySteps) {
  for (bool same : {true, false})
    for (std::int64_t terms : {16, 36, 49, 169})
      for (std::int64_t results : {5, 45}) {
        std::vector<std::int32_t> picks;
        std::vector<float> factors;
        for (std::int64_t term = 0; term < terms; ++term)
          for (std::int64_t result = 0; result < results; ++result) {
            picks.push_back(static_cast<std::int32_t>((term * 7 + result) % 256 + 1));
            factors.push_back((same || result != 1 ? 1.0f : 2.0f) / static_cast<float>(terms));
          }
        Builder b("g", graph::Level::device);
        auto matrix = b.constant(Tensor(Shape{terms, results}, std::move(picks))),
             weights = b.constant(Tensor(Shape{terms, results}, factors));
        b.output("y", b.op("matmul", {matrix, b.exp(b.input("x", {256, 64})), weights}, {{"identity", true}, {"slices", std::int64_t{1}}}));
        Graph graph = finished(b);
        EXPECT_GT(split(graph), 0u) << terms;
        EXPECT_EQ(count_of(graph, "depthwise"), 0u);
        bool has_factors = false;
        for (NodeId id : graph.topological_order())
          has_factors |= ops::is_sparse_product(graph.node(id)) && graph.node(id).inputs().size() > 2;
        EXPECT_EQ(has_factors, !same) << "what all have in common is left to the sums";
      }
}

// One op, whose inner dimension one of its blocks divides.
TEST(SplitSums, OfLargeResultsBlockByBlock) {
  for (std::int64_t tiles : {8, 13, 37, 71, 127, 251})
    for (bool has_bias : {false, true}) {
      Builder b("g", graph::Level::device);
      auto bias = Edge(b.parameter("bias", varied({1, 512})), {Tm::broadcast(TmDim::r, 16)});
      auto x = b.input("x", {512, 32 * tiles}), w = b.input("w", {32 * tiles, 512});
      b.output("y", called(b, "product", has_bias ? b.matmul(x, w, bias) : b.matmul(x, w)));
      Graph graph = finished(b);
      EXPECT_EQ(split(graph), 0u);
      const graph::Node& product = graph.node(graph.find("product"));
      const auto blocks = graph::sum_blocks(product);
      ASSERT_TRUE(blocks && *blocks) << tiles;
      const std::int64_t inner = graph.type(product.inputs()[0])->shape[3] / 32;
      EXPECT_LE(inner, tiles + std::max<std::int64_t>(4, tiles / 10));
      bool divides = false;
      for (std::int64_t block = (*blocks)->least; block <= (*blocks)->most; ++block) divides |= inner % block == 0;
      EXPECT_TRUE(divides) << tiles;
    }
}

TEST(SplitSums, OfFewTilesBlockByBlock) {
  for (std::int64_t tiles : {2, 3, 4}) {
    Builder b("g", graph::Level::device);
    b.output("y", called(b, "product", b.matmul(b.input("x", {3, 96, 32 * tiles}), b.input("w", {3, 32 * tiles, 64}))));
    b.output("z", called(b, "sum", b.matmul(b.exp(b.input("v", {32, 128 * tiles})), b.constant(filled({128 * tiles, 32}, 1)))));
    Graph graph = finished(b);
    EXPECT_EQ(split(graph), 0u);
    for (const char* name : {"product", "sum"}) EXPECT_TRUE(*graph::sum_blocks(graph.node(graph.find(name)))) << name << tiles;
  }
}

// Longer ones are products that add up so, and sums of those.
// What does not divide is filled up.
TEST(SplitSums, OfOnesInBlocksOfAnyLength) {
  for (std::int64_t tiles : {5, 7, 11, 13})
    for (std::int64_t rest : {0, 9}) {
      Builder b("g", graph::Level::device);
      b.output("y", called(b, "sum", b.matmul(b.exp(b.input("x", {32, 32 * tiles})), b.constant(filled({32 * tiles - rest, 32}, 1)))));
      Graph graph = finished(b);
      EXPECT_EQ(split(graph), 0u);
      EXPECT_TRUE(*graph::sum_blocks(graph.node(graph.find("sum")))) << tiles;
    }
}

TEST(SplitSums, OfLongProductsOfBlocks) {
  for (std::int64_t tiles : {257, 313, 521}) {
    Builder b("g", graph::Level::device);
    b.output("y", b.matmul(b.input("x", {288, 32 * tiles}), b.input("w", {32 * tiles, 256})));
    Graph graph = finished(b);
    EXPECT_GT(split(graph), 0u);
    EXPECT_EQ(count_of(graph, "depthwise"), 1u);
    std::size_t in_blocks = 0;
    for (NodeId id : graph.topological_order()) in_blocks += *graph::sum_blocks(graph.node(id)) ? 1 : 0;
    EXPECT_EQ(in_blocks, 1u);
  }
}

TEST(SumBlocks, OfAnyNumberOfTiles) {
  for (std::int64_t tiles = 2; tiles <= kMaxTilesInBlocks; ++tiles) {
    const graph::SumBlocks blocks = exact_blocks(tiles);
    EXPECT_LE(1, blocks.least);
    EXPECT_LE(blocks.least, blocks.most);
    EXPECT_LE(ceil_div(tiles, blocks.least), 32);
    const std::int64_t whole = tiles_in_blocks(tiles, blocks);
    EXPECT_GE(whole, tiles);
    EXPECT_LE(whole - tiles, tiles / 8 + 1) << tiles;
  }
}

TEST(SplitSums, FactorsOfManyBitsBecomeTwo) {
  auto made = [](float factor, std::int64_t terms) {
    Builder b("g", graph::Level::device);
    b.output("c", b.matmul(b.input("x", {32, 32}), b.constant(filled({terms, 32}, factor))));
    b.output("r", b.matmul(b.constant(filled({32, terms}, factor)), b.input("v", {32, 64})));
    Graph graph = finished(b);
    return split(graph);
  };
  EXPECT_EQ(made(1.0f / 16, 16), 0u);
  for (std::int64_t terms : {3, 9, 31}) {
    EXPECT_GT(made(1.0f / 9, terms), 0u) << terms;
    EXPECT_GT(made(-1.0f / 9, terms), 0u) << terms;
  }
}

TEST(AssignFormats, MovementsOfManyBitsInTwoParts) {
  for (F format : {F::float32, F::float16, F::float16_b}) {
    Builder b("g", graph::Level::device);
    auto x = b.input("x", {32, 32});
    auto picks = b.constant(Tensor(Shape{1, 32}, std::vector<std::int32_t>(32, 3)));
    auto moved = called(b, "moved", b.op("matmul", {picks, x}, {{"identity", true}, {"slices", std::int64_t{1}}}));
    auto product = called(b, "factor", b.op("matmul", {picks, b.input("v", {32, 32})}, {{"identity", true}, {"slices", std::int64_t{1}}}));
    b.output("y", b.add(moved, x));
    b.output("z", b.matmul(product, b.parameter("w", varied({32, 32}))));
    Graph graph = finished(b);
    Bench bench;
    bench.context.formats.standard = format;
    expect_equivalence(graph, bench, {&kAssignFormats});
    EXPECT_EQ(graph.node(graph.find("moved")).op(), format == F::float16_b ? "matmul" : "add") << format_name(format);
    EXPECT_EQ(graph.node(graph.find("factor")).op(), "matmul");
  }
}

TEST(AssignFormats, MovementsTakeTwoPhases) {
  Builder b("g", graph::Level::device);
  auto picks = b.constant(Tensor(Shape{1, 32}, std::vector<std::int32_t>(32, 3)));
  b.output("y", called(b, "moved", b.op("matmul", {picks, b.input("x", {32, 32})}, {{"identity", true}, {"slices", std::int64_t{1}}})));
  Graph graph = finished(b);
  Bench bench;
  bench.context.formats.fidelity = graph::MathFidelity::lofi;
  bench.run(kAssignFormats, graph);
  EXPECT_EQ(graph::fidelity_name(*graph.node(graph.find("moved")).precision.fidelity), "HiFi2");
}

}  // namespace
}  // namespace buda::passes
