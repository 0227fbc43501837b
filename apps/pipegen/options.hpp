// SPDX-License-Identifier: Apache-2.0
// The command line of pipegen.
#pragma once

#include <buda/cli/tool.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace buda::pipegen {

struct Options {
  std::string pipes;  // of an epoch, or the folder of a netlist's epochs
  std::string output;
  std::string cluster;  // empty: the device's
  std::string device;   // empty: what the pipes were made for
  std::string format = "json";
  std::string report;
  std::int64_t epoch = 0;
  std::vector<std::string> products;  // set by run
};

// Where the stream programs of one epoch go.
std::string output_path(const Options& options);

BUDA_EXPORT cli::ToolSpec tool(Options& options);

}  // namespace buda::pipegen
