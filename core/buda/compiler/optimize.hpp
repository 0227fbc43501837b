// SPDX-License-Identifier: Apache-2.0
// The optimizer: from a framework's graph to device ops.
#pragma once

#include <buda/compiler/optimizer_options.hpp>
#include <buda/compiler/plugin_set.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/io/host.hpp>
#include <buda/passes/pipeline/pipeline.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace buda::compiler {

// Tag of a graph of device level: the name of the device that it was lowered for.
inline constexpr const char* kLoweredFor = "lowered_for";

// How a run is watched, ended early or made of other passes. By default nothing of this happens.
struct OptimizeControl {
  std::optional<passes::Pipeline> pipeline = {};  // nothing: share/pipelines/default.yaml
  // Every pass of the pipeline runs: neither an option nor the graph's level leaves one out.
  bool all_passes = false;
  std::string stop_after = {};  // a pass, after whose first execution the run ends; empty: at the pipeline's end
  std::uint64_t rewrite_limit = passes::RewriteCounter::kNoLimit;
  // Called with the graph as the first pass gets it, and after each execution of a pass; a failure ends the run.
  std::function<Result<void>(const graph::Graph&)> before_passes = {};
  std::function<Result<void>(const passes::PassRun&, const graph::Graph&)> after_pass = {};
};

struct Optimized {
  std::vector<passes::PassRun> runs;  // in order
  passes::RewriteCounter rewrites;
};

// What is wrong with the options, whatever the graph: formats, rules, names of ops.
Result<void> check_optimizer_options(const OptimizerOptions& options, Host& host);

// Runs the passes that options and level ask for on a graph of tensor level, in place; `plugins` brings the decompositions. Types that the
// graph leaves open are inferred first. Usage errors name the option. What the device cannot do is an error for each node (PA020), or with
// CPU fallback stays in the graph for the host's processor, with a warning (PA060).
Result<Optimized> optimize(graph::Graph& graph, const device::DeviceDescriptor& device, const OptimizerOptions& options,
                           const PluginSet& plugins, Host& host, const OptimizeControl& control = {});

}  // namespace buda::compiler
