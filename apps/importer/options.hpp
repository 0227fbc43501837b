// SPDX-License-Identifier: Apache-2.0
// The importer's command line.
#pragma once

#include <buda/cli/tool.hpp>

#include <string>
#include <vector>

namespace buda::importer {

struct Options {
  std::string model;     // "-": standard input
  std::string output;    // empty: output_path() decides
  std::string frontend;  // empty: the one that recognises the model
  std::string name;      // of the graph; empty: the frontend decides
  std::string list_ops;  // a frontend whose operators are listed, and nothing else done
  bool copy_tensors = false;
  std::string parameters = {};                 // a file with other weights; empty: none
  std::vector<std::string> dims;               // NAME=N
  std::vector<std::string> values = {};        // NAME=FILE
  std::vector<std::string> value_ranges = {};  // NAME=LEAST:MOST
  std::vector<std::string> input_shapes = {};  // NAME=N,N,…[:TYPE]
  bool training = false;
};

// Where the graph goes: "models/mlp.onnx" to "mlp.graph.json" in the current folder, standard input to standard output.
std::string output_path(const Options& options);

BUDA_EXPORT cli::ToolSpec tool(Options& options);

}  // namespace buda::importer
