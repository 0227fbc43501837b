// SPDX-License-Identifier: Apache-2.0
// netlist: validates netlists, shows what they hold and do, compares them, and writes them in their canonical form.
#include "apps/netlist/options.hpp"

#include <buda/cli/tool.hpp>

int main(int argc, char** argv) {
  buda::netlist_tool::Options options;
  return buda::cli::tool_main(argc, argv, buda::netlist_tool::tool(options));
}
