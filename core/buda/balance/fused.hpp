// Fused ops in the balancer: from the body in a graph's attributes to schedules in the netlist.
//
// All sub-ops work on ublocks of the op's own size, so that a fused op is blocked like any elementwise op; what it takes besides are its
// intermediate buffers, one ublock each, and the cycles of all its sub-ops.
//
// While it is balanced, an op is known by its netlist::Op alone, and schedules have no place there. Its fused_op_id is then the body
// itself, as a text, from which the functions below read it; build_netlist gives it an id of the netlist in exchange. Ops of equal body and
// equal blocks so share one.
#pragma once

#include <buda/balance/resources.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/graph/node.hpp>
#include <buda/netlist/fused_op.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace buda::balance {

// The body of a node of type fused_op as a text. What is wrong with it is told with the node's name.
Result<std::string> fused_body_text(const graph::Node& node);

// The schedules of an op whose fused_op_id is a body, with its blocks, under an id.
netlist::FusedOp fused_op_of(const netlist::Op& op, std::string id);

// Cycles of an op's kernel: of a fused op, of all its sub-ops.
double kernel_cycles_of(const netlist::Op& op, const device::DeviceDescriptor& device);
// l1_usage and usages (resources.hpp) with the intermediates of a fused op.
Usage l1_usage_of(const netlist::Op& op, const Links& links, const device::DeviceDescriptor& device);
std::vector<Usage> usages_of(const netlist::Op& op, const Links& links, const device::DeviceDescriptor& device);

}  // namespace buda::balance
