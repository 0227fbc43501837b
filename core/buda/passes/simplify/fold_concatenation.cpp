// SPDX-License-Identifier: Apache-2.0
// fold-concatenation: what is known of a concatenation becomes a constant, which is added.
//
// before                                                       after
//   y = concatenate(token, x) dim=1 : F32 [1, 197, 768]          y.moved = pad(x) before=[0, 1, 0] after=[0, 0, 0]
//   s = add(y, positions)                                        y = add(y.moved, y.known)
//                                                                s = add(y, positions)
//
// where y.known is the token and zeros. The chips have no op that puts values one after the other: they add up parts that stand in their
// places among zeros. Here the known part comes into its place before the model runs, and algebraic-simplification adds what else is known.
// One part is unknown, and the numbers are floating-point. The tag `dont_fuse` opts out.
#include <buda/graph/editor.hpp>
#include <buda/passes/pipeline/standard_passes.hpp>

#include <buda/ops/whole_graph/builder.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/passes/fuse/fusing.hpp>
#include <buda/passes/simplify/candidates.hpp>
#include <buda/passes/simplify/constant_value.hpp>
#include <buda/tensor/tensor.hpp>

namespace buda::passes {
namespace {

using graph::Edge;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::ValueRef;

using Dims = std::vector<std::int64_t>;

// The constant is as large as the result.
constexpr std::int64_t kMaxBytes = std::int64_t{16} << 20;

// The only part that is not known, where the others are.
std::optional<std::size_t> unknown_part(const Graph& g, const Node& n) {
  if (n.inputs().size() < 2 || !is_float(n.outputs[0].dtype) || !may_fuse(n)) return std::nullopt;
  auto bytes = tensor_bytes(n.outputs[0].dtype, n.outputs[0].shape);
  if (!bytes || *bytes > kMaxBytes) return std::nullopt;
  std::optional<std::size_t> unknown;
  for (std::size_t i = 0; i < n.inputs().size(); ++i) {
    if (value_of(g, n.inputs()[i]) != nullptr) continue;
    if (unknown) return std::nullopt;
    unknown = i;
  }
  return unknown;
}

Result<PassReport> fold_concatenation(Graph& graph, PassContext& context) {
  PassReport report;
  ops::EvaluateOptions options;
  options.threads = context.host.threads;
  options.registry = context.ops;
  for (NodeId id : ops_of_types(graph, {"concatenate"})) {
    const Node& n = graph.node(id);
    auto unknown = unknown_part(graph, n);
    if (!unknown || !context.rewrites.allow(kFoldConcatenation.name, n)) continue;
    std::size_t axis = *n.outputs[0].shape.axis(std::get<std::int64_t>(n.attrs.find("dim")->second));
    Edge x = n.inputs()[*unknown];
    std::size_t rank = n.outputs[0].shape.rank();
    Dims before(rank, 0), after(rank, 0);
    std::vector<Tensor> parts;
    bool parameter = false;
    for (std::size_t i = 0; i < n.inputs().size(); ++i) {
      const graph::ValueType& type = *graph.type(n.inputs()[i].source);
      if (i == *unknown) {
        BUDA_ASSIGN(Tensor zeros, Tensor::zeros(type.dtype, type.shape));
        parts.push_back(std::move(zeros));
        continue;
      }
      parts.push_back(*value_of(graph, n.inputs()[i]));
      parameter = parameter || graph.node(n.inputs()[i].source.node).kind() == graph::NodeKind::parameter;
      (i < *unknown ? before : after)[axis] += type.shape[axis];
    }
    BUDA_ASSIGN(std::vector<Tensor> known, ops::evaluate_node(n, graph.level, parts, options));
    graph::GraphEditor editor(graph, id);
    NodeId constant = editor.add_constant("known", std::move(known[0]));
    if (parameter) graph.set_op(constant, std::string(graph::kParameterOp));
    ops::Builder b(editor);
    ValueRef moved = b.named("moved").pad(x, std::move(before), std::move(after));
    ValueRef y = b.add(moved, ValueRef(constant));
    BUDA_TRY(b.status());
    editor.replace(id, y);
    ++report.rewrites;
  }
  return report;
}

}  // namespace

const Pass kFoldConcatenation = {.name = "fold-concatenation",
                                 .summary = "replace the constant parts of a concatenation by the addition of a constant",
                                 .level = graph::Level::tensor,
                                 .run = fold_concatenation};

}  // namespace buda::passes
