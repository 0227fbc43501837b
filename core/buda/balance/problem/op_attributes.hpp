// SPDX-License-Identifier: Apache-2.0
// Attributes of device-level nodes as attributes of netlist ops.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/attribute.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/netlist/model/op.hpp>

#include <string>

namespace buda::balance {

// Attributes bear the names of netlists. Those of the blocking (m_k, u_kt, …) are the balancer's own and refused here, as are unknown ones;
// every finding is reported, with the node.
Result<netlist::OpAttributes> netlist_attributes(const graph::Node& node);
// Those of a sub-op of a fused op; `name` and `type` are for messages.
Result<netlist::OpAttributes> netlist_attributes(const graph::AttrMap& attrs, const std::string& name, const std::string& type);

}  // namespace buda::balance
