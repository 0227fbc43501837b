// SPDX-License-Identifier: Apache-2.0
// Ops, tags and element types as the choice of formats sees them.
#include <buda/passes/formats/format_facts.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/tags/placement.hpp>
#include <buda/graph/tags/training.hpp>
#include <buda/graph/values/fused_body.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/ops/device/device_layout.hpp>
#include <buda/ops/table/device_op.hpp>
#include <buda/passes/lower/lowering_tags.hpp>

#include <algorithm>
#include <cstdint>
#include <variant>

namespace buda::passes {

using graph::Node;
using graph::NodeId;

std::vector<NodeId> device_nodes(const graph::Graph& graph) {
  std::vector<NodeId> order = graph.topological_order();
  std::erase_if(order, [&](NodeId id) { return graph::on_host(graph, graph.node(id)); });
  return order;
}

bool computes(const Node& n) { return n.is_op() && n.op() != graph::kToDevice; }
bool is_tilizer(const Node& n) { return n.op() == "tilizer"; }
bool takes_rows(const Node& n) { return is_tilizer(n) || n.op() == "embedding"; }
bool is_copy(const Node& n) {
  const ops::DeviceOp* op = ops::find_device_op(n.op());
  return op != nullptr && ops::class_info(op->op_class).copies;
}

bool is_z_maximum(const Node& n) {
  if (n.op() != "reduce") return false;
  auto it = n.attrs.find("dim");
  return it != n.attrs.end() && it->second == graph::Attr(std::string("z"));
}

bool multiplies_by(const Node& n, std::size_t input) {
  const auto body = n.attrs.find(graph::kSubOps);
  if (body == n.attrs.end()) return n.op() == "multiply";
  const graph::FusedOperand operand{graph::FusedOperand::Kind::input, static_cast<std::int64_t>(input)};
  const auto& steps = std::get<graph::SharedBody>(body->second)->steps;
  return std::all_of(steps.begin(), steps.end(), [&](const graph::FusedSubOp& step) {
    return step.type == "multiply" || std::find(step.inputs.begin(), step.inputs.end(), operand) == step.inputs.end();
  });
}

bool keeps_format(const Node& n) { return n.op() == "splice" || is_z_maximum(n); }

bool is_exact(const Node& n, const device::DeviceDescriptor& device) {
  return (n.tags.contains(kExact) || graph::adds_up_gradients(n)) && device.supports(DataFormat::float32) &&
         device.features.fp32_accumulate;
}

DType model_type(const Node& n) {
  if (n.value) return n.value->tensor.dtype();
  return ops::border_type(n, n.outputs[0].dtype);
}

bool can_accumulate(const device::DeviceDescriptor& device, DataFormat f) {
  if (f == DataFormat::float32) return device.features.fp32_accumulate;
  return f == DataFormat::float16 || f == DataFormat::float16_b;
}

bool multiplies_int8(const device::DeviceDescriptor& device) {
  return device.supports(DataFormat::int8) && device.supports(DataFormat::int32) && device.features.int32_accumulate;
}

bool multiplies_integers(const Node& n) { return n.op() == "matmul" && (n.attrs.contains("requant") || n.attrs.contains("dequant")); }

std::optional<DataFormat> integer_result(const Node& n) {
  if (n.op() == "quantization" || (multiplies_integers(n) && n.attrs.contains("requant"))) return DataFormat::int8;
  if (n.op() == "dequantization") return DataFormat::float32;
  return std::nullopt;
}

std::optional<DataFormat> integer_operand(const Node& user, std::size_t input) {
  if (user.op() == "quantization") return DataFormat::float32;
  if (user.op() == "dequantization") return input == 0 ? DataFormat::int8 : DataFormat::float32;
  if (!multiplies_integers(user)) return std::nullopt;
  if (input < 2) return DataFormat::int8;
  return input + 1 == user.inputs().size() ? DataFormat::float32 : DataFormat::int32;
}

std::string format_list(const std::vector<DataFormat>& formats) {
  std::vector<std::string> names;
  for (DataFormat f : formats) names.emplace_back(format_name(f));
  return join(names, ", ");
}

}  // namespace buda::passes
