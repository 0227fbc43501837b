// Which graphs run at the same time on the chips of a cluster.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/netlist/netlist.hpp>
#include <buda/netlist/program_vm.hpp>

#include <cstddef>
#include <vector>

namespace buda::netlist {

// Graphs that are compiled and loaded together, at most one per chip at a time.
struct TemporalEpoch {
  std::vector<std::size_t> graphs;  // in Netlist::graphs, in order of first execution
  std::vector<StaticEpoch> epochs;  // of these graphs, in order of first execution
};

// Graphs on different chips of which one feeds the other directly, from op to op, form a unit. Units follow each other in the order of
// their first execution; with `merge_chips`, a unit joins the temporal epoch before it when they have no chip in common, as TT-Buda does on
// everything but Grayskull. Graphs that no program executes are in none.
Result<std::vector<TemporalEpoch>> temporal_epochs(const Netlist& netlist, bool merge_chips);

}  // namespace buda::netlist
