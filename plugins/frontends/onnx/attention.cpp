// SPDX-License-Identifier: Apache-2.0
// ONNX's own Attention and RotaryEmbedding, from opset 23 on.
#include "attention_heads.hpp"
#include "rotary.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <cmath>
#include <limits>

namespace buda::onnx_frontend {
namespace {

using Ref = NodeImport::Ref;

enum OnnxInput : std::size_t { kOnnxQuery, kOnnxKey, kOnnxValue, kOnnxMask, kOnnxPastKey, kOnnxPastValue, kOnnxLengths };

struct Part {
  Ref value;
  Shape shape;  // [samples, heads, positions, width]
};

// [samples, heads, positions, width], or [samples, positions, heads * width] with the number of heads.
Result<Part> heads_of(NodeImport& n, std::size_t input, const char* attribute, std::string_view step) {
  BUDA_ASSIGN(Shape shape, n.shape(input));
  const std::int64_t heads = n.integer(attribute, 0);
  if (shape.rank() == 4) return Part{n.input(input), shape};
  if (shape.rank() != 3 || heads < 1 || shape[2] % heads != 0)
    return n.refuse(cat("its ", step, " (input ", input, ") is ", shape.text(), " and its ", attribute, ' ', heads,
                        "; four axes, or three and a number of heads that divides the last are needed"));
  Ref given = n.input(input);
  return Part{split_heads(n, given, shape, heads, step), Shape{shape[0], heads, shape[1], shape[2] / heads}};
}

Result<void> put_past_before(NodeImport& n, std::size_t input, Part& now, std::string_view step) {
  BUDA_ASSIGN(Shape past, n.shape(input));
  Shape wanted = now.shape;
  if (past.rank() == 4) wanted[2] = past[2];
  if (past != wanted)
    return n.refuse(cat("its past (input ", input, ") is ", past.text(), "; all but the third axis of ", now.shape.text(), " is needed"));
  Ref old = n.input(input);
  now.value = n.step(step).concatenate({old, now.value}, 2);
  now.shape[2] += past[2];
  return success();
}

// What the mask adds to scores: truths are turned into 0 and the least number. One that is shorter than the keys forbids the rest.
Result<Ref> added_mask(NodeImport& n, const AttentionSizes& sizes) {
  BUDA_ASSIGN(auto type, n.type(kOnnxMask));
  Ref mask = n.input(kOnnxMask);
  const double least = static_cast<double>(std::numeric_limits<float>::lowest());
  if (type.dtype == DType::boolean) {
    Ref nothing = n.step("mask.nothing").constant(0.0, sizes.dtype), forbidden = n.step("mask.forbidden").constant(least, sizes.dtype);
    mask = n.step("mask").op("where", {mask, nothing, forbidden});
  }
  Shape shape = type.shape;
  if (const std::size_t rank = shape.rank(); rank > 0 && shape[rank - 1] > 1 && shape[rank - 1] < sizes.keys) {
    std::vector<std::int64_t> before(rank, 0), after(rank, 0);
    after[rank - 1] = sizes.keys - shape[rank - 1];
    mask = n.step("mask.whole").pad(mask, std::move(before), std::move(after), least);
    shape[rank - 1] = sizes.keys;
  }
  const Shape scores{sizes.batch, sizes.heads, sizes.queries, sizes.keys};
  if (broadcast(scores, shape) != scores)
    return n.refuse(cat("its mask (input 3) has shape ", type.shape.text(), ", and scores ", scores.text()));
  return mask;
}

// The least number for keys from the length of their sample on.
Result<Ref> mask_behind_lengths(NodeImport& n, const AttentionSizes& sizes) {
  BUDA_ASSIGN(auto type, n.type(kOnnxLengths));
  if (type.shape != Shape{sizes.batch})
    return n.refuse(cat("its nonpad_kv_seqlen is ", type.shape.text(), "; [", sizes.batch, "] is needed"));
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(sizes.keys));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i);
  Ref places = n.step("lengths.places").constant(Shape{1, 1, 1, sizes.keys}, std::move(numbers), type.dtype);
  Ref ends = n.input(kOnnxLengths);
  ends = n.step("lengths.ends").reshape(ends, Shape{sizes.batch, 1, 1, 1});
  Ref counts = n.step("lengths.counts").op("less", {places, ends});
  Ref nothing = n.step("lengths.nothing").constant(0.0, sizes.dtype);
  Ref forbidden = n.step("lengths.forbidden").constant(static_cast<double>(std::numeric_limits<float>::lowest()), sizes.dtype);
  return n.step("lengths.mask").op("where", {counts, nothing, forbidden});
}

Result<std::vector<Ref>> biases_of(NodeImport& n, const AttentionSizes& sizes) {
  std::vector<Ref> out;
  if (n.has_input(kOnnxMask)) {
    BUDA_ASSIGN(Ref mask, added_mask(n, sizes));
    out.push_back(mask);
  }
  if (n.has_input(kOnnxLengths)) {
    BUDA_ASSIGN(Ref mask, mask_behind_lengths(n, sizes));
    out.push_back(mask);
  }
  if (n.integer("is_causal", 0) != 0) {
    if (n.has_input(kOnnxLengths)) return n.refuse("it is causal and has lengths (nonpad_kv_seqlen), which is not supported together");
    BUDA_ASSIGN(Ref mask, causal_mask(n, sizes));
    out.push_back(mask);
  }
  return out;
}

Result<void> import_attention_of_onnx(NodeImport& n) {
  if (n.has_output(3)) return n.refuse("its result 3 (qk_matmul_output) is used, which is not supported");
  if (n.has_input(kOnnxPastKey) != n.has_input(kOnnxPastValue)) return n.refuse("of past_key and past_value it has just one");
  BUDA_ASSIGN(auto type, n.type(kOnnxQuery));
  BUDA_ASSIGN(Part q, heads_of(n, kOnnxQuery, "q_num_heads", "query"));
  BUDA_ASSIGN(Part k, heads_of(n, kOnnxKey, "kv_num_heads", "key"));
  BUDA_ASSIGN(Part v, heads_of(n, kOnnxValue, "kv_num_heads", "value"));
  const std::int64_t now = k.shape[2];
  if (n.has_input(kOnnxPastKey)) {
    BUDA_TRY(put_past_before(n, kOnnxPastKey, k, "key.all"));
    BUDA_TRY(put_past_before(n, kOnnxPastValue, v, "value.all"));
  }
  const bool fits = k.shape[0] == q.shape[0] && v.shape[0] == q.shape[0] && k.shape[1] == v.shape[1] && k.shape[2] == v.shape[2] &&
                    k.shape[3] == q.shape[3] && k.shape[1] > 0 && q.shape[1] % k.shape[1] == 0;
  if (!fits)
    return n.refuse(cat("its query ", q.shape.text(), ", key ", k.shape.text(), " and value ", v.shape.text(), " do not fit each other"));
  n.output(k.value, 1);
  n.output(v.value, 2);
  AttentionSizes sizes{q.shape[0], q.shape[1], q.shape[2], k.shape[2], k.shape[2] - now, type.dtype};
  BUDA_ASSIGN(auto biases, biases_of(n, sizes));
  ScoreRule rule{n.real("softcap", 0), {}};
  if (rule.softcap != 0 && !biases.empty())
    return n.refuse("it has a softcap and a mask, about whose order implementations differ; compute its scores by operators of their own");
  const std::int64_t times = q.shape[1] / k.shape[1];
  Ref keys = repeated_heads(n, k.value, k.shape, times, "key"), values = repeated_heads(n, v.value, v.shape, times, "value");
  const double given = n.real("scale", 0), scale = given != 0 ? given : 1 / std::sqrt(static_cast<double>(q.shape[3]));
  BUDA_ASSIGN(Shape query, n.shape(kOnnxQuery));
  if (query.rank() == 3) {
    BUDA_ASSIGN(Ref y, attended(n, q.value, keys, values, v.shape[3], biases, scale, sizes, rule));
    n.output(y);
    return success();
  }
  Ref weights = weights_of_values(n, q.value, keys, biases, scale, sizes, rule);
  n.output(n.result().matmul(weights, values));
  return success();
}

constexpr OpImporter kAttentionOps[] = {
    {"Attention", 23, import_attention_of_onnx},
    {"RotaryEmbedding", 23, import_rotary_embedding, "onnx"},
};

}  // namespace

std::span<const OpImporter> attention_ops() { return kAttentionOps; }

}  // namespace buda::onnx_frontend
