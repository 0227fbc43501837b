// SPDX-License-Identifier: Apache-2.0
// narrow-matmul: columns that are cut out of a product are computed by products with those columns of the weights.
//
// before                                              after
//   p = matmul(x, w, b) : F32 [1, 197, 2304]            q.weights = slice(w) starts=[0] stops=[768]      (constant-folding computes both)
//   q = slice(p) starts=[0] stops=[768]                 q.bias = slice(b) starts=[0] stops=[768]
//   k = slice(p) starts=[768] stops=[1536]              q = matmul(x, q.weights, q.bias)
//   …                                                   …
//
// So the queries, keys and values of an attention that a model computes at once come apart without moving data. All users of the product
// take columns, and w is known. The tag `dont_fuse` on the product opts out.
#include <buda/graph/editor.hpp>
#include <buda/passes/pipeline/standard_passes.hpp>

#include <buda/ops/whole_graph/builder.hpp>
#include <buda/passes/fuse/fusing.hpp>
#include <buda/passes/simplify/candidates.hpp>
#include <buda/passes/simplify/constant_value.hpp>

namespace buda::passes {
namespace {

using graph::Edge;
using graph::Graph;
using graph::Node;
using graph::NodeId;

using Dims = std::vector<std::int64_t>;

// A slice along the last axis alone.
bool takes_columns(const Graph& g, const Node& n) {
  if (n.op() != "slice") return false;
  const auto& dims = std::get<Dims>(n.attrs.find("dims")->second);
  const Shape& x = g.type(n.inputs()[0].source)->shape;
  return dims.size() == 1 && x.axis(dims[0]) == x.rank() - 1;
}

bool can_be_cut(const Graph& g, const Node& product) {
  if (!may_fuse(product) || g.use_count(product.id()) == 0) return false;
  if (value_of(g, product.inputs()[1]) == nullptr || g.type(product.inputs()[1].source)->shape.rank() != 2) return false;
  if (g.type(product.inputs()[0].source)->shape.rank() < 2) return false;
  if (product.inputs().size() == 3 && !is_row_of(g.type(product.inputs()[2].source)->shape, product.outputs[0].shape)) return false;
  for (const graph::Use& use : g.users(product.id()))
    if (!takes_columns(g, g.node(use.node))) return false;
  return true;
}

// The same columns of a matrix or a row, whose last axis has them.
graph::AttrMap columns_of(const Node& slice) {
  graph::AttrMap attrs = slice.attrs;
  attrs["dims"] = Dims{-1};
  return attrs;
}

Result<void> cut(Graph& g, NodeId id, NodeId product) {
  std::vector<Edge> inputs = g.node(product).inputs();
  graph::AttrMap columns = columns_of(g.node(id));
  graph::GraphEditor editor(g, id);
  ops::Builder b(editor);
  inputs[1] = b.named("weights").op("slice", {inputs[1]}, columns);
  if (inputs.size() == 3) inputs[2] = b.named("bias").op("slice", {inputs[2]}, columns);
  graph::ValueRef y = b.op("matmul", std::move(inputs));
  BUDA_TRY(b.status());
  take_over_marks(g, y.node, product);
  editor.replace(id, y);
  return success();
}

Result<PassReport> narrow_matmul(Graph& graph, PassContext& context) {
  PassReport report;
  for (NodeId id : ops_of_types(graph, {"matmul"})) {
    if (!can_be_cut(graph, graph.node(id)) || !context.rewrites.allow(kNarrowMatmul.name, graph.node(id))) continue;
    for (const graph::Use& use : graph.users(id)) {
      BUDA_TRY(cut(graph, use.node, id));
      ++report.rewrites;
    }
  }
  return report;
}

}  // namespace

const Pass kNarrowMatmul = {.name = "narrow-matmul",
                            .summary = "slice the columns of weights instead of those of products",
                            .level = graph::Level::tensor,
                            .run = narrow_matmul};

}  // namespace buda::passes
