// SPDX-License-Identifier: Apache-2.0
// special-values: selections among inputs that may hold NaN, infinities or denormals run on the host, before the device begins; and
// constants with a NaN are noticed.
//
// before                                            after
//   x = input : F32 [4, 40]                           x = input : F32 [4, 40]
//   y = maximum(x, 0.5)                               y = maximum(x, 0.5)       placement=host
//   z = matmul(y, w)                                  z = matmul(y, w)
//
// A chip's packers make a NaN of 16 bits an infinity, and its units read denormals as 0 (docs/internals/special-values.md). No formula
// brings back on the chip what is gone when a value has passed one op; what the chip itself computes has neither. So only ops that look
// at numbers as they come from outside are concerned, that is comparisons and selections of inputs and of what was selected of them; their
// meaning for these numbers is that of IEEE 754. They are light, and the host has their operands at hand. Places of maxima along axes that
// are long for a host stay on the device, which finds a NaN among its inputs (plugin index).
//
// An input that says what range its numbers have (tag value_range) is taken at its word.
#include <buda/passes/integers/integer_range.hpp>
#include <buda/passes/pipeline/standard_passes.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/tags/loopback.hpp>
#include <buda/graph/tags/placement.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/io/process.hpp>
#include <buda/passes/host/host_part.hpp>
#include <buda/passes/lower/lowering_tags.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <vector>

namespace buda::passes {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;

// An axis of so many numbers is searched on the device.
constexpr std::int64_t kMaxSearchedAxis = 4096;

bool selects_numbers(const Node& n) {
  static const std::set<std::string_view> ops = {"where", "triangle", "clip", "maximum", "minimum", "reduce_max", "reduce_min", "topk"};
  return ops.contains(n.op()) && !n.tags.contains(kQuantisedLimits);
}

bool compares(const Node& n) {
  static const std::set<std::string_view> ops = {"equal", "less", "less_equal", "greater", "greater_equal", "argmax", "argmin"};
  return ops.contains(n.op());
}

bool moves(const Node& n) {
  static const std::set<std::string_view> ops = {"reshape", "transpose", "slice", "broadcast", "concatenate", "pad", "nop"};
  return ops.contains(n.op());
}

// What the host may compute on the way to a selection.
bool prepares(const Node& n) {
  static const std::set<std::string_view> ops = {"is_nan", "is_inf", "logical_not", "logical_and", "logical_or", "logical_xor", "cast"};
  return moves(n) || selects_numbers(n) || compares(n) || ops.contains(n.op());
}

bool searches_long_axis(const Graph& graph, const Node& n) {
  if (n.op() != "argmax" && n.op() != "argmin" && n.op() != "topk") return false;
  const Shape& shape = graph.type(n.inputs()[0].source)->shape;
  return std::any_of(shape.begin(), shape.end(), [](std::int64_t size) { return size > kMaxSearchedAxis; });
}

bool holds_nan(const Node& n) {
  if (!n.has_value() || !n.value || !is_float(n.outputs[0].dtype)) return false;
  const Tensor& tensor = n.value->tensor;
  const std::vector<float> numbers = tensor.to_f32();
  return std::any_of(numbers.begin(), numbers.end(), [](float v) { return std::isnan(v); });
}

class Selections {
 public:
  Selections(Graph& graph, PassContext& context)
      : graph_(graph), context_(context), known_(known_nodes(graph)), from_outside_(graph.id_bound(), 0), at_hand_(graph.id_bound(), 0) {}

  Result<PassReport> run() {
    for (NodeId id : graph_.topological_order()) {
      const Node& n = graph_.node(id);
      if (n.kind() == NodeKind::input) {
        const bool given = !n.tags.contains(graph::kLoopback);
        at_hand_[id.index()] = given;
        from_outside_[id.index()] = given && is_float(n.outputs[0].dtype) && !n.tags.contains(kValueRange);
      } else if (n.has_value()) {
        at_hand_[id.index()] = 1;
        from_outside_[id.index()] = holds_nan(n);
      } else if (n.is_op()) {
        visit(id);
      }
    }
    report();
    for (NodeId id : graph_.topological_order()) tell_of_nan(graph_.node(id));
    return report_;
  }

 private:
  void visit(NodeId id) {
    const Node& n = graph_.node(id);
    const auto all = [&](const std::vector<char>& marks) {
      return std::all_of(n.inputs().begin(), n.inputs().end(), [&](const graph::Edge& e) { return marks[e.source.node.index()] != 0; });
    };
    const auto any = [&](const std::vector<char>& marks) {
      return std::any_of(n.inputs().begin(), n.inputs().end(), [&](const graph::Edge& e) { return marks[e.source.node.index()] != 0; });
    };
    at_hand_[id.index()] = known_[id.index()] != 0 || (all(at_hand_) && (graph::on_host(n) || prepares(n)));
    const bool keeps = moves(n) || selects_numbers(n);
    if (moves(n)) from_outside_[id.index()] = any(from_outside_);
    if (known_[id.index()] != 0 || at_hand_[id.index()] == 0 || !any(from_outside_) || !(selects_numbers(n) || compares(n))) return;
    if (searches_long_axis(graph_, n) || !context_.fallback.enabled || !context_.rewrites.allow("special-values", n)) return;
    from_outside_[id.index()] = keeps;
    place(id);
  }

  // The op and what it is made of.
  void place(NodeId id) {
    if (first_ == NodeId{}) first_ = id;
    ++selections_;
    std::vector<NodeId> part{id};
    while (!part.empty()) {
      Node& n = graph_.node(part.back());
      part.pop_back();
      if (!n.is_op() || known_[n.id().index()] != 0 || graph::on_host(n)) continue;
      graph::put_on_host(n);
      ++report_.rewrites;
      for (const graph::Edge& edge : n.inputs()) part.push_back(edge.source.node);
    }
  }

  // The names of the inputs without a range that an op is made of.
  std::vector<std::string> inputs_of(NodeId op) const {
    std::vector<std::string> out;
    std::vector<NodeId> pending{op};
    std::set<NodeId> seen;
    while (!pending.empty()) {
      const NodeId id = pending.back();
      pending.pop_back();
      if (!seen.insert(id).second) continue;
      const Node& n = graph_.node(id);
      if (n.kind() == NodeKind::input && from_outside_[id.index()] != 0) out.push_back(n.name());
      for (const graph::Edge& edge : n.inputs()) pending.push_back(edge.source.node);
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  void report() {
    if (selections_ == 0) return;
    const Node& n = graph_.node(first_);
    const std::string more = selections_ == 1 ? "" : cat(" and ", selections_ - 1, " more");
    Diagnostic d = note(
        "PA092", n.loc,
        cat("'", n.name(), "' (", n.op(), ")", more, selections_ == 1 ? " runs on the host: it selects" : " run on the host: they select",
            " among numbers of inputs, which may be NaN, infinite or denormal; 16-bit numbers of the device keep neither "
            "NaN nor denormals"));
    d.node = n.name();
    std::vector<std::string> ranges;
    for (const std::string& input : inputs_of(first_)) ranges.insert(ranges.end(), {"--value-range", cat(input, "=-1000:1000")});
    if (!ranges.empty())
      d.hint = cat(io::shell_line(ranges), selections_ == 1 ? " keeps it" : " keeps them", " on the device, if all elements of the ",
                   ranges.size() == 2 ? "input" : "inputs", " are numbers in that range");
    context_.host.report(d);
    report_.note = cat(report_.rewrites, " ops run on the host: selections among inputs");
  }

  void tell_of_nan(const Node& n) {
    if (!holds_nan(n)) return;
    for (const graph::Use& use : graph_.users(n.id())) {
      const Node& user = graph_.node(use.node);
      if (!user.is_op() || graph::on_host(user)) continue;
      Diagnostic d = warning(
          "PA093", n.loc,
          cat("constant '", n.name(), "' holds NaN, of which the device makes an infinity at '", user.name(), "' (", user.op(), ")"));
      d.node = user.name();
      d.hint = cat(io::shell_line({"--cpu-fallback-nodes", user.name()}), " computes it on the host");
      context_.host.report(d);
      return;
    }
  }

  Graph& graph_;
  PassContext& context_;
  PassReport report_;
  std::vector<char> known_, from_outside_, at_hand_;  // by id
  NodeId first_;
  std::size_t selections_ = 0;
};

Result<PassReport> special_values(Graph& graph, PassContext& context) { return Selections(graph, context).run(); }

}  // namespace

const Pass kSpecialValues = {.name = "special-values",
                             .summary = "assign selections among numbers that may be NaN to the host, before the device begins",
                             .level = graph::Level::tensor,
                             .needs_device = true,
                             .run = special_values};

}  // namespace buda::passes
