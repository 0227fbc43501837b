// SPDX-License-Identifier: Apache-2.0
// Checks inputs that are taken as rows. Internal to the checker.
#pragma once

#include <buda/pipes/check/checked.hpp>
#include <buda/pipes/check/findings.hpp>

namespace buda::pipes {

// Input 0 of an op that takes rows of a queue in flat layout, piece by piece.
void check_rows(const Checked& checked, const netlist::Op& op, const netlist::Graph& graph, const netlist::Queue& queue,
                Findings& findings);

}  // namespace buda::pipes
