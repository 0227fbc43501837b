// SPDX-License-Identifier: Apache-2.0
// netlist check --liveness: what an architecture's epochs are worth, as lines of the report.
#pragma once

#include <buda/io/node.hpp>
#include <buda/liveness/liveness.hpp>

#include <string>
#include <vector>

namespace buda::netlist_tool {

// A line for each epoch, indented.
std::string proof_text(const std::vector<liveness::EpochLiveness>& epochs);
// A list with an object for each.
io::Node proof_json(const std::vector<liveness::EpochLiveness>& epochs);

}  // namespace buda::netlist_tool
