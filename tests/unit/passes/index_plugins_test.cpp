// SPDX-License-Identifier: Apache-2.0
// Lookups and scatters by indices that the model computes: decomposed and lowered they mean what they meant.
#include "values.hpp"

#include <buda/ops/whole_graph/evaluate_formats.hpp>

namespace buda::passes {
namespace {

using Dims = std::vector<std::int64_t>;
using graph::AttrMap;

struct Operand {
  Shape shape;
  DType dtype = DType::f32;
  std::vector<std::int64_t> numbers = {};  // none: varied
};

Tensor numbers_of(const Operand& o, std::uint64_t seed) {
  return o.numbers.empty() ? varied(o.shape, seed).cast(o.dtype) : Tensor(o.shape, o.numbers).cast(o.dtype);
}

// An op of model inputs.
void expect_kept(const std::string& op, const std::vector<Operand>& operands, const AttrMap& attrs) {
  SCOPED_TRACE(op);
  Bench bench;
  bench.context.decompositions = &plugin_decompositions();
  Builder b("g");
  NamedTensors inputs;
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    std::string name = cat('x', i);
    edges.emplace_back(b.input(name, operands[i].shape, operands[i].dtype));
    inputs.emplace(name, numbers_of(operands[i], 3 + i));
  }
  b.output("out", called(b, "y", b.op(op, edges, attrs)));
  Graph graph = finished(b);
  expect_equivalence(graph, bench, {&kDecompose, &kConstantFolding, &kLowerToDevice}, std::move(inputs));
}

Operand indices(Shape shape, std::vector<std::int64_t> numbers) { return {std::move(shape), DType::i64, std::move(numbers)}; }
AttrMap along(std::int64_t dim) { return {{"dim", dim}}; }

TEST(Gather, OfIndicesThatAreComputed) {
  expect_kept("gather", {{{7}}, indices({3}, {-1, 0, 4})}, along(0));
  expect_kept("gather", {{{5, 40}}, indices({2, 3}, {4, 0, -5, 1, 1, 3})}, along(0));
  expect_kept("gather", {{{4, 9}}, indices({3}, {8, 0, -2})}, along(1));
  expect_kept("gather", {{{3, 4, 5}}, indices({2}, {3, 1})}, along(1));
  expect_kept("gather", {{{5, 4, 3, 2}}, indices({3}, {0, 1, 3})}, along(0));
  expect_kept("gather", {{{5, 4, 3, 2}}, indices({}, {2})}, along(1));
  expect_kept("gather", {{{6, 2}, DType::i32, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 99}}, indices({2}, {5, 2})}, along(0));
}

TEST(Gather, OfManyPlacesIsLeftToTheHost) {
  Bench bench;
  bench.context.decompositions = &plugin_decompositions();
  Builder b("g");
  b.output("y", b.op("gather", {b.parameter("table", varied({4, 8192})), b.input("i", {3}, DType::i64)}, along(1)));
  Graph graph = finished(b);
  bench.run(kDecompose, graph);
  EXPECT_NE(bench.error(kLowerToDevice, graph).find("its indices are known only at run time"), std::string::npos);
}

// Places beyond 256 are none that 16-bit floats hold.
TEST(Gather, PlacesStayWholeWhereValuesHaveSixteenBits) {
  Bench bench;
  bench.context.decompositions = &plugin_decompositions();
  Builder b("g");
  Tensor table = varied({2000, 1});
  auto i = b.input("i", {4}, DType::i64);
  b.output("y", b.op("gather", {b.parameter("table", table), i}, along(0)));
  b.output("same", b.op("equal", {i, b.constant(Tensor(Shape{4}, std::vector<std::int64_t>{1999, 1000, 515, 0}))}));
  Graph graph = finished(b);
  for (const Pass* pass : {&kDecompose, &kConstantFolding, &kLowerToDevice, &kAssignFormats}) bench.run(*pass, graph);
  EXPECT_EQ(graph.type(graph.node(graph.find_output("y")).inputs()[0].source)->format, DataFormat::float16_b);
  std::vector<std::int64_t> places{1999, 1001, 513, -2000};
  auto out = ops::evaluate_graph_in_formats(graph, {{"i", Tensor(Shape{4}, places)}});
  ASSERT_TRUE(out.ok()) << Bench::message(out.failure());
  std::vector<float> y = out->at("y").to_f32(), same = out->at("same").cast(DType::f32).to_f32();
  for (std::size_t k = 0; k < places.size(); ++k) {
    std::int64_t at = places[k] < 0 ? places[k] + 2000 : places[k];
    EXPECT_NEAR(y[k], table.as<float>()[static_cast<std::size_t>(at)], 0.01) << places[k];
  }
  EXPECT_EQ(same, (std::vector<float>{1, 0, 0, 0}));
}

TEST(GatherNd, WithAndWithoutBatch) {
  expect_kept("gather_nd", {{{2, 3}}, indices({3, 2}, {0, 0, 1, -1, 1, 1})}, {});
  expect_kept("gather_nd", {{{2, 3, 4}}, indices({2, 1}, {1, 0})}, {});
  expect_kept("gather_nd", {{{2, 3, 4}}, indices({2, 1}, {2, -3})}, {{"batch_dims", std::int64_t{1}}});
  expect_kept("gather_nd", {{{2, 3, 4}}, indices({2, 2, 1}, {2, 0, 1, 1})}, {{"batch_dims", std::int64_t{1}}});
  expect_kept("gather_nd", {{{2, 2, 2}}, indices({2, 1, 2}, {0, 1, 1, 0})}, {});
  expect_kept("gather_nd", {{{2, 3, 5}}, indices({2, 2, 3}, {0, 2, 4, 1, 0, 0, 0, -1, 4, 0, 1, -5})}, {});
}

TEST(GatherElements, AlongEveryAxis) {
  expect_kept("gather_elements", {{{4, 7}}, indices({4, 1}, {6, 0, -1, 3})}, along(1));
  expect_kept("gather_elements", {{{3, 3}}, indices({2, 3}, {1, 2, 0, -1, 0, 0})}, along(0));
  expect_kept("gather_elements", {{{2, 3}}, indices({2, 4}, {0, 2, 1, 1, 2, 2, 0, -3})}, along(1));
  expect_kept("gather_elements",
              {{{3, 4, 5}}, indices({2, 3, 4}, {0, 1, 2, 3, 0, 1, 2, 3, 3, 2, 1, 0, 1, 1, 1, 1, 0, 0, 3, 3, 2, 1, 2, 1})}, along(1));
}

TEST(ReverseSequence, OfEveryLength) {
  expect_kept("reverse_sequence", {{{4, 3}}, {{3}, DType::i64, {4, 1, 2}}},
              {{"batch_dim", std::int64_t{1}}, {"time_dim", std::int64_t{0}}});
  expect_kept("reverse_sequence", {{{3, 5, 2, 2}}, {{3}, DType::i64, {5, 3, 1}}},
              {{"batch_dim", std::int64_t{0}}, {"time_dim", std::int64_t{1}}});
}

TEST(ScatterElements, EveryReduction) {
  for (const char* reduction : {"none", "add", "mul", "max", "min"}) {
    SCOPED_TRACE(reduction);
    AttrMap first = along(0), second = along(1);
    first["reduction"] = second["reduction"] = std::string(reduction);
    expect_kept("scatter_elements", {{{3, 3}}, indices({2, 3}, {1, 0, 2, 0, 2, -2}), {{2, 3}}}, first);
    expect_kept("scatter_elements", {{{2, 5}}, indices({2, 2}, {1, 3, -1, 0}), {{2, 2}}}, second);
    expect_kept("scatter_elements", {{{2, 4, 3}}, indices({1, 2, 2}, {3, 0, 1, 1}), {{1, 2, 2}}}, second);
    // Several at one place: of those that replace the last one counts.
    expect_kept("scatter_elements", {{{1, 5}}, indices({1, 4}, {1, 3, 1, 1}), {{1, 4}}}, second);
  }
}

TEST(ScatterNd, EveryReduction) {
  for (const char* reduction : {"none", "add", "mul", "max", "min"}) {
    SCOPED_TRACE(reduction);
    AttrMap attrs{{"reduction", std::string(reduction)}};
    expect_kept("scatter_nd", {{{8}}, indices({4, 1}, {4, 3, -1, 4}), {{4}}}, attrs);
    expect_kept("scatter_nd", {{{4, 3, 2}}, indices({2, 1}, {0, 2}), {{2, 3, 2}}}, attrs);
    expect_kept("scatter_nd", {{{4, 3, 2}}, indices({3, 2}, {0, 2, -1, 1, 0, 2}), {{3, 2}}}, attrs);
    expect_kept("scatter_nd", {{{4, 3}}, indices({4, 2}, {0, 2, -1, 1, 0, 2, 3, -2}), {{4}}}, attrs);
    expect_kept("scatter_nd", {{{2, 3, 5}}, indices({2, 2, 3}, {0, 2, 4, 1, 0, 0, 0, 2, 4, 0, -1, 3}), {{2, 2}}}, attrs);
  }
}

TEST(MaxUnpool, OfSeveralTheLast) {
  expect_kept("max_unpool", {{{1, 1, 2, 2}}, indices({1, 1, 2, 2}, {5, 7, 13, 15})}, {{"shape", Dims{1, 1, 4, 4}}});
  expect_kept("max_unpool", {{{1, 2, 1, 2}}, indices({1, 2, 1, 2}, {5, 7, 5, 9})}, {{"shape", Dims{1, 2, 1, 6}}});
}

TEST(NgramCounts, EveryMode) {
  // Grams of one number: 2, 3, 5; of two: 5 4, 5 6, 7 8, 2 3, and 2 3 again.
  AttrMap attrs{{"pool", Dims{2, 3, 5, 5, 4, 5, 6, 7, 8, 2, 3, 2, 3}},
                {"starts", Dims{0, 3}},
                {"columns", Dims{0, 1, 2, 3, 4, 5, 7, 6}},
                {"shortest", std::int64_t{1}},
                {"longest", std::int64_t{2}},
                {"most_skips", std::int64_t{3}}};
  Operand tokens{{2, 6}, DType::i32, {1, 1, 3, 3, 3, 7, 8, 2, 5, 3, 5, 6}}, one{{5}, DType::i64, {2, 3, 2, 3, 5}};
  for (const char* mode : {"count", "presence", "weighted"}) {
    SCOPED_TRACE(mode);
    attrs["mode"] = std::string(mode);
    attrs["weights"] = std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8};
    expect_kept("ngram_counts", {tokens}, attrs);
    expect_kept("ngram_counts", {one}, attrs);
  }
  attrs["shortest"] = std::int64_t{2};
  expect_kept("ngram_counts", {tokens}, attrs);
}

TEST(Rearrange, ContinuedBorders) {
  for (const char* mode : {"reflect", "edge", "wrap"}) {
    SCOPED_TRACE(mode);
    AttrMap attrs{{"mode", std::string(mode)}, {"before", Dims{0, 1, 2, 3}}, {"after", Dims{0, 2, 1, 7}}};
    expect_kept("pad_continued", {{{2, 3, 4, 5}}}, attrs);
    attrs = {{"mode", std::string(mode)}, {"before", Dims{2, 0}}, {"after", Dims{0, 9}}};
    expect_kept("pad_continued", {{{3, 4}, DType::i32, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}}, attrs);
  }
}

TEST(Rearrange, Tiles) {
  expect_kept("tile", {{{3}}}, {{"repeats", Dims{4}}});
  expect_kept("tile", {{{2, 3, 4, 5}}}, {{"repeats", Dims{3, 1, 2, 2}}});
  expect_kept("tile", {{{2, 40}}}, {{"repeats", Dims{1, 2}}});
}

TEST(Signal, TransformsOfEveryKind) {
  expect_kept("dft", {{{1, 10, 3, 1}}}, along(1));
  expect_kept("dft", {{{1, 10, 10, 2}}}, {{"dim", std::int64_t{2}}, {"inverse", true}});
  expect_kept("dft", {{{2, 15, 16, 1}}}, {{"dim", std::int64_t{2}}, {"onesided", true}});
  expect_kept("dft", {{{3, 7, 2}}}, {{"dim", std::int64_t{1}}, {"length", std::int64_t{5}}});
  expect_kept("dft", {{{3, 7, 1}}}, {{"dim", std::int64_t{1}}, {"length", std::int64_t{12}}, {"onesided", true}});
}

}  // namespace
}  // namespace buda::passes
