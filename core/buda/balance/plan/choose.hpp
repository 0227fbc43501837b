// SPDX-License-Identifier: Apache-2.0
// From a problem to the choice of the policy.
#pragma once

#include <buda/balance/plan/context.hpp>
#include <buda/graph/graph.hpp>

#include <optional>

namespace buda::balance {

struct ChosenPlan {
  // What the policy chose from, with the problem that it chose for. Some of its ops may add up in Float32 by now, since that costs next to
  // nothing; the space has their models without that, which are never slower.
  ChoiceSpace space;
  Choice choice;

  const Problem& problem() const { return *space.problem; }
};

// `graph`: the one that the problem was made of; null where it was made of a netlist.
Result<ChosenPlan> choose_plan(const graph::Graph* graph, Problem problem, const PlanContext& context);

// What is chosen next where the stream programs of a plan do not fit (emit/laid_out.hpp), which shows when all neighbours are known:
// without the implementations of the ops that `why` names; of their neighbours where an op has no other. Nothing where none has another.
std::optional<ChosenPlan> choose_other(const ChosenPlan& failed, const Failure& why, const PlanContext& context);

}  // namespace buda::balance
