// SPDX-License-Identifier: Apache-2.0
// The command line of autograd.
#pragma once

#include <buda/cli/tool.hpp>

#include <string>

namespace buda::autograd_tool {

struct Options {
  std::string graph;
  std::string output;  // empty: output_path()
  std::string loss = "cross_entropy";
  std::string optimizer = "sgd:lr=0.01";
  std::string update = "pairs";
  std::string form = "step";
  double clip_norm = 0, clip_value = 0;  // 0: none
  std::string prediction;                // empty: the only output
  std::string trainable;                 // empty: all parameters
  std::string frozen;                    // empty: none
  bool initialize = false;
  bool check = false;
};

// Where the graph goes: -o, or the input's name with .train.graph.json in the current folder, or standard output for standard input.
std::string output_path(const Options& options);

BUDA_EXPORT cli::ToolSpec tool(Options& options);

}  // namespace buda::autograd_tool
