// SPDX-License-Identifier: Apache-2.0
// constant-folding: computes on the host, once, what depends on parameters and constants alone.
//
// before                                        after
//   w = parameter : F32 [10, 64]                  t = parameter : F32 [64, 10]
//   t = transpose(w) perm=[1, 0]                  y = matmul(x, t)
//   y = matmul(x, t)
//
// So a transposed weight, a bias times beta, the reciprocal of a constant divisor are paid for once. What comes of a parameter is a
// parameter. A result may not be much larger than what it is made of: an edge repeats a value for nothing, a file does not. Weights of
// convolutions may: the lowering rearranges their elements on the host.
#include <buda/passes/pipeline/standard_passes.hpp>

#include <buda/graph/editor.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/passes/simplify/constant_value.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace buda::passes {
namespace {

using graph::Edge;
using graph::Graph;
using graph::Node;
using graph::NodeId;

constexpr std::int64_t kAlwaysSmallEnough = 64 << 10;  // bytes

bool feeds_weights_of_convolution(const Graph& graph, const Node& n, const ops::Registry& registry) {
  return std::ranges::any_of(graph.users(n.id()), [&](const graph::Use& use) {
    const ops::OpDef* def = registry.find(graph.level, graph.node(use.node).op());
    return def != nullptr && (def->family == "conv" || def->family == "conv_transpose") && use.input == 1;
  });
}

bool may_fold(const Graph& graph, const Node& n, const ops::Registry& registry) {
  if (!n.is_op() || n.outputs.empty() || n.op() == "dropout") return false;
  std::int64_t given = 0;
  for (const Edge& edge : n.inputs()) {
    const Tensor* value = value_of(graph, edge);
    if (value == nullptr) return false;
    given += static_cast<std::int64_t>(value->bytes().size());
  }
  std::int64_t made = 0;
  for (const graph::ValueType& type : n.outputs) {
    const auto bytes = tensor_bytes(type.dtype, type.shape);
    if (!bytes) return false;
    made += *bytes;
  }
  return made <= std::max(given, kAlwaysSmallEnough) || feeds_weights_of_convolution(graph, n, registry);
}

// Constants, or parameters, in place of a node's results. Of several results those get one that somebody reads.
void replace_by_values(Graph& graph, NodeId id, std::vector<Tensor> results, bool parameter) {
  graph::GraphEditor editor(graph, id);
  auto value_for = [&](Tensor& tensor) {
    const NodeId value = editor.add_constant("value", std::move(tensor));
    if (parameter) graph.set_op(value, std::string(graph::kParameterOp));
    return value;
  };
  if (results.size() == 1) {
    std::string name = graph.node(id).name();
    const NodeId value = value_for(results[0]);
    editor.replace(id, value);
    graph.rename(value, std::move(name));
    return;
  }
  for (std::uint32_t port = 0; port < results.size(); ++port)
    if (const graph::ValueRef result(id, port); !graph.users(result).empty()) graph.replace_uses(result, value_for(results[port]));
  editor.erase_unused(id);
}

Result<PassReport> constant_folding(Graph& graph, PassContext& context) {
  PassReport report;
  ops::EvaluateOptions options;
  options.threads = context.host.threads;
  options.registry = context.ops;
  for (NodeId id : graph.topological_order()) {
    if (!graph.contains(id)) continue;
    const Node& n = graph.node(id);
    if (!may_fold(graph, n, *context.ops)) continue;
    std::vector<Tensor> inputs;
    bool parameter = false;
    for (const Edge& edge : n.inputs()) {
      inputs.push_back(*value_of(graph, edge));
      parameter = parameter || graph.node(edge.source.node).kind() == graph::NodeKind::parameter;
    }
    auto results = ops::evaluate_node(n, graph.level, inputs, options);
    if (!results) continue;  // it fails when the model runs, too, and is reported then
    if (!context.rewrites.allow(kConstantFolding.name, n)) continue;
    replace_by_values(graph, id, std::move(*results), parameter);
    ++report.rewrites;
  }
  return report;
}

}  // namespace

const Pass kConstantFolding = {.name = "constant-folding",
                               .summary = "evaluate ops on parameters and constants",
                               .level = graph::Level::tensor,
                               .run = constant_folding};

}  // namespace buda::passes
