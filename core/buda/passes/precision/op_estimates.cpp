// SPDX-License-Identifier: Apache-2.0
// One rule for each op, or for a family of ops that are alike.
#include <buda/passes/precision/op_estimates.hpp>

#include <buda/ops/table/registry.hpp>
#include <buda/passes/precision/amplified.hpp>

#include <cmath>
#include <limits>
#include <map>
#include <string_view>

namespace buda::passes {
namespace {

using graph::Graph;
using graph::Node;

struct Step {
  const Graph& graph;
  const Node& n;
  std::span<const Estimate> in;

  ops::Attrs attrs() const { return {*ops::standard_ops().find(graph::Level::tensor, n.op()), n.attrs}; }
  const graph::ValueType& type(std::size_t i) const { return *graph.type(n.inputs()[i].source); }
  double volume(std::size_t i) const { return static_cast<double>(type(i).shape.volume().value_or(0)); }
  double result_volume() const { return static_cast<double>(n.outputs[0].shape.volume().value_or(0)); }
};

using Rule = std::optional<Estimate> (*)(const Step& s);

// ---- elements as they are

std::optional<Estimate> all_inputs(const Step& s) {
  Estimate e = s.in[0];
  for (const Estimate& other : s.in.subspan(1)) e = hull(e, other);
  return e;
}
std::optional<Estimate> first_input(const Step& s) { return s.in[0]; }
std::optional<Estimate> second_input(const Step& s) { return s.in[1]; }
std::optional<Estimate> padded(const Step& s) {
  const double value = s.attrs().real("value");
  return hull(s.in[0], {value, value, 0, value == std::round(value)});
}
std::optional<Estimate> scattered(const Step& s) { return hull(s.in[0], s.in[2]); }
std::optional<Estimate> chosen(const Step& s) { return hull(s.in[1], s.in[2]); }
std::optional<Estimate> truth(const Step&) { return Estimate{0, 1, 0, true}; }

std::optional<Estimate> converted(const Step& s) {
  const DType to = s.n.outputs[0].dtype;
  if (is_float(to)) return s.in[0];
  if (to == DType::boolean) return truth(s);
  // Where they wrap around or saturate nothing but the type is known.
  const Estimate e = is_float(s.type(0).dtype) ? rounded_to_integers(s.in[0]) : s.in[0];
  const Estimate held = estimate_of_type(to, 0);
  return e.least >= held.least && e.most <= held.most ? e : held;
}

// ---- arithmetic

std::optional<Estimate> added(const Step& s) { return sum(s.in[0], s.in[1]); }
std::optional<Estimate> subtracted(const Step& s) { return sum(s.in[0], negative(s.in[1])); }
std::optional<Estimate> multiplied(const Step& s) { return product(s.in[0], s.in[1]); }
std::optional<Estimate> negated(const Step& s) { return negative(s.in[0]); }
std::optional<Estimate> without_sign(const Step& s) { return absolute(s.in[0]); }
std::optional<Estimate> squared(const Step& s) {
  const Estimate e = absolute(s.in[0]);
  return Estimate{e.least * e.least, e.most * e.most, 2 * e.error * e.most, e.whole};
}
std::optional<Estimate> inverted(const Estimate& a) {
  if (a.least <= 0 && a.most >= 0) return std::nullopt;
  const double nearest = std::min(std::abs(a.least), std::abs(a.most));
  return Estimate{1 / a.most, 1 / a.least, a.error / (nearest * nearest), false};
}
std::optional<Estimate> reciprocal(const Step& s) { return inverted(s.in[0]); }
std::optional<Estimate> divided(const Step& s) {
  const auto inverse = inverted(s.in[1]);
  if (!inverse) return std::nullopt;
  const Estimate e = product(s.in[0], *inverse);
  return is_float(s.n.outputs[0].dtype) ? e : rounded_to_integers(e);
}
std::optional<Estimate> root(const Step& s) {
  const Estimate& a = s.in[0];
  if (a.least < 0) return std::nullopt;
  const double slope = a.error == 0 ? 0 : 1 / std::max(2 * std::sqrt(a.least), std::sqrt(a.error));
  return risen(
      a, [](double v) { return std::sqrt(v); }, slope);
}
std::optional<Estimate> exponential(const Step& s) {
  if (s.in[0].most > 80) return std::nullopt;
  return risen(
      s.in[0], [](double v) { return std::exp(v); }, std::exp(s.in[0].most));
}
std::optional<Estimate> logarithm(const Step& s) {
  if (s.in[0].least <= 0) return std::nullopt;
  return risen(
      s.in[0], [](double v) { return std::log(v); }, 1 / s.in[0].least);
}
std::optional<Estimate> power(const Step& s) {
  const Estimate &base = s.in[0], &exponent = s.in[1];
  if (exponent.least == 2 && exponent.most == 2) return squared(s);
  if (base.least <= 0) return std::nullopt;
  const Estimate ln = risen(
                     base, [](double v) { return std::log(v); }, 1 / base.least),
                 at = product(exponent, ln);
  if (at.most > 80) return std::nullopt;
  return risen(
      at, [](double v) { return std::exp(v); }, std::exp(at.most));
}

// ---- bounded

std::optional<Estimate> circular(const Step& s) { return within(-1, 1, s.in[0]); }
std::optional<Estimate> logistic(const Step& s) { return within(0, 1, s.in[0]); }
std::optional<Estimate> positive_part(const Step& s) { return limited(s.in[0], 0, std::numeric_limits<double>::infinity()); }
// Of a comparison the result is one bound or the other, and right unless two numbers are equal to the format.
std::optional<Estimate> clipped(const Step& s) {
  Estimate e = limited(s.in[0], s.attrs().real("min"), s.attrs().real("max"));
  if (!amplifies(s.graph, s.graph.node(s.n.inputs()[0].source.node))) return e;
  e.error = 0;
  e.whole = e.least == std::round(e.least) && e.most == std::round(e.most);
  return e;
}
std::optional<Estimate> maximum(const Step& s) { return larger(s.in[0], s.in[1]); }
std::optional<Estimate> minimum(const Step& s) { return smaller(s.in[0], s.in[1]); }
// Of a type of floats: nobody but exact-integers keeps such integers as they are.
std::optional<Estimate> whole(const Step& s) {
  Estimate e = rounded_to_integers(s.in[0]);
  e.whole = s.in[0].whole;
  return e;
}
std::optional<Estimate> rest(const Step& s) {
  const double size = s.in[1].size();
  return Estimate{-size, size, s.in[0].error + s.in[1].error, s.in[0].whole && s.in[1].whole};
}

// ---- sums

std::optional<Estimate> summed(const Step& s) { return repeated_sum(s.in[0], s.volume(0) / std::max(s.result_volume(), 1.0)); }
std::optional<Estimate> running_sum(const Step& s) {
  const Shape& shape = s.type(0).shape;
  double longest = 1;
  for (std::size_t i = 0; i < shape.rank(); ++i) longest = std::max(longest, static_cast<double>(shape[i]));
  return repeated_sum(s.in[0], longest);
}
std::optional<Estimate> matrix_product(const Step& s) {
  const Shape& a = s.type(0).shape;
  Estimate e = repeated_sum(product(s.in[0], s.in[1]), a.rank() == 0 ? 1 : static_cast<double>(a[a.rank() - 1]));
  return s.in.size() > 2 ? sum(e, s.in[2]) : e;
}

Rule rule_of(std::string_view op) {
  static const std::map<std::string_view, Rule> rules = {
      {"abs", without_sign},
      {"add", added},
      {"broadcast", first_input},
      {"buffer", first_input},
      {"cast", converted},
      {"ceil", whole},
      {"clip", clipped},
      {"concatenate", all_inputs},
      {"cosine", circular},
      {"cumsum", running_sum},
      {"divide", divided},
      {"equal", truth},
      {"exact_cast", converted},
      {"exp", exponential},
      {"floor", whole},
      {"gather", first_input},
      {"gather_elements", first_input},
      {"gather_nd", first_input},
      {"greater", truth},
      {"greater_equal", truth},
      {"is_inf", truth},
      {"is_nan", truth},
      {"less", truth},
      {"less_equal", truth},
      {"log", logarithm},
      {"logical_and", truth},
      {"logical_not", truth},
      {"logical_or", truth},
      {"logical_xor", truth},
      {"matmul", matrix_product},
      {"maximum", maximum},
      {"minimum", minimum},
      {"modulo", rest},
      {"multiply", multiplied},
      {"negative", negated},
      {"nop", first_input},
      {"one_hot", second_input},
      {"pad", padded},
      {"pad_continued", first_input},
      {"power", power},
      {"reciprocal", reciprocal},
      {"reduce_avg", first_input},
      {"reduce_max", first_input},
      {"reduce_min", first_input},
      {"reduce_sum", summed},
      {"relu", positive_part},
      {"remainder", rest},
      {"reshape", first_input},
      {"reverse_sequence", first_input},
      {"round", whole},
      {"scatter_elements", scattered},
      {"scatter_nd", scattered},
      {"sigmoid", logistic},
      {"sine", circular},
      {"slice", first_input},
      {"sqrt", root},
      {"square", squared},
      {"squeeze", first_input},
      {"subtract", subtracted},
      {"tanh", circular},
      {"tile", first_input},
      {"transpose", first_input},
      {"unsqueeze", first_input},
      {"where", chosen},
  };
  const auto it = rules.find(op);
  return it == rules.end() ? nullptr : it->second;
}

}  // namespace

std::optional<Estimate> estimate_of_op(const Graph& graph, const Node& n, std::span<const Estimate> in) {
  const Rule rule = rule_of(n.op());
  std::optional<Estimate> e = rule == nullptr ? std::nullopt : rule({graph, n, in});
  // NaN is no bound, and neither is infinity.
  if (e && !(std::isfinite(e->least) && std::isfinite(e->most) && std::isfinite(e->error))) return std::nullopt;
  return e;
}

}  // namespace buda::passes
