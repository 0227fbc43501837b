// SPDX-License-Identifier: Apache-2.0
// Ways of streams in place of guesses.
#include <buda/balance/cost/laid_out.hpp>

#include <buda/cost/transfer_model.hpp>

#include <algorithm>
#include <cstdint>

namespace buda::balance {
namespace {

// Of the columns and rows of a network, the part that a request crosses on average.
constexpr double kPartOfRequest = 1.0 / 2;

// Of a read from memory, there and back.
double access_latency(const device::DeviceDescriptor& device) {
  const double hops = kPartOfRequest * static_cast<double>(device.noc.x + device.noc.y);
  return cost::TransferModel(device).request_latency(hops) + device.cost.transfers.memory_cycles;
}

}  // namespace

void take_ways(const std::string& op, const Traffic& traffic, const EpochLoads& loads, OpCycles& cycles) {
  for (std::size_t i = 0; i < cycles.inputs.size(); ++i) {
    if (i >= traffic.input_from_dram.size() || !traffic.input_from_dram[i] || cycles.is_before[i]) continue;
    if (const auto way = loads.edges.find({op, static_cast<std::int32_t>(i)}); way != loads.edges.end()) cycles.inputs[i] = way->second;
  }
  if (const auto way = loads.outputs.find(op); traffic.output_to_dram && way != loads.outputs.end())
    cycles.output = std::max(cycles.output, way->second);
}

void add_laid_out(std::vector<LaidOutOp>& ops, const EpochLoads& loads, const device::DeviceDescriptor& device) {
  const double rate = device.cost.transfers.interface_rate;
  double most = 0;
  for (LaidOutOp& op : ops) {
    most = std::max(most, op.bytes_before / rate);
    for (std::size_t i = 0; i < op.pipeline.inputs.size(); ++i) {
      cost::PipelineInput& input = op.pipeline.inputs[i];
      if (input.from == cost::PipelineInput::kQueue) input.latency = access_latency(device);
      if (const auto way = loads.edges.find({op.name, static_cast<std::int32_t>(op.operands[i])}); way != loads.edges.end())
        input.transfer = std::max(input.transfer, way->second);
    }
  }
  if (most <= 0) return;
  const double sharing = std::max(loads.before / most, 1.0);
  for (LaidOutOp& op : ops)
    if (op.bytes_before > 0) op.pipeline.before = access_latency(device) + sharing * op.bytes_before / rate;
}

}  // namespace buda::balance
