// SPDX-License-Identifier: Apache-2.0
// What a raise of an op costs: core-cycles of one input, by the formulas of kernels, with the op blocked as it is.
#pragma once

#include <buda/compiler/accuracy/raise.hpp>
#include <buda/compiler/accuracy/trial.hpp>
#include <buda/device/descriptor.hpp>

namespace buda::compiler {

// At least 1, so that of raises that cost nothing the one with the larger effect goes first. Where the op would be the slowest of its
// epoch, all cores of the epoch wait for it, and these cycles count. `sources`: of `op`, the operands for which raise.sources is.
double raise_cost(const RaisedOp& op, const Trial& placed, const device::DeviceDescriptor& device);

}  // namespace buda::compiler
