// Errors of balancing that concern a node of the graph.
#pragma once

#include <buda/diag/diagnostic.hpp>
#include <buda/graph/fwd.hpp>

#include <string>

namespace buda::balance {

// "op 'fc1' (matmul): <message>", at the node's place.
Diagnostic node_error(std::string code, const graph::Node& node, const std::string& message);

// What the device, or a netlist, has no room for.
Diagnostic no_fit(std::string code, const graph::Node& node, const std::string& message);

}  // namespace buda::balance
