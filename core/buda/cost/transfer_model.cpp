// SPDX-License-Identifier: Apache-2.0
// Bytes by rate.
#include <buda/cost/transfer_model.hpp>

#include <algorithm>

namespace buda::cost {

double TransferModel::ideal_link_rate() const { return std::max(device_.cost.noc_bytes_per_cycle, 1e-9); }

double TransferModel::channel_rate() const { return device_.cost.dram_channel_gbs / device_.cost.clock_ghz; }

double TransferModel::dram_rate() const {
  return static_cast<double>(device_.dram.channels.size()) * device_.cost.dram_channel_gbs / device_.cost.clock_ghz;
}

double TransferModel::queue_rate() const { return std::min(dram_rate(), given_.links_of_queues * ideal_link_rate()); }

double TransferModel::epoch_change(std::int64_t cores, double program_bytes, double fixed) const {
  return fixed + (given_.kernel_bytes + program_bytes) * static_cast<double>(cores) / dram_rate();
}

}  // namespace buda::cost
