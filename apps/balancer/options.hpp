// SPDX-License-Identifier: Apache-2.0
// The balancer's command line.
#pragma once

#include <buda/cli/tool.hpp>
#include <buda/compiler/balancer_options.hpp>

#include <string>

namespace buda::balancer {

struct Options : compiler::BalancerOptions {
  std::string graph;
  bool from_netlist = false;  // `graph` is a netlist
  std::string output;         // the netlist
  std::string plan;           // empty: beside the netlist
  std::string report;         // empty: beside the netlist
  std::string picture;        // empty: none
  std::string overrides;      // the plan as options; empty: none
  std::string device = "n150";
  std::string settings;  // empty: not asked for
  std::string misfits;   // of ops without room; empty: they are errors
};

BUDA_EXPORT cli::ToolSpec tool(Options& options);

}  // namespace buda::balancer
