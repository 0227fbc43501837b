// SPDX-License-Identifier: Apache-2.0
// The command lines of graph and its commands.
#pragma once

#include <buda/cli/tool.hpp>

#include <string>
#include <vector>

namespace buda::graph_tool {

struct Options {
  std::string graph;
  std::string other;  // of `diff`
  std::string output = "-";
  std::vector<std::string> from, to;  // of `cut`
  bool full = false;                  // of `draw`
};

BUDA_EXPORT cli::ToolSpec tool(Options& options);

}  // namespace buda::graph_tool
