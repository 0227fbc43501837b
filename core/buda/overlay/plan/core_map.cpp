// SPDX-License-Identifier: Apache-2.0
// Cores by the buffers that they have.
#include <buda/overlay/plan/core_map.hpp>

#include <buda/base/text.hpp>

namespace buda::overlay {
namespace {

using WorkerKey = std::tuple<std::int32_t, std::int32_t, std::int32_t>;  // chip, row, column
using ChannelKey = std::pair<std::int32_t, std::int32_t>;                // chip, channel

bool is_kernel_operand(const Buffer& b) { return b.type == BufferType::unpacker || b.type == BufferType::packer; }

// Each worker with the buffer that names its op: an operand of the kernel, if there is one, else the first buffer there.
std::map<WorkerKey, const Buffer*> workers_of(const EpochInput& in, Violations& violations) {
  std::map<WorkerKey, const Buffer*> out;
  const GridShape grid = in.device.grid();
  for (const Buffer& b : in.graph.buffers) {
    if (b.core.row == pipes::kNoCore || is_on_ethernet(b)) continue;
    if (!grid.contains(b.core) || b.chip < 0) {
      violations.error("OV010", nullptr, &b,
                       cat("core [", b.core.row, ", ", b.core.col, "] of chip ", b.chip, " is outside of '", in.device.name,
                           "', which has ", grid.rows, " x ", grid.cols, " workers"),
                       "give the device for which the netlist was made with --device");
      continue;
    }
    auto [it, fresh] = out.emplace(WorkerKey{b.chip, b.core.row, b.core.col}, &b);
    if (fresh || !is_kernel_operand(b)) continue;
    if (!is_kernel_operand(*it->second)) {
      it->second = &b;
    } else if (it->second->op != b.op) {
      violations.error("OV002", nullptr, &b, cat("op '", it->second->op, "' is placed on core [", b.core.row, ", ", b.core.col, "] too"));
    }
  }
  return out;
}

std::map<ChannelKey, std::int32_t> ethernet_channels_of(const EpochInput& in, Violations& violations) {
  std::map<ChannelKey, std::int32_t> out;
  for (const Buffer& b : in.graph.buffers) {
    if (!is_on_ethernet(b)) continue;
    const std::int32_t channel = b.ethernet_chan.value_or(-1);
    if (b.chip < 0 || channel < 0 || static_cast<std::size_t>(channel) >= in.device.eth.size()) {
      violations.error("OV010", nullptr, &b,
                       cat("buffer_", b.id, " is at ", channel < 0 ? std::string("no ethernet channel") : cat("ethernet channel ", channel),
                           "; '", in.device.name, "' has ", in.device.eth.size()));
      return {};
    }
    if (in.cluster.eth_core.streams <= 0) {
      violations.error("OV003", nullptr, &b,
                       cat("the ethernet cores of '", in.device.name, "' are not described (eth_core of its cluster)"));
      return {};
    }
    out.emplace(ChannelKey{b.chip, channel}, kNotInEpoch);
  }
  return out;
}

}  // namespace

CoreMap collect_cores(const EpochInput& in, Violations& violations) {
  CoreMap out;
  for (const auto& [key, buffer] : workers_of(in, violations)) {
    Core core;
    core.chip = std::get<0>(key);
    core.core = {std::get<1>(key), std::get<2>(key)};
    core.noc = in.device.noc_of_worker(core.core);
    if (!buffer->is_queue()) core.op = buffer->op;
    out.workers_[key] = static_cast<std::int32_t>(out.cores_.size());
    out.cores_.push_back(std::move(core));
  }
  out.ethernet_ = ethernet_channels_of(in, violations);
  for (auto& [key, number] : out.ethernet_) {
    Core core;
    core.chip = key.first;
    core.ethernet = key.second;
    core.noc = in.device.eth[static_cast<std::size_t>(key.second)];
    core.core = {core.noc.y, core.noc.x};
    number = static_cast<std::int32_t>(out.cores_.size());
    out.cores_.push_back(std::move(core));
  }
  return out;
}

std::int32_t CoreMap::worker(std::int32_t chip, GridCoord core) const {
  auto it = workers_.find({chip, core.row, core.col});
  return it == workers_.end() ? kNotInEpoch : it->second;
}

std::int32_t CoreMap::of(const Buffer& b) const {
  if (!is_on_ethernet(b)) return worker(b.chip, b.core);
  auto it = ethernet_.find({b.chip, b.ethernet_chan.value_or(-1)});
  return it == ethernet_.end() ? kNotInEpoch : it->second;
}

}  // namespace buda::overlay
