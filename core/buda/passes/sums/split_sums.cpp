// SPDX-License-Identifier: Apache-2.0
// split-sums: long sums on a device whose destination register has 16 bits, block by block or in parts whose results are added up.
//
// Sums of which the error model (accumulation_error.hpp) expects too large an error; on a device that accumulates in Float32 assign-formats
// does that instead, and nothing happens here.
//
// A product with a large result stays one op, whose kernel adds up block by block: its tag says how large a block may be, and where no such
// block divides the inner dimension tiles of zeros fill it up. Smaller results, and sums of equal factors, are worth more exactness and
// more ops. Parts are short enough to be exact to a few roundings, whose errors differ in sign.
//
// A product with a column of equal factors, a sum along c, whose parts are columns of a matrix of blocks:
//
//   before                              after
//   y = matmul(x, ones)                 parts = matmul(x [hslice: P], blocks)   column j: the sum of part j
//                                       y = matmul(parts [hstack: P], ones)     and so on, until 16 numbers are left, or 8 along r
//
// likewise along r; so a factor of more bits than the host's packer keeps becomes two. A constant that is added to the result, as layer
// norms have it, is the last product's bias. Any other product of a small result has slices for parts. A step of the matrix unit adds up 16
// numbers that follow each other, and rounds once; so rows are put in order, and 16 parts at a time are added up by it:
//
//   y = matmul(a, b)                    parts = matmul(a [hslice: P], b [vslice: P])
//                                       ordered = matmul(order, parts [vstack: P])   row 16 i + p: row i of part p; a selection
//                                       y = matmul(blocks, ordered)                  row i: the sum of rows 16 i to 16 i + 15; and so on
//
// Putting in order takes time: parts of large results, matrices that are added up along z and terms that a selection picks, are added up
// tile by tile, by a depthwise product with unit matrices, which rounds for each.
//
// What does not divide is filled up with tiles of zeros on the edges.
#include <buda/passes/formats/accumulation_error.hpp>
#include <buda/passes/formats/format_facts.hpp>
#include <buda/passes/formats/value_signs.hpp>
#include <buda/passes/pipeline/graph_names.hpp>
#include <buda/passes/pipeline/standard_passes.hpp>
#include <buda/passes/sums/equal_factors.hpp>
#include <buda/passes/sums/partial_sums.hpp>
#include <buda/passes/sums/products.hpp>
#include <buda/passes/sums/selections.hpp>

#include <buda/ops/linear_algebra/sparse.hpp>
#include <buda/tensor/formats/math_unit.hpp>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace buda::passes {
namespace {

// Of results of many tiles twice as much is borne: what adds a block to them rounds, too, and more and smaller blocks take longer.
constexpr double kLargestErrorOfManyTiles = 2 * kLargestExpectedError;

// Tiles whose sums are exact enough for few results, too, in blocks; of equal factors more, which round in one phase only.
constexpr std::int64_t kExactInBlocks = 4, kEqualInBlocks = 16;

// A unit matrix of this size has 16 MiB.
constexpr std::int64_t kMaxUnitColumns = 2048;

enum class How : std::uint8_t { not_at_all, equal_factors, blocks, product, selection };

std::optional<EqualFactors> factors_of_sum(const Graph& graph, const Node& n) {
  if (ops::is_sparse_product(n) || n.inputs().size() != 2 || slices_added(n) != 1) return std::nullopt;
  return equal_factors(graph, n);
}

// Whether a factor has more than 8 bits, which the host's packer would cut off. In sums of terms of both signs that matters little.
constexpr double kSameSign = 0.5;
bool is_long(const EqualFactors& of) { return of.factor != masked_bits(of.factor, 0xffff0000u); }

How how_to_split(const Graph& graph, const Node& n, const std::optional<EqualFactors>& factors) {
  if (ops::is_sparse_product(n)) return terms_of_selection(graph, n) > 0 ? How::selection : How::not_at_all;
  auto a = graph.type(n.inputs()[0]);
  if (!a) return How::not_at_all;
  const std::int64_t tiles = a->shape[3] / kSide;
  if (factors) {
    if (tiles <= kEqualInBlocks && !is_long(*factors)) return blocks_of_product(1, tiles) ? How::blocks : How::not_at_all;
    return tiles > 1 ? How::equal_factors : How::not_at_all;
  }
  const std::int64_t matrices = slices_added(n);
  const bool few = are_few(n.outputs[0].shape);
  if (blocks_of_product(matrices, tiles) && (!few || matrices * tiles <= kExactInBlocks)) return How::blocks;
  if (n.inputs().size() > 2 && n.outputs[0].shape[3] > kMaxUnitColumns) return How::not_at_all;
  return matrices > kTermsOfSlice || (matrices == 1 && tiles > 1) ? How::product : How::not_at_all;
}

Result<PassReport> split_sums(Graph& graph, PassContext& context) {
  PassReport report;
  if (context.device->features.fp32_accumulate) return report;
  const std::vector<NodeId> order = device_nodes(graph);
  const bool half = context.formats.standard && exponent_family(*context.formats.standard) == ExponentFamily::a;
  const DataFormat accumulate = half ? DataFormat::float16 : DataFormat::float16_b;
  std::vector<std::pair<NodeId, How>> found;
  const ValueSigns signs(graph, order);
  for (NodeId id : order) {
    const Node& n = graph.node(id);
    if (n.op() != "matmul") continue;
    const auto sum = signs.sum_of(n, context.formats.fidelity);
    const double largest = are_few(n.outputs[0].shape) ? kLargestExpectedError : kLargestErrorOfManyTiles;
    const bool is_inexact = is_inexact_in(accumulate, sum, largest), has_same_sign = sum && sum->coherence > kSameSign;
    const auto factors = is_inexact || has_same_sign ? factors_of_sum(graph, n) : std::nullopt;
    How how = is_inexact ? how_to_split(graph, n, factors) : How::not_at_all;
    if (how == How::not_at_all && has_same_sign && factors && is_long(*factors)) how = How::equal_factors;
    if (how != How::not_at_all) found.emplace_back(id, how);
  }
  for (auto [id, how] : found) {
    ++report.rewrites;
    switch (how) {
      case How::not_at_all:
        break;
      case How::equal_factors:
        split_equal_factors(graph, id);
        break;
      case How::blocks:
        add_up_in_blocks(graph, id);
        break;
      case How::product:
        split_product(graph, id);
        break;
      case How::selection:
        split_selection(graph, id);
        break;
    }
  }
  return report;
}

}  // namespace

const Pass kSplitSums = {.name = "split-sums",
                         .summary = "add up long sums by blocks or parts where the destination register has 16 bits",
                         .level = graph::Level::device,
                         .needs_device = true,
                         .run = split_sums};

}  // namespace buda::passes
