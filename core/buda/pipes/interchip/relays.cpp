// SPDX-License-Identifier: Apache-2.0
// Sizes and cores of relays.
#include <buda/pipes/interchip/relays.hpp>

#include <buda/base/text.hpp>
#include <buda/pipes/noc/noc.hpp>

#include <algorithm>

namespace buda::pipes {
namespace {

// Minimum buffer of a relay, unless a pass is smaller.
constexpr std::int64_t kWorkerRelayBytes = 16 * 1024;
constexpr std::int64_t kEthernetRelayBytes = 8 * 1024;

constexpr std::int32_t kLoadOfOp = 4;

}  // namespace

GridCoord ethernet_core(const device::DeviceDescriptor& device, std::int32_t channel) {
  const device::NocCoord at = device.eth[static_cast<std::size_t>(channel)];
  return {at.y, at.x};
}

RelayAllocator::WorkersByLoad RelayAllocator::workers_of(std::int32_t chip) const {
  const GridShape grid = device().grid();
  std::vector<std::int32_t> load(static_cast<std::size_t>(grid.volume()), 0);
  for (const OpPlan& p : plan_.ops) {
    if (p.graph->target_device != chip || EpochPlan::is_ethernet(p)) continue;
    for (std::size_t core = 0; core < static_cast<std::size_t>(p.op->grid.volume()); ++core) {
      const GridCoord at = worker_of(*p.op, core);
      load[static_cast<std::size_t>(at.row * grid.cols + at.col)] = kLoadOfOp;
    }
  }
  WorkersByLoad out;
  for (std::int32_t i = 0; i < grid.volume(); ++i) out.emplace(load[static_cast<std::size_t>(i)], i);
  return out;
}

GridCoord RelayAllocator::worker(std::int32_t chip) {
  const GridShape grid = device().grid();
  auto it = workers_.find(chip);
  if (it == workers_.end()) it = workers_.emplace(chip, workers_of(chip)).first;
  WorkersByLoad& workers = it->second;
  auto [load, number] = workers.extract(workers.begin()).value();
  workers.emplace(load + 1, number);
  return {number / grid.cols, number % grid.cols};
}

GridCoord RelayAllocator::gathering_worker(const Transfer& transfer) {
  return transfer.source_worker ? *transfer.source_worker : worker(transfer.from);
}

Buffer RelayAllocator::relay(BufferType type, const CoreCoord& at, const Transfer& transfer) {
  Buffer b;
  b.type = type;
  b.id = new_id();
  b.op = cat(b.id);
  b.operand = kRelayOperand + counts_[{type, at.chip, at.core.row, at.core.col}]++;
  b.chip = at.chip;
  b.core = at.core;
  b.epoch_tiles = transfer.pass_tiles * transfer.passes;
  b.tiles_per_input = b.epoch_tiles / transfer.input_count;
  const std::int64_t bytes = type == BufferType::relay ? kWorkerRelayBytes : kEthernetRelayBytes;
  b.size_tiles = std::min(transfer.pass_tiles, std::max<std::int64_t>(1, bytes / transfer.tile_bytes));
  b.scatter_gather_num_tiles = transfer.pass_tiles;
  b.tile_size = transfer.tile_bytes;
  b.ublock_rt = b.ublock_ct = b.mblock_m = b.mblock_n = 1;
  return b;
}

Buffer RelayAllocator::ethernet_relay(std::int32_t chip, std::int32_t channel, const Transfer& transfer) {
  Buffer b = relay(BufferType::ethernet_relay, {chip, ethernet_core(device(), channel)}, transfer);
  b.ethernet_chan = channel;
  return b;
}

Pipe RelayAllocator::pipe(std::vector<Id> inputs, Id output, const CoreCoord& at) {
  Pipe pipe;
  pipe.id = new_id();
  pipe.inputs = std::move(inputs);
  pipe.outputs.push_back({output});
  pipe.mcast_core.push_back(at);
  pipe.incoming_vc = pipe.outgoing_vc = kUnicastChannel;
  return pipe;
}

}  // namespace buda::pipes
