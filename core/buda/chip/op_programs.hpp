// SPDX-License-Identifier: Apache-2.0
// What the cores of an op are loaded with, but for tiles: the programs of its kernel, and what these are told. Internal to the module.
#pragma once

#include <buda/arith/graph_plan.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/kernels/programs/elf.hpp>
#include <buda/kernels/tables/op_layout.hpp>
#include <buda/kernels/text/kernel_set.hpp>
#include <buda/movers/tables.hpp>
#include <buda/netlist/model/netlist.hpp>
#include <buda/overlay/blob/blob.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace buda::chip {

// Parts of L1, by address.
using Parts = std::vector<std::pair<std::uint32_t, std::string>>;

struct OpPrograms {
  kernels::OpLayout layout;
  Parts programs;                        // with zeros where they have variables
  std::array<std::uint32_t, 3> entries;  // where the threads begin
};

// CP001 for an op that the chip cannot run by movers yet. `blob`: of its epoch. `inputs`: as edges deliver them; of index tiles of a sparse
// matmul with their numbers, of all others shape and format are enough.
Result<OpPrograms> op_programs(const netlist::Netlist& netlist, const arith::OpPlan& op, const overlay::Blob& blob,
                               const std::vector<arith::ValuePtr>& inputs, const kernels::KernelSet& kernels, const device::L1Map& l1);

// Arguments and tables for one core, whose rings are where its stream program has them. What the kernel has beside them goes into what is
// free behind the tables; CP002 where that is too little.
Result<Parts> arguments_of(const netlist::Op& op, const OpPrograms& programs, const overlay::Core& core, const movers::CoreTables& tables,
                           std::uint64_t tables_end, std::int64_t inputs, const device::L1Map& l1);

}  // namespace buda::chip
