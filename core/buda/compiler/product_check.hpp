// SPDX-License-Identifier: Apache-2.0
// The last look at a netlist before it is written: what later stages would refuse is refused here.
#pragma once

#include <buda/balance/plan/plan.hpp>
#include <buda/diag/result.hpp>
#include <buda/graph/graph.hpp>

#include <string>

namespace buda::compiler {

// Reads the text of the plan's netlist back, compares it, and applies every rule of netlists to it. A violation of a rule about the
// computation (RuleSubject) is a mistake of the graph and is reported for its node; any other violation is a bug of the balancer.
Result<void> check_product(const balance::Plan& plan, const graph::Graph& graph, const std::string& text);

}  // namespace buda::compiler
