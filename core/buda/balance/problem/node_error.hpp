// SPDX-License-Identifier: Apache-2.0
// Errors of balancing that concern a node of the graph.
#pragma once

#include <buda/diag/diagnostic.hpp>
#include <buda/graph/fwd.hpp>

#include <string>
#include <string_view>

namespace buda::balance {

// "op 'fc1' (matmul): <message>", at the node's place.
Diagnostic node_error(std::string code, const graph::Node& node, const std::string& message);

// What the device, or a netlist, has no room for.
Diagnostic no_fit(std::string code, const graph::Node& node, const std::string& message);

// In Diagnostic::data of an op that only picks rows and has no room: the host can run it.
inline constexpr std::string_view kPicksRows = "picks_rows";

}  // namespace buda::balance
