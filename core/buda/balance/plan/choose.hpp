// From a problem to the choice of the policy.
#pragma once

#include <buda/balance/plan/context.hpp>
#include <buda/graph/graph.hpp>

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

}  // namespace buda::balance
