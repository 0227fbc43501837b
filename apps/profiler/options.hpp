// SPDX-License-Identifier: Apache-2.0
// The command line of profiler.
#pragma once

#include <buda/cli/tool.hpp>
#include <buda/serve/service.hpp>

#include <cstdint>
#include <functional>
#include <string>

namespace buda::profiler {

struct Options {
  std::string input = ".";
  std::string output = "output";
  std::string name;  // appended to the names of products
  bool date = false;
  std::string address = "127.0.0.1";
  std::int64_t port = 8050;
  // Parts of the work of `profiler device`, and of `profiler ops`.
  bool no_print_stats = false, no_webapp = false, no_plots = false, no_artifacts = false;
  bool webapp = false;
};

// What the executable alone has: the HTTP library, and the clock on the wall, as "2026_01_31_12_30_00".
struct Outside {
  serve::Serve serve;
  std::function<std::string()> date;
};

BUDA_EXPORT cli::ToolSpec tool(Options& options, Outside outside);

}  // namespace buda::profiler
