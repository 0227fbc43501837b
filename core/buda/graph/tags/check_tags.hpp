// SPDX-License-Identifier: Apache-2.0
// What is wrong with the tags of a graph. Later stages read them, but only a stage that has the user's file can name the place in it.
#pragma once

#include <buda/diag/diagnostic.hpp>
#include <buda/graph/fwd.hpp>

#include <vector>

namespace buda::graph {

// GR027 for constraints, GR028 for the state of a model, GR029 for small tiles.
std::vector<Diagnostic> check_tags(const Graph& graph);

}  // namespace buda::graph
