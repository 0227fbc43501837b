// SPDX-License-Identifier: Apache-2.0
// Decomposition plugin `compare`: comparisons, logic, selection and conversions, in numbers 0 and 1.
//
// A boolean is 0 or 1 on the device; `exact_cast` says that a number is one and costs nothing there. A comparison amplifies a
// difference by 2^127 and clips it to [0, 1], before as well as after (rule.hpp):
//
//   greater(a, b)        clip((a - b) 2^127, 0, 1)           less(a, b) = greater(b, a), and a >= b is 1 - (b > a)
//   equal(a, b)          1 - clip(|a - b| 2^127, 0, 1)
//   and, or, xor, not    a b,  max(a, b),  |a - b|,  1 - a
//   where(c, a, b)       c a + (1 - c) b
//   sign(x)              (x > 0) - (0 > x)
//   cast to BOOL         clip(|x| 2^127, 0, 1)
//   cast to integers     sign(x) floor(|x|), clipped to the type's range where that has 16 bits or fewer
//
// Exact for infinities, and where a difference is no denormal in the format that the device subtracts in: numbers that a 16-bit format
// cannot tell apart are equal. Comparisons with a NaN of the model's inputs or constants are false; later there is none (rule.hpp).
// To the matrix unit 0 times an infinity or NaN is 0, so that `where` has nothing of what it did not select
// (docs/internals/special-values.md). Integers are those that exact-integers leaves to the device
// (whole_numbers.cpp).
#include "rules.hpp"

#include <buda/plugin/plugin.hpp>
#include <buda/plugin/rule.hpp>

#include <buda/passes/simplify/constant_value.hpp>
#include <buda/tensor/tensor.hpp>

namespace {

using namespace buda::plugin;
using buda::DType;
using buda::graph::Graph;
using buda::graph::Node;

// A comparison that is false where one of the operands is NaN.
Term of_numbers(Rewrite& r, Term holds) {
  for (std::size_t i = 0; i < 2; ++i)
    if (may_hold_nan(r.graph(), r.inputs()[i])) holds = holds * is_number(r.in(i));
  return holds;
}

Term is_above(Rewrite& r, std::size_t i, std::size_t k) {
  Term a = r.in(i);
  return above(a, r.in(k));
}
Term greater(Rewrite& r) { return of_numbers(r, is_above(r, 0, 1)); }
Term less(Rewrite& r) { return of_numbers(r, is_above(r, 1, 0)); }
Term greater_equal(Rewrite& r) { return of_numbers(r, 1 - is_above(r, 1, 0)); }
Term less_equal(Rewrite& r) { return of_numbers(r, 1 - is_above(r, 0, 1)); }
Term equal(Rewrite& r) {
  Term a = r.in(0);
  return of_numbers(r, 1 - not_zero(difference(a, r.in(1))));
}
Term logical_and(Rewrite& r) {
  Term a = r.in(0);
  return a * r.in(1);
}
Term logical_or(Rewrite& r) {
  Term a = r.in(0);
  return maximum(a, r.in(1));
}
Term logical_xor(Rewrite& r) {
  Term a = r.in(0);
  return abs(a - r.in(1));
}
Term logical_not(Rewrite& r) { return 1 - r.in(0); }
Term sign(Rewrite& r) { return sign_of(r.in(0)); }

bool is_zero(Rewrite& r, std::size_t input) { return buda::passes::uniform_value(r.graph(), r.inputs()[input]) == 0.0; }

Term where(Rewrite& r) {
  Term c = r.in(0);
  bool no_a = is_zero(r, 1), no_b = is_zero(r, 2);
  // Zeros still count for the shape of the result.
  if (no_a && r.type(1).shape.volume() == 1) {
    Term otherwise = 1 - c;
    return masked(otherwise, r.in(2));
  }
  if (no_b && r.type(2).shape.volume() == 1) return masked(c, r.in(1));
  Term chosen = masked(c, r.in(1));
  Term otherwise = 1 - c;
  Term other = masked(otherwise, r.in(2));
  return chosen + other;
}

bool broadcasts_to_result(const Graph& graph, const Node& n) {
  // With a zero left out, the other two give the result's shape or the rule does not fit.
  auto zero = [&](std::size_t i) {
    return buda::passes::uniform_value(graph, n.inputs()[i]) == 0.0 && graph.type(n.inputs()[i].source)->shape.volume() == 1;
  };
  auto rank = [&](std::size_t i) { return graph.type(n.inputs()[i].source)->shape.rank(); };
  std::size_t full = n.outputs[0].shape.rank();
  if (zero(1)) return std::max(rank(0), rank(2)) == full;
  if (zero(2)) return std::max(rank(0), rank(1)) == full;
  return true;
}

// ---- conversions

DType target(const Node& n) {
  auto it = n.attrs.find("dtype");
  return buda::dtype_from_name(std::get<std::string>(it->second)).value_or(DType::f32);
}

bool is_to_boolean(const Graph& graph, const Node& n) {
  return target(n) == DType::boolean && graph.type(n.inputs()[0].source)->dtype != DType::boolean;
}
bool truncates(const Graph& graph, const Node& n) {
  return buda::is_integer(target(n)) && buda::is_float(graph.type(n.inputs()[0].source)->dtype);
}
bool converts(const Graph& graph, const Node& n) { return is_to_boolean(graph, n) || truncates(graph, n); }

struct Range {
  double least, most;
};
std::optional<Range> small_range(DType t) {
  switch (t) {
    case DType::u8:
      return Range{0, 255};
    case DType::i8:
      return Range{-128, 127};
    case DType::u16:
      return Range{0, 65535};
    case DType::i16:
      return Range{-32768, 32767};
    default:
      return std::nullopt;
  }
}

Term convert(Rewrite& r) {
  if (r.result().dtype == DType::boolean) return not_zero(r.in(0));
  Term x = r.in(0);
  Term whole = floor_of(abs(x));
  Term y = whole * sign_of(x);
  auto range = small_range(r.result().dtype);
  return range ? clip(y, range->least, range->most) : y;
}

RuleSpec truth(std::string name, std::string summary, Term (*build)(Rewrite&)) {
  return {.name = name,
          .summary = std::move(summary),
          .consumes = {name},
          .produces = {"add", "subtract", "multiply", "clip", "abs", "maximum"},
          .build = build,
          .takes = Takes::anything};
}

}  // namespace

BUDA_PLUGIN(.name = "compare", .version = "1.0", .description = "comparisons, logic and conversions in numbers 0 and 1",
            .license = "Apache-2.0") {
  registrar.add_decomposition(rule(truth("greater", "a > b as an amplified difference, clipped", greater)));
  registrar.add_decomposition(rule(truth("less", "a < b likewise", less)));
  registrar.add_decomposition(rule(truth("greater_equal", "a >= b as not a < b", greater_equal)));
  registrar.add_decomposition(rule(truth("less_equal", "a <= b as not a > b", less_equal)));
  registrar.add_decomposition(rule(truth("equal", "a = b as no amplified difference", equal)));
  registrar.add_decomposition(rule(truth("logical_and", "both, as a product", logical_and)));
  registrar.add_decomposition(rule(truth("logical_or", "one of both, as a maximum", logical_or)));
  registrar.add_decomposition(rule(truth("logical_xor", "just one of both, as the size of the difference", logical_xor)));
  registrar.add_decomposition(rule(truth("logical_not", "1 - x", logical_not)));
  registrar.add_decomposition(rule(truth("sign", "x amplified and clipped", sign)));
  RuleSpec selection = truth("where", "selection as a sum of products with 0 and 1", where);
  selection.matches = broadcasts_to_result;
  registrar.add_decomposition(rule(std::move(selection)));
  RuleSpec conversion = truth("convert", "conversions to booleans and integers", convert);
  conversion.consumes = {"cast"};
  conversion.produces.push_back("round");
  conversion.matches = converts;
  registrar.add_decomposition(rule(std::move(conversion)));
  for (auto& spec : buda::compare::whole_number_rules()) registrar.add_decomposition(rule(std::move(spec)));
}
