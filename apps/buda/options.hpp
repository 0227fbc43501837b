// SPDX-License-Identifier: Apache-2.0
// The driver's command line.
#pragma once

#include <buda/cli/tool.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace buda::driver {

// Of `buda compile`, `buda train` and `buda bench`.
struct Options {
  bool trains = false;
  std::string target;  // of `buda train`: what executes the steps; empty: golden. Of `buda bench`: what simulates; empty: grid
  std::string model;
  std::string output;  // empty: the model's name with .tti, in the current folder
  std::string device = "n150";
  std::string frontend;  // empty: the importer decides
  std::string policy;    // empty: the balancer's default
  std::string level;     // optimisation level; empty: the optimizer's default
  std::vector<std::string> dims;
  std::vector<std::string> input_shapes;
  std::vector<std::string> values = {};
  std::vector<std::string> value_ranges = {};
  std::string build_dir;            // where intermediate files stay; empty: nowhere
  std::string reports;              // folder of reports, in which the model has one of its own; empty: none
  std::string cache;                // folder of a store of images; empty: none
  std::int64_t cache_limit = 5120;  // MiB that stay in it
  double accuracy = 0;              // floor of the optimizer's --accuracy; 0: none
  std::string accuracy_rules;       // where the rules go that hold it; empty: beside the image
  std::string summary = "text";     // text, layers or json
  std::int64_t rounds = 3;          // of the program's loop, that `buda bench` simulates
  bool json = false;                // its table for programs
  bool save_temps = false;
  bool dry_run = false;  // -###
  bool check = false;    // let every stage prove its product
  bool kernels = false;  // compile kernels into the image
  // --set TOOL.KEY=VALUE, by "TOOL.KEY", and op.NAME.KEY for the balancer.
  std::map<std::string, std::map<std::string, std::string>> stage_options;
  // Options of a stage that were given to the driver as they are, by stage: as arguments.
  std::map<std::string, std::vector<std::string>> handed_on;
};

// Of `buda cache`.
struct CacheOptions {
  std::string action;  // stats or clear
  std::string store;
};

// Of `buda explain`.
struct ExplainOptions {
  std::vector<std::string> codes;
};

// Of all commands.
struct AllOptions {
  Options compile, train, bench;
  CacheOptions cache;
  ExplainOptions explain;
};

BUDA_EXPORT cli::ToolSpec tool(AllOptions& options);

}  // namespace buda::driver
