// SPDX-License-Identifier: Apache-2.0
// Inputs of an epoch: those of a batch, by w, in each of the batches.
#include <buda/balance/problem/batches.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/ops/device/device_layout.hpp>

#include <algorithm>
#include <set>
#include <variant>

namespace buda::balance {
namespace {

// Pointers of a queue count the entries of two epochs.
Result<void> set_microbatch(Problem& problem) {
  const auto loops = [](const SourceSpec& s) { return s.loopback.has_value(); };
  if (problem.batches > 1 && !problem.trains && std::any_of(problem.sources.begin(), problem.sources.end(), loops))
    return usage_error("BL017", "a model with state processes one batch at a time: --microbatch 1");
  const std::int64_t inputs = std::int64_t{problem.w} * problem.batches, most = kMaxEntries / 2;
  problem.microbatch = static_cast<std::int32_t>(inputs);
  if (inputs <= most) return success();
  Diagnostic d = usage_error("BL017", cat(problem.batches, " batches of ", problem.w, " exceed the maximum for queues, ", most));
  d.hint = cat("--microbatch ", most / problem.w);
  return d;
}

// What the model keeps from step to step has no batch.
void count_batch(const graph::Graph& graph, Problem& problem) {
  std::set<std::int64_t> sizes;
  auto count = [&](graph::NodeId id) {
    const graph::Node& node = graph.node(id);
    const auto shape = node.attrs.find(ops::kModelShape);
    const auto* dims = shape == node.attrs.end() ? nullptr : std::get_if<std::vector<std::int64_t>>(&shape->second);
    sizes.insert(dims != nullptr && dims->size() > 1 ? dims->front() : 1);
  };
  for (const SourceSpec& s : problem.sources)
    if (s.kind == SourceKind::input && !s.loopback) count(s.node);
  for (const SinkSpec& s : problem.sinks)
    if (s.inputs.empty()) count(s.node);
  if (sizes.size() == 1) problem.batch = *sizes.begin();
}

}  // namespace

Result<void> set_batches(const graph::Graph& graph, Problem& problem) {
  BUDA_TRY(set_microbatch(problem));
  count_batch(graph, problem);
  return success();
}

}  // namespace buda::balance
