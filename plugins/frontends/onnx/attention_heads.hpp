// SPDX-License-Identifier: Apache-2.0
// Scaled dot-product attention over heads, and the masks that onnxruntime's operators give it.
#pragma once

#include "node_import.hpp"

#include <vector>

namespace buda::onnx_frontend {

struct AttentionSizes {
  std::int64_t batch = 0, heads = 0;
  std::int64_t queries = 0, keys = 0;  // positions; keys with those of the past
  std::int64_t past = 0;               // keys that precede those of the first query
  DType dtype = DType::f32;
};

// [batch, positions, heads * width] as [batch, heads, positions, width].
graph::ValueRef split_heads(NodeImport& n, graph::ValueRef value, const Shape& shape, std::int64_t heads, std::string_view step);

// `filter` where a mask of onnxruntime's says that a key does not count, else 0, as it is added to scores [batch, heads, queries, keys].
// The mask has 1 for each key that counts and 0 for others ([batch, keys], [batch, queries, keys], or [batch, 1, all, all] for all
// positions); or numbers of keys ([batch]), or these and then the first keys that count ([2 * batch]).
Result<graph::ValueRef> key_mask(NodeImport& n, std::size_t input, const AttentionSizes& sizes, double filter);
// What keeps each query from later keys, as it is added to scores.
Result<graph::ValueRef> causal_mask(NodeImport& n, const AttentionSizes& sizes);
// Input `input`, which is added to scores; its shape must broadcast to theirs.
Result<graph::ValueRef> score_bias(NodeImport& n, std::size_t input, const AttentionSizes& sizes);

// Keys or values [batch, heads, positions, width] with each head `times` times, one after the other.
graph::ValueRef repeated_heads(NodeImport& n, graph::ValueRef value, const Shape& shape, std::int64_t times, std::string_view step);

// How scores become weights, beyond a scale and what is added to them.
struct ScoreRule {
  double softcap = 0;    // scores are softcap * tanh(score / softcap), before anything is added to them
  graph::ValueRef sink;  // a further score of each query, whose weight goes to no value: it broadcasts to [batch, heads, queries, 1]
};

// The weights of values: softmax(q k^T * scale + the biases).
graph::ValueRef weights_of_values(NodeImport& n, graph::ValueRef q, graph::ValueRef k, const std::vector<graph::ValueRef>& biases,
                                  double scale, const AttentionSizes& sizes, const ScoreRule& rule = {});

// softmax(q k^T * scale + the biases) v, for q [batch, heads, queries, width], k and v likewise with keys; as the node's result [batch,
// queries, heads * width of v].
Result<graph::ValueRef> attended(NodeImport& n, graph::ValueRef q, graph::ValueRef k, graph::ValueRef v, std::int64_t value_width,
                                 const std::vector<graph::ValueRef>& biases, double scale, const AttentionSizes& sizes,
                                 const ScoreRule& rule = {});

}  // namespace buda::onnx_frontend
