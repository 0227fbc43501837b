// SPDX-License-Identifier: Apache-2.0
// Inputs that nothing reads, and first values of states.
#include <buda/runtime/model/model_ports.hpp>

#include <buda/graph/graph.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/runtime/inputs/port_values.hpp>
#include <buda/tensor/tensor.hpp>

#include <optional>
#include <set>
#include <string>

namespace buda::runtime {
namespace {

// Of a state on the device what its queue holds first; of one that the host keeps the value of the input in a graph of the host.
Result<std::optional<Tensor>> first_value(const Model& model, const StatePort& state) {
  const std::string& input = state.input.tensor->name;
  if (state.input.queue != nullptr) {
    auto entries = model.parameters.find(state.input.queue->name);
    if (entries == model.parameters.end()) return std::optional<Tensor>();
    BUDA_ASSIGN(Tensor value, value_of(state.output, entries->second));
    return std::optional<Tensor>(std::move(value));
  }
  for (const auto& [file, graph] : model.host_graphs)
    if (auto id = graph->find(input); id.valid() && graph->node(id).value) return std::optional<Tensor>(graph->node(id).value->tensor);
  return std::optional<Tensor>();
}

}  // namespace

Result<Ports> ports_of(const Model& model) {
  BUDA_ASSIGN(Ports ports, bind_ports(model.plan, model.program.netlist, model.parameters));
  std::set<std::string> read;
  for (const auto& [file, graph] : model.host_graphs)
    for (auto id : graph->inputs()) read.insert(graph->node(id).name());
  for (const auto& segment : model.plan.segments)
    for (const auto& t : segment.inputs) read.insert(t.name);
  for (Port& port : ports.inputs) port.is_read = port.queue != nullptr || read.contains(port.tensor->name);
  for (StatePort& state : ports.states) {
    BUDA_ASSIGN(state.first, first_value(model, state));
  }
  return ports;
}

}  // namespace buda::runtime
