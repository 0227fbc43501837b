// SPDX-License-Identifier: Apache-2.0
// Device values by value of the tensor graph.
#include <buda/passes/lower/values.hpp>

#include <buda/base/text.hpp>
#include <buda/passes/lower/data_movement.hpp>
#include <buda/passes/lower/steps/rearrange.hpp>

namespace buda::passes {

using graph::Edge;
using graph::Node;
using graph::NodeId;
using graph::ValueRef;

Values::Values(const LoweringTask& task, const std::map<NodeId, Rearrangement>& views, Dependents dependents, graph::Graph& out)
    : task_(task),
      views_(views),
      dependents_(dependents),
      out_(out),
      known_(task.from),
      values_(task.from.id_bound()),
      placed_{graph::ValueTable<Lowered>(task.from.id_bound()), graph::ValueTable<Lowered>(task.from.id_bound()),
              graph::ValueTable<Lowered>(task.from.id_bound()), graph::ValueTable<Lowered>(task.from.id_bound())} {}

Result<Lowered> Values::of(const Edge& edge) {
  if (known_.contains(edge.source)) return placed(edge.source, Copies::none);
  if (const Lowered* lowered = values_.find(edge.source)) return *lowered;
  const Node& n = task_.from.node(edge.source.node);
  auto x = rearranged_result(n);
  if (x) {
    values_.set(n.id(), *x);
    return x;
  }
  Failure why = std::move(x).failure();
  if (dependents_ == Dependents::left_out) {
    failed_.insert(n.id());  // who asks for it reports why
    return why;
  }
  fail(n, why);
  if (const Lowered* entered = values_.find(edge.source)) return *entered;
  return why;
}

// Where the host brings an input to another order, the chain is counted from that order.
Result<Lowered> Values::rearranged_result(const Node& n) {
  OpBuilder out(task_, n, out_);
  // Rows are counted in the model's order.
  const auto order = row_order_to(task_.from, Edge(n.id()), task_.batch);
  if (order && !views_.contains(order->root.source.node)) {
    BUDA_ASSIGN(const Shape to, out.axes(n.outputs[0].shape));
    BUDA_ASSIGN(const Lowered x, of(order->root));
    return reordered_rows(out, x, order->rows, to);
  }
  Chain chain = chain_to(task_.from, Edge(n.id()));
  BUDA_ASSIGN(Lowered x, of(chain.root));
  Rearrangement how = chain.how;
  if (auto view = views_.find(chain.root.source.node); view != views_.end()) {
    how = view->second.inverse();
    if (!how.append(chain.how))
      return out.refuse("it reverses the host's rearrangement of the input in a way that is not visible in its axes", "");
  }
  return rearranged(out, std::move(x), how);
}

Result<Lowered> Values::placed(ValueRef value, Copies copies) {
  auto& placed = placed_[static_cast<std::size_t>(copies)];
  if (const Lowered* before = placed.find(value)) return *before;
  const KnownValue& known = *known_.find(value);
  OpBuilder out(task_, task_.from.node(known.from), out_);
  BUDA_ASSIGN(Lowered lowered, place_known(out, known, value.port, copies));
  placed.set(value, lowered);
  return lowered;
}

const MaximumArgument* Values::maximum_argument(ValueRef of) const {
  auto found = maximum_arguments_.find(of);
  return found == maximum_arguments_.end() ? nullptr : &found->second;
}

void Values::fail(const Node& n, Failure why) {
  if (dependents_ == Dependents::left_out) {
    failed_.insert(n.id());
    failure_.add(std::move(why));
    return;
  }
  if (failed_.insert(n.id()).second) refused_.push_back({n.id(), why.diagnostics().front()});
  if (n.is_op() && enter(n)) failed_.erase(n.id());
}

void Values::leave_out(const Node& n, const Node& cause) {
  if (dependents_ == Dependents::left_out) {
    failed_.insert(n.id());
  } else {
    fail(n, cannot_lower(task_.from, n, cat("the device cannot hold its input '", cause.name(), '\''), ""));
  }
}

// The results of an op that runs elsewhere, as inputs of the device.
Result<void> Values::enter(const Node& n) {
  for (std::uint32_t port = 0; port < n.outputs.size(); ++port) {
    Lowered value;
    BUDA_ASSIGN(value.shape, device_axes(task_, n, n.outputs[port].shape));
    NodeId id = out_.add(OpBuilder(task_, n, out_).free_name(n.name()), std::string(graph::kInputOp));
    out_.node(id).outputs = {{kDeviceType, padded(value.shape), std::nullopt}};
    value.source = id;
    values_.set({n.id(), port}, std::move(value));
  }
  return success();
}

}  // namespace buda::passes
