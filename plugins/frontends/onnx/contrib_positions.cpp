// SPDX-License-Identifier: Apache-2.0
// What onnxruntime's attention adds to scores by the distance of positions, as T5 and WavLM have it.
#include "node_import.hpp"

#include <buda/base/text.hpp>

#include <algorithm>
#include <cmath>

namespace buda::onnx_frontend {
namespace {

using Ref = NodeImport::Ref;

constexpr std::int64_t kMaxPositions = 1 << 14;

// T5's buckets of distances: one for each small distance, and ever wider ones up to the largest.
struct Buckets {
  std::int64_t count = 0, furthest = 0;
  bool both_ways = false;

  std::int64_t of(std::int64_t key, std::int64_t query) const {
    std::int64_t distance = key - query, own = count, base = 0;
    if (both_ways) {
      own /= 2;
      base = distance > 0 ? own : 0;
      distance = std::abs(distance);
    } else {
      distance = std::max<std::int64_t>(-distance, 0);
    }
    const std::int64_t single = own / 2;
    if (distance < single) return base + distance;
    const float scaled = std::log(static_cast<float>(distance) / static_cast<float>(single)) /
                         std::log(static_cast<float>(furthest) / static_cast<float>(single)) * static_cast<float>(own - single);
    return base + std::min(single + static_cast<std::int64_t>(scaled), own - 1);
  }
};

Result<void> import_relative_position_bias(NodeImport& n) {
  BUDA_ASSIGN(Shape table, n.shape(0));
  BUDA_ASSIGN(auto queries, n.known_integers(1, "query_length"));
  BUDA_ASSIGN(auto keys, n.known_integers(2, "key_length"));
  const Buckets buckets{table.rank() == 2 ? table[0] : 0, n.integer("max_distance", 128), n.integer("is_bidirectional", 0) != 0};
  const std::int64_t single = buckets.count / (buckets.both_ways ? 4 : 2);
  if (table.rank() != 2 || single < 1 || buckets.furthest <= single)
    return n.refuse(cat("its bias_table is ", table.text(), " and its max_distance ", buckets.furthest));
  if (queries.size() != 1 || queries != keys || queries[0] < 1 || queries[0] > kMaxPositions)
    return n.refuse(cat("its query_length is ", list_text(queries), " and its key_length ", list_text(keys), "; equal ones up to ",
                        kMaxPositions, " are supported"));
  const std::int64_t length = queries[0];
  std::vector<std::int64_t> places;
  for (std::int64_t q = 0; q < length; ++q)
    for (std::int64_t k = 0; k < length; ++k) places.push_back(buckets.of(k, q));
  Ref rows = n.input(0);
  Ref at = n.step("buckets").constant(Shape{length * length}, std::move(places));
  Ref found = n.step("rows").op("gather", {rows, at}, {{"dim", std::int64_t{0}}});
  Ref heads = n.step("heads").transpose(found, {1, 0});
  n.output(n.result().reshape(heads, Shape{1, table[1], length, length}));
  return success();
}

enum GatedInput : std::size_t { kGatedQuery, kGatedQueryBias, kGatedBias, kGatedWeight, kGatedWeightBias, kGatedFactor, kGatedTokenOffset };

// WavLM's: the bias of positions times a gate of each query.
Result<void> import_gated_bias(NodeImport& n) {
  if (n.has_input(kGatedTokenOffset)) return n.refuse("its samples are packed (token_offset), which is not supported");
  BUDA_ASSIGN(auto type, n.type(kGatedQuery));
  BUDA_ASSIGN(Shape weight, n.shape(kGatedWeight));
  const Shape& x = type.shape;
  const std::int64_t heads = n.integer("num_heads", 0);
  if (x.rank() != 3 || heads < 1 || x[2] % heads != 0 || weight.rank() != 2 || weight[0] != x[2] / heads || weight[1] % 2 != 0)
    return n.refuse(cat("its query_layer is ", x.text(), ", its weight ", weight.text(), " and num_heads ", heads));
  Ref query = n.input(kGatedQuery), query_bias = n.input(kGatedQueryBias), matrix = n.input(kGatedWeight), bias = n.input(kGatedWeightBias);
  Ref sum = n.step("query").add(query, query_bias);
  sum = n.step("query.apart").reshape(sum, Shape{x[0], x[1], heads, weight[0]});
  sum = n.step("query.heads").transpose(sum, {0, 2, 1, 3});
  Ref both = n.step("gates.product").matmul(sum, matrix);
  both = n.step("gates.sum").add(both, bias);
  both = n.step("gates.apart").reshape(both, Shape{x[0], heads, x[1], 2, weight[1] / 2});
  both = n.step("gates.summed").reduce_sum(both, {4}, false);
  both = n.step("gates").sigmoid(both);
  Ref u = n.step("gate.u").slice(both, 3, 0, 1), r = n.step("gate.r").slice(both, 3, 1, 2);
  Ref factor = n.input(kGatedFactor), one = n.step("one").constant(1.0, type.dtype), two = n.step("two").constant(2.0, type.dtype);
  Ref scaled = n.step("gate.scaled").multiply(r, factor);
  Ref less = n.step("gate.less").subtract(scaled, one);
  Ref gated = n.step("gate.product").multiply(u, less);
  Ref gate = n.step("gate").add(gated, two);
  Ref positions = n.input(kGatedBias);
  n.output(n.result().multiply(gate, positions));
  return success();
}

constexpr OpImporter kContribPositionOps[] = {
    {"GatedRelativePositionBias", 1, import_gated_bias},
    {"RelativePositionBias", 1, import_relative_position_bias},
};

}  // namespace

std::span<const OpImporter> contrib_position_ops() { return kContribPositionOps; }

}  // namespace buda::onnx_frontend
