// SPDX-License-Identifier: Apache-2.0
// Pairs of equal reads.
#include <buda/balance/emit/forked_inputs.hpp>

#include <buda/balance/resources/resources.hpp>
#include <buda/tiling/flat_rows.hpp>

#include <algorithm>
#include <map>
#include <string>

namespace buda::balance {
namespace {

using netlist::Op;

bool may_share(const Op& op, std::size_t input) { return op.inputs[input].kernel_broadcast.tiles == 0 && !tiling::takes_rows(op, input); }

bool reads_alike(const Op& a, std::size_t i, const Op& b, std::size_t k) {
  return a.inputs[i].name == b.inputs[k].name && a.inputs[i].maps == b.inputs[k].maps && a.inputs[i].forked_from.empty() &&
         may_share(a, i) && input_order(a, i) == input_order(b, k);
}

}  // namespace

void fork_dram_inputs(netlist::Netlist& netlist, const QueueSet& queues) {
  std::map<std::string, bool> streamed;  // by queue
  for (const QueuePlan& plan : queues.queues) streamed.emplace(plan.queue.name, !plan.prologue);
  for (netlist::Graph& graph : netlist.graphs)
    for (auto reader = graph.ops.begin(); reader != graph.ops.end(); ++reader)
      for (std::size_t k = 0; k < reader->inputs.size(); ++k) {
        const auto queue = streamed.find(reader->inputs[k].name);
        if (queue == streamed.end() || !queue->second || !may_share(*reader, k)) continue;
        const auto shares = [&](const Op& other) {
          for (std::size_t i = 0; i < other.inputs.size(); ++i)
            if (reads_alike(other, i, *reader, k)) return true;
          return false;
        };
        if (auto first = std::find_if(graph.ops.begin(), reader, shares); first != reader) reader->inputs[k].forked_from = first->name;
      }
}

}  // namespace buda::balance
