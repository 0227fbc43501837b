// SPDX-License-Identifier: Apache-2.0
// lower-to-device: axes of numbers of tiles that few cores could share, which get whole tiles of padding.
#include "lowering_harness.hpp"

#include <buda/graph/values/tile_count.hpp>

namespace buda::passes {
namespace {

const Shape& type_of(const Graph& graph, const char* name) { return graph.node(graph.find(name)).outputs[0].shape; }

TEST(TileCount, HasFactorsForCores) {
  for (auto [filled, wanted] : std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 1},
                                                                                  {7, 7},
                                                                                  {10, 10},
                                                                                  {11, 12},
                                                                                  {22, 24},
                                                                                  {27, 28},
                                                                                  {31, 32},
                                                                                  {37, 40},
                                                                                  {44, 44},
                                                                                  {47, 48},
                                                                                  {64, 64},
                                                                                  {65, 66},
                                                                                  {71, 72},
                                                                                  {75, 77},
                                                                                  {100, 104},
                                                                                  {125, 126},
                                                                                  {127, 128},
                                                                                  {142, 144}}) {
    EXPECT_EQ(graph::tile_count(filled * 32), wanted) << filled;
    EXPECT_EQ(graph::tile_count(filled * 32 - 31), wanted) << filled;
    EXPECT_EQ(graph::fills_tiles(filled * 32), filled == wanted) << filled;
  }
}

TEST(TileCount, NeitherFallsNorGrowsTwice) {
  std::int64_t last = 0;
  for (std::int64_t filled = 1; filled < 20000; ++filled) {
    const std::int64_t count = graph::tile_count(filled * 32);
    ASSERT_GE(count, std::max(last, filled));
    ASSERT_LE(count, filled + std::max<std::int64_t>(filled / 8, 1));
    ASSERT_EQ(graph::tile_count(count * 32), count);
    last = count;
  }
}

// 11 tiles, which become 12, and what fills the last of them in part.
const std::vector<std::int64_t> kSizes = {352, 350, 700};

TEST(SpareTiles, Softmax) {
  for (std::int64_t size : kSizes) {
    Lowerer l;
    const Graph graph = l.lowered([&](Builder& b) {
      b.output("y", called(b, "s", b.softmax(called(b, "e", b.exp(b.input("x", {3, size}))), 1)));
    });
    EXPECT_EQ(type_of(graph, "e")[3], graph::tiled_side(size));
  }
}

TEST(SpareTiles, ReductionsAlongEveryAxis) {
  for (const char* op : {"reduce_max", "reduce_sum", "reduce_avg"})
    for (std::int64_t size : kSizes)
      for (std::int64_t dim : {-1, -2, -3}) {
        Lowerer l;
        l.lowered([&](Builder& b) {
          auto x = called(b, "e", b.exp(b.input("x", {2, size, 40})));  // ones in the padding
          auto turned = b.transpose(x, {0, 2, 1});
          for (auto [name, value] : {std::pair("y", x), std::pair("z", turned)})
            b.output(name, called(b, cat(name, ".r").c_str(),
                                  b.op(op, {value}, {{"dims", std::vector<std::int64_t>{dim}}, {"keep_dims", true}})));
        });
      }
}

TEST(SpareTiles, Products) {
  for (std::int64_t size : kSizes) {
    Lowerer l;
    l.lowered([&](Builder& b) {
      auto x = called(b, "e", b.exp(b.input("x", {40, size}))), y = called(b, "f", b.exp(b.input("w", {size, 70})));
      b.output("y", b.matmul(x, y));
    });
  }
}

// Heads of 32 columns: 11 of them have no spare tile, and all of them together one.
TEST(SpareTiles, HeadsSideBySide) {
  for (std::int64_t heads : {11, 22}) {
    Lowerer l;
    const Graph graph = l.lowered([&](Builder& b) {
      auto x = called(b, "e", b.exp(b.input("x", {1, 50, heads * 32})));
      auto split = b.transpose(b.reshape(x, {1, 50, heads, 32}), {0, 2, 1, 3});
      auto scores = called(b, "scores", b.exp(split));
      auto joined = b.reshape(b.transpose(scores, {0, 2, 1, 3}), {1, 50, heads * 32});
      b.output("y", b.multiply(joined, x));
    });
    EXPECT_EQ(ops_of(graph).find("matmul"), std::string::npos) << "no rows are moved one by one\n" << listing(graph);
  }
}

TEST(SpareTiles, RowsOfSlicesBelowOneAnother) {
  Lowerer l;
  const Graph graph = l.lowered([](Builder& b) {
    auto x = called(b, "e", b.exp(b.input("x", {11, 32, 40})));
    auto y = called(b, "f", b.exp(b.reshape(x, {352, 40})));
    b.output("y", b.exp(b.reshape(y, {11, 32, 40})));
  });
  EXPECT_EQ(ops_of(graph).find("matmul"), std::string::npos) << listing(graph);
}

TEST(SpareTiles, Concatenations) {
  for (std::int64_t axis : {-1, -2})
    for (auto [first, second] : std::vector<std::pair<std::int64_t, std::int64_t>>{{352, 352}, {352, 5}, {320, 32}, {350, 10}, {32, 350}}) {
      Lowerer l;
      l.lowered([&, first = first, second = second](Builder& b) {
        auto shape = [&](std::int64_t size) { return axis == -1 ? Shape{1, 40, size} : Shape{1, size, 40}; };
        auto x = called(b, "e", b.exp(b.input("x", shape(first)))), y = called(b, "f", b.exp(b.input("w", shape(second))));
        auto all = b.concatenate({x, y}, axis);
        b.output("y", b.reduce_max(b.exp(all), {axis}));
      });
    }
}

// A splice works on slices where no core would hold the whole axis; all of them have the same length.
TEST(SpareTiles, LongConcatenations) {
  for (std::int64_t axis : {-1, -2})
    for (auto [first, second] : std::vector<std::pair<std::int64_t, std::int64_t>>{{9024, 3232}, {9600, 4800}, {9600, 1024}, {10336, 10}}) {
      Lowerer l;
      const Graph graph = l.lowered([&, first = first, second = second](Builder& b) {
        auto shape = [&](std::int64_t size) { return axis == -1 ? Shape{1, 3, size} : Shape{1, size, 3}; };
        auto x = called(b, "e", b.exp(b.input("x", shape(first)))), y = called(b, "f", b.exp(b.input("w", shape(second))));
        auto all = b.concatenate({x, y}, axis);
        b.output("y", b.reduce_max(b.negative(all), {axis}));
        b.output("z", b.slice(b.exp(all), axis == -1 ? 2 : 1, first - 64, first + 10));
      });
      std::size_t splices = 0;
      for (NodeId id : graph.topological_order()) {
        if (graph.node(id).op() != "splice") continue;
        ++splices;
        EXPECT_EQ(graph.node(id).attrs.at("dim"), graph::Attr(std::string("z"))) << listing(graph);
        EXPECT_LE(graph.node(id).outputs[0].shape[axis == -1 ? 3 : 2], 128 * 32) << listing(graph);
      }
      EXPECT_GE(splices, 1u) << listing(graph);
    }
}

// What picks rows by their numbers needs no rows of padding below them: 9 products of 41 tiles of rows below one another.
TEST(SpareTiles, TransposedConvolutions) {
  for (std::int64_t size : {35, 36, 37}) {
    Lowerer l;
    const Graph graph = l.lowered([&](Builder& b) {
      auto x = called(b, "e", b.exp(b.input("x", {1, 3, size, size})));
      std::vector<float> numbers(81);
      for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 23) / 16 - 0.5f;
      auto weights = b.parameter("w", f32({3, 3, 3, 3}, std::move(numbers)));
      b.output("y", called(b, "c", b.op("conv2d_transpose", {x, weights})));
    });
    EXPECT_EQ(ops_of(graph).find("splice"), std::string::npos) << listing(graph);
  }
}

TEST(SpareTiles, DepthwiseConvolutions) {
  for (std::int64_t channels : {96, 352}) {
    Lowerer l;
    const Graph graph = l.lowered([&](Builder& b) {
      auto x = called(b, "e", b.exp(b.input("x", {1, channels, 6, 6})));
      std::vector<float> numbers(static_cast<std::size_t>(channels) * 9);
      for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 23) / 16 - 0.5f;
      auto weights = b.parameter("w", f32({channels, 1, 3, 3}, std::move(numbers)));
      b.output("y", called(b, "c", b.conv2d(x, weights, {{"groups", channels}})));
    });
    EXPECT_NE(ops_of(graph).find("depthwise"), std::string::npos) << listing(graph);
    // Those of the result, which the taps have not.
    EXPECT_EQ(ops_of(graph).find("splice") != std::string::npos, !graph::fills_tiles(channels)) << listing(graph);
  }
}

TEST(SpareTiles, SlicesAndBorders) {
  for (std::int64_t kept : {320, 330, 352}) {
    Lowerer l;
    l.lowered([&](Builder& b) {
      auto x = called(b, "e", b.exp(b.input("x", {40, 370})));
      b.output("y", b.reduce_max(b.negative(b.slice(x, 1, 0, kept)), {1}));
    });
  }
}

}  // namespace
}  // namespace buda::passes
