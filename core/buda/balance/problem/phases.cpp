// SPDX-License-Identifier: Apache-2.0
// Tags of phases, and what follows from them.
#include <buda/balance/problem/phases.hpp>

#include <buda/balance/problem/node_error.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/tags/placement.hpp>
#include <buda/graph/tags/training.hpp>

#include <algorithm>
#include <optional>
#include <vector>

namespace buda::balance {

using graph::Graph;
using graph::Node;
using graph::NodeId;

namespace {

// None: an op of the model, or one that lowering puts before an output.
std::optional<std::int32_t> tagged_segment(const Node& n) {
  const auto tag = n.tags.find(graph::kPhase);
  if (tag == n.tags.end()) return std::nullopt;
  return tag->second == graph::kPhaseOptimizer  ? kOptimizerSegment
         : tag->second == graph::kPhaseBackward ? kBackwardSegment
                                                : kForwardSegment;
}

// Of what an op reads.
std::int32_t latest_phase(const Problem& problem, const OpSpec& spec) {
  std::int32_t out = kForwardSegment;
  for (const Operand& operand : spec.operands)
    if (operand.from.op.valid()) out = std::max(out, problem.op(operand.from.op).phase);
  return out;
}

Diagnostic reads_too_much(const Node& n, const Node& source) {
  Diagnostic d = node_error("BL056", n,
                            cat("it belongs to the optimizer's phase, which runs once for a step, and reads '", source.name(),
                                "', which is made anew for each batch and is not added up"));
  d.hint = "autograd --form step makes a step of one batch, in which the phases run together";
  return d;
}

}  // namespace

Result<void> mark_phases(Graph& graph) {
  Failure failure;
  std::vector<std::int32_t> segments(graph.id_bound(), kForwardSegment);
  for (NodeId id : graph.topological_order()) {
    Node& n = graph.node(id);
    if (!n.is_op()) continue;
    const auto own = tagged_segment(n);
    std::int32_t& segment = segments[id.index()];
    segment = own.value_or(kForwardSegment);
    for (const graph::Edge& edge : n.inputs()) {
      const Node& source = graph.node(edge.source.node);
      if (!source.is_op()) continue;
      const bool is_sum = graph::adds_up_gradients(source);
      const std::int32_t before = is_sum ? kOptimizerSegment : segments[source.id().index()];
      if (own == kOptimizerSegment && before < kOptimizerSegment) failure.add(reads_too_much(n, source));
      if (own && *own < kOptimizerSegment && before == kOptimizerSegment)
        failure.add(node_error("BL056", n, cat("it runs for each batch, and reads '", source.name(), "', which is there once for a step")));
      segment = std::max(segment, before);
    }
    n.tags[graph::kSegment] = cat(segment);
  }
  if (!failure.empty()) return failure;
  return success();
}

bool has_phases(const Graph& graph) { return graph::runs_in_phases(graph); }

Result<void> set_phases(const Graph& graph, Problem& problem) {
  for (OpSpec& spec : problem.ops) {
    spec.phase = problem.trains ? spec.segment : tagged_segment(graph.node(spec.node)).value_or(latest_phase(problem, spec));
    spec.once_per_step = problem.trains && spec.segment == kOptimizerSegment;
  }
  if (!problem.trains) return success();
  Failure failure;
  if (problem.w != 1)
    failure.add(input_error("BL057", {},
                            cat("a step in programs takes its batch as one entry of a queue, and the inputs of '", problem.name, "' are ",
                                problem.w, " entries")));
  for (OpSpec& spec : problem.ops) {
    const Node& n = graph.node(spec.node);
    if (!graph::adds_up_gradients(n)) continue;
    const bool is_copy = spec.op.type == netlist::OpType::nop && !spec.fused;
    if (!is_copy || spec.op.intermed_format != spec.op.out_format)
      failure.add(node_error("BL057", n, "an op that adds up gradients is a nop whose partial results have the format of its result"));
    spec.op.gradient_op = true;
    // It is held in L1 as a whole, and read like a state.
    spec.feeds_loopback = true;
  }
  if (!failure.empty()) return failure;
  return success();
}

std::int32_t inputs_of_segment(const Problem& problem, std::int32_t segment) {
  return problem.trains && segment == kOptimizerSegment ? problem.w : problem.microbatch;
}

std::int32_t inputs_of_op(const Problem& problem, OpId op) { return problem.op(op).once_per_step ? problem.w : problem.microbatch; }

bool is_training_step(const Problem& problem) {
  return std::any_of(problem.ops.begin(), problem.ops.end(), [](const OpSpec& op) { return op.phase != kForwardSegment; });
}

bool is_of_step(const Problem& problem, const SourceSpec& source) {
  return problem.trains && std::all_of(source.users.begin(), source.users.end(),
                                       [&](const OpUse& use) { return problem.op(use.op).segment == kOptimizerSegment; });
}

}  // namespace buda::balance
