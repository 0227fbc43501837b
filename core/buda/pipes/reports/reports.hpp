// SPDX-License-Identifier: Apache-2.0
// The files beside pipegen.yaml: where queues are, which cores read and write them, which pipes serve which op (docs/formats/pipegen.md).
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/pipes/build/build_pipes.hpp>
#include <buda/pipes/graph/pipe_graph.hpp>
#include <buda/pipes/plan/netlist_index.hpp>

#include <string>

namespace buda::pipes {

// netlist_queues.yaml: every buffer of every queue, with its id in all epochs.
std::string netlist_queues_text(const NetlistIndex& index, const device::DeviceDescriptor& device);
// padding_table.yaml: the constants that the runtime puts into every DRAM bank.
std::string padding_table_text(const PaddingTable& padding);
// queue_to_consumer.yaml and queue_to_producer.yaml of an epoch; cores in coordinates of the NoC.
std::string queue_to_consumer_text(const NetlistIndex& index, const device::DeviceDescriptor& device, const PipeGraph& graph);
std::string queue_to_producer_text(const NetlistIndex& index, const device::DeviceDescriptor& device, const PipeGraph& graph);
// reports/op_to_pipe_map_temporal_epoch_N.yaml: for each op and operand the pipes that reach or leave each of its cores.
std::string op_to_pipe_text(const NetlistIndex& index, const device::DeviceDescriptor& device, const PipeGraph& graph);

}  // namespace buda::pipes
