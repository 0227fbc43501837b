// SPDX-License-Identifier: Apache-2.0
// onnxruntime's GroupQueryAttention: fewer heads of keys than of queries, a cache of keys, and rotary embeddings, as decoders have them.
//
// Keys and values of this run stand behind those of the cache. Where they begin is known (a prompt, or lengths that are constant), or, for
// a single position, a number of run time: then each row of the cache is either kept or the new one.
#include "attention_heads.hpp"
#include "rotary.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

namespace buda::onnx_frontend {
namespace {

using Ref = NodeImport::Ref;

enum GroupedInput : std::size_t {
  kGroupedQuery,
  kGroupedKey,
  kGroupedValue,
  kGroupedPastKey,
  kGroupedPastValue,
  kGroupedLastPlaces,  // of each sample; called seqlens_k
  kGroupedTotal,
  kGroupedCosines,
  kGroupedSines,
  kGroupedPositions,
  kGroupedScoreBias,
  kGroupedSink
};

struct Grouped {
  std::int64_t batch = 0, length = 0, heads = 0, key_heads = 0, width = 0;
  std::int64_t room = 0;              // positions of the cache afterwards
  std::optional<std::int64_t> start;  // the position of the first query, if it is known
  DType dtype = DType::f32;

  Shape queries() const { return {batch, heads, length, width}; }
  Shape keys() const { return {batch, key_heads, length, width}; }
};

Result<Grouped> sizes_of(NodeImport& n) {
  BUDA_ASSIGN(auto type, n.type(kGroupedQuery));
  Grouped g;
  g.heads = n.integer("num_heads", 0);
  g.key_heads = n.integer("kv_num_heads", 0);
  const Shape& q = type.shape;
  const bool packed = !n.has_input(kGroupedKey) && !n.has_input(kGroupedValue);
  const std::int64_t parts = packed ? g.heads + 2 * g.key_heads : g.heads;
  if (q.rank() != 3 || g.heads < 1 || g.key_heads < 1 || g.heads % g.key_heads != 0 || q[2] % parts != 0)
    return n.refuse(cat("its query is ", q.text(), ", num_heads ", g.heads, " and kv_num_heads ", g.key_heads,
                        "; [samples, positions, heads * width] and heads that the others divide are needed"));
  g.batch = q[0];
  g.length = q[1];
  g.width = q[2] / parts;
  g.dtype = type.dtype;
  if (packed) return g;
  if (!n.has_input(kGroupedKey) || !n.has_input(kGroupedValue)) return n.refuse("of key and value it has just one");
  for (std::size_t i : {kGroupedKey, kGroupedValue}) {
    BUDA_ASSIGN(Shape shape, n.shape(i));
    if (shape != Shape{g.batch, g.length, g.key_heads * g.width})
      return n.refuse(
          cat("its input ", i, " is ", shape.text(), "; [", g.batch, ", ", g.length, ", ", g.key_heads * g.width, "] is needed"));
  }
  return g;
}

struct Projected {
  Ref q, k, v;
};

Projected in_heads(NodeImport& n, const Grouped& g) {
  Ref q = n.input(kGroupedQuery), k, v;
  const std::int64_t own = g.heads * g.width, other = g.key_heads * g.width;
  if (n.has_input(kGroupedKey)) {
    k = n.input(kGroupedKey);
    v = n.input(kGroupedValue);
  } else {
    Ref all = q;
    q = n.step("query.slice").slice(all, 2, 0, own);
    k = n.step("key.slice").slice(all, 2, own, own + other);
    v = n.step("value.slice").slice(all, 2, own + other, own + 2 * other);
  }
  const Shape flat{g.batch, g.length, own}, shorter{g.batch, g.length, other};
  return {split_heads(n, q, flat, g.heads, "query"), split_heads(n, k, shorter, g.key_heads, "key"),
          split_heads(n, v, shorter, g.key_heads, "value")};
}

// How much room the cache has, and where this run begins in it.
Result<void> find_start(NodeImport& n, Grouped& g) {
  BUDA_ASSIGN(auto total, n.known_integers(kGroupedTotal, "total_sequence_length"));
  if (total.size() != 1 || total[0] < g.length)
    return n.refuse(cat("its total_sequence_length is ", list_text(total), " for ", g.length, " positions"));
  std::int64_t past = 0;
  if (n.has_input(kGroupedPastKey) != n.has_input(kGroupedPastValue)) return n.refuse("of past_key and past_value it has just one");
  if (n.has_input(kGroupedPastKey)) {
    for (std::size_t i : {kGroupedPastKey, kGroupedPastValue}) {
      BUDA_ASSIGN(Shape shape, n.shape(i));
      if (shape.rank() == 4) past = shape[2];
      if (shape != Shape{g.batch, g.key_heads, past, g.width})
        return n.refuse(cat("its input ", i, " (of the past) is ", shape.text(), "; [", g.batch, ", ", g.key_heads, ", positions, ",
                            g.width, "] is needed"));
    }
  }
  g.room = std::max(past, total[0]);
  if (total[0] == g.length || past == 0) {
    g.start = 0;
    return success();
  }
  if (!n.is_known(kGroupedLastPlaces) && g.length == 1) return success();
  BUDA_ASSIGN(auto last, n.known_integers(kGroupedLastPlaces, "seqlens_k"));
  if (last.empty() || std::any_of(last.begin(), last.end(), [&](auto v) { return v != last[0]; }))
    return n.refuse(cat("its seqlens_k are ", list_text(last), "; samples of one length are supported"));
  g.start = last[0] + 1 - g.length;
  if (*g.start < 0 || *g.start > past || *g.start + g.length > g.room)
    return n.refuse(cat("its seqlens_k are ", list_text(last), " for ", g.length, " positions and a past of ", past));
  return success();
}

Result<Ref> angle_rows(NodeImport& n, const Grouped& g, std::size_t table, std::int64_t pairs, std::string_view step) {
  if (n.has_input(kGroupedPositions)) return rows_of_positions(n, table, kGroupedPositions, g.batch, g.length, pairs, step);
  Ref rows = n.input(table);
  if (g.start) {
    BUDA_ASSIGN(Shape shape, n.shape(table));
    if (*g.start + g.length > shape[0])
      return n.refuse(cat("its ", step, " is ", shape.text(), ", too short for position ", *g.start + g.length - 1));
    Ref part = n.step(cat(step, ".rows")).slice(rows, 0, *g.start, *g.start + g.length);
    return n.step(step).reshape(part, Shape{1, 1, g.length, pairs});
  }
  Ref places = n.input(kGroupedLastPlaces);
  places = n.step(cat(step, ".places")).reshape(places, Shape{g.batch});
  Ref found = n.step(cat(step, ".rows")).op("gather", {rows, places}, {{"dim", std::int64_t{0}}});
  return n.step(step).reshape(found, Shape{g.batch, 1, 1, pairs});
}

Result<void> rotate(NodeImport& n, const Grouped& g, Projected& p) {
  if (!n.has_input(kGroupedCosines) || !n.has_input(kGroupedSines)) return n.refuse("it has do_rotary, and no cos_cache or sin_cache");
  BUDA_ASSIGN(Shape table, n.shape(kGroupedCosines));
  if (table.rank() != 2 || table[1] < 1 || 2 * table[1] > g.width)
    return n.refuse(cat("its cos_cache is ", table.text(), " for heads of width ", g.width));
  Angles angles;
  angles.pairs = table[1];
  BUDA_ASSIGN(angles.cosine, angle_rows(n, g, kGroupedCosines, angles.pairs, "cos_cache"));
  BUDA_ASSIGN(angles.sine, angle_rows(n, g, kGroupedSines, angles.pairs, "sin_cache"));
  const bool interleaved = n.integer("rotary_interleaved", 0) != 0;
  p.q = turned(n, p.q, g.queries(), angles, interleaved, "query.");
  p.k = turned(n, p.k, g.keys(), angles, interleaved, "key.");
  return success();
}

Ref numbers_along(NodeImport& n, Shape shape, std::int64_t count, DType dtype, std::string_view step) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return n.step(step).constant(shape, std::move(numbers), dtype);
}

Ref padded_rows(NodeImport& n, Ref rows, std::int64_t have, std::int64_t want, std::string_view step) {
  return have == want ? rows : n.step(step).pad(rows, {0, 0, 0, 0}, {0, 0, want - have, 0});
}

// Keys or values with those of the past: those that count, and all of the cache.
struct Joined {
  Ref counted, cache;
};

Result<Joined> join(NodeImport& n, const Grouped& g, std::size_t past, Ref now, std::string_view step) {
  if (g.start) {
    Ref all = now;
    if (*g.start > 0) {
      Ref old = n.input(past);
      old = n.step(cat(step, ".past")).slice(old, 2, 0, *g.start);
      all = n.step(cat(step, ".all")).concatenate({old, now}, 2);
    }
    return Joined{
        all, n.has_output(past == kGroupedPastKey ? 1 : 2) ? padded_rows(n, all, *g.start + g.length, g.room, cat(step, ".cache")) : all};
  }
  BUDA_ASSIGN(Shape shape, n.shape(past));
  BUDA_ASSIGN(auto type, n.type(kGroupedLastPlaces));
  Ref old = padded_rows(n, n.input(past), shape[2], g.room, cat(step, ".past"));
  Ref place = n.input(kGroupedLastPlaces);
  place = n.step(cat(step, ".place")).reshape(place, Shape{g.batch, 1, 1, 1});
  Ref rows = numbers_along(n, Shape{1, 1, g.room, 1}, g.room, type.dtype, cat(step, ".rows"));
  Ref is_new = n.step(cat(step, ".is_new")).op("equal", {rows, place});
  Ref all = n.step(cat(step, ".all")).op("where", {is_new, now, old});
  return Joined{all, all};
}

// What keeps queries from later keys, and from those before their window, which ends with the query itself.
Result<std::optional<Ref>> mask_of(NodeImport& n, const Grouped& g, std::int64_t keys) {
  const std::int64_t window = n.integer("local_window_size", -1);
  if (g.start) {
    if (g.length * keys > (std::int64_t{1} << 28)) return n.refuse(cat("its ", g.length, " queries and ", keys, " keys are too many"));
    std::vector<float> values(static_cast<std::size_t>(g.length * keys), 0.0f);
    bool any = false;
    for (std::int64_t q = 0; q < g.length; ++q)
      for (std::int64_t k = 0; k < keys; ++k) {
        const std::int64_t at = *g.start + q;
        if (k <= at && (window <= 0 || k > at - window)) continue;
        values[static_cast<std::size_t>(q * keys + k)] = std::numeric_limits<float>::lowest();
        any = true;
      }
    if (!any) return std::optional<Ref>();
    return std::optional<Ref>(n.step("causal").constant(Shape{g.length, keys}, std::move(values), g.dtype));
  }
  BUDA_ASSIGN(auto type, n.type(kGroupedLastPlaces));
  Ref place = n.input(kGroupedLastPlaces);
  place = n.step("mask.place").reshape(place, Shape{g.batch, 1, 1, 1});
  Ref numbers = numbers_along(n, Shape{1, 1, 1, keys}, keys, type.dtype, "mask.keys");
  Ref counts = n.step("mask.not_later").op("less_equal", {numbers, place});
  if (window > 0) {
    Ref reach = n.step("mask.window").constant(static_cast<double>(window), type.dtype);
    Ref first = n.step("mask.first").subtract(place, reach);
    Ref near = n.step("mask.near").op("greater", {numbers, first});
    counts = n.step("mask.counts").op("logical_and", {counts, near});
  }
  Ref nothing = n.step("mask.nothing").constant(0.0, g.dtype);
  Ref forbidden = n.step("mask.forbidden").constant(static_cast<double>(std::numeric_limits<float>::lowest()), g.dtype);
  return std::optional<Ref>(n.step("mask").op("where", {counts, nothing, forbidden}));
}

Result<ScoreRule> rule_of(NodeImport& n, const Grouped& g) {
  ScoreRule rule{n.real("softcap", 0), {}};
  if (n.has_input(kGroupedSink)) {
    BUDA_ASSIGN(Shape shape, n.shape(kGroupedSink));
    if (shape != Shape{g.heads}) return n.refuse(cat("its head_sink is ", shape.text(), "; [", g.heads, "] is needed"));
    Ref sink = n.input(kGroupedSink);
    rule.sink = n.step("sink.heads").reshape(sink, Shape{1, g.heads, 1, 1});
  } else if (n.integer("smooth_softmax", 0) > 0) {
    rule.sink = n.step("sink.zero").constant(Shape{1, 1, 1, 1}, std::vector<float>{0.0f}, g.dtype);
  }
  return rule;
}

Result<void> import_grouped_attention(NodeImport& n) {
  for (const char* name : {"k_quant_type", "v_quant_type"})
    if (n.text(name, "NONE") != "NONE")
      return n.refuse(cat("its ", name, " is ", n.text(name, ""), "; a cache of real numbers is supported"));
  if (n.has_output(3)) return n.refuse("its result 3 (output_qk) is used, which is not supported");
  BUDA_ASSIGN(Grouped g, sizes_of(n));
  BUDA_TRY(find_start(n, g));
  Projected p = in_heads(n, g);
  if (n.integer("do_rotary", 0) != 0) BUDA_TRY(rotate(n, g, p));
  BUDA_ASSIGN(Joined k, join(n, g, kGroupedPastKey, p.k, "key"));
  BUDA_ASSIGN(Joined v, join(n, g, kGroupedPastValue, p.v, "value"));
  n.output(k.cache, 1);
  n.output(v.cache, 2);
  const std::int64_t keys = g.start ? *g.start + g.length : g.room;
  AttentionSizes sizes{g.batch, g.heads, g.length, keys, g.start.value_or(0), g.dtype};
  std::vector<Ref> biases;
  if (n.has_input(kGroupedScoreBias)) {
    BUDA_ASSIGN(Ref bias, score_bias(n, kGroupedScoreBias, sizes));
    biases.push_back(bias);
  }
  BUDA_ASSIGN(auto mask, mask_of(n, g, keys));
  if (mask) biases.push_back(*mask);
  BUDA_ASSIGN(ScoreRule rule, rule_of(n, g));
  const Shape shape{g.batch, g.key_heads, keys, g.width};
  const std::int64_t times = g.heads / g.key_heads;
  Ref every_k = repeated_heads(n, k.counted, shape, times, "key"), every_v = repeated_heads(n, v.counted, shape, times, "value");
  const double given = n.real("scale", 0), scale = given != 0 ? given : 1 / std::sqrt(static_cast<double>(g.width));
  BUDA_ASSIGN(Ref y, attended(n, p.q, every_k, every_v, g.width, biases, scale, sizes, rule));
  n.output(y);
  return success();
}

constexpr OpImporter kContribGroupedAttentionOps[] = {
    {"GroupQueryAttention", 1, import_grouped_attention},
};

}  // namespace

std::span<const OpImporter> contrib_grouped_attention_ops() { return kContribGroupedAttentionOps; }

}  // namespace buda::onnx_frontend
