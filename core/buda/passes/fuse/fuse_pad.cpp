// SPDX-License-Identifier: Apache-2.0
// fuse-pad: a border of zeros around the input of a convolution becomes the convolution's padding.
//
// before                                              after
//   p = pad(x) before=[0, 0, 1, 1] after=[0, 0, 2, 2]   y = conv2d(x, w) padding=[1, 1, 2, 2]
//   y = conv2d(p, w)
//
// The border is around places only, not around samples or channels, and nowhere negative. p may have other users; they keep it. The tag
// `dont_fuse` on either op opts out.
#include <buda/graph/editor.hpp>
#include <buda/passes/pipeline/standard_passes.hpp>

#include <buda/ops/whole_graph/builder.hpp>
#include <buda/passes/fuse/fusing.hpp>
#include <buda/passes/simplify/candidates.hpp>

namespace buda::passes {
namespace {

using graph::Edge;
using graph::Graph;
using graph::Node;
using graph::NodeId;

using Dims = std::vector<std::int64_t>;

// The convolution's padding with the border added; nothing when the border is of another kind.
std::optional<Dims> joined_padding(const Graph& g, const Node& conv) {
  const Node& pad = g.node(conv.inputs()[0].source.node);
  if (pad.op() != "pad" || !may_fuse(pad)) return std::nullopt;
  ops::Attrs border(*ops::standard_ops().find(graph::Level::tensor, "pad"), pad.attrs);
  const Dims &before = border.integers("before"), &after = border.integers("after");
  if (border.real("value") != 0) return std::nullopt;
  std::size_t rank = before.size() - 2;
  Dims padding = ops::Attrs(*ops::standard_ops().find(graph::Level::tensor, conv.op()), conv.attrs).integers("padding");
  padding.resize(2 * rank, 0);
  for (std::size_t i = 0; i < before.size(); ++i) {
    bool place = i >= 2;
    if (before[i] < 0 || after[i] < 0 || (!place && (before[i] != 0 || after[i] != 0))) return std::nullopt;
    if (!place) continue;
    padding[i - 2] += before[i];
    padding[rank + i - 2] += after[i];
  }
  return padding;
}

Result<PassReport> fuse_pad(Graph& graph, PassContext& context) {
  PassReport report;
  for (NodeId id : ops_of_types(graph, {"conv1d", "conv2d", "conv3d"})) {
    const Node& conv = graph.node(id);
    if (!may_fuse(conv)) continue;
    auto padding = joined_padding(graph, conv);
    if (!padding || !context.rewrites.allow(kFusePad.name, conv)) continue;
    NodeId pad = conv.inputs()[0].source.node;
    std::vector<Edge> inputs = conv.inputs();
    inputs[0] = graph.node(pad).inputs()[0];
    graph::AttrMap attrs = conv.attrs;
    attrs["padding"] = *padding;
    std::string op = conv.op();
    graph::GraphEditor editor(graph, id);
    ops::Builder b(editor);
    graph::ValueRef y = b.op(op, std::move(inputs), std::move(attrs));
    BUDA_TRY(b.status());
    take_over_marks(graph, y.node, pad);
    editor.replace(id, y);
    ++report.rewrites;
  }
  return report;
}

}  // namespace

const Pass kFusePad = {
    .name = "fuse-pad", .summary = "fold padding with zeros into a convolution", .level = graph::Level::tensor, .run = fuse_pad};

}  // namespace buda::passes
