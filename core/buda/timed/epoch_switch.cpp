// SPDX-License-Identifier: Apache-2.0
// Bytes by rate.
#include <buda/timed/epoch_switch.hpp>

#include <buda/cost/transfer_model.hpp>
#include <buda/timed/device.hpp>

#include <algorithm>

namespace buda::timed {

sim::Ticks EpochSwitch::load_time(const overlay::Blob& blob, const overlay::Core& core) const {
  const double program =
      std::min(static_cast<double>(core.phases()) * device_.streams.bytes_per_phase, static_cast<double>(core.blob_bytes));
  const auto cores = std::count_if(blob.cores.begin(), blob.cores.end(), [&](const overlay::Core& c) { return c.chip == core.chip; });
  return sim::ticks_of(cost::TransferModel(device_).epoch_change(cores, program, cycles_));
}

std::vector<sim::Ticks> EpochSwitch::starts(const overlay::Blob& blob, sim::Ticks begin) const {
  std::vector<sim::Ticks> out;
  if (cycles_ <= 0) return out;
  for (const overlay::Core& core : blob.cores) {
    const auto idle = idle_since_.find({core.chip, core.noc});
    const sim::Ticks loaded = (idle == idle_since_.end() ? 0 : idle->second) + load_time(blob, core);
    out.push_back(loaded > begin ? loaded - begin : 0);
  }
  return out;
}

void EpochSwitch::ended(sim::Ticks begin, const std::vector<sim::LastEvent>& last) {
  for (const sim::LastEvent& event : last) idle_since_[{event.chip, event.core}] = begin + event.time;
}

}  // namespace buda::timed
