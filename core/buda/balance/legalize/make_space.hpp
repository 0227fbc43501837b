// SPDX-License-Identifier: Apache-2.0
// What policies choose from: the legal models of all ops.
#pragma once

#include <buda/balance/legalize/explain_overrides.hpp>
#include <buda/balance/legalize/self_cut.hpp>
#include <buda/balance/policy/choice_space.hpp>
#include <buda/diag/result.hpp>
#include <buda/graph/graph.hpp>
#include <buda/io/host.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace buda::balance {

struct SpaceOptions {
  ModelOptions models;
  std::map<std::string, std::string> overrides;  // BalanceOptions::overrides
  SelfCut self_cut = SelfCut::none;
  bool hosts_misfits = false;  // BalanceOptions::hosts_misfits
  bool explains = true;        // tries what would help ops without models
};

// Models of all ops; ops without any are reported together. The space holds the problem with what overrides say of buffers, queues
// between ops that are not compatible, and padding. `graph`: null where the problem comes from a netlist. `can_build`: for hints, which are
// tried.
Result<ChoiceSpace> make_space(const graph::Graph* graph, Problem problem, const SpaceOptions& asked, const CanBuild& can_build,
                               Host& host);

// The same space for a problem in which some ops add up otherwise; an op without any model then is a failure.
Result<ChoiceSpace> space_with(const ChoiceSpace& space, Problem problem, const std::vector<std::size_t>& changed, unsigned threads);

}  // namespace buda::balance
