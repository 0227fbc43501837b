// SPDX-License-Identifier: Apache-2.0
// The buffers of queues that streams read and write. Internal to the module.
#pragma once

#include <buda/overlay/blob/blob.hpp>
#include <buda/overlay/plan/buffer_facts.hpp>
#include <buda/overlay/plan/epoch_input.hpp>
#include <buda/overlay/violations.hpp>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace buda::overlay {

// Numbers buffers in order of first use.
class DramTable {
 public:
  DramTable(const EpochInput& in, Violations& violations) : in_(in), violations_(violations) {}

  // Index of a queue's or gradient's buffer, or of padding, in Blob::dram. A channel or port that the device lacks is a violation (OV003,
  // OV010).
  std::int32_t index_of(const Buffer& buffer);

  std::vector<DramBuffer> take() && { return std::move(buffers_); }

 private:
  device::NocCoord port_of(const Buffer& buffer);

  const EpochInput& in_;
  Violations& violations_;
  std::vector<DramBuffer> buffers_;
  std::map<Id, std::int32_t> numbers_;
};

}  // namespace buda::overlay
