// SPDX-License-Identifier: Apache-2.0
// A mixed graph (graph/placement.hpp) as what runs one after the other: graphs on the host, and between them parts of one graph on the
// device.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/graph.hpp>
#include <buda/host_plan/host_plan.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace buda::balance {

// A value goes from one segment to another under a name that nothing else of the model has: outputs and inputs of these graphs that are
// none of the model's.
struct Segments {
  // Without nodes of the host; nothing when that does all. Its ops have the tag graph::kSegment where there are
  // several segments.
  std::optional<graph::Graph> device;
  std::size_t device_segments = 0;
  // At tensor level: graph i runs before device segment i, the last one behind all. Nothing where the host has nothing to do there.
  std::vector<std::optional<graph::Graph>> host;
  struct Passing {
    std::string name;         // of the value for the host
    std::size_t segment = 0;  // of the device
  };
  // By name, inputs of the device's graph that come from the host (the value's name is its own, that of an input of the model, or that of
  // an output of an earlier device segment), and outputs of the device's graph that go to the host.
  std::map<std::string, Passing> entering, leaving;
  // The model's inputs and outputs in order, with the types that the user sees; those of the device without queues.
  std::vector<host_plan::PlanTensor> inputs, outputs;

  bool has_host() const;
};

// An input or output of a graph, with all that the plan says of it but for queue and transforms.
host_plan::PlanTensor plan_tensor(const graph::Graph& graph, const graph::Node& border);

// A graph without nodes of the host is one device segment. Ops between which values pass on the device are of one segment, as are readers
// of one input and what a state leads to; each runs as early as it can. BL024: the host needs something of the device that the same
// segment then needs; only graphs written by hand have that. O((n + e) log n).
Result<Segments> split_segments(graph::Graph graph);

// "digits.before.graph.json": the file of host graph i of that many device segments, for files with that stem.
std::string host_graph_file(const std::string& stem, std::size_t i, std::size_t device_segments);

// What the plan of the device's graph lacks: the host's segments, in files host_graph_file(stem, …), and their inputs and outputs. What
// passes between host and device moves from the plan's inputs and outputs to the device segments.
void add_host_segments(host_plan::HostPlan& plan, const Segments& segments, const std::string& stem);

}  // namespace buda::balance
