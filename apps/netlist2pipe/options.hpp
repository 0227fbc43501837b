// SPDX-License-Identifier: Apache-2.0
// The command line of netlist2pipe.
#pragma once

#include <buda/cli/tool.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace buda::netlist2pipe {

struct Options {
  std::string netlist;
  std::string output;
  std::string device;   // empty: the full grid of the netlist's architecture
  std::string cluster;  // empty: the device's
  std::string arch;     // empty: the netlist names one
  std::string format = "yaml";
  std::int64_t epoch = -1;
  bool check = false;
  std::vector<std::string> products;  // set by run
  bool is_compact() const { return format == "json"; }
};

BUDA_EXPORT cli::ToolSpec tool(Options& options);

}  // namespace buda::netlist2pipe
