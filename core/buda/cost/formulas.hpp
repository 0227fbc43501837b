// SPDX-License-Identifier: Apache-2.0
// The formulas of kernels, class by class: from a row of a device's costs to cycles. The fits of tests/bench/silicon evaluate them too.
//
// `larger` is how much larger the op's tiles are than those that were measured, in bytes. A result's basis and error are the caller's.
#pragma once

#include <buda/cost/kernel_cycles.hpp>
#include <buda/device/kernel_cost.hpp>

namespace buda::cost {

KernelCycles elementwise_cycles(const netlist::Op& op, const device::KernelCost& row, double larger);

// Reductions along z and depthwise matmuls.
KernelCycles accumulation_cycles(const netlist::Op& op, const device::AccumulationCost& row);

// `after`: what the math or pack thread does to each ublock of the result (the attribute sfpu_op).
KernelCycles matmul_cycles(const netlist::Op& op, const device::MatmulCost& row, double larger, device::StageCost after = {});

KernelCycles sparse_matmul_cycles(const netlist::Op& op, const SparseCounts& counts, const device::SparseCost& row, double larger);

}  // namespace buda::cost
