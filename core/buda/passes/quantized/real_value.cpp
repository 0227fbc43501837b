// SPDX-License-Identifier: Apache-2.0
// Rules of the ops that quantised models compute integers with.
#include <buda/passes/lower/lowering_tags.hpp>
#include <buda/passes/quantized/real_value.hpp>

#include <buda/passes/quantized/int8_products.hpp>
#include <buda/passes/simplify/constant_value.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace buda::passes {
namespace {

using graph::Edge;
using graph::Graph;
using graph::Node;
using graph::ValueRef;
using ops::Builder;

using Numbers = std::vector<float>;

// ---- forms of one integer

Edge number(Builder& b, std::string_view name, double value) { return b.named(std::string(name)).constant(static_cast<float>(value)); }

Edge times(Builder& b, const Edge& x, double factor) {
  if (factor == 1) return x;
  Edge by = number(b, "real.factor", factor);
  return b.named("real.scaled").multiply(x, by);
}

Edge plus(Builder& b, const Edge& x, double more) {
  if (more == 0) return x;
  Edge by = number(b, "real.offset", more);
  return b.named("real.moved").add(x, by);
}

RealValue centred(Builder& b, const RealValue& r) {
  RealValue out = limited(b, r);
  out.x = plus(b, out.x, out.offset * out.scale);
  out.offset = 0;
  return out;
}

RealValue with_scale(Builder& b, const RealValue& r, double scale) {
  RealValue out = limited(b, r);
  out.x = times(b, out.x, scale / out.scale);
  out.scale = scale;
  return out;
}

RealValue in_units(Builder& b, const RealValue& r) { return with_scale(b, centred(b, r), 1); }

// Scales that products of unknown values make ever larger or smaller, as in a recurrent layer, are brought back to 1 before they leave the
// range of an F32.
RealValue with_moderate_scale(Builder& b, const RealValue& r) {
  constexpr double kMaxScale = 0x1p24;
  return r.scale > kMaxScale || r.scale < 1 / kMaxScale ? with_scale(b, r, 1) : r;
}

// ---- what is known of a node's inputs

std::optional<Numbers> numbers_of(const Graph& g, const Edge& edge) {
  const Tensor* t = value_of(g, edge);
  return t == nullptr ? std::nullopt : std::optional(t->to_f32());
}

// A number for each slice along an axis, as it broadcasts to a value of that rank.
Edge along(Builder& b, std::string_view name, Numbers numbers, std::size_t axis, std::size_t rank) {
  std::vector<std::int64_t> dims(rank, 1);
  dims[axis] = static_cast<std::int64_t>(numbers.size());
  return b.named(std::string(name)).constant(Shape(std::move(dims)), std::move(numbers));
}

struct Range {
  double least, most;
};

// Of attributes that a file may give as an integer, too.
double real_attr(const Node& n, std::string_view name, double otherwise) {
  auto it = n.attrs.find(name);
  if (it == n.attrs.end()) return otherwise;
  if (const auto* whole = std::get_if<std::int64_t>(&it->second)) return static_cast<double>(*whole);
  return std::get<double>(it->second);
}

std::size_t axis_of(const Node& n) {
  auto dim = static_cast<std::int64_t>(real_attr(n, "dim", 1));
  return static_cast<std::size_t>(dim < 0 ? dim + static_cast<std::int64_t>(n.outputs[0].shape.rank()) : dim);
}

Range clip_range(const Node& n) { return {real_attr(n, "min", -RealValue::kNoLimit), real_attr(n, "max", RealValue::kNoLimit)}; }

Range range_of(DType t) {
  if (dtype_size(t) > 2) return {-RealValue::kNoLimit, RealValue::kNoLimit};
  double bits = static_cast<double>(dtype_size(t)) * 8;
  bool is_signed = t == DType::i8 || t == DType::i16;
  return is_signed ? Range{-std::exp2(bits - 1), std::exp2(bits - 1) - 1} : Range{0, std::exp2(bits) - 1};
}

bool is_positive(const std::optional<Numbers>& numbers) {
  return numbers && !numbers->empty() && std::ranges::all_of(*numbers, [](float v) { return v > 0 && std::isfinite(v); });
}

// ---- sums of products in Int8

// Whether numbers of this shape are one for each column of a matrix product, or channel of a convolution.
bool is_by_result(const Node& product, const Shape& numbers) {
  const Shape& result = product.outputs[0].shape;
  const std::size_t axis = product.op() == "int8_matmul" ? result.rank() - 1 : 1, behind = result.rank() - axis;
  if (numbers.rank() < behind || numbers[numbers.rank() - behind] != result[axis]) return false;
  return std::ranges::count_if(numbers, [](std::int64_t d) { return d != 1; }) == 1;
}

// Sums, and what they are multiplied with on the way to the integers that are made of them.
struct ScaledSums {
  Edge sums;
  Numbers factors;
};

// An integer of 8 bits that is made of sums: in Int8, if a product reads it so, else as a real number.
RealValue of_sums(Builder& b, const ScaledSums& s, double zero, Range range, DType type, bool in_int8) {
  const Node& sums = b.graph().node(s.sums.source.node);
  if (!in_int8 || dtype_size(type) != 1) return {rescaled_sums(b, sums, s.factors, std::nullopt), 1, zero, range.least, range.most};
  const double offset = int8_offset(type);
  Edge integers = rescaled_sums(b, sums, s.factors, zero - offset);
  Edge x = b.named("real").op("from_int8", {integers}, {{"zero_point", zero - offset}});
  return {x, 1, zero, -RealValue::kNoLimit, RealValue::kNoLimit, integers, offset};
}

// Of a quantize: the sums behind factors for each result, and behind activations that its limits make superfluous.
std::optional<ScaledSums> sums_behind(const Graph& g, Edge x, double scale, double zero, Range range) {
  Numbers factors{static_cast<float>(1 / scale)};
  const double least = (range.least - zero) * scale, most = (range.most - zero) * scale;
  while (true) {
    const Node& n = g.node(x.source.node);
    if (gives_int8_sums(n)) return ScaledSums{x, std::move(factors)};
    if (n.op() == "multiply") {
      const Node& sums = g.node(n.inputs()[0].source.node);
      auto by = known_tensor(g, n.inputs()[1], 1);
      if (!by || !gives_int8_sums(sums) || sums.outputs[0].shape != n.outputs[0].shape) return std::nullopt;
      Numbers numbers = by->to_f32();
      if (!is_positive(numbers) || (numbers.size() > 1 && !is_by_result(sums, by->shape()))) return std::nullopt;
      for (float& f : numbers) f *= factors[0];
      factors = std::move(numbers);
      x = n.inputs()[0];
    } else if (n.op() == "relu" ? n.attrs.empty() && least >= 0
                                : n.op() == "clip" && clip_range(n).least <= least && clip_range(n).most >= most) {
      x = n.inputs()[0];
    } else {
      return std::nullopt;
    }
  }
}

// ---- quantize and dequantize

bool has_known_steps(const Graph& g, const Node& n) {
  return is_positive(numbers_of(g, n.inputs()[1])) && value_of(g, n.inputs()[2]) != nullptr;
}

RealValue of_quantize(Builder& b, const Node& n, bool in_int8) {
  const Graph& g = b.graph();
  Numbers scale = *numbers_of(g, n.inputs()[1]), zero = *numbers_of(g, n.inputs()[2]);
  Range range = range_of(n.outputs[0].dtype);
  Edge x = n.inputs()[0];
  if (g.type(x.source)->dtype != DType::f32) x = b.named("real.f32").op("cast", {x}, {{"dtype", std::string("F32")}});
  if (scale.size() == 1) {
    if (auto sums = sums_behind(g, x, scale[0], zero[0], range)) return of_sums(b, *sums, zero[0], range, n.outputs[0].dtype, in_int8);
    return {x, scale[0], zero[0], range.least, range.most};
  }
  std::size_t rank = n.outputs[0].shape.rank(), axis = axis_of(n);
  for (float& s : scale) s = 1 / s;
  Edge by = along(b, "real.factor", std::move(scale), axis, rank);
  Edge moved = along(b, "real.offset", std::move(zero), axis, rank);
  Edge steps = b.named("real.scaled").multiply(x, by);
  return {b.named("real.moved").add(steps, moved), 1, 0, range.least, range.most};
}

Edge of_dequantize(Builder& b, const Node& n, const RealValue& q) {
  const Graph& g = b.graph();
  Numbers scale = *numbers_of(g, n.inputs()[1]), zero = *numbers_of(g, n.inputs()[2]);
  if (scale.size() == 1) {
    RealValue x = limited(b, q);
    return plus(b, times(b, x.x, scale[0] / x.scale), (x.offset - zero[0]) * scale[0]);
  }
  std::size_t rank = n.outputs[0].shape.rank(), axis = axis_of(n);
  RealValue x = in_units(b, q);
  Edge moved = along(b, "real.offset", std::move(zero), axis, rank);
  Edge by = along(b, "real.factor", std::move(scale), axis, rank);
  Edge steps = b.named("real.moved").subtract(x.x, moved);
  return b.named("real.scaled").multiply(steps, by);
}

// ---- products, and their requantize

bool has_windows(const Node& n) { return n.op() == "conv1d" || n.op() == "conv2d" || n.op() == "conv3d"; }
bool is_product(const Node& n) { return has_windows(n) || n.op() == "matmul"; }

// A sum of windows keeps the offset of what it sums.
std::optional<double> kept_offset(const Graph& g, const Node& n, double offset) {
  if (offset == 0) return 0;
  if (!has_windows(n) || n.inputs().size() != 2 || has_border(n)) return std::nullopt;
  auto weight = uniform_value(g, n.inputs()[1]);
  const Shape& w = g.type(n.inputs()[1].source)->shape;
  if (!weight || w[0] == 0) return std::nullopt;
  const std::int64_t taps = w.volume().value_or(0) / w[0];
  return offset * *weight * static_cast<double>(taps);
}

// What the results of a product are multiplied with: one number, or one for each slice along an axis of the result.
struct Factors {
  Numbers numbers;
  std::size_t axis = 0;

  Edge applied(Builder& b, const Edge& x, std::size_t at, std::size_t rank) const {
    if (numbers.size() == 1) return times(b, x, numbers[0]);
    Edge by = along(b, "real.factor", numbers, at, rank);
    return b.named("real.scaled").multiply(x, by);
  }
};

RealValue of_product(Builder& b, const Node& n, const RealInputs& in, const Factors& factors = {{1}, 0}) {
  const Graph& g = b.graph();
  RealValue a = limited(b, in.real(n.inputs()[0]));
  auto offset = kept_offset(g, n, a.offset);
  if (!offset) a = centred(b, a);
  RealValue w = centred(b, in.real(n.inputs()[1]));
  double scale = a.scale * w.scale;
  std::size_t rank = g.type(n.inputs()[1].source)->shape.rank(), out_rank = n.outputs[0].shape.rank();
  // Of a convolution's weights the first axis is that of the channels of the result, of a matrix the last, as it is in the result.
  bool by_column = factors.axis + 1 == out_rank;
  w.x = factors.applied(b, w.x, has_windows(n) ? 0 : rank - 1, rank);
  std::vector<Edge> inputs{a.x, w.x};
  if (n.inputs().size() > 2) {
    Edge bias = with_scale(b, centred(b, in.real(n.inputs()[2])), scale).x;
    std::size_t bias_rank = g.type(n.inputs()[2].source)->shape.rank();
    inputs.push_back(bias_rank == 0 && !by_column ? bias : factors.applied(b, bias, bias_rank - 1, bias_rank));
  }
  Edge product = b.named("real.product").op(n.op(), std::move(inputs), n.attrs);
  return with_moderate_scale(b, {product, scale, offset.value_or(0) * factors.numbers[0]});
}

// A product whose weights, and bias, can take in factors of the results.
bool takes_factors(const Graph& g, const Node& n, const Factors& factors, const RealInputs& in) {
  if (!is_product(n) || !in.is_weights(n.inputs()[1])) return false;
  if (n.inputs().size() > 2 && (!in.is_weights(n.inputs()[2]) || g.type(n.inputs()[2].source)->shape.rank() != 1)) return false;
  std::size_t rank = n.outputs[0].shape.rank(), weights_rank = g.type(n.inputs()[1].source)->shape.rank();
  return factors.numbers.size() == 1 || (weights_rank >= 2 && factors.axis == (has_windows(n) ? 1 : rank - 1));
}

// The sum of a product and a row of known numbers, as matrices have their bias.
struct BiasedProduct {
  const Node* product = nullptr;
  const Edge* bias = nullptr;
};

std::optional<BiasedProduct> biased_product(const Graph& g, const Node& n, const RealInputs& in) {
  if (is_product(n)) return BiasedProduct{&n, nullptr};
  if (n.op() != "add") return std::nullopt;
  for (std::size_t i = 0; i < 2; ++i) {
    const Node& product = g.node(n.inputs()[i].source.node);
    const Edge& bias = n.inputs()[1 - i];
    if (is_product(product) && product.outputs[0] == n.outputs[0] && in.is_weights(bias) && g.type(bias.source)->shape.rank() == 1)
      return BiasedProduct{&product, &bias};
  }
  return std::nullopt;
}

std::optional<Numbers> fixed_factors(const Graph& g, const Node& n) {
  auto multiplier = numbers_of(g, n.inputs()[1]), shift = numbers_of(g, n.inputs()[2]);
  if (!multiplier || !shift || multiplier->size() != shift->size()) return std::nullopt;
  Numbers out;
  for (std::size_t i = 0; i < shift->size(); ++i) out.push_back(std::ldexp((*multiplier)[i], static_cast<int>((*shift)[i]) - 31));
  // Channels that are always 0 have the factor 0.
  const bool is_fine = out.size() == 1 ? is_positive(out) : std::ranges::all_of(out, [](float v) { return v >= 0 && std::isfinite(v); });
  return is_fine ? std::optional(std::move(out)) : std::nullopt;
}

RealValue of_requantize(Builder& b, const Node& n, const RealInputs& in) {
  const Graph& g = b.graph();
  Factors factors{*fixed_factors(g, n), axis_of(n)};
  double zero = *uniform_value(g, n.inputs()[3]);
  Range range = range_of(n.outputs[0].dtype);
  const Edge& sum = n.inputs()[0];
  std::size_t rank = n.outputs[0].shape.rank();
  RealValue y = in.real(sum);
  if (const Node& made = g.node(y.x.source.node); gives_int8_sums(made) && y.scale == 1 && y.offset == 0 && !y.is_limited()) {
    const std::size_t axis = made.op() == "int8_matmul" ? rank - 1 : 1;
    if (factors.numbers.size() == 1 || factors.axis == axis)
      return of_sums(b, {y.x, factors.numbers}, zero, range, n.outputs[0].dtype, in.in_int8);
  }
  auto product = biased_product(g, g.node(sum.source.node), in);
  if (product && takes_factors(g, *product->product, factors, in)) {
    y = of_product(b, *product->product, in, factors);
    if (product->bias != nullptr) {
      RealValue bias = with_scale(b, centred(b, in.real(*product->bias)), y.scale);
      Edge row = factors.applied(b, bias.x, 0, 1);
      y.x = b.named("real.sum").add(y.x, row);
    }
    return {times(b, y.x, 1 / y.scale), 1, y.offset + zero, range.least, range.most};
  }
  RealValue x = limited(b, y);
  if (factors.numbers.size() == 1 && !product)
    return with_moderate_scale(b, {x.x, x.scale / factors.numbers[0], x.offset * factors.numbers[0] + zero, range.least, range.most});
  x = in_units(b, x);
  return {factors.applied(b, x.x, factors.axis, rank), 1, zero, range.least, range.most};
}

// ---- arithmetic

RealValue of_sum(Builder& b, const Node& n, const RealInputs& in) {
  const Graph& g = b.graph();
  bool subtract = n.op() == "subtract";
  for (std::size_t i = 0; i < 2; ++i) {
    auto number = uniform_value(g, n.inputs()[1 - i]);
    if (!number || (subtract && i == 1) || g.type(n.inputs()[i].source)->shape != n.outputs[0].shape) continue;
    RealValue x = limited(b, in.real(n.inputs()[i]));
    const double more = subtract ? -*number : *number;
    x.offset += more;
    x.int8_offset += more;
    return x;
  }
  RealValue x = limited(b, in.real(n.inputs()[0]));
  RealValue y = with_scale(b, in.real(n.inputs()[1]), x.scale);
  Edge sum = subtract ? b.named("real.difference").subtract(x.x, y.x) : b.named("real.sum").add(x.x, y.x);
  return {sum, x.scale, subtract ? x.offset - y.offset : x.offset + y.offset};
}

RealValue of_multiply(Builder& b, const Node& n, const RealInputs& in) {
  const Graph& g = b.graph();
  for (std::size_t i = 0; i < 2; ++i) {
    auto number = uniform_value(g, n.inputs()[1 - i]);
    if (!number || *number <= 0 || g.type(n.inputs()[i].source)->shape != n.outputs[0].shape) continue;
    RealValue x = limited(b, in.real(n.inputs()[i]));
    return {x.x, x.scale / *number, x.offset * *number};
  }
  RealValue x = centred(b, in.real(n.inputs()[0])), y = centred(b, in.real(n.inputs()[1]));
  return with_moderate_scale(b, {b.named("real.product").multiply(x.x, y.x), x.scale * y.scale});
}

// A sum that is divided by a known number and rounded: half of the divisor, with the sum's sign, is added before the quotient is cut off.
struct RoundedQuotient {
  Edge sum;
  Numbers divisor;
};

std::optional<RoundedQuotient> rounded_quotient(const Graph& g, const Node& n) {
  if (n.op() != "divide") return std::nullopt;
  const Node& moved = g.node(n.inputs()[0].source.node);
  auto divisor = numbers_of(g, n.inputs()[1]);
  if (moved.op() != "where" || !is_positive(divisor)) return std::nullopt;
  const Node &positive = g.node(moved.inputs()[0].source.node), &up = g.node(moved.inputs()[1].source.node),
             &down = g.node(moved.inputs()[2].source.node);
  if (positive.op() != "greater" || up.op() != "add" || down.op() != "subtract") return std::nullopt;
  Edge sum = positive.inputs()[0];
  if (uniform_value(g, positive.inputs()[1]) != 0 || up.inputs()[0] != sum || down.inputs()[0] != sum) return std::nullopt;
  auto more = numbers_of(g, up.inputs()[1]), less = numbers_of(g, down.inputs()[1]);
  if (!more || more != less || more->size() != divisor->size()) return std::nullopt;
  for (std::size_t i = 0; i < divisor->size(); ++i)
    if ((*more)[i] != std::floor((*divisor)[i] / 2)) return std::nullopt;
  return RoundedQuotient{sum, std::move(*divisor)};
}

RealValue of_quotient(Builder& b, const Node& n, const RealInputs& in) {
  const Graph& g = b.graph();
  RoundedQuotient q = *rounded_quotient(g, n);
  RealValue x = limited(b, in.real(q.sum));
  if (auto divisor = uniform_value(g, n.inputs()[1])) return {x.x, x.scale * *divisor, x.offset / *divisor};
  x = centred(b, x);
  for (float& d : q.divisor) d = 1 / d;
  Edge by = b.named("real.factor").constant(g.type(n.inputs()[1].source)->shape, std::move(q.divisor));
  return {b.named("real.scaled").multiply(x.x, by), x.scale};
}

RealValue of_clip(Builder& b, const Node& n, const RealInputs& in) {
  RealValue x = in.real(n.inputs()[0]);
  auto [least, most] = clip_range(n);
  if (least > x.most || most < x.least) x = limited(b, x);
  x.least = std::max(x.least, least);
  x.most = std::min(x.most, most);
  return x;
}

RealValue of_total(Builder& b, const Node& n, const RealInputs& in) {
  RealValue x = centred(b, in.real(n.inputs()[0]));
  return {b.named("real.total").op(n.op(), {x.x}, n.attrs), x.scale};
}

RealValue of_extreme(Builder& b, const Node& n, const RealInputs& in) {
  RealValue x = centred(b, in.real(n.inputs()[0]));
  RealValue y = with_scale(b, centred(b, in.real(n.inputs()[1])), x.scale);
  return {b.named("real.extreme").op(n.op(), {x.x, y.x}, n.attrs), x.scale};
}

// ---- movements

RealValue of_movement(Builder& b, const Node& n, const RealInputs& in) {
  RealValue x = limited(b, in.real(n.inputs()[0]));
  x.x = b.named("real.moved").op(n.op(), {x.x}, n.attrs);
  if (x.int8 && moves_alike(n)) {
    x.int8 = b.named("int8.moved").op(n.op(), {*x.int8}, n.attrs);
  } else {
    x.int8.reset();
  }
  return x;
}

RealValue of_pad(Builder& b, const Node& n, const RealInputs& in) {
  RealValue x = limited(b, in.real(n.inputs()[0]));
  graph::AttrMap attrs = n.attrs;
  attrs["value"] = (real_attr(n, "value", 0) - x.offset) * x.scale;
  x.x = b.named("real.padded").op(n.op(), {x.x}, std::move(attrs));
  x.int8.reset();
  return x;
}

RealValue of_concatenation(Builder& b, const Node& n, const RealInputs& in) {
  std::vector<RealValue> parts;
  for (const Edge& edge : n.inputs()) parts.push_back(limited(b, in.real(edge)));
  RealValue first = parts[0];
  std::vector<Edge> edges;
  for (const RealValue& part : parts) {
    RealValue same = with_scale(b, part, first.scale);
    edges.push_back(plus(b, same.x, (same.offset - first.offset) * first.scale));
  }
  first.int8.reset();
  first.x = b.named("real.joined").op(n.op(), std::move(edges), n.attrs);
  return first;
}

// ---- the table

bool holds(DType wide, DType narrow) {
  Range w = range_of(wide), x = range_of(narrow);
  return dtype_size(wide) >= dtype_size(narrow) && w.least <= x.least && w.most >= x.most;
}

// To a type that holds all integers of the other, or those that a clip leaves.
bool keeps_integers(const Graph& g, const Node& cast) {
  DType from = g.type(cast.inputs()[0].source)->dtype, to = cast.outputs[0].dtype;
  if (!is_integer(from) || holds(to, from)) return is_integer(from);
  const Node& x = g.node(cast.inputs()[0].source.node);
  if (x.op() != "clip") return false;
  Range range = range_of(to), left = clip_range(x);
  return left.least >= range.least && left.most <= range.most;
}

struct Rule {
  std::string_view op;
  RealValue (*value)(Builder& b, const Node& n, const RealInputs& in);
  bool (*applies)(const Graph& g, const Node& n) = [](const Graph&, const Node&) { return true; };
};

constexpr Rule kRules[] = {
    {"add", of_sum},
    {"subtract", of_sum},
    {"multiply", of_multiply},
    {"maximum", of_extreme},
    {"minimum", of_extreme},
    {"clip", of_clip},
    {"reduce_sum", of_total},
    {"divide", of_quotient, [](const Graph& g, const Node& n) { return rounded_quotient(g, n).has_value(); }},
    {"cast", [](Builder&, const Node& n, const RealInputs& in) { return in.real(n.inputs()[0]); }, keeps_integers},
    {"matmul", [](Builder& b, const Node& n, const RealInputs& in) { return of_product(b, n, in); }},
    {"conv1d", [](Builder& b, const Node& n, const RealInputs& in) { return of_product(b, n, in); }},
    {"conv2d", [](Builder& b, const Node& n, const RealInputs& in) { return of_product(b, n, in); }},
    {"conv3d", [](Builder& b, const Node& n, const RealInputs& in) { return of_product(b, n, in); }},
    {"quantize", [](Builder& b, const Node& n, const RealInputs& in) { return of_quantize(b, n, in.in_int8); },
     [](const Graph& g, const Node& n) { return is_float(g.type(n.inputs()[0].source)->dtype) && has_known_steps(g, n); }},
    {"requantize", of_requantize,
     [](const Graph& g, const Node& n) { return fixed_factors(g, n).has_value() && uniform_value(g, n.inputs()[3]).has_value(); }},
    {"reshape", of_movement},
    {"transpose", of_movement},
    {"squeeze", of_movement},
    {"unsqueeze", of_movement},
    {"broadcast", of_movement},
    {"slice", of_movement},
    {"max_pool1d", of_movement},
    {"max_pool2d", of_movement},
    {"pad", of_pad},
    {"concatenate", of_concatenation},
};

const Rule* rule_of(const Graph& g, const Node& n) {
  const auto* rule = std::ranges::find(kRules, std::string_view(n.op()), &Rule::op);
  return rule != std::end(kRules) && rule->applies(g, n) ? rule : nullptr;
}

}  // namespace

bool leaves_int8(const RealValue& r, double int8_offset) { return r.least - int8_offset <= -127 && r.most - int8_offset >= 127; }

RealValue limited(Builder& b, RealValue r) {
  if (!r.is_limited()) return r;
  if (r.int8 && !leaves_int8(r, r.int8_offset)) r.int8.reset();
  const graph::ValueRef limits = b.named("real.limited").clip(r.x, (r.least - r.offset) * r.scale, (r.most - r.offset) * r.scale);
  if (limits.valid()) b.node(limits).tags[kQuantisedLimits] = "";
  r.x = limits;
  r.least = -RealValue::kNoLimit;
  r.most = RealValue::kNoLimit;
  return r;
}

bool has_real_value(const Graph& graph, const Node& n) {
  return n.is_op() && n.outputs.size() == 1 && is_integer(n.outputs[0].dtype) && rule_of(graph, n) != nullptr;
}

RealValue real_value(Builder& b, const Node& n, const RealInputs& in) { return rule_of(b.graph(), n)->value(b, n, in); }

bool leaves_integers(const Graph& graph, const Node& n) {
  if (n.op() == "dequantize") return has_known_steps(graph, n);
  return n.op() == "cast" && is_float(n.outputs[0].dtype) && is_integer(graph.type(n.inputs()[0].source)->dtype);
}

Edge dequantized(Builder& b, const Node& n, const RealInputs& in) {
  RealValue q = in.real(n.inputs()[0]);
  Edge x = n.op() == "cast" ? in_units(b, q).x : of_dequantize(b, n, q);
  DType wanted = n.outputs[0].dtype;
  return wanted == DType::f32 ? x : Edge(b.named("real.cast").op("cast", {x}, {{"dtype", std::string(dtype_name(wanted))}}));
}

ValueRef quantized(Builder& b, const RealValue& r, DType type) {
  RealValue x = in_units(b, r);
  Edge scale = number(b, "stored.scale", 1);
  Edge zero = b.named("stored.zero_point").constant(0.0, type);
  return b.named("stored").op("quantize", {x.x, scale, zero}, {});
}

}  // namespace buda::passes
