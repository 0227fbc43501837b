// SPDX-License-Identifier: Apache-2.0
// Which row of a device's costs an op goes by: its type and attributes, then the format nearest to that of its operands.
#pragma once

#include <buda/cost/kernel_cycles.hpp>
#include <buda/device/kernel_cost.hpp>

#include <string_view>

namespace buda::cost {

// The format that decides how fast operands come: the widest one; of quantizations and sparse matmuls that of the data.
DataFormat operand_format(const netlist::Op& op);

// How far apart formats are for the choice of a row; 0 for formats that take the same time.
int format_distance(DataFormat a, DataFormat b);

// KernelCost::variant of the row that fits best.
std::string_view row_variant(const netlist::Op& op);

// Tiles of the op's operands over those of `measured`, in bytes.
double larger_tiles(const netlist::Op& op, DataFormat measured, const device::DeviceDescriptor& device);

// Null where the device has no row of the kind.
const device::KernelCost* kernel_row(const netlist::Op& op, const device::CostParameters& cost);
const device::AccumulationCost* accumulation_row(const netlist::Op& op, const device::CostParameters& cost);
const device::MatmulCost* matmul_row(const netlist::Op& op, const device::CostParameters& cost);
const device::SparseCost* sparse_row(const netlist::Op& op, const device::CostParameters& cost);

}  // namespace buda::cost
