// SPDX-License-Identifier: Apache-2.0
// Evaluation of ops that depend on parameters and constants only.
#include <buda/passes/lower/known_values.hpp>

#include <buda/graph/graph.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace buda::passes {

KnownValues::KnownValues(const graph::Graph& graph) : table_(graph.id_bound()) {}
KnownValues::KnownValues(KnownValues&&) noexcept = default;
KnownValues::~KnownValues() = default;

void KnownValues::add(const graph::Node& source) { table_.set(source.id(), {&*source.value, source.kind(), source.id()}); }

bool KnownValues::has_inputs_of(const graph::Node& n) const {
  return std::all_of(n.inputs().begin(), n.inputs().end(), [&](const graph::Edge& e) { return contains(e.source); });
}

Result<void> KnownValues::fold(const graph::Node& n, const PassContext& context) {
  std::vector<Tensor> inputs;
  graph::NodeKind kind = graph::NodeKind::constant;
  for (const graph::Edge& edge : n.inputs()) {
    const KnownValue& known = *find(edge.source);
    inputs.push_back(known.value->tensor);
    if (known.kind == graph::NodeKind::parameter) kind = graph::NodeKind::parameter;
  }
  ops::EvaluateOptions options;
  options.threads = context.host.threads;
  options.registry = context.ops;
  BUDA_ASSIGN(std::vector<Tensor> results, ops::evaluate_node(n, graph::Level::tensor, inputs, options));
  for (std::uint32_t port = 0; port < results.size(); ++port)
    table_.set({n.id(), port}, {&folded_.emplace_back(std::move(results[port])), kind, n.id()});
  return success();
}

}  // namespace buda::passes
