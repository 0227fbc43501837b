// SPDX-License-Identifier: Apache-2.0
// An op without a tag does not round, or may not have more bits.
#include <buda/balance/problem/sum_roundings.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/values/sum_roundings.hpp>

#include <string>

namespace buda::balance {

void note_roundings(const graph::Graph& graph, Problem& problem) {
  if (!problem.device->features.fp32_accumulate) return;
  for (OpSpec& op : problem.ops) {
    const auto& tags = graph.node(op.node).tags;
    const auto tag = tags.find(std::string(graph::kSumRoundings));
    if (tag != tags.end()) op.sum_roundings = parse_int(tag->second).value_or(0);
  }
}

}  // namespace buda::balance
