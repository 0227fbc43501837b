// SPDX-License-Identifier: Apache-2.0
// Fused ops in the balancer: from the body in a graph's attributes to schedules in the netlist.
//
// All sub-ops work on ublocks of the op's own size, so that a fused op is blocked like any elementwise op; what it takes besides are its
// intermediate buffers, one ublock each, and the cycles of all its sub-ops.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/netlist/model/fused_op.hpp>

#include <memory>
#include <vector>

namespace buda::balance {

// The schedules of a node of type fused_op, still without blocks and id. What is wrong with its body is told with the node's name.
Result<std::shared_ptr<const netlist::FusedOp>> fused_schedules(const graph::Node& node);

// Cycles of an op's kernel (core/buda/cost). `fused` are its schedules, and null for any other op.
double kernel_cycles_of(const netlist::Op& op, const netlist::FusedOp* fused, const device::DeviceDescriptor& device);

}  // namespace buda::balance
