// SPDX-License-Identifier: Apache-2.0
// Rules of ops applied to whole graphs.
#include <buda/ops/whole_graph/infer.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/check/verify.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/tags/placement.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/ops/device/device_layout.hpp>
#include <buda/ops/table/rules.hpp>

#include <algorithm>

namespace buda::ops {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;

// Says of which node a rule's error speaks.
Failure at_node(const Node& node, Failure failure) {
  for (auto& d : failure.diagnostics()) {
    d.message = cat("node '", node.name(), "' (", node.op(), "): ", d.message);
    d.node = node.name();
    if (d.loc.file.empty()) d.loc = node.loc;
  }
  return failure;
}

// One type per input, or nothing when one is not known.
Result<std::vector<ValueType>> input_types(const Graph& graph, const Node& node) {
  std::vector<ValueType> types;
  for (const auto& edge : node.inputs()) {
    BUDA_ASSIGN(ValueType type, graph.type(edge));
    types.push_back(std::move(type));
  }
  return types;
}

bool sources_are_known(const Graph& graph, const Node& node) {
  return std::all_of(node.inputs().begin(), node.inputs().end(), [&](const graph::Edge& e) { return graph.type(e.source) != nullptr; });
}

bool edges_are_sound(const Graph& graph, const Node& node) {
  return std::all_of(node.inputs().begin(), node.inputs().end(), [&](const graph::Edge& e) { return graph.type(e).ok(); });
}

Result<void> check_types(const Graph& graph, const Node& node, const Registry& registry) {
  BUDA_ASSIGN(std::vector<ValueType> types, infer_node(graph, node, registry));
  if (node.outputs.empty()) return success();
  if (types.size() != node.outputs.size())
    return at_node(node, shape_error(cat("it has ", node.outputs.size(), " types, but ", types.size(), " results")));
  for (std::size_t i = 0; i < types.size(); ++i)
    if (types[i].dtype != node.outputs[i].dtype || types[i].shape != node.outputs[i].shape)
      return at_node(node,
                     shape_error(cat("its type is declared as ", node.outputs[i].text(), ", but its inputs make it ", types[i].text())));
  return success();
}

// Does the model's shape fit the padded one, where a device graph meets the model?
Result<void> check_layout(const Graph& graph, const Node& node) {
  auto fits = [&](const Shape& model, const Shape& device) -> Result<void> {
    BUDA_ASSIGN(Shape view, four_axes(model));
    if (device.rank() == 4 && view[0] == device[0] && view[1] == device[1] && view[2] <= device[2] && view[3] <= device[3])
      return success();
    return shape_error(cat("the model's shape ", model.text(), " does not fit in the device's ", device.text()));
  };
  if (node.has_value()) {
    if (node.value && node.outputs.size() == 1) return fits(node.value->tensor.shape(), node.outputs[0].shape);
    return success();
  }
  for (std::string_view name : {kModelShape, kViewShape, kViewSplit, kViewOrder}) {
    auto it = node.attrs.find(name);
    if (it == node.attrs.end()) continue;
    if (!std::holds_alternative<std::vector<std::int64_t>>(it->second)) return shape_error(cat("'", name, "' must be a list of integers"));
  }
  if (auto it = node.attrs.find(kModelType); it != node.attrs.end()) {
    const auto* name = std::get_if<std::string>(&it->second);
    if (name == nullptr || !dtype_from_name(*name)) return dtype_error(cat("'", kModelType, "' must name an element type"));
  }
  auto type = node.kind() == NodeKind::input ? Result<ValueType>(node.outputs.size() == 1 ? node.outputs[0] : ValueType{})
              : node.inputs().size() == 1    ? graph.type(node.inputs()[0])
                                             : Result<ValueType>(Failure());
  if (!type || type->shape.rank() != 4) return success();  // the graph's verifier tells
  BorderShapes shapes = border_shapes(node, type->shape);
  BUDA_TRY(check_border(shapes));
  return fits(shapes.view, type->shape);
}

}  // namespace

Result<std::vector<ValueType>> infer_node(const Graph& graph, const Node& node, const Registry& registry) {
  auto infer_it = [&]() -> Result<std::vector<ValueType>> {
    BUDA_ASSIGN(const OpDef* def, registry.require(graph::level_of(graph, node), node.op()));
    BUDA_ASSIGN(std::vector<ValueType> inputs, input_types(graph, node));
    return infer(*def, inputs, node.attrs);
  };
  auto types = infer_it();
  if (!types) return at_node(node, std::move(types).failure());
  return types;
}

Result<void> infer_types(Graph& graph, const Registry& registry) {
  Failure failure;
  for (NodeId id : graph.topological_order()) {
    Node& node = graph.node(id);
    if (!node.outputs.empty() || node.kind() == NodeKind::output || node.kind() == NodeKind::input) continue;
    if (node.has_value()) {
      if (node.value) node.outputs = one(node.value->tensor.dtype(), node.value->tensor.shape());
    } else if (sources_are_known(graph, node)) {
      auto types = infer_node(graph, node, registry);
      if (types) {
        node.outputs = std::move(*types);
      } else {
        failure.add(std::move(types).failure());
      }
    }
  }
  if (!failure.empty()) return failure;
  return success();
}

std::vector<Diagnostic> verify(const Graph& graph, const Registry& registry) {
  std::vector<Diagnostic> found = graph::verify(graph);
  for (NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    Result<void> result;
    if (node.is_op()) {
      // An unknown op, or attributes that are not its own, can be told without knowing the inputs.
      if (auto def = registry.require(graph::level_of(graph, node), node.op()); !def) {
        result = at_node(node, std::move(def).failure());
      } else if (edges_are_sound(graph, node)) {
        result = check_types(graph, node, registry);
      } else if (auto attrs = check_attrs(**def, node.attrs); !attrs) {
        result = at_node(node, std::move(attrs).failure());
      }
    } else if (graph::level_of(graph, node) == Level::device) {
      if (auto layout = check_layout(graph, node); !layout) result = at_node(node, std::move(layout).failure());
    }
    if (!result)
      for (auto& d : result.failure().diagnostics()) found.push_back(std::move(d));
  }
  return found;
}

Result<void> check(const Graph& graph, const Registry& registry) {
  auto found = verify(graph, registry);
  if (!found.empty()) return Failure(std::move(found));
  return success();
}

double flops(const Graph& graph, const Registry& registry) {
  double sum = 0;
  for (NodeId id : graph.ids()) {
    const Node& node = graph.node(id);
    const OpDef* def = node.is_op() ? registry.find(graph::level_of(graph, node), node.op()) : nullptr;
    auto inputs = input_types(graph, node);
    if (def != nullptr && inputs && !node.outputs.empty()) sum += flops(*def, *inputs, node.outputs, node.attrs);
  }
  return sum;
}

}  // namespace buda::ops
