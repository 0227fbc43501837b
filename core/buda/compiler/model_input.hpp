// SPDX-License-Identifier: Apache-2.0
// Inputs of an imported graph, by the names that they have in the model.
#pragma once

#include <buda/graph/fwd.hpp>
#include <buda/graph/node_id.hpp>

#include <string>

namespace buda::compiler {

// A graph may spell a name in another way; then the node's origin has it as the model does. Invalid where there is no such input.
graph::NodeId input_of(const graph::Graph& graph, const std::string& name);

}  // namespace buda::compiler
