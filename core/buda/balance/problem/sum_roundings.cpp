// SPDX-License-Identifier: Apache-2.0
// An op without a tag does not round, may not have more bits, or may add up in any blocks.
#include <buda/balance/problem/sum_roundings.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/tags/sum_blocks.hpp>
#include <buda/graph/values/sum_roundings.hpp>

#include <string>

namespace buda::balance {

void note_roundings(const graph::Graph& graph, Problem& problem) {
  const bool has_wide_sums = problem.device->features.fp32_accumulate;
  for (OpSpec& op : problem.ops) {
    if (!has_wide_sums) {
      // Tags that cannot be read have been reported (graph/tags/check_tags.hpp).
      const auto blocks = graph::sum_blocks(graph.node(op.node));
      if (blocks && *blocks) op.least_block = (*blocks)->least, op.most_block = (*blocks)->most;
      continue;
    }
    const auto& tags = graph.node(op.node).tags;
    const auto tag = tags.find(std::string(graph::kSumRoundings));
    if (tag != tags.end()) op.sum_roundings = parse_int(tag->second).value_or(0);
  }
}

}  // namespace buda::balance
