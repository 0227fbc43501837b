// SPDX-License-Identifier: Apache-2.0
// Tags of inputs.
#include <buda/compiler/mark_fixed_values.hpp>

#include <buda/compiler/model_input.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/tags/fixed_value.hpp>
#include <buda/tensor/tensor.hpp>

namespace buda::compiler {
void mark_fixed_values(graph::Graph& graph, const NamedTensors& values) {
  for (const auto& [name, value] : values) {
    const graph::NodeId id = input_of(graph, name);
    if (!id.valid()) continue;
    graph::Node& input = graph.node(id);
    input.tags[graph::kFixedValue] = graph::fixed_value_text(value.cast(input.outputs[0].dtype));
  }
}

}  // namespace buda::compiler
