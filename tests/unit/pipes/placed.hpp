// SPDX-License-Identifier: Apache-2.0
// The values between a netlist and its pipes, for tests of single steps.
#pragma once

#include <buda/pipes/build/placed_epoch.hpp>
#include <buda/pipes/graph/id_sequence.hpp>
#include <buda/pipes/interchip/place_ethernet_ops.hpp>
#include <buda/pipes/plan/plan_epoch.hpp>

#include "unit/pipes/built.hpp"

#include <utility>

namespace buda::pipes {

// The plan of a netlist's first epoch, which must have one; what was built must live as long.
inline EpochPlan plan_of(const Built& b) {
  auto plan = plan_epoch(*b.index, *b.device, b.epochs.front(), b.cluster());
  EXPECT_TRUE(plan.ok());
  return plan ? std::move(plan).value() : EpochPlan{};
}

struct Placed {
  explicit Placed(const Built& b)
      : plan(plan_of(b)), links(*b.device, b.cluster()), ids(b.index->first_free_id()), epoch{plan, cores(), number_buffers(plan, ids)} {}
  Placed(const Placed&) = delete;
  Placed& operator=(const Placed&) = delete;

  EpochPlan plan;
  RouteAllocator links;
  IdSequence ids;
  PlacedEpoch epoch;

 private:
  CorePositions cores() {
    auto made = place_ethernet_ops(plan, links);
    EXPECT_TRUE(made.ok());
    return made ? std::move(made).value() : CorePositions(plan, std::vector<std::vector<EthernetCore>>(plan.ops.size()));
  }
};

}  // namespace buda::pipes
