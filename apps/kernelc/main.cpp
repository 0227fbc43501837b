// SPDX-License-Identifier: Apache-2.0
// kernelc: from a netlist to the programs of its cores.
#include "apps/kernelc/options.hpp"

#include <buda/cli/tool.hpp>

int main(int argc, char** argv) {
  buda::kernelc::Options options;
  return buda::cli::tool_main(argc, argv, buda::kernelc::tool(options));
}
