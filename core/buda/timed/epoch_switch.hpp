// SPDX-License-Identifier: Apache-2.0
// Between epochs: when each core has the next program.
//
// A core loads kernels and stream program of the next epoch as soon as it has nothing left to do in the present one. All cores of a chip
// share its DRAM equally.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/overlay/blob/blob.hpp>
#include <buda/sim/epoch/epoch_run.hpp>

#include <map>
#include <utility>
#include <vector>

namespace buda::timed {

class EpochSwitch {
 public:
  // `cycles`: what an epoch switch takes on each core beside the bytes that it loads. The device outlives it.
  EpochSwitch(const device::DeviceDescriptor& device, double cycles) : device_(device), cycles_(cycles) {}

  // By core of the stream program: how long after `begin` the core has it.
  std::vector<sim::Ticks> starts(const overlay::Blob& blob, sim::Ticks begin) const;
  // An epoch that began then has had its last events.
  void ended(sim::Ticks begin, const std::vector<sim::LastEvent>& last);

 private:
  sim::Ticks load_time(const overlay::Blob& blob, const overlay::Core& core) const;

  const device::DeviceDescriptor& device_;
  double cycles_;
  std::map<std::pair<std::int32_t, device::NocCoord>, sim::Ticks> idle_since_;  // by chip and core
};

}  // namespace buda::timed
