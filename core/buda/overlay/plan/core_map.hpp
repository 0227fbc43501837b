// SPDX-License-Identifier: Apache-2.0
// The cores of an epoch: those that have a buffer. Internal to the module.
#pragma once

#include <buda/overlay/blob/blob.hpp>
#include <buda/overlay/plan/buffer_facts.hpp>
#include <buda/overlay/plan/epoch_input.hpp>
#include <buda/overlay/violations.hpp>

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace buda::overlay {

inline constexpr std::int32_t kNotInEpoch = -1;

class CoreMap {
 public:
  // Workers by chip, row and column, then Ethernet cores by chip and channel: the cores of the blob, as yet without streams, headers and
  // the size of the stream program.
  const std::vector<Core>& cores() const { return cores_; }
  const Core& operator[](std::int32_t number) const { return cores_[static_cast<std::size_t>(number)]; }

  // Index of a worker in cores(), or kNotInEpoch.
  std::int32_t worker(std::int32_t chip, GridCoord core) const;
  // Index of the core whose L1 has the buffer, or kNotInEpoch.
  std::int32_t of(const Buffer& buffer) const;

 private:
  friend CoreMap collect_cores(const EpochInput& in, Violations& violations);
  std::vector<Core> cores_;
  std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, std::int32_t> workers_;  // by chip, row, column
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> ethernet_;                // by chip and channel
};

// A buffer outside of the device is a violation (OV010), as are two ops on a core (OV002), and Ethernet cores that the cluster does not
// describe (OV003). O(buffers log buffers).
CoreMap collect_cores(const EpochInput& in, Violations& violations);

}  // namespace buda::overlay
