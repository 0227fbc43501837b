// SPDX-License-Identifier: Apache-2.0
// fold-batchnorm: the scale and the shift of a batch normalisation go into the convolution before it.
//
// before                                              after
//   c = conv2d(x, w, b)                                 y = conv2d(x, y.weights, y.bias)
//   y = batchnorm(c, g, h, mean, var)                   with s = g / sqrt(var + epsilon): y.weights = w * s for each output channel,
//                                                       y.bias = (b - mean) * s + h
//
// All but x are parameters or constants, and nobody else uses c or w. The arithmetic is left to constant-folding. The tag `dont_fuse` on
// either op opts out.
#include <buda/graph/editor.hpp>
#include <buda/passes/pipeline/standard_passes.hpp>

#include <buda/ops/whole_graph/builder.hpp>
#include <buda/passes/fuse/fusing.hpp>
#include <buda/passes/simplify/candidates.hpp>
#include <buda/passes/simplify/constant_value.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <iterator>

namespace buda::passes {
namespace {

using graph::Edge;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::ValueRef;

bool is_convolution(const Node& n) {
  static constexpr std::string_view kNames[] = {"conv1d", "conv2d", "conv3d", "conv1d_transpose", "conv2d_transpose", "conv3d_transpose"};
  return std::find(std::begin(kNames), std::end(kNames), n.op()) != std::end(kNames);
}

bool is_transposed(const Node& n) { return n.op().ends_with("_transpose"); }

bool all_known(const Graph& g, const Node& n) {
  for (std::size_t i = 1; i < n.inputs().size(); ++i)
    if (value_of(g, n.inputs()[i]) == nullptr) return false;
  return true;
}

bool can_fold(const Graph& g, const Node& norm) {
  if (!may_fuse(norm) || !all_known(g, norm)) return false;
  const Node& conv = g.node(norm.inputs()[0].source.node);
  if (!is_convolution(conv) || !may_fuse(conv) || !only_feeds(g, conv, norm) || !all_known(g, conv)) return false;
  if (g.use_count(conv.inputs()[1].source.node) != 1) return false;
  auto groups = conv.attrs.find("groups");
  // A transposed convolution's weights have the output channels of one group.
  return !is_transposed(conv) || groups == conv.attrs.end() || groups->second == graph::Attr(std::int64_t{1});
}

Result<void> fold(Graph& g, NodeId id) {
  const Node& norm = g.node(id);
  const Node& conv = g.node(norm.inputs()[0].source.node);
  NodeId old = conv.id();
  std::vector<Edge> in = conv.inputs(), of_norm = norm.inputs();
  std::string op = conv.op();
  graph::AttrMap attrs = conv.attrs;
  double epsilon = ops::Attrs(*ops::standard_ops().find(graph::Level::tensor, "batchnorm"), norm.attrs).real("epsilon");
  DType dtype = norm.outputs[0].dtype;
  const Shape weights = g.type(in[1].source)->shape;
  std::vector<std::int64_t> by_channel(weights.rank(), 1);
  std::size_t axis = is_transposed(conv) ? 1 : 0;
  by_channel[axis] = weights[axis];

  graph::GraphEditor editor(g, id);
  ops::Builder b(editor);
  ValueRef guard = b.named("epsilon").constant(Tensor::scalar(epsilon).cast(dtype));
  ValueRef deviation = b.sqrt(b.named("guarded").add(of_norm[4], guard));
  ValueRef scale = b.named("scale").divide(of_norm[1], deviation);
  ValueRef factors = b.named("factors").reshape(scale, Shape(by_channel));
  ValueRef scaled = b.named("weights").multiply(in[1], factors);
  ValueRef moved = in.size() > 2 ? b.named("centred").subtract(in[2], of_norm[3]) : b.named("centred").negative(of_norm[3]);
  ValueRef shifted = b.named("shift").multiply(moved, scale);
  ValueRef bias = b.named("bias").add(shifted, of_norm[2]);
  ValueRef y = b.op(op, {in[0], scaled, bias}, std::move(attrs));
  BUDA_TRY(b.status());
  take_over_marks(g, y.node, old);
  editor.replace(id, y);
  return success();
}

Result<PassReport> fold_batchnorm(Graph& graph, PassContext& context) {
  PassReport report;
  for (NodeId id : ops_of_types(graph, {"batchnorm"})) {
    if (!can_fold(graph, graph.node(id)) || !context.rewrites.allow(kFoldBatchnorm.name, graph.node(id))) continue;
    BUDA_TRY(fold(graph, id));
    ++report.rewrites;
  }
  return report;
}

}  // namespace

const Pass kFoldBatchnorm = {.name = "fold-batchnorm",
                             .summary = "fold a batch normalisation into the preceding convolution",
                             .level = graph::Level::tensor,
                             .run = fold_batchnorm};

}  // namespace buda::passes
