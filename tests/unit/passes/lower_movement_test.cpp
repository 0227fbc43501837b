// SPDX-License-Identifier: Apache-2.0
// Lowering of what moves data: reshapes and transposes by edges and by pickers, slices, concatenations, borders, gathers.
#include "values.hpp"

#include <buda/passes/layout/rearrangement.hpp>

#include <algorithm>
#include <functional>

namespace buda::passes {
namespace {

struct Movement : Bench {
  Movement() { context.decompositions = &plugin_decompositions(); }

  // Lowered, after each pass with the same meaning. What is built begins and ends with ops, so that the host has no part in it.
  Graph lowered(Shape in, const std::function<ValueRef(Builder&, Edge)>& build) {
    Builder b("g");
    auto x = called(b, "e", b.exp(b.input("x", std::move(in))));  // ones in the padding
    b.output("y", called(b, "last", b.exp(build(b, x))));
    Graph graph = finished(b);
    expect_equivalence(graph, *this, {&kLowerToDevice});
    return graph;
  }
};

std::vector<Tm> tms_of_last(const Graph& graph) { return graph.node(graph.find("last")).inputs()[0].tms; }

std::size_t pickers(const Graph& graph) {
  std::size_t n = 0;
  for (NodeId id : graph.ids()) n += graph.node(id).attrs.contains("identity") ? 1 : 0;
  return n;
}

ValueRef heads(Builder& b, Edge x, std::int64_t rows, std::int64_t heads, std::int64_t size) {
  return b.transpose(b.reshape(x, {1, rows, heads, size}), {0, 2, 1, 3});
}

TEST(LowerRearrangement, AttentionHeadsAreSlicedAndStacked) {
  Movement m;
  Graph split = m.lowered({1, 70, 128}, [](Builder& b, Edge x) { return heads(b, x, 70, 4, 32); });
  EXPECT_EQ(tms_of_last(split), std::vector<Tm>{Tm::hslice(4)});
  Graph turned = m.lowered({1, 70, 128}, [](Builder& b, Edge x) { return b.transpose(heads(b, x, 70, 4, 32), {0, 1, 3, 2}); });
  EXPECT_EQ(tms_of_last(turned), (std::vector<Tm>{Tm::hslice(4), Tm::transpose()}));
  Graph joined = m.lowered({1, 4, 70, 32}, [](Builder& b, Edge x) { return b.reshape(b.transpose(x, {0, 2, 1, 3}), {1, 70, 128}); });
  EXPECT_EQ(tms_of_last(joined), std::vector<Tm>{Tm::hstack(4)});
  for (const Graph* g : {&split, &turned, &joined}) EXPECT_EQ(pickers(*g), 0u);
}

TEST(LowerRearrangement, HeadsThatAreNoTilesArePicked) {
  Movement m;
  EXPECT_EQ(pickers(m.lowered({1, 70, 60}, [](Builder& b, Edge x) { return heads(b, x, 70, 3, 20); })), 1u);
  EXPECT_EQ(pickers(m.lowered({1, 3, 70, 20},
                              [](Builder& b, Edge x) {
                                return b.reshape(b.transpose(x, {0, 2, 1, 3}), {1, 70, 60});
                              })),
            1u);
}

// Windows of 3 x 4 pixels are made an image of 12 x 12 again, and then a grid of 6 x 2: 12 is cut into 4 and 3, and into 2 and 6 or 6
// and 2.
TEST(LowerRearrangement, WholeRowsArePickedOnceWhereAxesAreCutInTwoWays) {
  const auto image = [](Builder& b, Edge x) {
    return b.reshape(b.transpose(b.reshape(x, {1, 4, 3, 3, 4, 8}), {0, 5, 1, 3, 2, 4}), {1, 8, 12, 12});
  };
  const auto grid = [](Builder& b, Edge x) {
    return b.reshape(b.transpose(b.reshape(x, {1, 8, 2, 6, 6, 2}), {0, 3, 5, 2, 4, 1}), {1, 12, 12, 8});
  };
  Movement m;
  EXPECT_EQ(pickers(m.lowered({1, 12, 12, 8}, [&](Builder& b, Edge x) { return grid(b, image(b, x)); })), 1u);
  // Of one column, as a mean over the channels is.
  EXPECT_EQ(pickers(m.lowered({1, 4, 30, 1},
                              [](Builder& b, Edge x) {
                                Edge turned = b.transpose(b.reshape(x, {8, 15}), {1, 0});
                                return b.reshape(b.transpose(b.reshape(turned, {12, 10}), {1, 0}), {1, 3, 40, 1});
                              })),
            1u);
  // Channels that do not stay in their rows are moved step by step.
  EXPECT_GT(
      pickers(m.lowered({1, 12, 12, 8},
                        [&](Builder& b, Edge x) {
                          return b.reshape(b.transpose(b.reshape(image(b, x), {1, 8, 2, 6, 6, 2}), {0, 3, 1, 5, 2, 4}), {1, 12, 8, 12});
                        })),
      1u);
}

TEST(LowerRearrangement, EveryPermutationOfThreeAxes) {
  std::vector<std::int64_t> order{0, 1, 2};
  do {
    for (Shape shape : {Shape{3, 5, 7}, Shape{2, 40, 33}, Shape{32, 2, 64}}) {
      Movement m;
      m.lowered(shape, [&](Builder& b, Edge x) { return b.transpose(x, order); });
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(LowerRearrangement, EveryReshape) {
  const std::vector<Shape> shapes = {{6, 10}, {10, 6}, {60}, {60, 1}, {2, 3, 10}, {3, 2, 10}, {4, 15}, {15, 4}, {5, 2, 6}, {1, 5, 3, 4}};
  for (const Shape& from : shapes)
    for (const Shape& to : shapes) {
      Movement m;
      m.lowered(from, [&](Builder& b, Edge x) { return b.reshape(x, to); });
    }
}

TEST(LowerRearrangement, ChainsOfReshapesAndTransposes) {
  Movement m;
  m.lowered({1, 6, 4, 10}, [](Builder& b, Edge x) {  // depth to space
    return b.reshape(b.transpose(b.reshape(x, {1, 2, 3, 4, 10}), {0, 3, 1, 2, 4}), {1, 4, 6, 10});
  });
  m.lowered({24, 35}, [](Builder& b, Edge x) {  // two cuts that do not go together
    return b.transpose(b.reshape(b.transpose(b.reshape(x, {4, 6, 35}), {2, 0, 1}), {14, 60}), {1, 0});
  });
}

TEST(LowerRearrangement, TheHostBringsInputsIntoOrder) {
  Movement m;
  Builder b("g");
  auto x = b.input("x", {2, 3, 8, 8});
  auto blocks = b.transpose(b.reshape(x, {2, 3, 4, 2, 4, 2}), {0, 2, 4, 3, 5, 1});
  auto y = b.matmul(b.reshape(blocks, {2, 1, 16, 12}), b.parameter("w", varied({12, 5})));
  b.output("y", b.reshape(b.transpose(y, {0, 1, 3, 2}), {2, 5, 4, 4}));
  Graph graph = finished(b);
  expect_equivalence(graph, m, {&kLowerToDevice});
  EXPECT_EQ(
      listing(graph),
      "graph g, device level\n"
      "x = input model_shape=[2, 3, 8, 8] view_order=[0, 2, 4, 3, 5, 1] view_shape=[2, 1, 16, 12] view_split=[2, 3, 4, 2, 4, 2] : F32 "
      "[2, 1, 32, 32]\n"
      "w = parameter : F32 [1, 1, 32, 32]\n"
      "matmul = matmul(x, w) : F32 [2, 1, 32, 32]\n"
      "y = output(matmul) model_shape=[2, 5, 4, 4] view_order=[0, 2, 1] view_shape=[2, 1, 16, 5] view_split=[2, 16, 5]\n");
}

TEST(LowerSlice, PrefixesCostNothing) {
  Movement m;
  Graph rows = m.lowered({70, 40}, [](Builder& b, Edge x) { return b.slice(x, 0, 0, 20); });
  EXPECT_EQ(tms_of_last(rows), std::vector<Tm>{Tm::unpad(2, 0)});
  Graph columns = m.lowered({70, 40}, [](Builder& b, Edge x) { return b.slice(x, 1, 0, 36); });
  EXPECT_EQ(tms_of_last(columns), std::vector<Tm>{});
  for (const Graph* g : {&rows, &columns}) EXPECT_EQ(pickers(*g), 0u);
}

TEST(LowerSlice, RowsOfASelectionWithSlicesAreCopiedBeforeSomeAreLeftOut) {
  Movement m;  // it holds the rows of all slices below one another, of which an edge cannot leave out the last of each
  for (std::int64_t kept : {20, 33, 64, 96}) {
    Graph graph = m.lowered({5, 100, 40}, [&](Builder& b, Edge x) { return b.slice(b.slice(x, 0, 1, 4), 1, 0, kept); });
    EXPECT_EQ(pickers(graph), 1u) << kept;
    const Edge& given = graph.node(graph.find("last")).inputs()[0];
    EXPECT_EQ(graph.node(given.source.node).op(), "nop") << kept;
  }
}

TEST(LowerSlice, AnyPartOfAnyAxis) {
  struct Case {
    std::int64_t dim, start, stop, step;
  };
  for (const Case& c : {Case{0, 1, 3, 1}, Case{0, 0, 2, 1}, Case{0, 2, 3, 1}, Case{1, 5, 45, 1}, Case{1, 0, 45, 7}, Case{1, 44, -46, -1},
                        Case{2, 3, 40, 1}, Case{2, -3, 40, 1}, Case{2, 39, -41, -3}, Case{2, 0, 33, 1}, Case{2, 32, 40, 1}}) {
    Movement m;
    m.lowered({3, 45, 40}, [&](Builder& b, Edge x) { return b.slice(x, c.dim, c.start, c.stop, c.step); });
  }
  Movement m;
  m.lowered({3, 45, 40}, [&](Builder& b, Edge x) { return b.slice(b.slice(b.slice(x, 0, 1, 3), 1, 7, 20), 2, 10, 35); });
}

TEST(LowerSlice, PaddingThatWasDataIsMasked) {
  Movement m;  // what a slice leaves out lies in the padding, where sums and products must not see it
  m.lowered({20, 40}, [](Builder& b, Edge x) { return b.reduce_sum(b.slice(x, 1, 0, 35), {1}); });
  m.lowered({20, 40}, [](Builder& b, Edge x) { return b.reduce_max(b.slice(x, 0, 0, 7), {0}); });
  m.lowered({20, 40}, [](Builder& b, Edge x) { return b.matmul(b.slice(x, 1, 0, 35), b.exp(b.input("v", {35, 3}))); });
}

TEST(LowerSlice, WhatIsLeftOutOfWholeTilesIsData) {
  Movement m;  // there was no padding that could hold the infinities which ones in it would have become
  Graph graph = m.lowered({64, 40}, [](Builder& b, Edge x) {
    const ValueRef poles = b.reciprocal(b.subtract(x, b.exp(b.multiply(x, b.subtract(x, x)))));
    return b.tanh(b.reshape(b.slice(poles, 0, 0, 56), {7, 8, 40}));
  });
  EXPECT_EQ(pickers(graph), 1u);
}

TEST(LowerConcatenate, AlongAnyAxis) {
  for (std::int64_t dim : {0, 1, 2})
    for (std::vector<std::int64_t> sizes : {std::vector<std::int64_t>{32, 32}, {5, 40}, {1, 7, 64}, {3}}) {
      Movement m;
      m.lowered({3, 4, 5}, [&](Builder& b, Edge x) {
        std::vector<Edge> parts;
        for (std::size_t i = 0; i < sizes.size(); ++i) {
          Shape shape{3, 4, 5};
          shape[static_cast<std::size_t>(dim)] = sizes[i];
          parts.push_back(b.exp(b.input(cat("p", i), shape)));
        }
        ValueRef all = b.concatenate(parts, dim);
        return b.add(b.reduce_sum(all, {dim}), b.reduce_max(x, {dim}));
      });
    }
  Movement m;
  m.lowered({1, 70}, [](Builder& b, Edge x) { return b.concatenate({b.parameter("token", varied({1, 70})), x, x}, 0); });
}

std::string ops_of_concatenation(std::int64_t dim, const std::vector<std::int64_t>& sizes) {
  Movement m;
  Graph lowered = m.lowered({3, 4, 5}, [&](Builder& b, Edge x) {
    std::vector<Edge> parts;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      Shape shape{3, 64, 64};
      shape[static_cast<std::size_t>(dim)] = sizes[i];
      parts.push_back(b.input(cat("p", i), shape));
    }
    b.output("all", b.concatenate(parts, dim));
    return b.exp(x);
  });
  std::vector<std::string> ops;
  for (NodeId id : lowered.topological_order())
    if (lowered.node(id).is_op() && lowered.node(id).op() != "exp") ops.push_back(lowered.node(id).op());
  return join(ops, " ");
}

TEST(LowerConcatenate, WholeTilesAreSpliced) {
  EXPECT_EQ(ops_of_concatenation(2, {64, 32}), "splice");
  EXPECT_EQ(ops_of_concatenation(2, {64, 32, 20}), "splice") << "the last may end within a tile";
  EXPECT_EQ(ops_of_concatenation(1, {32, 96}), "splice");
  EXPECT_EQ(ops_of_concatenation(0, {1, 2, 1}), "splice");
  EXPECT_EQ(ops_of_concatenation(2, std::vector<std::int64_t>(9, 32)), "splice splice") << "an op has eight inputs";
}

TEST(LowerConcatenate, PartsOfTilesAreJoinedFirst) {
  EXPECT_TRUE(ops_of_concatenation(2, {48, 16, 64}).ends_with(" add splice"));
  EXPECT_TRUE(ops_of_concatenation(2, {48, 15}).ends_with(" add"));
}

// Rows of a table by numbers that the user gives. `along`: attributes of the gather; its axis is 0 where they do not say it.
Graph looked_up(const Shape& ids, bool table_is_used_otherwise = false, graph::AttrMap along = {{"dim", std::int64_t{0}}}) {
  Bench bench;
  bench.context.decompositions = &plugin_decompositions();
  Builder b("g");
  auto table = b.parameter("table", varied({50, 40}));
  b.output("y", b.op("gather", {table, b.input("ids", ids, DType::i64)}, std::move(along)));
  if (table_is_used_otherwise) b.output("z", b.exp(b.add(b.input("x", {50, 40}), table)));
  Graph graph = finished(b);
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < *ids.volume(); ++i) numbers.push_back(i * 7 % 50);
  NamedTensors inputs{{"ids", Tensor(ids, std::move(numbers))}};
  if (table_is_used_otherwise) inputs.emplace("x", varied({50, 40}));
  expect_equivalence(graph, bench, {&kLowerToDevice}, std::move(inputs));
  return graph;
}

TEST(LowerGather, TablesAreLookedUpOnTheDevice) {
  for (const Graph& g : {looked_up({7}), looked_up({1, 128}), looked_up({1, 128}, false, {})}) {
    const Node& lookup = g.node(g.node(g.find_output("y")).inputs()[0].source.node);
    EXPECT_EQ(lookup.op(), "embedding");
    EXPECT_EQ(g.node(g.find("ids")).outputs[0].dtype, DType::i32);
  }
  const Graph shared = looked_up({1, 128}, true);
  EXPECT_EQ(shared.use_count(shared.find("table")), 1u) << "the embedding has a table of its own";
}

TEST(LowerPad, BordersOfAnyNumber) {
  for (double value : {0.0, -3.5})
    for (std::vector<std::int64_t> border :
         {std::vector<std::int64_t>{0, 0, 0, 0, 0, 3}, {0, 0, 0, 0, 2, 0}, {1, 2, 3, 4, 5, 40}, {0, 0, 1, 0, 0, 0}, {0, 1, 0, 0, 0, 0}}) {
      Movement m;
      m.lowered({2, 31, 40}, [&](Builder& b, Edge x) {
        return b.pad(x, {border[0], border[2], border[4]}, {border[1], border[3], border[5]}, value);
      });
    }
  Movement m;
  m.lowered({2, 31, 40}, [](Builder& b, Edge x) { return b.reduce_sum(b.pad(x, {0, 0, 0}, {0, 0, 24}), {2}); });
}

TEST(LowerGather, KnownIndicesAlongAnyAxis) {
  for (std::int64_t dim : {0, 1, 2})
    for (Shape indices : {Shape{}, Shape{3}}) {
      Movement m;
      m.lowered({4, 5, 40}, [&](Builder& b, Edge x) {
        std::vector<std::int64_t> v{3, -1, 0, 2};
        v.resize(static_cast<std::size_t>(*indices.volume()));
        return b.op("gather", {x, b.constant(Tensor(indices, v))}, {{"dim", dim}});
      });
    }
  Movement m;
  m.lowered({5, 40}, [](Builder& b, Edge x) {
    return b.op("gather", {x, b.constant(Tensor(Shape{2, 2}, std::vector<std::int64_t>{3, 0, 0, 4}))}, {{"dim", std::int64_t{1}}});
  });
}

TEST(Rearrangement, ComposesAndInverts) {
  Rearrangement r(Shape{2, 3, 4});
  ASSERT_TRUE(r.transpose({2, 0, 1}));
  r.reshape({8, 3});
  ASSERT_TRUE(r.transpose({1, 0}));
  EXPECT_EQ(r.to(), (Shape{3, 8}));
  Rearrangement back = r.inverse();
  EXPECT_EQ(back.from(), (Shape{3, 8}));
  ASSERT_TRUE(r.append(back));
  EXPECT_TRUE(r.moves_nothing());
  EXPECT_EQ(r.to(), (Shape{2, 3, 4}));
  Rearrangement cut(Shape{4, 6});
  ASSERT_TRUE(cut.transpose({1, 0}));
  cut.reshape({8, 3});
  EXPECT_FALSE(cut.transpose({1, 0})) << "6 * 4 has no axis of 8 in it";
}

}  // namespace
}  // namespace buda::passes
