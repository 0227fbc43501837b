// A mixed graph (graph/placement.hpp) as what runs one after the other: a graph on the host, one on the device, another one on the host.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/graph.hpp>
#include <buda/host_plan/host_plan.hpp>

#include <map>
#include <optional>
#include <string>

#pragma GCC visibility push(default)

namespace buda::balance {

// A value goes from one segment to the next under a name that nothing else of the model has: outputs and inputs of these graphs that are
// none of the model's.
struct Segments {
  std::optional<graph::Graph> before;  // at tensor level, as is `behind`
  std::optional<graph::Graph> device;  // without nodes of the host; nothing when that does all
  std::optional<graph::Graph> behind;
  // Inputs of the device's graph that come from the host: how the value is called there (its own name, or that of an input of the model).
  std::map<std::string, std::string> entering;
  // Outputs of the device's graph that go on to the host, under their own names.
  std::map<std::string, std::string> leaving;
  // The model's inputs and outputs in order, with the types that the user sees; those of the device without queues.
  std::vector<host_plan::PlanTensor> inputs, outputs;
};

// A graph without nodes of the host is a device segment. BL024: the host needs something of the device that the device then needs; only
// graphs written by hand have that. O((n + e) log n).
Result<Segments> split_segments(graph::Graph graph);

// What the plan of the device's graph lacks: the host's segments, in these files, and their inputs and outputs. What passes between host
// and device moves from the plan's inputs and outputs to the device segment.
void add_host_segments(host_plan::HostPlan& plan, const Segments& segments, const std::string& before_file, const std::string& behind_file);

}  // namespace buda::balance

#pragma GCC visibility pop
