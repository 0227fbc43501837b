// SPDX-License-Identifier: Apache-2.0
// Attention as one operator: softmax(q k^T / sqrt(width) + mask) v, and PyTorch's fused forms of its transformer layers.
#include "call.hpp"
#include "promotion.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <cmath>
#include <limits>

namespace buda::torchscript {
namespace {

// A Boolean attention mask as an additive one: 0 where true, minus infinity where false.
Ref as_numbers(Call& n, Ref mask, DType dtype) {
  Ref none = n.number(0, dtype), hidden = n.number(-std::numeric_limits<double>::infinity(), dtype);
  return n.step("mask").op("where", {mask, none, hidden});
}

Result<Value> attention_product(Call& n) {
  BUDA_ASSIGN(auto query, n.type("query"));
  BUDA_ASSIGN(Shape key, n.shape("key"));
  BUDA_ASSIGN(double dropout, n.real_or("dropout_p", 0));
  BUDA_ASSIGN(bool causal, n.flag_or("is_causal", false));
  if (dropout != 0) return n.refuse("has a dropout, whose results are random; call model.eval() before the model is traced or scripted");
  const std::size_t rank = query.shape.rank();
  if (rank < 2 || key.rank() != rank) return n.refuse(cat("its query is ", query.shape.text(), " and its key ", key.text()));
  const std::int64_t rows = query.shape[rank - 2], columns = key[rank - 2];
  BUDA_ASSIGN(double scale, n.real_or("scale", 1 / std::sqrt(static_cast<double>(query.shape[rank - 1]))));
  Dims order(rank);
  for (std::size_t i = 0; i < rank; ++i) order[i] = static_cast<std::int64_t>(i);
  std::swap(order[rank - 1], order[rank - 2]);
  Ref q = n.ref("query"), k = n.ref("key"), v = n.ref("value");
  Ref turned = n.step("key").transpose(k, std::move(order));
  Ref scores = n.step("scores").matmul(q, turned);
  Ref factor = n.number(scale, query.dtype);
  scores = n.step("scaled").multiply(scores, factor);
  if (causal) {
    if (rows > 16384 || columns > 16384) return n.refuse(cat("has a causal mask of ", rows, " x ", columns));
    std::vector<float> mask(static_cast<std::size_t>(rows * columns), 0);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = i + 1; j < columns; ++j)
        mask[static_cast<std::size_t>(i * columns + j)] = -std::numeric_limits<float>::infinity();
    Ref future = n.constant(Tensor(Shape{rows, columns}, std::move(mask)));
    scores = n.step("causal").add(scores, future);
  } else if (n.has("attn_mask")) {
    BUDA_ASSIGN(auto dtype, n.dtype("attn_mask"));
    Ref mask = n.ref("attn_mask");
    if (dtype == DType::boolean) mask = as_numbers(n, mask, query.dtype);
    scores = n.step("masked").add(scores, mask);
  }
  Ref weights = n.step("weights").softmax(scores, static_cast<std::int64_t>(rank) - 1);
  return n.tensor(n.result().matmul(weights, v));
}

// ---- PyTorch's own layers, when they were traced without gradients

struct Heads {
  std::int64_t samples = 0, steps = 0, width = 0, heads = 1;
};

// x times the transpose of a weight, plus a bias.
struct Projection {
  Ref weight, bias;
};
Projection projection(Call& n, std::string_view weight, std::string_view bias) { return {n.ref(weight), n.ref(bias)}; }

Ref projected(Call& n, Ref x, const Projection& p, std::string_view name) {
  Ref turned = n.step(cat(name, ".weight")).transpose(p.weight, {1, 0});
  Ref product = n.step(cat(name, ".product")).matmul(x, turned);
  return n.step(name).add(product, p.bias);
}

// [samples, steps, width] as [samples, heads, steps, width / heads].
Ref apart(Call& n, Ref x, const Heads& h, std::string_view name) {
  Ref heads = n.step(cat(name, ".heads")).reshape(x, Shape{h.samples, h.steps, h.heads, h.width / h.heads});
  return n.step(name).transpose(heads, {0, 2, 1, 3});
}

struct AttentionWeights {
  Projection in, out;
};
AttentionWeights attention_weights(Call& n) { return {projection(n, "qkv_weight", "qkv_bias"), projection(n, "proj_weight", "proj_bias")}; }

struct Attended {
  Ref result, weights;  // the weights [samples, heads, steps, steps]
};

// Queries, keys and values of one tensor.
Attended self_attention(Call& n, Ref x, const Heads& h, const AttentionWeights& w, Ref mask, DType dtype) {
  Ref all = projected(n, x, w.in, "qkv");
  Ref q = n.step("query.part").slice(all, 2, 0, h.width);
  Ref k = n.step("key.part").slice(all, 2, h.width, 2 * h.width);
  Ref v = n.step("value.part").slice(all, 2, 2 * h.width, 3 * h.width);
  q = apart(n, q, h, "query");
  k = apart(n, k, h, "key");
  v = apart(n, v, h, "value");
  Ref turned = n.step("key.turned").transpose(k, {0, 1, 3, 2});
  Ref scores = n.step("scores").matmul(q, turned);
  Ref factor = n.number(1 / std::sqrt(static_cast<double>(h.width / h.heads)), dtype);
  scores = n.step("scaled").multiply(scores, factor);
  if (mask.valid()) scores = n.step("masked").add(scores, mask);
  Ref weights = n.step("weights").softmax(scores, 3);
  Ref seen = n.step("seen").matmul(weights, v);
  Ref order = n.step("order").transpose(seen, {0, 2, 1, 3});
  Ref joined = n.step("joined").reshape(order, Shape{h.samples, h.steps, h.width});
  return {projected(n, joined, w.out, "out"), weights};
}

Result<Heads> heads_of(Call& n, std::string_view input, std::string_view count) {
  BUDA_ASSIGN(Shape x, n.shape(input));
  BUDA_ASSIGN(auto heads, n.integer(count));
  if (x.rank() != 3 || heads < 1 || x[2] % heads != 0) return n.refuse(cat("its input is ", x.text(), ", for ", heads, " heads"));
  return Heads{x[0], x[1], x[2], heads};
}

// True where nothing is to be seen: of each key (type 1), or of each pair (type 0).
Result<Ref> mask_of(Call& n, const Heads& h, DType dtype) {
  if (!n.has("mask")) return Ref();
  BUDA_ASSIGN(Shape shape, n.shape("mask"));
  BUDA_ASSIGN(DType type, n.dtype("mask"));
  Ref mask = n.ref("mask");
  if (shape == Shape{h.samples, h.steps} && !(h.samples == h.steps)) mask = n.step("keys").reshape(mask, Shape{h.samples, 1, 1, h.steps});
  if (shape == Shape{h.samples, h.steps} && h.samples == h.steps) {
    BUDA_ASSIGN(auto kind, n.integer_or("mask_type", 1));
    if (kind == 1) mask = n.step("keys").reshape(mask, Shape{h.samples, 1, 1, h.steps});
  }
  if (type != DType::boolean) return mask;
  Ref none = n.number(0, dtype), hidden = n.number(-std::numeric_limits<double>::infinity(), dtype);
  return n.step("mask").op("where", {mask, hidden, none});
}

Result<Value> attention_native(Call& n) {
  BUDA_ASSIGN(Heads h, heads_of(n, "query", "num_head"));
  BUDA_ASSIGN(bool weights_wanted, n.flag_or("need_weights", true));
  BUDA_ASSIGN(bool averaged, n.flag_or("average_attn_weights", true));
  const auto *q = n["query"].as<Cell>(), *k = n["key"].as<Cell>(), *v = n["value"].as<Cell>();
  if (q == nullptr || k == nullptr || v == nullptr || *q != *k || *k != *v)
    return n.refuse("has queries, keys and values of different tensors; those of one are supported");
  BUDA_ASSIGN(auto dtype, n.dtype("query"));
  BUDA_ASSIGN(Ref mask, mask_of(n, h, dtype));
  const AttentionWeights w = attention_weights(n);
  Ref x = n.ref("query");
  const Attended y = self_attention(n, x, h, w, mask, dtype);
  if (!weights_wanted) return tuple_of({n.tensor(y.result), Value(Nothing{})});
  return tuple_of({n.tensor(y.result), n.tensor(averaged ? n.step("mean").reduce_avg(y.weights, {1}, false) : y.weights)});
}

Ref normalised(Call& n, Ref x, std::string_view weight, std::string_view bias, double epsilon, std::string_view name) {
  Ref w = n.ref(weight), b = n.ref(bias);
  return n.step(name).layernorm(x, w, b, epsilon);
}

Result<Value> attention_encoder_layer(Call& n) {
  BUDA_ASSIGN(Heads h, heads_of(n, "src", "num_heads"));
  BUDA_ASSIGN(auto dtype, n.dtype("src"));
  BUDA_ASSIGN(bool gelu, n.flag_or("use_gelu", false));
  BUDA_ASSIGN(bool first, n.flag_or("norm_first", false));
  BUDA_ASSIGN(double epsilon, n.real_or("eps", 1e-5));
  BUDA_ASSIGN(Ref mask, mask_of(n, h, dtype));
  const AttentionWeights w = attention_weights(n);
  Ref x = n.ref("src");
  Ref in = first ? normalised(n, x, "norm_weight_1", "norm_bias_1", epsilon, "norm1") : x;
  Ref seen = self_attention(n, in, h, w, mask, dtype).result;
  x = n.step("attended").add(x, seen);
  if (!first) x = normalised(n, x, "norm_weight_1", "norm_bias_1", epsilon, "norm1");
  in = first ? normalised(n, x, "norm_weight_2", "norm_bias_2", epsilon, "norm2") : x;
  const Projection wide = projection(n, "ffn_weight_1", "ffn_bias_1"), narrow = projection(n, "ffn_weight_2", "ffn_bias_2");
  Ref up = projected(n, in, wide, "up");
  up = gelu ? n.step("gelu").gelu(up) : n.step("relu").relu(up);
  Ref down = projected(n, up, narrow, "down");
  x = n.step("sum").add(x, down);
  return n.tensor(first ? x : normalised(n, x, "norm_weight_2", "norm_bias_2", epsilon, "norm2"));
}

constexpr OpImporter kAttentionOps[] = {
    {"_native_multi_head_attention",
     "query key value embed_dim num_head qkv_weight qkv_bias proj_weight proj_bias mask need_weights average_attn_weights mask_type",
     attention_native, "", "of one tensor"},
    {"_transformer_encoder_layer_fwd",
     "src embed_dim num_heads qkv_weight qkv_bias proj_weight proj_bias use_gelu norm_first eps norm_weight_1 norm_bias_1 norm_weight_2 "
     "norm_bias_2 ffn_weight_1 ffn_bias_1 ffn_weight_2 ffn_bias_2 mask mask_type",
     attention_encoder_layer},
    {"scaled_dot_product_attention", "query key value attn_mask dropout_p is_causal scale enable_gqa", attention_product},
};

}  // namespace

std::span<const OpImporter> attention_ops() { return kAttentionOps; }

}  // namespace buda::torchscript
