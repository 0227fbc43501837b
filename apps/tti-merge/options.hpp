// SPDX-License-Identifier: Apache-2.0
// The command line of tti-merge.
#pragma once

#include <buda/cli/tool.hpp>

#include <string>
#include <vector>

namespace buda::tti_merge {

struct Options {
  std::string location;              // folder of the images
  std::vector<std::string> models;   // of --models
  std::vector<std::string> further;  // names behind the first of --models
  std::string arch = "wormhole_b0";
  std::string output = "merged_model.tti";
  bool keep_channels = false;
  bool no_overlap = false;
};

BUDA_EXPORT cli::ToolSpec tool(Options& options);

}  // namespace buda::tti_merge
