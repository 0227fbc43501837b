// SPDX-License-Identifier: Apache-2.0
// The work of graph: one function per command.
#pragma once

#include "apps/graph/options.hpp"

#include <buda/diag/result.hpp>
#include <buda/graph/graph.hpp>

namespace buda::graph_tool {

Result<void> print(const Options& options, Host& host);
Result<void> stats(const Options& options, Host& host);
Result<void> draw(const Options& options, Host& host);
Result<void> cut(const Options& options, Host& host);
// A difference is a failure with Fault::mismatch.
Result<void> diff(const Options& options, Host& host);

// Reads a graph and gives types to nodes that have none.
Result<graph::Graph> read_typed(const std::string& path, Host& host);

}  // namespace buda::graph_tool
