// SPDX-License-Identifier: Apache-2.0
// Tags that are read, and moving means.
#include <buda/autograd/statistics.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/editor.hpp>
#include <buda/graph/tags/training.hpp>
#include <buda/ops/whole_graph/builder.hpp>

namespace buda::autograd {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::ValueRef;

namespace {

Term moving_part(StepStates& states, ops::Builder& b, double part, DType dtype) {
  StepScalar scalar{ScalarKind::moving};
  scalar.part = part;
  return {b, states.scalar(scalar, dtype)};
}

}  // namespace

bool is_of_statistic(const Node& output) { return graph::training_of(output).starts_with(graph::kTrainingStatistic); }

Result<Statistics> find_statistics(const Graph& graph) {
  Statistics out;
  for (NodeId id : graph.outputs()) {
    const std::string text = graph::training_of(graph.node(id));
    if (!is_of_statistic(graph.node(id))) continue;
    const std::size_t number = text.find(' ') + 1, name = text.find(' ', number) + 1;
    const auto part = number == 0 || name == 0 ? std::nullopt : parse_double(text.substr(number, name - 1 - number));
    if (!part || !graph.find(text.substr(name)).valid())
      return input_error("AG012", graph.node(id).loc, cat("'", text, "' does not say which parameter is moved by which part"));
    out[text.substr(name)].push_back({id, *part});
  }
  return out;
}

Result<void> move_statistics(StepStates& states, const Statistics& statistics, bool accumulates) {
  Graph& graph = states.graph();
  for (const auto& [name, batches] : statistics) {
    const NodeId id = graph.find(name);
    std::vector<ValueRef> values;
    for (const BatchStatistic& batch : batches) {
      ValueRef value = graph.node(batch.output).inputs()[0].source;
      graph.erase(batch.output);
      if (accumulates) {
        BUDA_ASSIGN(value, states.mean_over_batches(value, cat("sum.", name), id));
      }
      values.push_back(value);
    }
    const std::size_t first = graph.id_bound();
    Node& n = graph.node(id);
    graph.set_op(id, std::string(graph::kInputOp));
    graph::GraphEditor editor(graph, id);
    ops::Builder b(editor);
    const Term before(b, id);
    Term change;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Term now = change.valid() ? before + change : before;
      const Term off = Term(b, values[i]) - now;
      const Term more = accumulates ? off * moving_part(states, b, batches[i].part, n.outputs[0].dtype) : off * batches[i].part;
      change = change.valid() ? change + more : more;
    }
    states.moved(b, before, [&](const Term& from) { return from + change; });
    n.tags[graph::kTraining] = graph::kTrainingStatistic;
    states.mark_exact(n);
    BUDA_TRY(b.status());
    states.tag_phase(first, graph::kPhaseOptimizer);
  }
  return success();
}

}  // namespace buda::autograd
