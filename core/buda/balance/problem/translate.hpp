// SPDX-License-Identifier: Apache-2.0
// Words of graphs in those of netlists: manipulations, fidelities, accumulation formats.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/graph/node.hpp>
#include <buda/graph/tm.hpp>
#include <buda/netlist/model/op.hpp>
#include <buda/netlist/model/tensor_maps.hpp>

#include <string>
#include <variant>
#include <vector>

namespace buda::balance {

// A netlist has unpad before and pad after everything else; what stands elsewhere in a graph's list is told in a sentence without full
// stop. Manipulations that do nothing are left out. `from`: the shape in which the value leaves its producer; broadcasts along z of
// several matrices, which no netlist has, become broadcasts of one that has them side by side.
std::variant<netlist::EdgeMaps, std::string> netlist_maps(const std::vector<graph::Tm>& tms, const netlist::TileShape& from);

netlist::MathFidelity netlist_fidelity(graph::MathFidelity fidelity);

// The usual accumulation format for a first operand: as wide as it where the chip can, else 16 bits with its exponents.
DataFormat standard_accumulation(DataFormat operand, const device::DeviceDescriptor& device);

}  // namespace buda::balance
