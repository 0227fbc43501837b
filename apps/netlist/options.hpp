// SPDX-License-Identifier: Apache-2.0
// The command lines of netlist and its commands.
#pragma once

#include <buda/cli/tool.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace buda::netlist_tool {

struct Options {
  std::vector<std::string> files;  // of `check`
  std::string netlist;             // of the others
  std::string other;               // of `diff`
  std::string output = "-";
  std::string format = "text";                // or "json"
  std::string device;                         // of `check` and `cost`; empty: the full grid of each architecture of the netlist
  std::int64_t chips = 0;                     // of `check`; 0: as the device has, or as the netlist uses
  bool for_run = false;                       // of `check`
  bool fit = false;                           // of `check`
  bool liveness = false;                      // of `check`
  std::int64_t slowest = 5;                   // of `cost`: ops per epoch; 0: all
  std::vector<std::string> programs, params;  // of `plan`
};

BUDA_EXPORT cli::ToolSpec tool(Options& options);

}  // namespace buda::netlist_tool
