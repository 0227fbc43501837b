// The optimizer's command line.
#pragma once

#include <buda/cli/tool.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace buda::optimizer {

struct Options {
  std::string graph;
  std::string output;  // empty: output_path()
  std::string device = "n150";
  std::string level = "1";
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
  std::string default_df;             // empty: by element types
  std::string default_accumulate_df;  // empty: by the inputs of each op
  std::string default_math_fidelity = "HiFi3";
  std::string fp32_fallback = "Float16_b";
  std::string amp_light = "0";
  std::string amp_level = "0";
  bool bfp8_conversion = false;
  std::vector<std::string> mixed_precision;  // rules, in order
  bool fold_constants = true;
  bool stable_softmax = true;
  bool conv_prestride = true;
  bool auto_fusing = true;
  bool small_tiles = true;
  bool pool_surround = false;
  double pool_surround_value = 1.0;
  bool device_tilize = false;
  std::vector<std::string> dont_fuse;
  std::vector<std::string> manual_fuse;                                                     // each: names with commas between them
  std::vector<std::string> epoch_breaks, chip_breaks, schedule_constraints, intermediates;  // likewise
  std::vector<std::string> loopback_outputs;                                                // each: INPUT=OUTPUT
  bool link_past_caches = false;
  std::vector<std::string> queues, nops, fracture_groups, conv_fractures;                   // as demand_texts.hpp tells
  bool cpu_fallback = true;
  std::string cpu_fallback_ops = "embedding";  // names with commas between them
  std::vector<std::string> cpu_fallback_nodes;
  bool tm_cpu_fallback = false;
  std::int64_t tm_cpu_fallback_max_depth = 10;
};

// Where the graph goes: -o, or the input's name with .device.graph.json in the current folder, or standard output for standard input.
std::string output_path(const Options& options);

cli::ToolSpec tool(Options& options);

}  // namespace buda::optimizer
