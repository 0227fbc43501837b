// SPDX-License-Identifier: Apache-2.0
// The cycle model of transfers.
#include <buda/balance/cost/cost.hpp>

#include <buda/cost/transfer_model.hpp>

#include <algorithm>

namespace buda::balance {
namespace {

using netlist::Op;

}  // namespace

double OpCycles::transfer() const {
  double most = output;
  for (double in : inputs) most = std::max(most, in);
  return most;
}
double OpCycles::limiter() const { return std::max(kernel, transfer()); }
double OpCycles::running() const {
  double most = std::max(kernel, output);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!is_before[i]) most = std::max(most, inputs[i]);
  return most;
}

OpCycles estimate(const Op& op, double kernel, const Traffic& traffic, const device::DeviceDescriptor& device) {
  OpCycles out;
  out.kernel = kernel;
  out.is_before = traffic.input_prologue;
  out.is_before.resize(op.inputs.size(), false);
  const cost::TransferModel transfers(device);
  const double noc = transfers.stream_rate();
  const double dram = std::min(noc, transfers.dram_rate() / static_cast<double>(std::max<std::size_t>(device.dram.channels.size(), 1)));
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const std::int64_t kept = op.inputs[i].kernel_broadcast.tiles;
    const tiling::TileOrder order = input_order(op, i);
    auto bytes = static_cast<double>(kept > 0 ? kept : order.tiles()) *
                 tile_bytes(op.inputs[i].format, input_tile_dim(op, i), device.tile_alignment);
    const bool from_dram = i < traffic.input_from_dram.size() && traffic.input_from_dram[i];
    if (i < traffic.input_prologue.size() && traffic.input_prologue[i]) {
      out.bytes_before += bytes;
      bytes /= static_cast<double>(std::max<std::int64_t>(traffic.inputs_per_epoch, 1));
    }
    out.inputs.push_back(bytes / (from_dram ? dram : noc));
    (from_dram ? out.dram_bytes : out.noc_bytes) += bytes * static_cast<double>(order.destinations());
  }
  auto bytes = static_cast<double>(op.block.tiles()) * tile_bytes(op.out_format, op.tile_dim, device.tile_alignment);
  out.output = bytes / (traffic.output_to_dram ? dram : noc);
  if (traffic.output_to_dram) out.dram_bytes += bytes * static_cast<double>(op.grid.volume());
  return out;
}

}  // namespace buda::balance
