// SPDX-License-Identifier: Apache-2.0
// Interval arithmetic for the ops of the suites.
#include "ranges.hpp"

#include "integer_pool.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

namespace buda::trial {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Interval kUnknown{-kInfinity, kInfinity};
using Intervals = std::vector<Interval>;

Interval of_type(DType dtype) {
  if (is_float(dtype)) return kUnknown;
  const auto [least, most] = limits(dtype);
  return {static_cast<double>(least), static_cast<double>(most)};
}

Interval of_values(const Tensor& t) {
  const std::vector<float> values = t.to_f32();
  if (is_float(t.dtype()) || values.empty()) return kUnknown;
  const Tensor wide = t.cast(DType::i64);
  const auto [least, most] = std::minmax_element(wide.as<std::int64_t>().begin(), wide.as<std::int64_t>().end());
  return {static_cast<double>(*least), static_cast<double>(*most)};
}

Interval hull(const Interval& a, const Interval& b) { return {std::min(a.least, b.least), std::max(a.most, b.most)}; }

// Of n numbers each, and of fewer.
Interval sums(const Interval& x, double n) { return {std::min(x.least, x.least * n), std::max(x.most, x.most * n)}; }

// Of a function that has its extremes at the corners.
template <class F>
Interval corners(const Interval& a, const Interval& b, F f) {
  const double values[] = {f(a.least, b.least), f(a.least, b.most), f(a.most, b.least), f(a.most, b.most)};
  Interval out{values[0], values[0]};
  for (const double v : values) {
    if (std::isnan(v)) return kUnknown;
    out = hull(out, {v, v});
  }
  return out;
}

Interval quotient(const Interval& a, const Interval& b, bool whole) {
  if (!whole && b.least <= 0 && b.most >= 0) return kUnknown;
  if (!whole) return corners(a, b, [](double x, double y) { return x / y; });
  const double size = std::max(std::abs(a.least), std::abs(a.most));
  if (a.least < 0 || b.least < 0) return {-size, size};
  return {0, a.most / std::max(1.0, b.least)};
}

// Of what a division leaves; `floored`: with the divisor's sign.
Interval rest(const Interval& a, const Interval& b, bool floored) {
  const double size = std::max(0.0, std::max(std::abs(b.least), std::abs(b.most)) - 1);
  if (floored) return {b.least < 0 ? -size : 0, b.most > 0 ? size : 0};
  return {a.least < 0 ? std::max(a.least, -size) : 0, a.most > 0 ? std::min(a.most, size) : 0};
}

Interval clipped(const Interval& x, const graph::AttrMap& attrs) {
  auto bound = [&](std::string_view name, double otherwise) {
    const auto found = attrs.find(name);
    return found == attrs.end() ? otherwise : std::get<double>(found->second);
  };
  const double least = bound("min", -kInfinity), most = bound("max", kInfinity);
  return {std::clamp(x.least, least, most), std::clamp(x.most, least, most)};
}

Interval scattered(const Step& step, const Intervals& in, double updates) {
  const std::string& reduction = std::get<std::string>(step.attrs.find("reduction")->second);
  if (reduction == "mul") return kUnknown;
  const Interval changed = hull(in[0], in[2]);
  if (reduction != "add") return changed;
  const Interval more = sums(in[2], updates);
  return hull(in[0], {in[0].least + more.least, in[0].most + more.most});
}

double axis_size(const Recipe& recipe, const Step& step) {
  const Shape& shape = recipe.value(step.inputs[0]).shape();
  const auto dim = step.attrs.find("dim");
  const auto dims = step.attrs.find("dims");
  const std::int64_t axis = dim != step.attrs.end()    ? std::get<std::int64_t>(dim->second)
                            : dims != step.attrs.end() ? std::get<std::vector<std::int64_t>>(dims->second)[0]
                                                       : -1;
  return static_cast<double>(shape[*shape.axis(axis)]);
}

Interval of_op(const Recipe& recipe, const Step& step, std::size_t result, const Intervals& in) {
  const std::string_view op = step.op;
  const bool whole = !is_float(step.results[0].dtype());
  if (op == "add") return {in[0].least + in[1].least, in[0].most + in[1].most};
  if (op == "subtract") return {in[0].least - in[1].most, in[0].most - in[1].least};
  if (op == "multiply") return corners(in[0], in[1], [](double x, double y) { return x * y; });
  if (op == "divide") return quotient(in[0], in[1], whole);
  if (op == "modulo") return rest(in[0], in[1], true);
  if (op == "remainder") return rest(in[0], in[1], false);
  if (op == "maximum") return {std::max(in[0].least, in[1].least), std::max(in[0].most, in[1].most)};
  if (op == "minimum") return {std::min(in[0].least, in[1].least), std::min(in[0].most, in[1].most)};
  if (op == "negative") return {-in[0].most, -in[0].least};
  if (op == "abs") return {0, std::max(std::abs(in[0].least), std::abs(in[0].most))};
  if (op == "clip") return clipped(in[0], step.attrs);
  if (op == "where") return hull(in[1], in[2]);
  if (op == "one_hot") return in[1];
  if (op == "concatenate") return hull(in[0], in[1]);
  if (op == "floor" || op == "ceil" || op == "round") return {std::floor(in[0].least), std::ceil(in[0].most)};
  if (op == "cumsum" || op == "reduce_sum") return sums(in[0], axis_size(recipe, step));
  if (op == "argmax" || op == "argmin" || (op == "topk" && result == 1)) return {0, axis_size(recipe, step) - 1};
  if (op.starts_with("scatter")) return scattered(step, in, static_cast<double>(recipe.value(step.inputs[2]).size()));
  if (op.starts_with("bitwise") || step.results[result].dtype() == DType::boolean) return kUnknown;
  return in[0];  // what moves, picks or converts numbers
}

Interval within_type(const Interval& x, DType dtype) {
  const Interval type = of_type(dtype);
  if (is_float(dtype)) return x;
  return x.least >= type.least && x.most <= type.most ? x : type;
}

}  // namespace

std::vector<Intervals> intervals_of(const Recipe& recipe) {
  std::vector<Intervals> out;
  for (const Step& step : recipe.steps) {
    Intervals in, results;
    for (const Port& p : step.inputs) in.push_back(out[p.step][p.number]);
    for (std::size_t k = 0; k < step.results.size(); ++k) {
      const DType dtype = step.results[k].dtype();
      Interval x = of_type(dtype);
      if (step.kind == StepKind::op) x = of_op(recipe, step, k, in);
      if (step.kind == StepKind::constant) x = of_values(step.results[k]);
      if (step.promise) x = {static_cast<double>(step.promise->least), static_cast<double>(step.promise->most)};
      results.push_back(within_type(x, dtype));
    }
    out.push_back(std::move(results));
  }
  return out;
}

int bits_of_step(const Recipe& recipe, const std::vector<Intervals>& intervals, std::size_t step) {
  double size = 1;
  auto meet = [&](Port p) {
    const Interval& x = intervals[p.step][p.number];
    if (!is_float(recipe.value(p).dtype())) size = std::max({size, std::abs(x.least), std::abs(x.most)});
  };
  for (const Port& p : recipe.steps[step].inputs) meet(p);
  for (std::size_t k = 0; k < recipe.steps[step].results.size(); ++k) meet({step, k});
  for (const int bits : {8, 11, 16, 24, 31})
    if (size <= std::ldexp(1.0, bits)) return bits;
  return 63;
}

}  // namespace buda::trial
