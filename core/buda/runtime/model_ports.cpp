// Inputs that nothing reads.
#include <buda/runtime/model_ports.hpp>

#include <buda/graph/graph.hpp>
#include <buda/tensor/tensor.hpp>

#include <set>
#include <string>

namespace buda::runtime {

Result<Ports> ports_of(const Model& model) {
  BUDA_ASSIGN(Ports ports, bind_ports(model.plan, model.program.netlist, model.parameters));
  std::set<std::string> read;
  for (const auto& [file, graph] : model.host_graphs)
    for (auto id : graph->inputs()) read.insert(graph->node(id).name());
  for (const auto& segment : model.plan.segments)
    for (const auto& t : segment.inputs) read.insert(t.name);
  for (Port& port : ports.inputs) port.is_read = port.queue != nullptr || read.contains(port.tensor->name);
  return ports;
}

}  // namespace buda::runtime
