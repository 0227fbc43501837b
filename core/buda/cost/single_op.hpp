// SPDX-License-Identifier: Apache-2.0
// Ops that are no fused ops: from the type to the formula and the row.
#pragma once

#include <buda/cost/kernel_cycles.hpp>

namespace buda::cost {

// `op` may be a step of a fused op, as an op of its own.
KernelCycles single_op_cycles(const netlist::Op& op, const device::DeviceDescriptor& device, const SparseCounts* counts);

}  // namespace buda::cost
