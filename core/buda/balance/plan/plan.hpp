// SPDX-License-Identifier: Apache-2.0
// The product of balancing: what was chosen for a problem, and the netlist and report that follow from it.
#pragma once

#include <buda/balance/emit/netlist_builder.hpp>
#include <buda/balance/emit/report.hpp>
#include <buda/balance/policy/choice_space.hpp>
#include <buda/balance/problem/problem.hpp>

namespace buda::balance {

struct Plan {
  Problem problem;
  Choice choice;
  BuiltNetlist built;
  PlacementReport report;
};

}  // namespace buda::balance
