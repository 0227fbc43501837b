// SPDX-License-Identifier: Apache-2.0
// What the stream programs of an epoch are made from. Internal to the module.
#pragma once

#include <buda/device/cluster.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/pipes/graph/pipe_graph.hpp>

namespace buda::overlay {

// Refers to the arguments of build_blob, which outlive all steps; plans point to the graph's pipes and buffers.
struct EpochInput {
  const pipes::PipeGraph& graph;
  const pipes::BufferIndex& buffers;  // of the graph, by id
  const device::DeviceDescriptor& device;
  const device::Cluster& cluster;
};

}  // namespace buda::overlay
