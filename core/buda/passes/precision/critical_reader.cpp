// SPDX-License-Identifier: Apache-2.0
// What reads a value decides how precise it has to be.
#include <buda/passes/precision/critical_reader.hpp>

#include <buda/passes/precision/amplified.hpp>

#include <algorithm>
#include <set>

namespace buda::passes {
namespace {

using graph::Graph;
using graph::Node;

constexpr double kAngleTolerance = 1.0 / 64;
constexpr double kIntegerTolerance = 1.0 / 64;
constexpr double kParityTolerance = 0.5;
// Of a pixel, for weights of samples. On average errors are a quarter of the bound, 2 % of what is left.
constexpr double kPartTolerance = 1.0 / 12;

bool is_circular(const Node& n) { return n.op() == "sine" || n.op() == "cosine" || n.op() == "tan"; }

bool limits(const Node& n) {
  static const std::set<std::string_view> ops = {"clip", "maximum", "minimum", "relu"};
  return ops.contains(n.op());
}

// Whether only the sign of a number is looked at, as decompositions of comparisons do: they limit a number or a difference and amplify what
// is left. Where numbers are close to each other any format's rounding changes the result of a comparison; that is no reason to leave the
// device.
bool compares(const Graph& graph, const Node& n) {
  const Node& from = graph.node(n.inputs()[0].source.node);
  const auto orders = from.attrs.find("orders");
  if (orders != from.attrs.end() && orders->second == graph::Attr(true)) return true;
  const auto users = graph.users(n.id());
  return !users.empty() &&
         std::all_of(users.begin(), users.end(), [&](const graph::Use& use) { return amplifies(graph, graph.node(use.node)); });
}

// Whether a power has the sign that its exponent decides, which is an integer: odd or even.
bool has_sign_of_exponent(const Node& n, Estimates& estimates) {
  const auto base = estimates.of(n.inputs()[0].source), exponent = estimates.of(n.inputs()[1].source);
  return exponent && exponent->whole && !(base && base->least >= 0);
}

bool makes_integers(const Graph& graph, const Node& n) {
  if (n.op() == "round" || n.op() == "floor" || n.op() == "ceil") return true;
  return n.op() == "cast" && is_integer(n.outputs[0].dtype) && is_float(graph.type(n.inputs()[0].source)->dtype);
}

}  // namespace

bool may_be_critical(const Graph& graph, const Node& n) {
  return n.is_op() && !n.outputs.empty() && !n.inputs().empty() &&
         (is_circular(n) || limits(n) || makes_integers(graph, n) || n.op() == "power");
}

std::optional<CriticalReader> critical_reader(const Graph& graph, const Node& n, Estimates& estimates) {
  if (!may_be_critical(graph, n)) return std::nullopt;
  CriticalReader reader;
  const bool is_power = n.op() == "power";
  if (is_power && !has_sign_of_exponent(n, estimates)) return std::nullopt;
  const auto operand = estimates.of(n.inputs()[is_power ? 1 : 0].source);
  if (!operand) return std::nullopt;
  reader.operand = *operand;
  if (is_circular(n)) {
    reader.tolerance = kAngleTolerance;
    reader.what = "an angle", reader.unit = " rad";
    reader.of_any_numbers = true;
  } else if (is_power) {
    reader.tolerance = kParityTolerance;
    reader.what = "an exponent";
    reader.of_any_numbers = true;
  } else if (makes_integers(graph, n)) {
    reader.tolerance = kIntegerTolerance;
    reader.what = "a number that is rounded";
  } else {
    // Of integers the pass exact-integers takes care.
    if (!is_float(n.outputs[0].dtype) || compares(graph, n)) return std::nullopt;
    for (const graph::Edge& edge : n.inputs()) {
      const auto other = estimates.of(edge.source);
      if (!other) return std::nullopt;
      if (other->error > reader.operand.error) reader.operand = *other;
    }
    const auto left = estimates.of(graph::ValueRef(n.id()));
    if (!left || left->width() <= kSteep * reader.operand.size()) return std::nullopt;
    reader.tolerance = kPartTolerance * left->width();
    if (reader.operand.share > 0)
      reader.operand.error = std::min(reader.operand.error, reader.operand.fixed + reader.operand.share * left->size());
    reader.what = "a coordinate";
    reader.on_device = true;
  }
  if (reader.operand.error <= reader.tolerance) return std::nullopt;
  return reader;
}

}  // namespace buda::passes
