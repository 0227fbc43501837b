// SPDX-License-Identifier: Apache-2.0
// The runner's command line.
#pragma once

#include <buda/cli/tool.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace buda::runner {

struct Options {
  std::string model;
  std::string of_image;               // model of a merged image
  std::vector<std::string> inputs;    // FILE or NAME=FILE
  std::string output;                 // empty: output_path() decides
  std::string target;                 // empty: golden, for a graph cpu
  std::string device;                 // empty: the one that image or plan name
  std::string streams;                // folder with stream programs; empty: those of the image, or made here
  std::string plan;                   // of a netlist; empty: beside it, if there is one
  std::string formats = "fp32";       // of a graph: fp32 or exact
  bool bare = false;                  // a netlist without its plan
  std::vector<std::string> params;    // NAME=VALUE
  std::vector<std::string> programs;  // of a bare netlist, in this order; empty: all
  bool stimulus = false;              // inputs that no file gives are drawn
  std::int64_t rounds = 1;            // of the program's loop, for which they are drawn
  bool test = false;                  // the same, and compared with the fp32 reference as its test-config says
  std::string trace;
  std::string perf;                   // folder for what a timed target measured
  std::string perf_level = "1";       // how much of it is recorded
  std::string telemetry;              // file that tells of the device while it runs
  std::string accuracy;               // file for how far ops are from fp32
  std::string dump;                   // file for what ops make
  std::vector<std::string> dump_ops;  // only of these
  std::string expect;
  std::optional<double> pcc, rtol, atol, max_error, mean_error;
  bool same_type = false;
};

// The target that evaluates graphs; it is not a plugin.
inline constexpr const char* kCpu = "cpu";
// RN001; `what` the model is instead of a graph.
Diagnostic cpu_is_for_graphs(const std::string& model, const char* what);

// Where the outputs go; empty: nowhere, because something else is asked of the run, or because the model came from standard input.
std::string output_path(const Options& options);

BUDA_EXPORT cli::ToolSpec tool(Options& options);

}  // namespace buda::runner
