// Tags of inputs.
#include <buda/compiler/mark_fixed_values.hpp>

#include <buda/graph/fixed_value.hpp>
#include <buda/graph/graph.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace buda::compiler {
namespace {

// A graph may spell a name in another way; then the origin has it as the model does.
graph::NodeId input_of(const graph::Graph& graph, const std::string& name) {
  if (graph::NodeId id = graph.find(name); id.valid() && graph.node(id).kind() == graph::NodeKind::input) return id;
  for (graph::NodeId id : graph.inputs()) {
    const auto& origins = graph.node(id).origins;
    if (std::any_of(origins.begin(), origins.end(), [&](const graph::Origin& o) { return o.node == name; })) return id;
  }
  return {};
}

}  // namespace

void mark_fixed_values(graph::Graph& graph, const NamedTensors& values) {
  for (const auto& [name, value] : values) {
    const graph::NodeId id = input_of(graph, name);
    if (!id.valid()) continue;
    graph::Node& input = graph.node(id);
    input.tags[graph::kFixedValue] = graph::fixed_value_text(value.cast(input.outputs[0].dtype));
  }
}

}  // namespace buda::compiler
