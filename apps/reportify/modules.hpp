// SPDX-License-Identifier: Apache-2.0
// What is in a folder of reports: the files that compilations and runs left there, by model.
#pragma once

#include <buda/io/file_system.hpp>

#include <string>
#include <vector>

namespace buda::reportify {

// A graph as it was at some time of the compilation: "initial_graph", "013-decompose", "post_placer".
struct Pass {
  std::string name;
  std::string path;
  bool of_host = false;  // a part of the model that the host runs: no step on the way to another graph
};

// Paths are empty where there is no such file.
struct Module {
  std::string name;    // of the model
  std::string folder;  // where its files are
  std::vector<Pass> passes;
  std::string report, netlist;
  std::string summary, executions;  // of a run
  std::string accuracy;             // of its ops
};

inline constexpr std::string_view kInitialGraph = "initial_graph", kPostPlacer = "post_placer";

// The models of `folder`, and of the folders in it, in the order of their names. RY001: there are none.
Result<std::vector<Module>> find_modules(io::FileSystem& fs, const std::string& folder);

}  // namespace buda::reportify
