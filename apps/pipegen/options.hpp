// The command line of pipegen.
#pragma once

#include <buda/cli/tool.hpp>

#include <cstdint>
#include <string>

namespace buda::pipegen {

struct Options {
  std::string pipes;
  std::string output;
  std::string cluster;  // empty: the device's
  std::string device;   // empty: what the pipes were made for
  std::string format = "json";
  std::string report;
  std::int64_t epoch = 0;
};

// Where the stream programs go.
std::string output_path(const Options& options);

BUDA_EXPORT cli::ToolSpec tool(Options& options);

}  // namespace buda::pipegen
