// SPDX-License-Identifier: Apache-2.0
// Composes the steps.
#include <buda/pipes/build/build_pipes.hpp>

#include <buda/pipes/build/balance_networks.hpp>
#include <buda/pipes/build/epoch_buffers.hpp>
#include <buda/pipes/build/epoch_pipes.hpp>
#include <buda/pipes/graph/append.hpp>
#include <buda/pipes/interchip/assign_routes.hpp>
#include <buda/pipes/interchip/cut_pipes.hpp>
#include <buda/pipes/interchip/place_ethernet_ops.hpp>
#include <buda/pipes/plan/plan_epoch.hpp>

#include <utility>

namespace buda::pipes {

Result<PipeGraph> build_pipes(const NetlistIndex& index, const device::DeviceDescriptor& device, const Epoch& epoch,
                              const PaddingTable& padding, const device::Cluster& cluster) {
  BUDA_ASSIGN(const EpochPlan plan, plan_epoch(index, device, epoch, cluster));
  RouteAllocator links(device, cluster);
  BUDA_ASSIGN(CorePositions cores, place_ethernet_ops(plan, links));
  IdSequence ids(index.first_free_id());
  const PlacedEpoch placed{plan, std::move(cores), number_buffers(plan, ids)};
  PipeGraph graph;
  for (const auto* g : epoch.graphs) graph.graphs.push_back(g->name);
  BUDA_ASSIGN(graph.buffers, epoch_buffers(placed));
  RelayAllocator relays(plan, ids);
  BUDA_ASSIGN(EpochPipes pipes, epoch_pipes(placed, padding, ids, relays));
  BUDA_ASSIGN(const auto groups, assign_routes(pipes.inter_chip, links, index.netlist(), device));
  Segments segments = cut_pipes(std::move(pipes.inter_chip), groups, relays);
  append(graph.buffers, std::move(pipes.relays));
  append(graph.buffers, std::move(segments.relays));
  append(graph.buffers, std::move(pipes.padding));
  append(pipes.complete, std::move(segments.pipes));
  graph.pipes = number_readers(std::move(pipes.complete), graph.buffers, pipes.reads);
  balance_networks(index, device, graph);
  return graph;
}

}  // namespace buda::pipes
