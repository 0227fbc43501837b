// Ways from chip to chip over ethernet.
#pragma once

#include <buda/device/cluster.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace buda::pipes {

// Hands out ways of fewest links. Of equal ways, and of links side by side, those that were handed out least often come first, so that
// edges spread over the cables; which they are depends on nothing but the order of the calls.
class ChipRoutes {
 public:
  ChipRoutes(const device::DeviceDescriptor& device, const device::Cluster& cluster);

  // The links to take, one after the other, each written in the direction of travel; nothing when there is no way.
  // O(chips + links) for the first way to a chip, then O(length * links of a chip).
  std::optional<std::vector<device::EthLink>> take(std::int32_t from, std::int32_t to);

 private:
  struct End {
    device::EthLink link;    // outwards
    std::size_t number = 0;  // of the cable
  };
  const std::vector<std::int32_t>& distances_to(std::int32_t chip);

  std::vector<std::vector<End>> ends_;  // per chip
  std::vector<std::int64_t> used_;      // per cable
  std::map<std::int32_t, std::vector<std::int32_t>> distances_;
};

}  // namespace buda::pipes
