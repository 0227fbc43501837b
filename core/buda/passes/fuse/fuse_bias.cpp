// SPDX-License-Identifier: Apache-2.0
// fuse-bias: an add of one row after a matmul becomes the matmul's bias, which the device adds while it packs the product.
//
// before                                        after
//   m = matmul(x, w) : F32 [64, 10]               y = matmul(x, w, b) : F32 [64, 10]
//   y = add(m, b) : F32 [64, 10]
//
// b has the product's columns along its last axis and nothing else; m has no other user. The tag `dont_fuse` on either op opts out.
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

// The input of an add that is a product without bias, whose other input can be the bias.
std::optional<std::size_t> product_operand(const Graph& g, const Node& add) {
  for (std::size_t i = 0; i < 2; ++i) {
    const Edge &edge = add.inputs()[i], &other = add.inputs()[1 - i];
    const Node& product = g.node(edge.source.node);
    if (product.op() != "matmul" || product.inputs().size() != 2 || !only_feeds(g, product, add) || !may_fuse(product)) continue;
    // A product with a vector has no columns of its own.
    if (g.type(product.inputs()[0].source)->shape.rank() < 2 || g.type(product.inputs()[1].source)->shape.rank() < 2) continue;
    if (product.outputs[0] == add.outputs[0] && is_row_of(g.type(other.source)->shape, product.outputs[0].shape)) return i;
  }
  return std::nullopt;
}

Result<PassReport> fuse_bias(Graph& graph, PassContext& context) {
  PassReport report;
  for (NodeId id : ops_of_types(graph, {"add"})) {
    if (!may_fuse(graph.node(id))) continue;
    auto which = product_operand(graph, graph.node(id));
    if (!which || !context.rewrites.allow(kFuseBias.name, graph.node(id))) continue;
    NodeId product = graph.node(id).inputs()[*which].source.node;
    std::vector<Edge> inputs = graph.node(product).inputs();
    inputs.push_back(graph.node(id).inputs()[1 - *which]);
    graph::GraphEditor editor(graph, id);
    ops::Builder b(editor);
    graph::ValueRef fused = b.op("matmul", std::move(inputs));
    BUDA_TRY(b.status());
    take_over_marks(graph, fused.node, product);
    put_origins_first(graph, fused.node, product);
    editor.replace(id, fused);
    ++report.rewrites;
  }
  return report;
}

}  // namespace

const Pass kFuseBias = {.name = "fuse-bias",
                        .summary = "fold the addition of a row after a matmul into its bias",
                        .level = graph::Level::tensor,
                        .run = fuse_bias};

}  // namespace buda::passes
