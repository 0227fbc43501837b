// SPDX-License-Identifier: Apache-2.0
// Scaled dot-product attention over heads, and its masks.
#include "attention_heads.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <limits>
#include <numeric>

namespace buda::onnx_frontend {
namespace {

using Ref = graph::ValueRef;

Ref filtered(NodeImport& n, Ref counts, double filter, const AttentionSizes& sizes) {
  Ref nothing = n.step("mask.nothing").constant(0.0, sizes.dtype), other = n.step("mask.filter").constant(filter, sizes.dtype);
  return n.step("mask").op("where", {counts, nothing, other});
}

// For lengths (and first keys) of the samples.
Result<Ref> mask_of_lengths(NodeImport& n, std::size_t input, bool with_first, const AttentionSizes& sizes) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(sizes.keys));
  std::iota(numbers.begin(), numbers.end(), 0);
  BUDA_ASSIGN(auto type, n.type(input));
  Ref places = n.step("mask.places").constant(Shape{1, 1, 1, sizes.keys}, std::move(numbers), type.dtype);
  Ref given = n.input(input);
  Ref ends = with_first ? n.step("mask.ends").slice(given, 0, 0, sizes.batch) : given;
  ends = n.step("mask.lengths").reshape(ends, Shape{sizes.batch, 1, 1, 1});
  Ref counts = n.step("mask.before_end").op("less", {places, ends});
  if (!with_first) return counts;
  Ref first = n.step("mask.starts").slice(given, 0, sizes.batch, 2 * sizes.batch);
  first = n.step("mask.first").reshape(first, Shape{sizes.batch, 1, 1, 1});
  Ref behind = n.step("mask.from_first").op("greater_equal", {places, first});
  return n.step("mask.counts").op("logical_and", {counts, behind});
}

}  // namespace

Ref split_heads(NodeImport& n, Ref value, const Shape& shape, std::int64_t heads, std::string_view step) {
  Ref apart = n.step(cat(step, ".heads")).reshape(value, Shape{shape[0], shape[1], heads, shape[2] / heads});
  return n.step(step).transpose(apart, {0, 2, 1, 3});
}

Result<Ref> key_mask(NodeImport& n, std::size_t input, const AttentionSizes& sizes, double filter) {
  BUDA_ASSIGN(auto type, n.type(input));
  const Shape& shape = type.shape;
  if (!is_integer(type.dtype) && type.dtype != DType::boolean)
    return n.refuse(cat("its mask (input ", input, ") is ", type.text(), "; integers are needed"));
  if (shape == Shape{sizes.batch} || shape == Shape{2 * sizes.batch}) {
    BUDA_ASSIGN(Ref counts, mask_of_lengths(n, input, shape[0] != sizes.batch, sizes));
    return filtered(n, counts, filter, sizes);
  }
  Ref mask = n.input(input);
  if (shape == Shape{sizes.batch, sizes.keys}) {
    mask = n.step("mask.keys").reshape(mask, Shape{sizes.batch, 1, 1, sizes.keys});
  } else if (shape == Shape{sizes.batch, sizes.queries, sizes.keys}) {
    mask = n.step("mask.pairs").reshape(mask, Shape{sizes.batch, 1, sizes.queries, sizes.keys});
  } else if (shape.rank() == 4 && shape[0] == sizes.batch && shape[1] == 1 && shape[2] >= sizes.past + sizes.queries &&
             shape[3] >= sizes.keys) {
    mask = n.step("mask.queries").slice(mask, 2, sizes.past, sizes.past + sizes.queries);
    mask = n.step("mask.pairs").slice(mask, 3, 0, sizes.keys);
  } else {
    return n.refuse(cat("its mask (input ", input, ") has shape ", shape.text(), "; for ", sizes.batch, " samples, ", sizes.queries,
                        " queries and ", sizes.keys, " keys [", sizes.batch, "], [", 2 * sizes.batch,
                        "], [samples, keys], [samples, queries, keys] and ", "[samples, 1, all, all] are supported"));
  }
  if (type.dtype != DType::boolean) {
    Ref zero = n.step("mask.zero").constant(0.0, type.dtype);
    mask = n.step("mask.counts").op("greater", {mask, zero});
  }
  return filtered(n, mask, filter, sizes);
}

Result<Ref> causal_mask(NodeImport& n, const AttentionSizes& sizes) {
  if (sizes.queries * sizes.keys > (std::int64_t{1} << 28))
    return n.refuse(cat("its ", sizes.queries, " queries and ", sizes.keys, " keys are more than is supported"));
  std::vector<float> values(static_cast<std::size_t>(sizes.queries * sizes.keys), 0.0f);
  for (std::int64_t q = 0; q < sizes.queries; ++q)
    for (std::int64_t k = sizes.past + q + 1; k < sizes.keys; ++k)
      values[static_cast<std::size_t>(q * sizes.keys + k)] = std::numeric_limits<float>::lowest();
  return n.step("causal").constant(Shape{sizes.queries, sizes.keys}, std::move(values), sizes.dtype);
}

Result<Ref> score_bias(NodeImport& n, std::size_t input, const AttentionSizes& sizes) {
  BUDA_ASSIGN(Shape shape, n.shape(input));
  const Shape scores{sizes.batch, sizes.heads, sizes.queries, sizes.keys};
  if (broadcast(scores, shape) != scores)
    return n.refuse(cat("what it adds to scores (input ", input, ") has shape ", shape.text(), ", and scores ", scores.text()));
  return n.input(input);
}

Ref repeated_heads(NodeImport& n, Ref value, const Shape& shape, std::int64_t times, std::string_view step) {
  if (times == 1) return value;
  Ref apart = n.step(cat(step, ".apart")).unsqueeze(value, {2});
  Ref repeated = n.step(cat(step, ".repeated")).broadcast(apart, Shape{shape[0], shape[1], times, shape[2], shape[3]});
  return n.step(cat(step, ".groups")).reshape(repeated, Shape{shape[0], shape[1] * times, shape[2], shape[3]});
}

Ref weights_of_values(NodeImport& n, Ref q, Ref k, const std::vector<Ref>& biases, double scale, const AttentionSizes& sizes,
                      const ScoreRule& rule) {
  Ref across = n.step("key.transposed").transpose(k, {0, 1, 3, 2});
  Ref scores = n.step("scores").matmul(q, across);
  if (scale != 1) {
    Ref factor = n.step("scale").constant(scale, sizes.dtype);
    scores = n.step("scores.scaled").multiply(scores, factor);
  }
  if (rule.softcap != 0) {
    Ref cap = n.step("softcap").constant(rule.softcap, sizes.dtype), part = n.step("softcap.part").constant(1 / rule.softcap, sizes.dtype);
    Ref small = n.step("scores.small").multiply(scores, part);
    Ref bent = n.step("scores.bent").tanh(small);
    scores = n.step("scores.capped").multiply(bent, cap);
  }
  for (std::size_t i = 0; i < biases.size(); ++i) scores = n.step(cat("scores.masked", i == 0 ? "" : cat('.', i))).add(scores, biases[i]);
  if (!rule.sink.valid()) return n.step("weights").softmax(scores, -1);
  Ref sink = n.step("sink").broadcast(rule.sink, Shape{sizes.batch, sizes.heads, sizes.queries, 1});
  Ref all = n.step("scores.all").concatenate({scores, sink}, 3);
  Ref weights = n.step("weights.all").softmax(all, -1);
  return n.step("weights").slice(weights, 3, 0, sizes.keys);
}

Result<Ref> attended(NodeImport& n, Ref q, Ref k, Ref v, std::int64_t value_width, const std::vector<Ref>& biases, double scale,
                     const AttentionSizes& sizes, const ScoreRule& rule) {
  Ref weights = weights_of_values(n, q, k, biases, scale, sizes, rule);
  Ref mixed = n.step("mixed").matmul(weights, v);
  Ref turned = n.step("joined").transpose(mixed, {0, 2, 1, 3});
  return n.result().reshape(turned, Shape{sizes.batch, sizes.queries, sizes.heads * value_width});
}

}  // namespace buda::onnx_frontend
