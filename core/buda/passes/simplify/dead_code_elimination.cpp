// SPDX-License-Identifier: Apache-2.0
// dead-code-elimination: removes what no output depends on. Model inputs stay, used or not: the caller pushes them.
//
// before                                        after
//   e = exp(x)                                    y = relu(x)
//   y = relu(x)                                   out = output(y)
//   out = output(y)
#include <buda/passes/pipeline/standard_passes.hpp>

#include <buda/graph/editor.hpp>

namespace buda::passes {
namespace {

Result<PassReport> dead_code_elimination(graph::Graph& graph, PassContext&) { return PassReport{graph::erase_dead_nodes(graph)}; }

}  // namespace

const Pass kDeadCodeElimination = {.name = "dead-code-elimination",
                                   .summary = "remove nodes that no output depends on",
                                   .level = std::nullopt,
                                   .run = dead_code_elimination};

}  // namespace buda::passes
