// SPDX-License-Identifier: Apache-2.0
// algebraic-simplification: leaves out what changes nothing, and does in one step what takes two.
//
// before                                        after
//   a = multiply(x, 1)                            y = reshape(x) shape=[64, 10]
//   b = reshape(a) shape=[10, 64]
//   y = reshape(b) shape=[64, 10]
//
// Rules, where x is any value and c a parameter or constant:
//   nop(x), x + 0, x - 0, x * 1, x / 1, x ^ 1, -(-x), relu(relu(x)), abs(abs(x))
//   reshape, squeeze, unsqueeze, broadcast, slice, concatenate, pad and transpose that give what they are given
//   reshapes of reshapes, transposes of transposes; a transpose that moves only axes of size 1 is a reshape
//   a gather of neighbouring places is a slice
//   (x + c1) + c2 -> x + (c1 + c2), (x * c1) * c2 -> x * (c1 * c2), for floating-point numbers
// A zero's sign and the last digit of a product of constants may change; NaN and infinities do not.
#include <buda/graph/editor.hpp>
#include <buda/passes/pipeline/standard_passes.hpp>

#include <buda/ops/whole_graph/builder.hpp>
#include <buda/passes/simplify/constant_value.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <functional>
#include <numeric>

namespace buda::passes {
namespace {

using graph::Edge;
using graph::Graph;
using graph::GraphEditor;
using graph::Node;
using graph::NodeId;
using graph::ValueRef;

bool is_reshape_op(const Node& n) { return n.op() == "reshape" || n.op() == "squeeze" || n.op() == "unsqueeze"; }

const std::vector<std::int64_t>* integers(const Node& n, std::string_view attr) {
  auto it = n.attrs.find(attr);
  return it == n.attrs.end() ? nullptr : std::get_if<std::vector<std::int64_t>>(&it->second);
}

const Node& producer(const Graph& g, const Node& n, std::size_t input) { return g.node(n.inputs()[input].source.node); }

// The permutation as axes from the front.
std::vector<std::size_t> permutation(const Node& n) {
  std::vector<std::size_t> out;
  if (const auto* perm = integers(n, "perm")) {
    auto rank = static_cast<std::int64_t>(perm->size());
    for (std::int64_t axis : *perm) out.push_back(static_cast<std::size_t>(axis < 0 ? axis + rank : axis));
  }
  return out;
}

// ---- ops that give one of their inputs: which one

std::optional<std::size_t> neutral_operand(const Graph& g, const Node& n, double neutral, bool either_side) {
  if (uniform_value(g, n.inputs()[1]) == neutral) return 0;
  if (either_side && uniform_value(g, n.inputs()[0]) == neutral) return 1;
  return std::nullopt;
}

bool moves_nothing(const Node& n) {
  if (is_reshape_op(n) || n.op() == "broadcast" || n.op() == "pad") return true;
  if (n.op() == "concatenate") return n.inputs().size() == 1;
  if (n.op() == "slice") {
    const auto* steps = integers(n, "steps");
    return steps == nullptr || std::all_of(steps->begin(), steps->end(), [](std::int64_t s) { return s > 0; });
  }
  if (n.op() != "transpose") return false;
  std::vector<std::size_t> perm = permutation(n);
  return std::is_sorted(perm.begin(), perm.end());
}

std::optional<std::size_t> same_as_input(const Graph& g, const Node& n) {
  if (n.op() == "nop" || moves_nothing(n)) return 0;
  if (n.op() == "add") return neutral_operand(g, n, 0, true);
  if (n.op() == "subtract") return neutral_operand(g, n, 0, false);
  if (n.op() == "multiply") return neutral_operand(g, n, 1, true);
  if (n.op() == "divide" || n.op() == "power") return neutral_operand(g, n, 1, false);
  if ((n.op() == "relu" || n.op() == "abs") && producer(g, n, 0).op() == n.op()) return 0;
  return std::nullopt;
}

// ---- rewrites; false where none applies

bool forward_input(Graph& g, NodeId id, RewriteCounter& counter) {
  const Node& n = g.node(id);
  ValueRef by;
  if (n.op() == "negative" && producer(g, n, 0).op() == "negative") {
    by = producer(g, n, 0).inputs()[0].source;
  } else if (auto input = same_as_input(g, n)) {
    by = n.inputs()[*input].source;
  }
  if (!by.valid() || *g.type(by) != n.outputs[0] || !counter.allow(kAlgebraicSimplification.name, n)) return false;
  GraphEditor(g, id).replace(id, by);
  return true;
}

bool replace_with(Graph& g, NodeId id, RewriteCounter& counter, const std::function<ValueRef(ops::Builder&)>& build) {
  if (!counter.allow(kAlgebraicSimplification.name, g.node(id))) return false;
  GraphEditor editor(g, id);
  ops::Builder b(editor);
  ValueRef by = build(b);
  // What is built here follows from a sound graph.
  if (!b.status() || *g.type(by) != g.node(id).outputs[0]) return false;
  editor.replace(id, by);
  return true;
}

bool merge_reshapes(Graph& g, NodeId id, RewriteCounter& counter) {
  const Node& n = g.node(id);
  if (!is_reshape_op(n) || !is_reshape_op(producer(g, n, 0))) return false;
  Edge x = producer(g, n, 0).inputs()[0];
  Shape shape = n.outputs[0].shape;
  return replace_with(g, id, counter, [&](ops::Builder& b) { return b.reshape(x, shape); });
}

bool merge_transposes(Graph& g, NodeId id, RewriteCounter& counter) {
  const Node& n = g.node(id);
  if (n.op() != "transpose") return false;
  std::vector<std::size_t> outer = permutation(n);
  const Node& before = producer(g, n, 0);
  if (before.op() == "transpose") {
    std::vector<std::size_t> inner = permutation(before);
    std::vector<std::int64_t> both;
    for (std::size_t axis : outer) both.push_back(static_cast<std::int64_t>(inner[axis]));
    Edge x = before.inputs()[0];
    return replace_with(g, id, counter, [&](ops::Builder& b) { return b.transpose(x, both); });
  }
  const Shape& in = g.type(n.inputs()[0].source)->shape;
  std::vector<std::size_t> moving;
  for (std::size_t axis : outer)
    if (in[axis] != 1) moving.push_back(axis);
  if (!std::is_sorted(moving.begin(), moving.end())) return false;
  Edge x = n.inputs()[0];
  Shape shape = n.outputs[0].shape;
  return replace_with(g, id, counter, [&](ops::Builder& b) { return b.reshape(x, shape); });
}

bool slice_for_gather(Graph& g, NodeId id, RewriteCounter& counter) {
  const Node& n = g.node(id);
  if (n.op() != "gather") return false;
  const Tensor* indices = value_of(g, n.inputs()[1]);
  if (indices == nullptr || indices->size() == 0) return false;
  const Shape& in = g.type(n.inputs()[0].source)->shape;
  auto dim = n.attrs.find("dim");
  auto axis = static_cast<std::int64_t>(*in.axis(dim == n.attrs.end() ? 0 : std::get<std::int64_t>(dim->second)));
  std::int64_t size = in[static_cast<std::size_t>(axis)];
  Tensor places = indices->cast(DType::i64);
  auto at = places.as<std::int64_t>();
  std::int64_t first = at[0] < 0 ? at[0] + size : at[0];
  for (std::size_t i = 0; i < at.size(); ++i)
    if ((at[i] < 0 ? at[i] + size : at[i]) != first + static_cast<std::int64_t>(i)) return false;
  std::int64_t last = first + static_cast<std::int64_t>(at.size());
  if (first < 0 || last > size) return false;  // an error when the model runs
  Edge x = n.inputs()[0];
  Shape shape = n.outputs[0].shape;
  return replace_with(g, id, counter, [&](ops::Builder& b) {
    ValueRef part = b.named("part").slice(x, axis, first, last);
    return b.reshape(part, shape);
  });
}

// The input of a sum or product that is known; nothing where both or neither are.
std::optional<std::size_t> known_operand(const Graph& g, const Node& n) {
  bool first = value_of(g, n.inputs()[0]) != nullptr, second = value_of(g, n.inputs()[1]) != nullptr;
  return first == second ? std::nullopt : std::optional<std::size_t>(first ? 0 : 1);
}

bool merge_constants(Graph& g, NodeId id, RewriteCounter& counter) {
  const Node& n = g.node(id);
  if ((n.op() != "add" && n.op() != "multiply") || !is_float(n.outputs[0].dtype)) return false;
  auto outer = known_operand(g, n);
  if (!outer) return false;
  const Node& before = producer(g, n, 1 - *outer);
  if (before.op() != n.op() || g.use_count(before.id()) != 1) return false;
  auto inner = known_operand(g, before);
  if (!inner) return false;
  Edge x = before.inputs()[1 - *inner], c1 = before.inputs()[*inner], c2 = n.inputs()[*outer];
  std::string op = n.op();
  return replace_with(g, id, counter, [&](ops::Builder& b) {
    ValueRef c = b.named("constant").op(op, {c1, c2});
    return b.op(op, {x, c});
  });
}

Result<PassReport> algebraic_simplification(Graph& graph, PassContext& context) {
  PassReport report;
  for (NodeId id : graph.topological_order()) {
    if (!graph.contains(id) || !graph.node(id).is_op() || graph.node(id).outputs.size() != 1 || graph.use_count(id) == 0) continue;
    RewriteCounter& counter = context.rewrites;
    if (forward_input(graph, id, counter) || merge_reshapes(graph, id, counter) || merge_transposes(graph, id, counter) ||
        slice_for_gather(graph, id, counter) || merge_constants(graph, id, counter))
      ++report.rewrites;
  }
  return report;
}

}  // namespace

const Pass kAlgebraicSimplification = {.name = "algebraic-simplification",
                                       .summary = "remove ops without effect, merge reshapes, transposes and constant operands",
                                       .level = graph::Level::tensor,
                                       .run = algebraic_simplification};

}  // namespace buda::passes
