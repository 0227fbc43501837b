// SPDX-License-Identifier: Apache-2.0
// The command line of plugin-check.
#pragma once

#include <buda/cli/tool.hpp>

#include <string>
#include <vector>

namespace buda::plugin_check {

struct Options {
  std::vector<std::string> plugins;
  std::vector<std::string> samples;
  std::string device = "n150";
  double max_error = 1e-4;
  double min_correlation = 0.99;
  bool values = true;
};

BUDA_EXPORT cli::ToolSpec tool(Options& options);

}  // namespace buda::plugin_check
