// SPDX-License-Identifier: Apache-2.0
// netlist2pipe: from a netlist to pipes, one pipegen file per temporal epoch.
#include "apps/netlist2pipe/options.hpp"

#include <buda/cli/tool.hpp>

int main(int argc, char** argv) {
  buda::netlist2pipe::Options options;
  return buda::cli::tool_main(argc, argv, buda::netlist2pipe::tool(options));
}
