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
constexpr std::int64_t kMaxInputs = kMaxEntries / 2;

bool has_state(const Problem& problem) {
  const auto loops = [](const SourceSpec& s) { return s.loopback.has_value(); };
  return !problem.trains && std::any_of(problem.sources.begin(), problem.sources.end(), loops);
}

Result<void> set_microbatch(Problem& problem) {
  problem.microbatch = static_cast<std::int32_t>(std::int64_t{problem.w} * problem.batches);
  const std::int64_t most = max_batches(problem);
  if (problem.batches <= most) return success();
  if (most == 1 && has_state(problem)) return usage_error("BL017", "a model with state processes one batch at a time: --microbatch 1");
  Diagnostic d = usage_error("BL017", cat(problem.batches, problem.batches == 1 ? " batch of " : " batches of ", problem.w,
                                          " exceed the maximum for queues, ", kMaxInputs));
  d.hint = most > 0 ? cat("--microbatch ", most) : "make the model with a smaller batch";
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

std::int64_t max_batches(const Problem& problem) {
  return std::min<std::int64_t>(kMaxInputs / problem.w, has_state(problem) ? 1 : kMaxInputs);
}

Result<void> set_batches(const graph::Graph& graph, Problem& problem) {
  BUDA_TRY(set_microbatch(problem));
  count_batch(graph, problem);
  return success();
}

}  // namespace buda::balance
