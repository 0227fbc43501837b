// SPDX-License-Identifier: Apache-2.0
// How fast inputs pass through the ops of an epoch, as the report counts it (buda/cost/pipeline.hpp), while ops are placed.
#pragma once

#include <buda/balance/policy/placement.hpp>
#include <buda/cost/pipeline.hpp>
#include "link_loads.hpp"

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace buda::balance {

class FlowTimes {
 public:
  FlowTimes(const Placement& placement, LinkModel& model) : placement_(placement), model_(model) {}

  // Of the placement's present epoch, which ends before number `end` of the schedule.
  cost::PipelineTimes times(std::size_t end);

 private:
  // An op of a model with queues on all sides.
  struct Alone {
    cost::PipelineOp op;
    double written = 0;
  };
  const Alone& alone(OpId op, const OpModel& model);

  const Placement& placement_;
  LinkModel& model_;
  std::map<std::pair<std::size_t, ModelShape>, Alone> alone_;
};

}  // namespace buda::balance
