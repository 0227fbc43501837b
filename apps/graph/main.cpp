// SPDX-License-Identifier: Apache-2.0
// graph: looks into graph files, compares them, and cuts parts out of them.
#include "apps/graph/options.hpp"

#include <buda/cli/tool.hpp>

int main(int argc, char** argv) {
  buda::graph_tool::Options options;
  return buda::cli::tool_main(argc, argv, buda::graph_tool::tool(options));
}
