// SPDX-License-Identifier: Apache-2.0
// How fast inputs pass through the ops of an epoch, as the report counts it (buda/cost/pipeline.hpp), while ops are placed.
#pragma once

#include <buda/balance/policy/policy.hpp>
#include <buda/cost/pipeline.hpp>
#include "link_loads.hpp"

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace buda::balance {

class FlowTimes {
 public:
  FlowTimes(const PolicyContext& context, LinkModel& model) : context_(context), model_(model) {}

  // Of the context's present epoch, which ends before number `end` of the schedule.
  cost::PipelineTimes times(std::size_t end);

 private:
  // An op of a model with queues on all sides.
  struct Alone {
    cost::PipelineOp op;
    double written = 0;
  };
  const Alone& alone(OpId op, const OpModel& model);

  const PolicyContext& context_;
  LinkModel& model_;
  std::map<std::pair<std::size_t, ModelShape>, Alone> alone_;
};

}  // namespace buda::balance
