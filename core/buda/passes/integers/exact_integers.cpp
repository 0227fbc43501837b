// SPDX-License-Identifier: Apache-2.0
// exact-integers: ops of integers that the device would not compute exactly are rewritten in digits, or go to the host.
//
// before (wormhole)                                   after
//   ids  = input : I32 [1, 8]   value_range=0:50256     ids     = input : I32 [1, 8]
//   stop = constant : I32 []    50256                    high    = shift_right(ids, 10)          placement=host
//   y    = equal(ids, stop) : BOOL [1, 8]                low     = subtract(ids, multiply(high, 1024))   placement=host
//                                                       y       = logical_and(equal(high, 49), equal(low, 80))
//
// Device graphs hold integers as floating-point numbers, of which the matrix unit reads 10 or 11 bits (exact_limits.hpp). Ops are visited
// in topological order, with what is known of their operands' ranges (wholes.hpp):
//   - where operands and result are small, the op stays;
//   - where they are larger and the range is known, the op is computed with digits (digits.hpp), or, when it takes an index, is given
//   digits
//     that its decomposition compares (digit_parts.hpp). What reads the whole value on the host gets it put together there;
//   - else it runs on the host, and a note says so.
// A comparison with a small number is exact whatever is compared with it, since a number that is read with fewer bits keeps its order.
//
// The pass comes before decompositions, which make several ops of one of integers and no longer tell what was exact in it. Without a
// fallback to the host an op that would need it is an error.
#include <buda/passes/integers/digit_parts.hpp>
#include <buda/passes/integers/index_operand.hpp>
#include <buda/passes/integers/room.hpp>
#include <buda/passes/integers/step.hpp>
#include <buda/passes/pipeline/standard_passes.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/tags/loopback.hpp>
#include <buda/graph/tags/placement.hpp>
#include <buda/io/process.hpp>
#include <buda/ops/table/registry.hpp>
#include <buda/passes/host/host_part.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace buda::passes {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;

using IntegerRules = std::map<std::string_view, IntegerRule>;

const IntegerRules& integer_rules() {
  static const IntegerRules rules = [] {
    IntegerRules out;
    for (const auto* list : {&elementwise_integer_rules(), &comparison_integer_rules(), &bit_integer_rules(), &conversion_integer_rules(),
                             &division_integer_rules(), &movement_integer_rules(), &index_integer_rules(), &reduction_integer_rules()})
      for (const NamedIntegerRule& named : *list) out.emplace(named.op, named.rule);
    return out;
  }();
  return rules;
}

// The rows that a sparse product picks are a table that its kernel goes through: nothing is computed with them.
bool has_integers(const Graph& graph, const Node& n) {
  auto is_whole = [](DType t) { return !is_float(t); };
  const std::size_t tables = n.op() == "sparse_matmul" ? 1 : 0;
  return std::any_of(n.outputs.begin(), n.outputs.end(), [&](const graph::ValueType& t) { return is_whole(t.dtype); }) ||
         std::any_of(n.inputs().begin() + static_cast<std::ptrdiff_t>(tables), n.inputs().end(),
                     [&](const graph::Edge& e) { return is_whole(graph.type(e.source)->dtype); });
}

// Of ops that read or write whole rows in Float32: whether cores have no room for those of an integer. Sums pass a row by, and places are
// found by rules of their own.
bool has_row_without_room(const Graph& graph, const Node& n) {
  static const std::set<std::string_view> ops = [] {
    std::set<std::string_view> out = {"reduce_max", "reduce_min"};
    for (const auto* list : {&elementwise_integer_rules(), &comparison_integer_rules(), &bit_integer_rules(), &division_integer_rules(),
                             &movement_integer_rules()})
      for (const NamedIntegerRule& named : *list) out.insert(named.op);
    return out;
  }();
  if (!ops.contains(n.op())) return false;
  auto lacks_room = [](const graph::ValueType& t) {
    return is_integer(t.dtype) && t.shape.rank() > 0 && !can_hold_row(t.shape[t.shape.rank() - 1]);
  };
  return std::any_of(n.outputs.begin(), n.outputs.end(), lacks_room) ||
         std::any_of(n.inputs().begin(), n.inputs().end(), [&](const graph::Edge& e) { return lacks_room(*graph.type(e.source)); });
}

// The input of the model that an operand is, where it only is moved or converted on the way.
const Node* source_input(const Graph& graph, NodeId id) {
  for (const Node* n = &graph.node(id);; n = &graph.node(n->inputs()[0].source.node)) {
    if (n->kind() == NodeKind::input) return n;
    if (!n->is_op() || n->inputs().size() != 1 || is_float(n->outputs[0].dtype)) return nullptr;
  }
}

class ExactIntegers {
 public:
  ExactIntegers(Graph& graph, PassContext& context)
      : graph_(graph), context_(context), limits_(exact_limits(*context.device)), wholes_(graph, limits_), known_(known_nodes(graph)) {}

  Result<PassReport> run() {
    BUDA_TRY(bound_indices(graph_));
    for (const NodeId id : graph_.topological_order()) {
      Node& n = graph_.node(id);
      const bool is_known = id.index() < known_.size() && known_[id.index()] != 0;
      if (is_known && n.is_op() && has_integers(graph_, n)) n.tags[kDontDecompose] = "";  // computed as it is
      if (!n.is_op() || is_known || is_quantised(n) || (!has_integers(graph_, n) && !is_rounding(n))) continue;
      BUDA_TRY(visit(id));
    }
    if (!failure_.empty()) return std::move(failure_);
    keep_from_device();
    for (const auto* all : {&told_, &unchecked_})
      for (const auto& [op, told] : *all) context_.host.report(told.note);
    if (report_.changed()) graph::erase_dead_nodes(graph_);
    return report_;
  }

 private:
  struct Told {
    Diagnostic note;
    std::size_t count = 0;
  };

  // Each matrix of a value is read by itself.
  static bool has_room_for_matrices(const Shape& shape) {
    std::int64_t matrices = 1;
    for (std::size_t i = 0; i + 2 < shape.rank(); ++i) matrices *= shape[i];
    return have_room(matrices);
  }

  // Outputs that an input or a known value gives need no device, which would round large ones, and may have no room for others.
  void keep_from_device() {
    if (!context_.fallback.enabled) return;
    for (const NodeId id : graph_.outputs()) {
      const graph::ValueRef value = graph_.node(id).inputs()[0].source;
      const bool is_known = value.node.index() < known_.size() && known_[value.node.index()] != 0;
      if (is_float(graph_.type(value)->dtype) || (!is_known && graph_.node(value.node).kind() != NodeKind::input)) continue;
      if (wholes_.range(value).within(limits_.operand) && has_room_for_matrices(graph_.type(value)->shape)) continue;
      graph::put_on_host(graph_.node(id));
      ++report_.rewrites;
    }
  }

  Result<void> visit(NodeId id) {
    IntegerStep step(graph_, id, limits_, wholes_);
    const std::string op = graph_.node(id).op();  // a rule may replace it
    const auto rule = integer_rules().find(op);
    // What the user names for the host stays as it is; its range counts.
    const bool given = graph::on_host(graph_.node(id));
    if (given) return success();
    Diagnostic note = about(id);
    if (has_row_without_room(graph_, graph_.node(id))) {
      note.message = kNoRoomForRow;
      note.hint.clear();
      ++report_.rewrites;
      send(id, note);
      return success();
    }
    const std::optional<Diagnostic> unchecked = about_unchecked_index(graph_.node(id));
    const Exactness what = rule == integer_rules().end() ? any_other_op(step) : rule->second(step);
    BUDA_TRY(step.finish());
    if (unchecked && what != Exactness::host) tell(unchecked_[op], *unchecked);
    if (what == Exactness::stays) return success();
    ++report_.rewrites;
    if (!step.reason().empty()) {
      note.message = step.reason();
      note.hint.clear();
    }
    if (what == Exactness::host) send(id, note);
    return success();
  }

  void send(NodeId id, const Diagnostic& note) {
    Node& n = graph_.node(id);
    if (!context_.fallback.enabled) {
      Diagnostic d = note;
      d.severity = Severity::error;
      d.message = cat("'", n.name(), "' (", n.op(), ") cannot run on the device, ", d.message);
      failure_.add(std::move(d));
      return;
    }
    graph::put_on_host(n);
    if (is_rounding(n) || n.op() == "cast" || is_comparison(n)) take_arguments_along(n);
    Diagnostic d = note;
    d.message = cat("'", n.name(), "' (", n.op(), ") runs on the host, ", note.message);
    tell(told_[n.op()], d);
  }

  static void tell(Told& told, const Diagnostic& d) {
    if (told.count++ == 0) told.note = d;
  }

  // An index that is computed, and that nothing keeps in its bounds. Made before a rule may change the op.
  std::optional<Diagnostic> about_unchecked_index(const Node& n) const {
    const auto operand = index_operand(graph_, n);
    if (!operand) return std::nullopt;
    const graph::ValueRef index = n.inputs()[operand->input].source;
    const IntegerRange range = wholes_.range(index);
    if (range.inside(operand->legal)) return std::nullopt;
    Diagnostic d = warning("PA082", n.loc,
                           cat("'", n.name(), "' (", n.op(), ") takes indices from ", operand->legal.least, " to ", operand->legal.most,
                               ", and '", graph_.node(index.node).name(), "' may be ", range.text(),
                               "; the device gives no error for an index outside: it reads zeros, or changes nothing"));
    d.node = n.name();
    d.hint = cat(io::shell_line({"--cpu-fallback-nodes", n.name()}), " checks each index, on the host");
    return d;
  }

  // A number that is rounded to an integer or compared is computed where that is done, as far as it is a few ops from inputs on: the
  // device's formats would move it across a border.
  void take_arguments_along(const Node& reader) {
    std::vector<NodeId> all, pending;
    for (const graph::Edge& edge : reader.inputs()) pending.push_back(edge.source.node);
    while (!pending.empty()) {
      const NodeId id = pending.back();
      pending.pop_back();
      const Node& n = graph_.node(id);
      const bool is_known = id.index() < known_.size() && known_[id.index()] != 0;
      // An integer crosses a border as it is.
      if (is_known || !n.is_op() || graph::on_host(n) || !is_float(n.outputs[0].dtype) ||
          std::find(all.begin(), all.end(), id) != all.end())
        continue;
      if (!is_elementwise(n) || all.size() == kMaxArgumentOps) return;
      all.push_back(id);
      for (const graph::Edge& edge : n.inputs()) pending.push_back(edge.source.node);
    }
    for (const NodeId id : all) graph::put_on_host(graph_.node(id));
  }

  // The operand that is too large to be read, the first of those without a known range; null where none is.
  const graph::Edge* largest_operand(const Node& n) const {
    const graph::Edge* found = nullptr;
    for (const graph::Edge& edge : n.inputs()) {
      if (is_float(graph_.type(edge.source)->dtype)) continue;
      const IntegerRange range = wholes_.range(edge.source);
      if (!range.within(limits_.whole())) return &edge;
      if (found == nullptr && !range.within(limits_.factor)) found = &edge;
    }
    return found;
  }

  // What there is to say of an op if it goes to the host; made before a rule may change it.
  Diagnostic about(NodeId id) const {
    const Node& n = graph_.node(id);
    const std::string limit = cat(context_.device->name, " computes with integers exactly up to ", limits_.whole());
    std::string reason = cat("since its result must be exact; ", limit);
    std::string hint;
    if (const graph::Edge* large = largest_operand(n); large != nullptr) {
      const IntegerRange range = wholes_.range(large->source);
      reason = cat("since '", graph_.node(large->source.node).name(), "' may be ", range.text(), "; ", limit);
      const Node* input = source_input(graph_, large->source.node);
      if (input != nullptr && !range.within(limits_.whole()) && !input->tags.contains(graph::kLoopback))
        hint = cat(io::shell_line({"--value-range", cat(input->name(), "=0:", std::min<std::int64_t>(limits_.whole(), 65535))}),
                   " keeps it on the device, if all elements are in that range");
    }
    if (is_rounding(n) || (n.op() == "cast" && !n.inputs().empty() && is_float(graph_.type(n.inputs()[0].source)->dtype)))
      reason = "which rounds numbers to integers; chips do not";
    Diagnostic d = buda::note("PA080", n.loc, reason);
    d.node = n.name();
    d.hint = hint;
    return d;
  }

  Graph& graph_;
  PassContext& context_;
  ExactLimits limits_;
  Wholes wholes_;
  std::vector<char> known_;                       // by id
  std::map<std::string, Told> told_, unchecked_;  // by kind of op
  Failure failure_;
  PassReport report_;
};

Result<PassReport> exact_integers(Graph& graph, PassContext& context) { return ExactIntegers(graph, context).run(); }

}  // namespace

const Pass kExactIntegers = {.name = "exact-integers",
                             .summary = "compute integers exactly: in digits where they are large, or on the host",
                             .level = graph::Level::tensor,
                             .needs_device = true,
                             .run = exact_integers};

}  // namespace buda::passes
