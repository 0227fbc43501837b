// SPDX-License-Identifier: Apache-2.0
// onnxruntime's attention: projections and heads.
#include "attention_heads.hpp"
#include "quantized_numbers.hpp"
#include "rotary.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <cmath>
#include <numeric>
#include <optional>

namespace buda::onnx_frontend {
namespace {

using Ref = NodeImport::Ref;
using Dims = NodeImport::Dims;

double scale_of(const NodeImport& n, std::int64_t width) {
  const double given = n.real("scale", 0);
  return given != 0 ? given : 1 / std::sqrt(static_cast<double>(width));
}

// ---- Attention: x times the weights of queries, keys and values beside each other

enum AttentionInput : std::size_t { kX, kWeights, kBias, kMask, kPast, kScoreBias, kPastLength };
// QAttention has scales and zero points of both factors between the others.
enum QuantizedInput : std::size_t { kXScale = 3, kWeightScale, kQuantizedMask, kXZero, kWeightZero, kQuantizedPast };

// The widths of queries, keys and values of all heads.
Result<Dims> projection_widths(const NodeImport& n, const Shape& x, const Shape& weights, std::int64_t heads) {
  Dims widths = n.integers("qkv_hidden_sizes");
  if (widths.empty() && weights.rank() == 2) widths = Dims(3, weights[1] / 3);
  bool fits = x.rank() == 3 && weights.rank() == 2 && x[2] == weights[0] && heads >= 1 && widths.size() == 3 && widths[0] == widths[1];
  for (auto width : widths) fits = fits && width > 0 && width % heads == 0;
  fits = fits && std::accumulate(widths.begin(), widths.end(), std::int64_t{0}) == weights[1];
  if (fits) return widths;
  return n.refuse(cat("its input is ", x.text(), ", its weights ", weights.text(), ", its qkv_hidden_sizes ", list_text(widths),
                      " and num_heads ", heads,
                      "; [samples, positions, width], [width, sum of the three] and widths that heads divide are needed"));
}

// Keys and values with those of the past before them, which is [2, batch, heads, past, width].
Result<void> join_past(NodeImport& n, std::size_t input, Ref& k, Ref& v, AttentionSizes& sizes, std::int64_t width) {
  BUDA_ASSIGN(Shape past, n.shape(input));
  if (past.rank() != 5 || past != Shape{2, sizes.batch, sizes.heads, past[3], width})
    return n.refuse(cat("its past is ", past.text(), "; [2, ", sizes.batch, ", ", sizes.heads, ", positions, ", width, "] is needed"));
  const Shape part{sizes.batch, sizes.heads, past[3], width};
  Ref given = n.input(input);
  Ref old_k = n.step("past.key.slice").slice(given, 0, 0, 1), old_v = n.step("past.value.slice").slice(given, 0, 1, 2);
  old_k = n.step("past.key").reshape(old_k, part);
  old_v = n.step("past.value").reshape(old_v, part);
  k = n.step("key.all").concatenate({old_k, k}, 2);
  v = n.step("value.all").concatenate({old_v, v}, 2);
  sizes.past = past[3];
  sizes.keys += past[3];
  return success();
}

Result<void> refuse_what_is_not_read(const NodeImport& n) {
  for (const char* name : {"do_rotary", "past_present_share_buffer"})
    if (n.integer(name, 0) != 0) return n.refuse(cat("its ", name, " is ", n.integer(name, 0), "; only 0 is supported"));
  return success();
}

struct AttentionInputs {
  std::size_t mask, past;
  std::optional<std::size_t> score_bias;
};

// Attention over x times the weights, `all`, which is [samples, positions, sum of widths].
Result<void> attend(NodeImport& n, Ref all, const Shape& x, DType dtype, const Dims& widths, const AttentionInputs& at) {
  const std::int64_t heads = n.integer("num_heads", 0);
  AttentionSizes sizes{x[0], heads, x[1], x[1], 0, dtype};
  Ref parts[3];
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string name = i == 0 ? "query" : i == 1 ? "key" : "value";
    Ref part = n.step(name + ".slice").slice(all, 2, begin, begin + widths[i]);
    parts[i] = split_heads(n, part, Shape{x[0], x[1], widths[i]}, heads, name);
    begin += widths[i];
  }
  if (n.has_input(at.past)) BUDA_TRY(join_past(n, at.past, parts[1], parts[2], sizes, widths[1] / heads));
  if (n.has_output(1)) {
    if (widths[1] != widths[2]) return n.refuse("its keys and values have different widths, and cannot both be in its result 1 (present)");
    Ref k = n.step("present.key").unsqueeze(parts[1], {0}), v = n.step("present.value").unsqueeze(parts[2], {0});
    n.output(n.step("present").concatenate({k, v}, 0), 1);
  }
  std::vector<Ref> biases;
  auto add = [&](Result<Ref> made) -> Result<void> {
    if (!made) return std::move(made).failure();
    biases.push_back(*made);
    return success();
  };
  if (n.has_input(at.mask)) BUDA_TRY(add(key_mask(n, at.mask, sizes, n.real("mask_filter_value", -10000))));
  if (at.score_bias && n.has_input(*at.score_bias)) BUDA_TRY(add(score_bias(n, *at.score_bias, sizes)));
  if (n.integer("unidirectional", 0) != 0) BUDA_TRY(add(causal_mask(n, sizes)));
  BUDA_ASSIGN(Ref y, attended(n, parts[0], parts[1], parts[2], widths[2] / heads, biases, scale_of(n, widths[0] / heads), sizes));
  n.output(y);
  return success();
}

Result<void> import_attention(NodeImport& n) {
  BUDA_TRY(refuse_what_is_not_read(n));
  if (n.has_input(kPastLength))
    return n.refuse("it has a past_sequence_length (input 6), which goes with a shared buffer and is not supported");
  BUDA_ASSIGN(auto type, n.type(kX));
  BUDA_ASSIGN(Shape weights, n.shape(kWeights));
  BUDA_ASSIGN(Dims widths, projection_widths(n, type.shape, weights, n.integer("num_heads", 0)));
  Ref value = n.input(kX), matrix = n.input(kWeights);
  Ref all = n.step("projected").matmul(value, matrix);
  if (n.has_input(kBias)) {
    Ref bias = n.input(kBias);
    all = n.step("projected.biased").add(all, bias);
  }
  return attend(n, all, type.shape, type.dtype, widths, {kMask, kPast, std::size_t{kScoreBias}});
}

// The projections are an exact product of integers, times both scales.
Result<void> import_quantized_attention(NodeImport& n) {
  BUDA_TRY(refuse_what_is_not_read(n));
  BUDA_ASSIGN(Shape x, n.shape(kX));
  BUDA_ASSIGN(Shape weights, n.shape(kWeights));
  BUDA_ASSIGN(auto scale_type, n.type(kXScale));
  BUDA_ASSIGN(Dims widths, projection_widths(n, x, weights, n.integer("num_heads", 0)));
  BUDA_ASSIGN(Ref a, centred(n, kX, kXZero, "x", 1));
  BUDA_ASSIGN(Ref b, centred(n, kWeights, kWeightZero, "weights", 0));
  Ref sum = n.step("projected.sum").matmul(a, b);
  Ref a_scale = n.input(kXScale), b_scale = n.input(kWeightScale), bias = n.input(kBias);
  Ref scale = n.step("projected.scale").multiply(a_scale, b_scale);
  Ref real = n.cast(sum, scale_type.dtype, "projected.real");
  Ref all = n.step("projected").multiply(real, scale);
  all = n.step("projected.biased").add(all, bias);
  return attend(n, all, x, scale_type.dtype, widths, {kQuantizedMask, kQuantizedPast, {}});
}

// ---- MultiHeadAttention: queries, keys and values that were projected before

enum MultiHeadInput : std::size_t {
  kQuery,
  kKey,
  kValue,
  kProjectionBias,
  kKeyMask,
  kBiasOfScores,
  kPastKey,
  kPastValue,
  kLengthOfPast,
  kCache
};

struct Projections {
  Ref q, k, v;  // [batch, heads, positions, width]
  std::int64_t queries = 0, keys = 0, width = 0, value_width = 0;
  bool keys_apart = false;  // keys and values came in heads, and have no bias
};

// Part `which` of [batch, positions, heads, parts, width].
Ref packed_part(NodeImport& n, Ref packed, const Shape& shape, std::int64_t which, std::string_view step) {
  Ref part = n.step(cat(step, ".slice")).slice(packed, 3, which, which + 1);
  return n.step(cat(step, ".flat")).reshape(part, Shape{shape[0], shape[1], shape[2] * shape[4]});
}

// [batch, positions, heads * width] plus the bias of this part, in heads.
Ref biased_heads(NodeImport& n, Ref value, const Shape& shape, std::int64_t heads, std::int64_t bias_at, std::string_view step) {
  if (n.has_input(kProjectionBias)) {
    Ref bias = n.input(kProjectionBias);
    bias = n.step(cat(step, ".bias")).slice(bias, 0, bias_at, bias_at + shape[2]);
    value = n.step(cat(step, ".biased")).add(value, bias);
  }
  return split_heads(n, value, shape, heads, step);
}

Result<Projections> projections(NodeImport& n, std::int64_t heads) {
  BUDA_ASSIGN(Shape query, n.shape(kQuery));
  const std::string why = cat("its query is ", query.text(), " and num_heads ", heads);
  Projections out;
  Ref q = n.input(kQuery), k, v;
  Shape flat = query, keys, values;
  if (query.rank() == 5 && query[3] == 3 && query[2] == heads && !n.has_input(kKey) && !n.has_input(kValue)) {
    k = packed_part(n, q, query, 1, "key");
    v = packed_part(n, q, query, 2, "value");
    q = packed_part(n, q, query, 0, "query");
    flat = keys = values = Shape{query[0], query[1], heads * query[4]};
  } else if (query.rank() != 3 || heads < 1 || query[2] % heads != 0 || !n.has_input(kKey)) {
    return n.refuse(
        cat(why, n.has_input(kKey) ? "" : ", and it has no key",
            "; [samples, positions, heads * width] and a key, or [samples, positions, heads, 3, width] without one, are needed"));
  } else {
    BUDA_ASSIGN(keys, n.shape(kKey));
    k = n.input(kKey);
    if (n.has_input(kValue)) {
      BUDA_ASSIGN(values, n.shape(kValue));
      v = n.input(kValue);
    } else if (keys.rank() == 5 && keys[3] == 2 && keys[2] == heads) {
      v = packed_part(n, k, keys, 1, "value");
      k = packed_part(n, k, keys, 0, "key");
      keys = values = Shape{keys[0], keys[1], heads * keys[4]};
    }
    out.keys_apart = keys.rank() == 4;
  }
  const std::size_t rank = out.keys_apart ? 4 : 3, positions = out.keys_apart ? 2 : 1;
  out.queries = flat[1];
  out.width = flat[2] / heads;
  bool fits =
      keys.rank() == rank && values.rank() == rank && keys[0] == flat[0] && values[0] == flat[0] && keys[positions] == values[positions];
  if (out.keys_apart)
    fits = fits && keys[1] == heads && values[1] == heads && keys[3] == out.width;
  else
    fits = fits && keys[2] == flat[2] && values[2] % heads == 0;
  if (!fits) return n.refuse(cat(why, ", its key ", keys.text(), " and its value ", values.text(), ", which do not fit each other"));
  out.keys = keys[positions];
  out.value_width = out.keys_apart ? values[3] : values[2] / heads;
  out.q = biased_heads(n, q, flat, heads, 0, "query");
  out.k = out.keys_apart ? k : biased_heads(n, k, keys, heads, flat[2], "key");
  out.v = out.keys_apart ? v : biased_heads(n, v, values, heads, 2 * flat[2], "value");
  return out;
}

// Keys or values with those of the past before them, [batch, heads, past, width].
Result<Ref> with_past(NodeImport& n, std::size_t input, Ref now, std::int64_t width, AttentionSizes& sizes) {
  BUDA_ASSIGN(Shape past, n.shape(input));
  if (past.rank() != 4 || past != Shape{sizes.batch, sizes.heads, past[2], width})
    return n.refuse(cat("its input ", input, " (of the past) is ", past.text(), "; [", sizes.batch, ", ", sizes.heads, ", positions, ",
                        width, "] is needed"));
  sizes.past = past[2];
  Ref old = n.input(input);
  return n.step(input == kPastKey ? "key.all" : "value.all").concatenate({old, now}, 2);
}

Result<void> import_multi_head_attention(NodeImport& n) {
  if (n.has_input(kLengthOfPast) || n.has_input(kCache))
    return n.refuse(
        "it has a past_sequence_length (input 8) or cache_indirection (input 9), which go with a shared buffer and are not supported");
  if (n.has_output(3)) return n.refuse("its result 3 (qk) is used, which is not supported");
  if (n.has_input(kPastKey) != n.has_input(kPastValue)) return n.refuse("of past_key and past_value it has just one");
  const std::int64_t heads = n.integer("num_heads", 0);
  BUDA_ASSIGN(auto type, n.type(kQuery));
  BUDA_ASSIGN(Projections p, projections(n, heads));
  AttentionSizes sizes{type.shape[0], heads, p.queries, p.keys, 0, type.dtype};
  if (n.has_input(kPastKey)) {
    if (p.keys_apart) return n.refuse("it has keys in heads (cross attention) and a past, which are not compatible");
    BUDA_ASSIGN(p.k, with_past(n, kPastKey, p.k, p.width, sizes));
    BUDA_ASSIGN(p.v, with_past(n, kPastValue, p.v, p.value_width, sizes));
    sizes.keys += sizes.past;
  }
  n.output(p.k, 1);
  n.output(p.v, 2);
  std::vector<Ref> biases;
  if (n.has_input(kKeyMask)) {
    BUDA_ASSIGN(Ref mask, key_mask(n, kKeyMask, sizes, n.real("mask_filter_value", -10000)));
    biases.push_back(mask);
  }
  if (n.has_input(kBiasOfScores)) {
    BUDA_ASSIGN(Ref bias, score_bias(n, kBiasOfScores, sizes));
    biases.push_back(bias);
  }
  if (n.integer("unidirectional", 0) != 0) {
    BUDA_ASSIGN(Ref mask, causal_mask(n, sizes));
    biases.push_back(mask);
  }
  BUDA_ASSIGN(Ref y, attended(n, p.q, p.k, p.v, p.value_width, biases, scale_of(n, p.width), sizes));
  n.output(y);
  return success();
}

constexpr OpImporter kContribAttentionOps[] = {
    {"Attention", 1, import_attention},
    {"MultiHeadAttention", 1, import_multi_head_attention},
    {"QAttention", 1, import_quantized_attention},
    {"RotaryEmbedding", 1, import_rotary_embedding},
};

}  // namespace

std::span<const OpImporter> contrib_attention_ops() { return kContribAttentionOps; }

}  // namespace buda::onnx_frontend
