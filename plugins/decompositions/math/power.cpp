// SPDX-License-Identifier: Apache-2.0
// Powers:
//
//   power(x, c)     for constants c: x², 1/x, √x, 1/√x, 1/x^-c; otherwise e^(c ln x). Positive whole powers have a device op and are left.
//                   e^(c ln x) is for x that are not negative. Its relative error is c ln x times that of the format. Large whole c take
//                   |x|, and odd ones its sign
//   power(x, y)     e^(y ln x) where x is never negative
//   power(x, n)     with integers n of a small range: e^(n ln |x|), less twice itself where x is negative and n odd. |n| becomes 0 or 1 by
//                   folding: ||n| - 8|, …, less 4, 2 and 1, are whole, odd where n is, and at most half as large each
//
// Whether an exponent of floats is whole no 16-bit number can tell where it is large, and the NaN that the others give with a negative base
// no chip keeps: such a power is left to the host.
#include "rules.hpp"

#include <buda/graph/graph.hpp>
#include <buda/passes/simplify/constant_value.hpp>
#include <buda/plugin/known_numbers.hpp>

#include <cmath>
#include <optional>

namespace buda::math {
namespace {

using namespace plugin;

// As far as the device's op goes; beyond it a power of 16-bit floats has few right digits anyway.
constexpr double kMaxDevicePower = 64;
// Exponents up to twice as many. Larger ones make too much of what a base loses in 16 bits: 1 % of it is 16 % of its 16th power.
constexpr std::int64_t kFirstFold = 8;

std::optional<double> constant_exponent(const graph::Graph& graph, const graph::Node& node) {
  if (node.outputs[0] != *graph.type(node.inputs()[0].source)) return std::nullopt;
  return passes::uniform_value(graph, node.inputs()[1]);
}

bool is_constant_power(const graph::Graph& graph, const graph::Node& node) {
  const auto c = constant_exponent(graph, node);
  return c && (*c < 0 || *c == 2 || *c != std::trunc(*c) || *c > kMaxDevicePower);
}
Term constant_power(Rewrite& r) {
  Term x = r.in(0);
  const double c = *passes::uniform_value(r.graph(), r.inputs()[1]);
  if (c == 2) return square(x);
  if (c == 0.5) return sqrt(x);
  if (c == -0.5) return reciprocal(sqrt(x));
  if (c == -1) return reciprocal(x);
  if (c < 0 && c == std::trunc(c)) return reciprocal(r.op("power", {x, r.number(-c)}));
  if (c != std::trunc(c)) return exp(log(x) * r.in(1));
  Term y = exp(log(abs(x)) * r.in(1));
  return std::fmod(c, 2) == 0 ? y : y * sign_of(x);
}

// e^(y ln x), and 1 for y = 0, whatever the logarithm of x is.
Term power_by_logarithm(const Term& x, const Term& y) { return exp(masked(log(x), y)); }

bool is_power_of_positive(const graph::Graph& graph, const graph::Node& node) {
  return !constant_exponent(graph, node) && is_never_negative(graph, node.inputs()[0]);
}
Term power_of_positive(Rewrite& r) {
  Term x = r.in(0);
  return power_by_logarithm(x, r.in(1));
}

bool is_whole_power(const graph::Graph& graph, const graph::Node& node) {
  return !constant_exponent(graph, node) && !is_never_negative(graph, node.inputs()[0]) &&
         are_small_integers(graph, node.inputs()[1], 2 * kFirstFold);
}
// 1 where a whole number is odd, else 0.
Term odd(const Term& n) {
  Term left = abs(n);
  for (std::int64_t fold = kFirstFold; fold >= 1; fold /= 2) left = abs(left - static_cast<double>(fold));
  return 1 - left;
}
Term whole_power(Rewrite& r) {
  Term x = r.in(0);
  Term n = r.in(1);
  Term size = power_by_logarithm(abs(x), n);
  Term changes = odd(n);
  changes = changes * above(0, x);
  return size * (1 - changes * 2);
}

}  // namespace

std::vector<RuleSpec> power_rules() {
  const auto spec = [](const char* name, const char* summary, Term (*build)(Rewrite&),
                       bool (*matches)(const graph::Graph&, const graph::Node&), std::vector<std::string> produces) {
    RuleSpec s{.name = name, .summary = summary, .consumes = {"power"}, .produces = std::move(produces), .build = build};
    s.matches = matches;
    return s;
  };
  return {spec("power", "constant powers through square, reciprocal, sqrt, or exp and log", constant_power, is_constant_power,
               {"square", "reciprocal", "sqrt", "power", "log", "multiply", "exp", "abs", "clip", "subtract"}),
          spec("power_of_positive", "e^(y ln x) where x is never negative", power_of_positive, is_power_of_positive,
               {"log", "multiply", "exp"}),
          spec("whole_power", "e^(n ln |x|) with the sign that integers n in -16:16 make", whole_power, is_whole_power,
               {"log", "multiply", "exp", "abs", "subtract", "clip"})};
}

}  // namespace buda::math
