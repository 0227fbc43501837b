// SPDX-License-Identifier: Apache-2.0
// Rounding and remainders.
//
//   floor(x), ceil(x)    round(x) less 1 where that is above x; plus 1 where it is below
//   remainder(a, b)      with m = |a|, n = |b|: m - n floor(m / n), with the sign of a; brought back into [0, n) where m / n was rounded
//   modulo(a, b)         the same, plus b where its sign is not that of b
//   divide(a, b)         where the quotient is rounded next, directly or as a scale: a product with the reciprocal, corrected to what a
//                        division in fp32 gives; 1/2 then rounds as it does elsewhere. Other quotients do not pay for that (plugin example)
//
// The op `round` is left to the host, which no chip's units can do (lower/rules/eltwise.cpp). Integers are their own floor.
#include "rules.hpp"

#include <buda/graph/graph.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace buda::math {
namespace {

using namespace plugin;

Term lower(Rewrite& r) { return floor_of(r.in(0)); }
Term upper(Rewrite& r) {
  Term x = r.in(0);
  Term nearest = round(x);
  return nearest + above(x, nearest);
}

Term remainder_of(const Term& a, const Term& b) {
  Term m = abs(a);
  Term n = abs(b);
  Term quotient = floor_of(m * reciprocal(n));
  Term rest = m - quotient * n;
  Term low = rest + n * above(0, rest);
  Term fits = above(n, low);
  Term within = low - n * (1 - fits);
  return within * sign_of(a);
}

Term truncated_remainder(Rewrite& r) {
  Term a = r.in(0);
  return remainder_of(a, r.in(1));
}
Term floored_remainder(Rewrite& r) {
  Term a = r.in(0);
  Term b = r.in(1);
  Term rest = remainder_of(a, b);
  Term differs = above(0, rest * b);
  return rest + b * differs;
}

Term corrected_quotient(Rewrite& r) {
  Term a = r.in(0);
  return exact_quotient(a, r.in(1));
}

// Whether a value is rounded to integers after a few steps that do not change how far it is from a border.
bool is_rounded(const graph::Graph& graph, graph::NodeId id, int steps) {
  static constexpr std::array<std::string_view, 4> kRounding = {"round", "floor", "ceil", "quantize"};
  static constexpr std::array<std::string_view, 9> kPassing = {"add",     "subtract", "negative", "clip", "maximum",
                                                               "minimum", "divide",   "reshape",  "cast"};
  constexpr std::size_t kMaxUsers = 8;
  std::vector<graph::Use> users = graph.users(id);
  if (users.size() > kMaxUsers) return false;
  return std::any_of(users.begin(), users.end(), [&](const graph::Use& use) {
    const graph::Node& n = graph.node(use.node);
    if (std::find(kRounding.begin(), kRounding.end(), n.op()) != kRounding.end()) return true;
    if (n.op() == "cast" && !is_float(n.outputs[0].dtype)) return true;
    return steps > 1 && std::find(kPassing.begin(), kPassing.end(), n.op()) != kPassing.end() && is_rounded(graph, use.node, steps - 1);
  });
}

bool is_rounded_next(const graph::Graph& graph, const graph::Node& n) { return is_rounded(graph, n.id(), 3); }

Term itself(Rewrite& r) { return r.raw(0); }
bool is_whole(const graph::Graph& graph, const graph::Node& n) { return !is_float(graph.type(n.inputs()[0].source)->dtype); }

const std::vector<std::string> kProduces = {"round", "abs", "reciprocal", "add", "subtract", "multiply", "clip"};

}  // namespace

std::vector<RuleSpec> rounding_rules() {
  return {
      {.name = "floor", .summary = "round, less 1 where that is above x", .consumes = {"floor"}, .produces = kProduces, .build = lower},
      {.name = "ceil", .summary = "round, plus 1 where that is below x", .consumes = {"ceil"}, .produces = kProduces, .build = upper},
      {.name = "remainder",
       .summary = "the remainder of a / b, with the sign of a",
       .consumes = {"remainder"},
       .produces = kProduces,
       .build = truncated_remainder},
      {.name = "modulo",
       .summary = "the remainder of a / b, with the sign of b",
       .consumes = {"modulo"},
       .produces = kProduces,
       .build = floored_remainder},
      {.name = "rounded_quotient",
       .summary = "a / b as in fp32, where it is rounded next",
       .consumes = {"divide"},
       .produces = kProduces,
       .build = corrected_quotient,
       .matches = is_rounded_next,
       .priority = 1},
      {.name = "whole",
       .summary = "integers need no rounding",
       .consumes = {"floor", "ceil", "round"},
       .produces = {},
       .build = itself,
       .takes = Takes::anything,
       .matches = is_whole},
  };
}

}  // namespace buda::math
