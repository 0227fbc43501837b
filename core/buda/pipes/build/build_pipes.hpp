// SPDX-License-Identifier: Apache-2.0
// From a netlist to the buffers and pipes of one epoch.
//
//   netlist, device, epoch ─ plan_epoch() ─▶ EpochPlan: routes of edges, sizes of buffers
//   EpochPlan ─ place_ethernet_ops() ─▶ CorePositions ─ number_buffers() ─▶ BufferIds; the three are a PlacedEpoch
//   PlacedEpoch ─ epoch_buffers() ─▶ buffers of ops and queues
//   PlacedEpoch ─ epoch_pipes() ─▶ pipes within chips, and pipes between chips
//   pipes between chips ─ assign_routes() ─▶ RouteGroups ─ cut_pipes() ─▶ segments and relays
//   all pipes ─ number_readers() ─▶ PipeGraph ─ balance_networks() ─▶ its networks and ports
#pragma once

#include <buda/device/cluster.hpp>
#include <buda/diag/result.hpp>
#include <buda/pipes/build/padding_table.hpp>
#include <buda/pipes/graph/pipe_graph.hpp>
#include <buda/pipes/plan/epochs.hpp>
#include <buda/pipes/plan/netlist_index.hpp>

namespace buda::pipes {

// Ids begin after those of the netlist's queues in every epoch, so that an epoch's file does not depend on other epochs. `cluster` is used
// where an epoch spans several chips. PP codes.
Result<PipeGraph> build_pipes(const NetlistIndex& index, const device::DeviceDescriptor& device, const Epoch& epoch,
                              const PaddingTable& padding, const device::Cluster& cluster = {});

}  // namespace buda::pipes
