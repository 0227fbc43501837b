// What reads a value decides how precise it has to be.
#include <buda/passes/precision/critical_reader.hpp>

#include <set>

namespace buda::passes {
namespace {

using graph::Graph;
using graph::Node;

constexpr double kAngleTolerance = 1.0 / 64;
constexpr double kIntegerTolerance = 1.0 / 64;
// Of a pixel, for weights of samples. On average errors are a quarter of the bound, 2 % of what is left.
constexpr double kPartTolerance = 1.0 / 12;
// What leaves less than this part of a range compares.
constexpr double kSteep = 0x1p-30;

bool is_circular(const Node& n) { return n.op() == "sine" || n.op() == "cosine" || n.op() == "tan"; }

bool limits(const Node& n) {
  static const std::set<std::string_view> ops = {"clip", "maximum", "minimum", "relu"};
  return ops.contains(n.op());
}

// Whether a difference is made for its sign alone, as decompositions of comparisons do. Where numbers are close to each other any format's
// rounding changes the result of a comparison; that is no reason to leave the device.
bool compares(const Graph& graph, const Node& n) {
  const Node& from = graph.node(n.inputs()[0].source.node);
  const auto orders = from.attrs.find("orders");
  return orders != from.attrs.end() && orders->second == graph::Attr(true);
}

bool makes_integers(const Graph& graph, const Node& n) {
  if (n.op() == "round" || n.op() == "floor" || n.op() == "ceil") return true;
  return n.op() == "cast" && is_integer(n.outputs[0].dtype) && is_float(graph.type(n.inputs()[0].source)->dtype);
}

}  // namespace

bool may_be_critical(const Graph& graph, const Node& n) {
  return n.is_op() && !n.outputs.empty() && !n.inputs().empty() && (is_circular(n) || limits(n) || makes_integers(graph, n));
}

std::optional<CriticalReader> critical_reader(const Graph& graph, const Node& n, Estimates& estimates) {
  if (!may_be_critical(graph, n)) return std::nullopt;
  CriticalReader reader;
  const auto operand = estimates.of(n.inputs()[0].source);
  if (!operand) return std::nullopt;
  reader.operand = *operand;
  if (is_circular(n)) {
    reader.tolerance = kAngleTolerance;
    reader.what = "an angle", reader.unit = " rad";
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
    reader.what = "a coordinate";
  }
  if (reader.operand.error <= reader.tolerance) return std::nullopt;
  return reader;
}

}  // namespace buda::passes
