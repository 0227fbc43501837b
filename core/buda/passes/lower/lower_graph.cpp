// SPDX-License-Identifier: Apache-2.0
// Traverses the tensor graph: inputs, known values, one rule for each op, outputs.
#include <buda/passes/lower/lower_graph.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/editor.hpp>
#include <buda/graph/tags/training.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/ops/device/device_layout.hpp>
#include <buda/passes/lower/analysis.hpp>
#include <buda/passes/lower/data_movement.hpp>
#include <buda/passes/lower/rules/rules.hpp>
#include <buda/passes/lower/steps/copies.hpp>
#include <buda/passes/lower/steps/padding.hpp>

#include <algorithm>
#include <set>

namespace buda::passes {

using graph::Edge;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;

namespace {

// What the host does between the model's shape and the device's at the border; nothing where it has nothing to do.
void note_view(Node& border, const Rearrangement& how, const Shape& model, const Shape& on_device) {
  if (model == on_device && how.moves_nothing()) return;
  border.attrs[std::string(ops::kViewShape)] = on_device.dims();
  if (how.moves_nothing()) return;
  border.attrs[std::string(ops::kViewSplit)] = how.split();
  border.attrs[std::string(ops::kViewOrder)] = how.order();
}

// The model's shape and element type of an input or output.
void note_model_type(Node& border, const graph::ValueType& model) {
  border.attrs[std::string(ops::kModelShape)] = model.shape.dims();
  if (model.dtype != kDeviceType) border.attrs[std::string(ops::kModelType)] = std::string(dtype_name(model.dtype));
}

Result<Lowered> lower_input(OpBuilder& out, const Rearrangement* view) {
  const Node& n = out.node();
  const Shape& model = n.outputs[0].shape;
  const Shape& seen = view == nullptr ? model : view->to();
  // An input without elements that nobody reads (axes that the importer knows by now) is still one that the user gives.
  Shape shape{1, 1, 1, 1};
  bool is_idle = model.volume() == 0 && model.rank() <= 2 && out.task().from.use_count(n.id()) == 0;
  if (!is_idle) {
    BUDA_ASSIGN(shape, out.axes(seen));
  }
  Node& made = out.add(n.name(), graph::kInputOp);
  // Row indices stay integers.
  const DType type = only_looks_up(out.task().from, n.id(), out.task().batch) ? DType::i32 : kDeviceType;
  made.outputs = {{type, padded(shape), std::nullopt}};
  note_model_type(made, n.outputs[0]);
  made.value = n.value;
  if (!is_idle) note_view(made, view == nullptr ? Rearrangement(model) : *view, model, border_shape(seen, out.task().batch));
  Lowered value;
  value.source = made.id();
  value.shape = shape;
  return value;
}

// `chain` ends with the output's value. The host does what it does, as it cuts off padding.
Result<void> lower_output(OpBuilder& out, const Graph& device, const Chain& chain, bool is_state, Lowered x) {
  const Node& n = out.node();
  if (is_state) {
    BUDA_ASSIGN(x, with_row_padding(out, x, 0));
    BUDA_ASSIGN(x, with_column_padding(out, x, 0));
  }
  // Queues are filled by ops, and nothing can be done on the edge to a queue.
  if (!x.tms.empty() || !device.node(x.source.node).is_op()) {
    BUDA_ASSIGN(x, materialized(out, "copy", x));
  }
  const graph::ValueType& model = *out.task().from.type(n.inputs()[0].source);
  Node& made = out.add(n.name(), graph::kOutputOp, {x.edge()});
  note_model_type(made, model);
  note_view(made, chain.how, model.shape, border_shape(chain.how.from(), out.task().batch));
  return success();
}

// The graph, as far as it can be lowered, and what cannot be.
struct Outcome {
  Graph lowered;
  Failure failure;               // where dependents are left out
  std::vector<Refusal> refused;  // where they are not
};

class Traversal {
 public:
  Traversal(const LoweringTask& task, const std::set<NodeId>& state, const std::map<NodeId, Rearrangement>& views, Dependents dependents,
            Graph& out)
      : task_(task), from_(task.from), state_(state), views_(views), out_(out), values_(task, views, dependents, out) {}

  Values run() {
    for (NodeId id : from_.inputs()) note(from_.node(id), visit_input(from_.node(id)));
    for (NodeId id : from_.topological_order()) {
      const Node& n = from_.node(id);
      if (n.kind() == NodeKind::input || n.kind() == NodeKind::output) continue;
      auto failed = std::find_if(n.inputs().begin(), n.inputs().end(), [&](const Edge& e) { return values_.has_failed(e.source.node); });
      if (failed != n.inputs().end()) {
        values_.leave_out(n, from_.node(failed->source.node));
      } else if (!is_rearrangement(n) || values_.known().has_inputs_of(n)) {  // others wait until somebody asks for them
        note(n, visit(n));
      }
    }
    for (NodeId id : from_.outputs())
      if (!values_.has_failed(from_.node(id).inputs()[0].source.node)) note(from_.node(id), visit_output(from_.node(id)));
    return std::move(values_);
  }

 private:
  void note(const Node& n, Result<void> done) {
    if (!done) values_.fail(n, std::move(done).failure());
  }

  Result<void> visit(const Node& n) {
    if (!n.is_op()) {
      if (auto tiled = ops::tiled_shape(n.outputs[0].shape); !tiled)
        return cannot_lower(from_, n, tiled.failure().diagnostics().front().message, "");
      values_.known().add(n);
      return success();
    }
    // Broadcasts of known values are left to edges: nothing is gained by making a tensor larger.
    if (values_.known().has_inputs_of(n) && n.op() != "broadcast") return values_.known().fold(n, task_.context);
    return apply_rule(n);
  }

  Result<void> apply_rule(const Node& n) {
    const LoweringRule* rule = find_lowering_rule(n.op());
    if (rule == nullptr)
      return cannot_lower(from_, n, "no device op does this",
                          "write a decomposition plugin that replaces it (docs/plugins/decomposition.md)");
    for (const Edge& edge : n.inputs())
      if (DType type = from_.type(edge.source)->dtype; !is_float(type) && !rule->takes_known_integers && !rule->any_type)
        return cannot_lower(from_, n, cat("it computes with ", dtype_name(type), ", and the device computes with floating-point numbers"),
                            "cast its inputs to F32 in the model");
    OpBuilder out(task_, n, out_);
    if (graph::is_of_optimizer(n)) BUDA_TRY(clear_padding_of_gradients(n, out));
    Operands in(task_, n, values_);
    RuleResult result = rule->lower(in, out);
    BUDA_ASSIGN(Lowered value, std::move(result.value));
    values_.set(n.id(), std::move(value));
    if (result.maximum_argument) values_.set_maximum_argument(std::move(*result.maximum_argument));
    return success();
  }

  // Several states follow from one gradient, and the padding of states is zero. Where that of a gradient is, so is that of all that is
  // computed from it and from states: one mask instead of one for each of them.
  Result<void> clear_padding_of_gradients(const Node& n, OpBuilder& out) {
    for (const Edge& edge : n.inputs()) {
      if (values_.known().contains(edge.source) || !is_gradient(edge.source)) continue;
      BUDA_ASSIGN(Lowered x, values_.of(edge));
      BUDA_ASSIGN(x, with_row_padding(out, x, 0));
      BUDA_ASSIGN(x, with_column_padding(out, x, 0));
      values_.set(edge.source, std::move(x));
    }
    return success();
  }

  // Something that comes, perhaps moved, from another phase, and which the optimizer alone reads.
  bool is_gradient(graph::ValueRef value) const {
    const auto users = from_.users(value);
    if (!std::all_of(users.begin(), users.end(), [&](const graph::Use& use) { return graph::is_of_optimizer(from_.node(use.node)); }))
      return false;
    const Node& root = from_.node(chain_to(from_, Edge(value)).root.source.node);
    return root.is_op() && !graph::is_of_optimizer(root);
  }

  Result<void> visit_input(const Node& n) {
    auto view = views_.find(n.id());
    OpBuilder out(task_, n, out_);
    BUDA_ASSIGN(Lowered value, lower_input(out, view == views_.end() ? nullptr : &view->second));
    values_.set(n.id(), std::move(value));
    return success();
  }

  Result<void> visit_output(const Node& n) {
    const Edge& edge = n.inputs()[0];
    const bool is_state = state_.contains(n.id());
    // The host brings elements into the model's order, but those of a known value are in order already.
    Chain chain = (is_state && !views_.contains(n.id())) || values_.known().contains(edge.source)
                      ? Chain{edge, Rearrangement(from_.type(edge.source)->shape)}
                      : chain_to(from_, edge);
    BUDA_ASSIGN(Lowered x, values_.of(chain.root));
    OpBuilder out(task_, n, out_);
    return lower_output(out, out_, chain, is_state, std::move(x));
  }

  const LoweringTask& task_;
  const Graph& from_;
  const std::set<NodeId>& state_;
  const std::map<NodeId, Rearrangement>& views_;
  Graph& out_;
  Values values_;
};

Outcome traverse(const Graph& graph, const PassContext& context, Batch batch, Dependents dependents) {
  Outcome outcome{Graph(graph.name, graph::Level::device), {}, {}};
  outcome.lowered.tags = graph.tags;
  auto found = state_nodes(graph);
  if (!found) outcome.failure.add(found.failure());
  const std::set<NodeId> state = found ? std::move(*found) : std::set<NodeId>{};
  const LoweringTask task{graph, context, batch, row_padding_readers(graph, state)};
  std::map<NodeId, Rearrangement> views = host_views(graph, state, batch);
  views.merge(state_orders(graph));
  Values values = Traversal(task, state, views, dependents, outcome.lowered).run();
  if (!values.failure().empty()) outcome.failure.add(values.failure());
  outcome.refused = values.take_refusals();
  std::vector<std::size_t> place(graph.id_bound(), 0);
  std::vector<NodeId> order = graph.topological_order();
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i].index()] = i;
  std::stable_sort(outcome.refused.begin(), outcome.refused.end(),
                   [&](const Refusal& a, const Refusal& b) { return place[a.node.index()] < place[b.node.index()]; });
  return outcome;
}

Result<Graph> lower_with(Batch batch, const Graph& graph, const PassContext& context) {
  Outcome outcome = traverse(graph, context, batch, Dependents::left_out);
  if (!outcome.failure.empty()) return std::move(outcome.failure);
  return std::move(outcome.lowered);
}

// ---- the batch

// Whether some value has more than one matrix of slices.
bool has_batch(const Graph& graph) {
  for (NodeId id : graph.topological_order())
    for (const graph::ValueType& type : graph.node(id).outputs)
      if (auto four = ops::four_axes(type.shape); four && (*four)[0] != 1) return true;
  return false;
}

// Whether all values that the device works through have one batch, and known ones none: each step takes an entry of every input.
bool has_even_batch(const Graph& lowered) {
  std::int64_t batch = 0;
  for (NodeId id : lowered.ids()) {
    const Node& n = lowered.node(id);
    if (n.outputs.empty() || lowered.use_count(id) == 0) continue;
    std::int64_t w = n.outputs[0].shape[0];
    if (n.has_value() ? w != 1 : batch != 0 && w != batch) return false;
    if (!n.has_value()) batch = w;
  }
  return true;
}

// A graph that was lowered with the batch apart, or with it joined where that is better.
Graph with_even_batch(Graph apart, const Graph& graph, const PassContext& context) {
  graph::erase_dead_nodes(apart);
  if (has_even_batch(apart)) return apart;
  auto joined = lower_with(Batch::joined, graph, context);
  return joined ? std::move(*joined) : std::move(apart);
}

}  // namespace

Result<Graph> lower(const Graph& graph, const PassContext& context) {
  auto apart = lower_with(Batch::apart, graph, context);
  if (apart) return with_even_batch(std::move(*apart), graph, context);
  if (has_batch(graph)) return lower_with(Batch::joined, graph, context);
  return apart;
}

Trial lower_on_trial(const Graph& graph, const PassContext& context) {
  Outcome apart = traverse(graph, context, Batch::apart, Dependents::lowered);
  Trial trial{std::move(apart.refused), {}};
  if (trial.refused.empty()) {
    trial.lowered = with_even_batch(std::move(apart.lowered), graph, context);
  } else if (has_batch(graph)) {
    Outcome joined = traverse(graph, context, Batch::joined, Dependents::lowered);
    if (joined.refused.size() < trial.refused.size()) trial.refused = std::move(joined.refused);
    if (trial.refused.empty()) trial.lowered = std::move(joined.lowered);
  }
  return trial;
}

}  // namespace buda::passes
