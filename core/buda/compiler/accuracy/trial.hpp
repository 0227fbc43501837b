// SPDX-License-Identifier: Apache-2.0
// One compilation on trial: with some rules of mixed precision more, placed, and run on the calibration's inputs.
#pragma once

#include <buda/compiler/accuracy/golden_run.hpp>
#include <buda/compiler/accuracy/score.hpp>
#include <buda/compiler/balancer_options.hpp>
#include <buda/compiler/optimizer_options.hpp>
#include <buda/compiler/place.hpp>
#include <buda/compiler/plugin_set.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/graph/graph.hpp>
#include <buda/io/host.hpp>
#include <buda/passes/pipeline/pipeline.hpp>
#include <buda/tensor/shape.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace buda::compiler {

// What is compiled again and again.
struct TrialSetting {
  const graph::Graph& graph;  // at tensor level
  const device::DeviceDescriptor& device;
  const OptimizerOptions& optimizer;
  const BalancerOptions& balancer;
  const PluginSet& plugins;
  const std::optional<passes::Pipeline>& pipeline;  // nothing: the default one
};

struct Trial {
  graph::Graph graph;                 // at device level, with formats
  std::map<std::string, Shape> data;  // of values by their node: the four sizes without padding, where they are known
  netlist::Netlist netlist;
  std::map<std::string, std::string> ops;  // of the netlist, by the node that each was
  balance::PlacementReport report;
  GoldenRun run;
  Score score;
  std::int64_t cycles = 0;   // simulated, of all inputs; 0 where the score does not hold and nobody asked
  bool is_simulated = true;  // false: the simulation stalls, and the cycles are those that the report expects
};

// Whether the first trial: its run keeps what ops make of the first batch, and its time is simulated whether it holds or not.
enum class TrialKind : std::uint8_t { first, other };

// Nothing: with these rules the model does not fit the device. Messages of the stages are swallowed: the
// compilation that follows the trials tells them.
Result<std::optional<Trial>> try_rules(const TrialSetting& setting, const std::vector<std::string>& rules, const NamedTensors& inputs,
                                       const NamedTensors& expected, double floor, TrialKind kind, Host& host);

}  // namespace buda::compiler
