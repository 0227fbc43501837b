// SPDX-License-Identifier: Apache-2.0
// Sampling at computed places, and determinants: decomposed and lowered they mean what they meant.
#include "values.hpp"

namespace buda::passes {
namespace {

using Dims = std::vector<std::int64_t>;
using graph::AttrMap;

// Numbers between the bounds, all different.
Tensor between(const Shape& shape, double least, double most, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> v(static_cast<std::size_t>(*shape.volume()));
  for (float& x : v) x = static_cast<float>(rng.uniform(least, most));
  return Tensor(shape, std::move(v));
}

void expect_kept(const std::string& op, const std::vector<Tensor>& operands, const AttrMap& attrs) {
  Bench bench;
  bench.context.decompositions = &plugin_decompositions();
  Builder b("g");
  NamedTensors inputs;
  std::vector<Edge> edges;
  for (const Tensor& t : operands) {
    std::string name = cat('x', edges.size());
    edges.emplace_back(b.input(name, t.shape(), t.dtype()));
    inputs.emplace(name, t);
  }
  b.output("out", called(b, "y", b.op(op, edges, attrs)));
  Graph graph = finished(b);
  expect_equivalence(graph, bench, with_host_for_rounding(graph, {&kDecompose, &kConstantFolding, &kLowerToDevice}), std::move(inputs));
}

TEST(GridSample, EveryModeAndBorder) {
  for (const char* mode : {"nearest", "bilinear", "bicubic"})
    for (const char* padding : {"zeros", "border", "reflection"})
      for (bool align : {false, true}) {
        SCOPED_TRACE(cat(mode, ' ', padding, ' ', align));
        AttrMap attrs{{"mode", std::string(mode)}, {"padding", std::string(padding)}, {"align_corners", align}};
        expect_kept("grid_sample", {varied({1, 2, 4, 5}), between({1, 3, 4, 2}, -1, 1, 5)}, attrs);
        expect_kept("grid_sample", {varied({2, 3, 6, 3}), between({2, 5, 8, 2}, -4, 4, 6)}, attrs);
        expect_kept("grid_sample", {varied({1, 1, 1, 2}), between({1, 2, 3, 2}, -3, 3, 7)}, attrs);
      }
}

TEST(RoiAlign, OfBothCoordinates) {
  Tensor regions(Shape{3, 4}, std::vector<float>{0, 0, 9, 9, 0, 5, 4, 9, 5.5f, -3, 14, 2});
  for (const char* coordinates : {"half_pixel", "output_half_pixel"})
    for (std::int64_t samples : {1, 2}) {
      SCOPED_TRACE(cat(coordinates, ' ', samples));
      AttrMap attrs{{"pooled", Dims{5, 3}}, {"coordinates", std::string(coordinates)}, {"sampling_ratio", samples}, {"spatial_scale", 0.9}};
      expect_kept("roi_align", {varied({1, 2, 10, 8}), regions, Tensor(Shape{3}, std::vector<std::int64_t>{0, 0, 0})}, attrs);
      expect_kept("roi_align", {varied({2, 3, 10, 8}), regions, Tensor(Shape{3}, std::vector<std::int64_t>{1, 0, 1})}, attrs);
    }
}

TEST(Determinant, OfSmallMatrices) {
  for (std::int64_t n : {1, 2, 3, 4, 6}) {
    SCOPED_TRACE(n);
    expect_kept("determinant", {varied({n, n})}, {});
    expect_kept("determinant", {varied({2, 3, n, n})}, {});
  }
}

}  // namespace
}  // namespace buda::passes
