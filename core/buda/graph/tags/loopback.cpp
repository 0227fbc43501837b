// SPDX-License-Identifier: Apache-2.0
// Inputs with the tag, and their outputs.
#include <buda/graph/tags/loopback.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/tags/placement.hpp>

namespace buda::graph {
namespace {

std::string processor_of(const Graph& graph, const Node& n) { return on_host(graph, n) ? "the host" : "the device"; }

// Why one cannot be the other in the next step.
std::string mismatch(const Graph& graph, const Node& input, const Node& output) {
  // At tensor level an input is in no partition yet.
  if (graph.level == Level::device && on_host(graph, input) != on_host(graph, output))
    return cat("the input is on ", processor_of(graph, input), " and the output on ", processor_of(graph, output));
  const ValueType* given = output.inputs().size() == 1 ? graph.type(output.inputs()[0].source) : nullptr;
  if (given == nullptr || input.outputs.size() != 1) return "";
  const ValueType& taken = input.outputs[0];
  if (given->dtype == taken.dtype && given->shape == taken.shape) return "";
  return cat("the input is ", taken.text(), " and the output ", given->text());
}

}  // namespace

Result<std::vector<Loopback>> loopbacks(const Graph& graph) {
  std::vector<Loopback> out;
  Failure failure;
  for (NodeId id : graph.inputs()) {
    const Node& input = graph.node(id);
    auto tag = input.tags.find(kLoopback);
    if (tag == input.tags.end()) continue;
    NodeId output = graph.find_output(tag->second);
    std::string why = output.valid() ? mismatch(graph, input, graph.node(output)) : "there is no such output";
    if (why.empty()) {
      out.push_back({id, output});
      continue;
    }
    Diagnostic d =
        input_error("GR028", input.loc, cat("input '", input.name(), "' cannot be output '", tag->second, "' of the previous step: ", why));
    d.node = input.name();
    failure.add(std::move(d));
  }
  if (!failure.empty()) return failure;
  return out;
}

}  // namespace buda::graph
