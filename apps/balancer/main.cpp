// SPDX-License-Identifier: Apache-2.0
// balancer: from a device graph to a netlist.
#include "apps/balancer/options.hpp"

#include <buda/cli/tool.hpp>

int main(int argc, char** argv) {
  buda::balancer::Options options;
  return buda::cli::tool_main(argc, argv, buda::balancer::tool(options));
}
