// SPDX-License-Identifier: Apache-2.0
// The optimizer's command line.
#pragma once

#include <buda/cli/tool.hpp>
#include <buda/compiler/optimizer_options.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace buda::optimizer {

struct Options : compiler::OptimizerOptions {
  std::string graph;
  std::string output;  // empty: output_path()
  std::string device = "n150";
  std::string settings;  // empty: not asked for
  std::string pipeline;  // empty: share/pipelines/default.yaml
  bool list_passes = false;
  std::string passes;  // names with commas between them; empty: the pipeline
  std::string stop_after;
  std::vector<std::string> print_after;
  std::int64_t bisect_limit = -1;  // negative: none
  std::string dump_dir;
  bool timings = false;
  bool verify = false;
  std::string verify_inputs;  // empty: random ones
  double verify_correlation = 0.99999;
  double verify_error = 1e-4;
  std::vector<std::string> trial_placement;  // each KEY=VALUE, of the balancer
};

// Where the graph goes: -o, or the input's name with .device.graph.json in the current folder, or standard output for standard input.
std::string output_path(const Options& options);

BUDA_EXPORT cli::ToolSpec tool(Options& options);

}  // namespace buda::optimizer
