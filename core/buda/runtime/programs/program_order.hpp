// SPDX-License-Identifier: Apache-2.0
// In which order a netlist's programs run when nobody says.
#pragma once

#include <buda/netlist/model/netlist.hpp>

#include <vector>

namespace buda::runtime {

// File order, but a program that takes from a queue comes behind those that fill it; a chip would wait for them. Programs that feed each
// other in a cycle stay in file order among themselves, and rams, which can be read at any time, order nothing.
//
//   a reads q2, b writes q2: b a        a reads q2 and writes q1, b reads q1 and writes q2: a b
//
// O(size of the netlist).
std::vector<const netlist::Program*> program_order(const netlist::Netlist& netlist);

}  // namespace buda::runtime
