// SPDX-License-Identifier: Apache-2.0
// Options that name ops of the model, put on the graph as tags before the first pass.
#pragma once

#include <buda/compiler/optimizer_options.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/io/host.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace buda::compiler {

// The names in "a,b", or in "[a, b]", which is what a config file's list becomes.
std::vector<std::string> names_in(std::string_view list);

// Tags ops for the passes (fusing) and for the balancer (graph/constraint_tags.hpp: breaks and orders), and adds an output for each value
// that is to be saved. OP in these options is the name of a node, or of the model's node that it comes from. A name that no op has is
// most likely a mistake: a warning (OZ005).
void mark_ops(graph::Graph& graph, const OptimizerOptions& options, Host& host);

}  // namespace buda::compiler
