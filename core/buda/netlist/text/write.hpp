// SPDX-License-Identifier: Apache-2.0
// Writes netlists.
#pragma once

#include <buda/netlist/model/netlist.hpp>

#include <string>

namespace buda::netlist {

// The canonical text: sections in a fixed order, one line per queue, one flow map per op, defaults left out. Reading it gives an equal
// netlist, and writing that gives the same bytes. The original reads it too: fields are in the order that it depends on.
std::string write_netlist(const Netlist& netlist);

}  // namespace buda::netlist
