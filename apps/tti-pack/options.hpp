// SPDX-License-Identifier: Apache-2.0
// The command lines of tti-pack and its commands.
#pragma once

#include <buda/cli/tool.hpp>

#include <string>
#include <vector>

namespace buda::tti_pack {

struct Options {
  std::string netlist;
  std::string plan;                   // empty: beside the netlist
  std::string build;                  // empty: no products of the compiler
  std::string device;                 // empty: the one that the plan names
  std::string cluster;                // empty: that of the device
  std::vector<std::string> settings;  // files with the options of the stages
  std::string tensors = "backend";
  bool raw = false, tilized = false;  // by the variables of PyBuda
  std::string output;                 // image, or folder of `extract`
  std::string image;                  // of `info` and `extract`
  bool json = false;
};

// Where the image goes, and the members of one that is taken apart.
std::string image_path(const Options& options);
std::string folder_path(const Options& options);

BUDA_EXPORT cli::ToolSpec tool(Options& options);

}  // namespace buda::tti_pack
