// SPDX-License-Identifier: Apache-2.0
// From a module to a graph.
#pragma once

#include "module.hpp"

#include <buda/graph/graph.hpp>
#include <buda/plugin/model_source.hpp>

namespace buda::stablehlo {

// `function` is imported, with all that it calls. Every operation that is not read is reported.
Result<graph::Graph> import_graph(const Module& module, const std::string& name, const std::string& function,
                                  const plugin::ImportOptions& options);

}  // namespace buda::stablehlo
