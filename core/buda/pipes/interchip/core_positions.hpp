// SPDX-License-Identifier: Apache-2.0
// Where the cores of an epoch's ops are: on workers, or on Ethernet cores.
#pragma once

#include <buda/pipes/interchip/route_allocator.hpp>
#include <buda/pipes/plan/epoch_plan.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace buda::pipes {

// A core of an ethernet_datacopy. Its input buffer is at the end of the route; the output is the same memory.
struct EthernetCore {
  ChipRoute route;            // from the chip of the source; not empty
  std::int32_t operands = 0;  // cores placed on the same Ethernet core before this one; its operands are numbered from there
  std::int32_t channel() const { return route.back().to_channel; }
};

class CorePositions {
 public:
  // Refers to the plan, which must outlive it. `ethernet` has the cores of each op on Ethernet cores, and nothing for other ops.
  CorePositions(const EpochPlan& plan, std::vector<std::vector<EthernetCore>> ethernet) : plan_(&plan), ethernet_(std::move(ethernet)) {}

  // Null for a worker.
  const EthernetCore* ethernet(std::size_t op, std::size_t core) const { return ethernet_[op].empty() ? nullptr : &ethernet_[op][core]; }
  // As buffers and pipes name it.
  GridCoord core(std::size_t op, std::size_t core) const;
  device::NocCoord noc(std::size_t op, std::size_t core) const;

 private:
  const EpochPlan* plan_;
  std::vector<std::vector<EthernetCore>> ethernet_;
};

}  // namespace buda::pipes
