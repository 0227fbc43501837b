// SPDX-License-Identifier: Apache-2.0
// Edges between neighbouring epochs of different chips.
#include <buda/balance/chips/crossings.hpp>

#include <buda/balance/chips/chips_of_choice.hpp>

#include <algorithm>
#include <cstddef>

namespace buda::balance {

std::vector<EpochSpan> temporal_epochs_of(const Problem& problem, const Choice& choice) {
  return epochs_together(chips_of_epochs(problem, choice), segments_of_epochs(problem, choice),
                         problem.device->features.op_to_op_across_graphs);
}

bool crosses_within_temporal_epoch(const Problem& problem, const Choice& choice, const OpEdge& edge) {
  const OpSpec& reader = problem.op(edge.reader.op);
  const std::int32_t from = choice.ops[edge.writer.index()].epoch, to = choice.ops[edge.reader.op.index()].epoch;
  if (from >= to || !reader.copies || reader.operands[edge.reader.input].queued) return false;
  const auto spans = temporal_epochs_of(problem, choice);
  return std::any_of(spans.begin(), spans.end(), [&](const EpochSpan& span) { return span.first <= from && to <= span.last; });
}

DirectEpochs possibly_direct(const Problem& problem, const Choice& choice) {
  DirectEpochs out;
  for (std::size_t i = 0; i < problem.ops.size(); ++i)
    for (const OpUse& use : problem.ops[i].users)
      if (crosses_within_temporal_epoch(problem, choice, {OpId(static_cast<std::uint32_t>(i)), use}))
        out.insert(choice.ops[use.op.index()].epoch);
  return out;
}

}  // namespace buda::balance
