// SPDX-License-Identifier: Apache-2.0
// From temporal epochs of the netlist to epochs of pipes.
#include <buda/pipes/plan/epochs.hpp>

#include <buda/base/text.hpp>
#include <buda/netlist/program/temporal_epochs.hpp>

#include <algorithm>

namespace buda::pipes {

Result<std::vector<Epoch>> epochs_of(const netlist::Netlist& netlist, const device::DeviceDescriptor& device) {
  BUDA_ASSIGN(auto temporal, netlist::temporal_epochs(netlist, device.features.op_to_op_across_graphs));
  std::vector<Epoch> out;
  Failure failure;
  for (auto& t : temporal) {
    Epoch epoch;
    epoch.number = static_cast<std::int32_t>(out.size());
    std::sort(t.graphs.begin(), t.graphs.end());
    for (std::size_t g : t.graphs) epoch.graphs.push_back(&netlist.graphs[g]);
    for (const auto& e : t.epochs)
      for (const auto& s : e.settings) {
        const std::string& queue = netlist.queues[s.queue].name;
        auto [it, fresh] = epoch.queues.emplace(queue, QueueUse{s.prologue, s.epilogue});
        if (fresh || it->second == QueueUse{s.prologue, s.epilogue}) continue;
        const auto& graph = netlist.graphs[e.graph];
        Diagnostic d =
            input_error("PP006", netlist.loc(graph.places.self),
                        cat("graph '", graph.name, "' is executed with queue '", queue, "' as prologue or epilogue, and without"));
        d.node = queue;
        d.hint = "give the second kind of execution a graph of its own";
        failure.add(std::move(d));
      }
    out.push_back(std::move(epoch));
  }
  if (!failure.empty()) return failure;
  return out;
}

}  // namespace buda::pipes
