// SPDX-License-Identifier: Apache-2.0
// Ops that take indices, and the way back to where these come from.
#include <buda/passes/integers/index_operand.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/tags/loopback.hpp>
#include <buda/graph/tags/placement.hpp>
#include <buda/ops/table/registry.hpp>
#include <buda/passes/simplify/constant_value.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

namespace buda::passes {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeKind;
using graph::ValueRef;

enum class Kind { along_axis, coordinates, lengths_of_axis, lengths_of_first, samples };

struct Rule {
  std::string_view op;
  std::size_t input;
  Kind kind;
};

constexpr std::array<Rule, 10> kRules = {{{"gather", 1, Kind::along_axis},
                                          {"gather_elements", 1, Kind::along_axis},
                                          {"scatter_elements", 1, Kind::along_axis},
                                          {"gather_nd", 1, Kind::coordinates},
                                          {"scatter_nd", 1, Kind::coordinates},
                                          {"reverse_sequence", 1, Kind::lengths_of_axis},
                                          {"lstm", 4, Kind::lengths_of_first},
                                          {"gru", 4, Kind::lengths_of_first},
                                          {"rnn", 4, Kind::lengths_of_first},
                                          {"roi_align", 2, Kind::samples}}};

// What passes an element on as it is, to one place or several.
constexpr std::array<std::string_view, 8> kMovements = {"reshape",   "squeeze", "unsqueeze", "transpose",
                                                        "broadcast", "flip",    "cast",      "concatenate"};

template <class List>
bool is_one_of(const List& list, std::string_view op) {
  return std::find(list.begin(), list.end(), op) != list.end();
}

// Of indices that count from the end where they are negative.
IntegerRange places(std::int64_t size) { return {-size, size - 1}; }

std::optional<std::int64_t> size_of_axis(const Node& n, const Shape& x, const char* attribute) {
  const auto axis = x.axis(ops::Attrs(*ops::standard_ops().find(graph::Level::tensor, n.op()), n.attrs).integer(attribute));
  return axis ? std::optional(x[*axis]) : std::nullopt;
}

IndexOperand of_coordinates(const Graph& graph, const Node& n, std::size_t input) {
  const Shape &x = graph.type(n.inputs()[0].source)->shape, &index = graph.type(n.inputs()[input].source)->shape;
  const auto first =
      n.op() == "gather_nd"
          ? static_cast<std::size_t>(ops::Attrs(*ops::standard_ops().find(graph::Level::tensor, n.op()), n.attrs).integer("batch_dims"))
          : std::size_t{0};
  std::int64_t least = x.rank() > first ? x[first] : 1, most = least;
  for (std::size_t i = first; i < x.rank() && i < first + static_cast<std::size_t>(index[index.rank() - 1]); ++i) {
    least = std::min(least, x[i]);
    most = std::max(most, x[i]);
  }
  return {input, places(least), places(most)};
}

// None of what is promised can be read.
Diagnostic all_outside(const Node& n, const Node& input, const IntegerRange& legal, const IntegerRange& promised) {
  Diagnostic d =
      input_error("PA081", n.loc,
                  cat("'", n.name(), "' (", n.op(), ") takes integers from ", legal.least, " to ", legal.most, " as indices, and all of '",
                      input.name(), "' are promised to be from ", promised.least, " to ", promised.most));
  d.node = n.name();
  return d;
}

// In the words of the op, where it is evaluated (OP008).
Diagnostic outside(const Node& n, std::int64_t index, const IntegerRange& legal) {
  Diagnostic d = input_error(
      "PA081", n.loc, cat("node '", n.name(), "' (", n.op(), "): index ", index, " lies outside [", legal.least, ", ", legal.most, "]"));
  d.node = n.name();
  return d;
}

class Bounds {
 public:
  explicit Bounds(Graph& graph) : graph_(graph) {}

  Result<void> run() {
    for (const graph::NodeId id : graph_.topological_order()) {
      const Node& n = graph_.node(id);
      if (!n.is_op()) continue;
      const auto operand = index_operand(graph_, n);
      if (operand) trace(n, n.inputs()[operand->input].source, operand->widest);
    }
    if (!failure_.empty()) return std::move(failure_);
    return success();
  }

 private:
  // Each value once: joins of joins have more paths than nodes.
  void trace(const Node& reader, ValueRef index, const IntegerRange& legal) {
    std::set<ValueRef> seen{index};
    std::vector<ValueRef> pending{index};
    while (!pending.empty()) {
      const ValueRef value = pending.back();
      pending.pop_back();
      Node& n = graph_.node(value.node);
      if (is_float(graph_.type(value)->dtype)) continue;
      if (const Tensor* known = value_of(graph_, value)) {
        const IntegerRange range = range_of_integers(*known);
        if (known->size() > 0 && !range.inside(legal))
          failure_.add(outside(reader, range.most > legal.most ? range.most : range.least, legal));
      } else if (n.kind() == NodeKind::input) {
        if (!n.tags.contains(graph::kLoopback)) bound(reader, n, legal);
      } else if (n.is_op() && is_one_of(kMovements, n.op())) {
        for (const graph::Edge& from : n.inputs())
          if (seen.insert(from.source).second) pending.push_back(from.source);
      }
    }
  }

  void bound(const Node& reader, Node& input, const IntegerRange& legal) {
    const auto promised = parse_range(graph::value_range_of(input));
    if (promised && promised->inside(legal)) return;
    if (promised && (promised->least > legal.most || promised->most < legal.least)) {
      failure_.add(all_outside(reader, input, legal, *promised));
      return;
    }
    const IntegerRange both = promised ? intersection(*promised, legal) : legal;
    input.tags[kValueRange] = graph::InputRange{both.least, both.most}.text();
    input.tags[graph::kIndexOf] = reader.name();
  }

  Graph& graph_;
  Failure failure_;
};

}  // namespace

std::optional<IndexOperand> index_operand(const Graph& graph, const Node& node) {
  const auto rule = std::find_if(kRules.begin(), kRules.end(), [&](const Rule& r) { return r.op == node.op(); });
  if (rule == kRules.end() || node.inputs().size() <= rule->input) return std::nullopt;
  const Shape& x = graph.type(node.inputs()[0].source)->shape;
  const auto same = [&](const IntegerRange& legal) { return IndexOperand{rule->input, legal, legal}; };
  switch (rule->kind) {
    case Kind::coordinates:
      return of_coordinates(graph, node, rule->input);
    case Kind::along_axis: {
      const auto size = size_of_axis(node, x, "dim");
      return size ? std::optional(same(places(*size))) : std::nullopt;
    }
    case Kind::lengths_of_axis: {
      const auto size = size_of_axis(node, x, "time_dim");
      return size ? std::optional(same({0, *size})) : std::nullopt;
    }
    case Kind::lengths_of_first:
      return x.rank() > 0 ? std::optional(same({0, x[0]})) : std::nullopt;
    case Kind::samples:
      return x.rank() > 0 ? std::optional(same({0, x[0] - 1})) : std::nullopt;
  }
  return std::nullopt;
}

Result<void> bound_indices(Graph& graph) { return Bounds(graph).run(); }

}  // namespace buda::passes
