// SPDX-License-Identifier: Apache-2.0
// Which graphs run at the same time on the chips of a cluster.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/netlist/model/netlist.hpp>
#include <buda/netlist/program/program_vm.hpp>

#include <cstddef>
#include <vector>

namespace buda::netlist {

// Graphs that are compiled and loaded together, at most one per chip at a time.
struct TemporalEpoch {
  std::vector<std::size_t> graphs;  // in Netlist::graphs, in order of first execution
  std::vector<StaticEpoch> epochs;  // of these graphs, in order of first execution
};

// Graphs of which one feeds the other directly, from op to op, are in one epoch. With `merge_chips`, an epoch also joins the one that was
// executed before it when they have no chip in common, as TT-Buda does on everything but Grayskull. Epochs follow each other in the order
// of the file, not of execution: each is at the position of its graph that takes from others last, or its first. Graphs that no program
// executes are in none.
Result<std::vector<TemporalEpoch>> temporal_epochs(const Netlist& netlist, bool merge_chips);

}  // namespace buda::netlist
