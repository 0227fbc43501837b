// SPDX-License-Identifier: Apache-2.0
// The command line of perf-analyzer.
#pragma once

#include <buda/screen/screen.hpp>

#include <buda/cli/tool.hpp>

#include <cstdint>
#include <string>

namespace buda::perf_analyzer {

using screen::Screen;

struct Options {
  std::string folder = ".";
  std::string netlist;
  std::string load, save;
  std::string graph, settings, device;  // with which advice is tried
  std::int64_t tries = 24;
  bool spatial_epochs = false;
  bool print = false;
  bool json = false;
  bool full_names = false;
  bool no_color = false;
};

// `screen`: where the interactive screens are shown.
BUDA_EXPORT cli::ToolSpec tool(Options& options, Screen screen);

}  // namespace buda::perf_analyzer
