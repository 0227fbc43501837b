// SPDX-License-Identifier: Apache-2.0
// The trainer's command line.
#pragma once

#include <buda/cli/tool.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace buda::trainer {

struct Options {
  std::string model;
  std::string output;  // empty: output_path()
  std::vector<std::string> inputs, targets;
  std::vector<std::string> validate, validate_targets;
  std::string target;  // empty: golden, for a graph cpu
  std::string device;  // empty: the one that the image names
  std::int64_t epochs = 1;
  std::int64_t steps = 0;       // 0: as many as the epochs have
  std::int64_t accumulate = 1;  // batches of the model in a step
  bool shuffle = true;
  std::string schedule = "constant";
  std::int64_t checkpoint_every = 0;  // 0: only at the end
  std::string resume;
  std::string log;
  std::string perf;  // folder for what a timed target measured
  bool check_samples = false;
};

// The target that evaluates graphs; it is not a plugin.
inline constexpr const char* kCpu = "cpu";

// The checkpoint: -o, or the model's name with .trained.safetensors in the current folder.
std::string output_path(const Options& options);

BUDA_EXPORT cli::ToolSpec tool(Options& options);

}  // namespace buda::trainer
