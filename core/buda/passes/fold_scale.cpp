// fold-scale: a constant factor before or after a matmul goes into its constant operand.
//
// before                                        after
//   m = matmul(x, w, b) : F32 [64, 10]            y = matmul(x, y.weights, y.bias)
//   y = multiply(m, 0.125)                        with y.weights = w * 0.125 and y.bias = b * 0.125
//
//   s = multiply(x, c) : F32 [64, 100]            y = matmul(x, y.weights)
//   y = matmul(s, w)                              with y.weights = w * c, c standing along w's rows
//
// The factor is one number, or one number per column of the product (per row of w, before it). w, and b where there is one, are parameters
// or constants that nobody else uses: weights that are shared would have to be stored twice. The products are ops on known values, which
// constant-folding then computes. Rounding differs in the last digit.
#include <buda/passes/standard_passes.hpp>

#include <buda/ops/builder.hpp>
#include <buda/passes/constant_value.hpp>
#include <buda/passes/fusing.hpp>

namespace buda::passes {
namespace {

using graph::Edge;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::ValueRef;

// A constant factor of a value of shape `of`, as a scalar or, if it differs by column, as a vector.
std::optional<Tensor> factor(const Graph& g, const Edge& edge, const Shape& of) {
  const Tensor* t = value_of(g, edge);
  if (t == nullptr || !is_float(t->dtype())) return std::nullopt;
  if (auto number = uniform_element(*t)) return Tensor::scalar(*number).cast(t->dtype());
  if (!is_row_of(t->shape(), of)) return std::nullopt;
  auto row = t->reshaped({of[of.rank() - 1]});
  return row ? std::optional(std::move(*row)) : std::nullopt;
}

// The operands of a multiplication by a constant factor.
struct Scaled {
  Edge x;
  Tensor by;
};

std::optional<Scaled> scaled(const Graph& g, const Node& multiply) {
  for (std::size_t i = 0; i < 2; ++i) {
    const Edge &x = multiply.inputs()[i], &c = multiply.inputs()[1 - i];
    if (value_of(g, x) != nullptr || *g.type(x.source) != multiply.outputs[0]) continue;
    if (auto by = factor(g, c, multiply.outputs[0].shape)) return Scaled{x, std::move(*by)};
  }
  return std::nullopt;
}

bool is_matrix_product(const Graph& g, const Node& n) {
  return n.op() == "matmul" && g.type(n.inputs()[0].source)->shape.rank() >= 2 && g.type(n.inputs()[1].source)->shape.rank() == 2;
}

bool is_own_constant(const Graph& g, const Edge& edge) { return value_of(g, edge) != nullptr && g.use_count(edge.source.node) == 1; }

// y = multiply(matmul(x, w[, b]), c)
bool fold_after(Graph& g, NodeId id, PassContext& context) {
  const Node& n = g.node(id);
  auto s = scaled(g, n);
  if (!s) return false;
  const Node& product = g.node(s->x.source.node);
  if (!is_matrix_product(g, product) || !only_feeds(g, product, n) || !may_fuse(product) || !may_fuse(n)) return false;
  for (std::size_t i = 1; i < product.inputs().size(); ++i)
    if (!is_own_constant(g, product.inputs()[i])) return false;
  if (product.inputs().size() == 3 && !is_row_of(g.type(product.inputs()[2].source)->shape, product.outputs[0].shape)) return false;
  if (!context.rewrites.allow(kFoldScale.name, n)) return false;

  NodeId old = product.id();
  std::vector<Edge> inputs = product.inputs();
  graph::GraphEditor editor(g, id);
  ops::Builder b(editor);
  ValueRef by = editor.add_constant("scale", std::move(s->by));
  inputs[1] = b.named("weights").multiply(inputs[1], by);
  if (inputs.size() == 3) inputs[2] = b.named("bias").multiply(inputs[2], by);
  ValueRef y = b.op("matmul", std::move(inputs));
  if (!b.status()) return false;
  take_over_marks(g, y.node, old);
  editor.replace(id, y);
  return true;
}

// y = matmul(multiply(x, c), w[, b])
bool fold_before(Graph& g, NodeId id, PassContext& context) {
  const Node& n = g.node(id);
  if (!is_matrix_product(g, n) || !is_own_constant(g, n.inputs()[1])) return false;
  const Node& multiply = g.node(n.inputs()[0].source.node);
  if (multiply.op() != "multiply" || !only_feeds(g, multiply, n) || !may_fuse(multiply) || !may_fuse(n)) return false;
  auto s = scaled(g, multiply);
  if (!s || !context.rewrites.allow(kFoldScale.name, n)) return false;

  NodeId old = multiply.id();
  std::vector<Edge> inputs = n.inputs();
  if (s->by.shape().rank() == 1) {
    auto column = s->by.reshaped({s->by.shape()[0], 1});
    if (!column) return false;
    s->by = std::move(*column);
  }
  graph::GraphEditor editor(g, id);
  ops::Builder b(editor);
  ValueRef by = editor.add_constant("scale", std::move(s->by));
  inputs[0] = s->x;
  inputs[1] = b.named("weights").multiply(inputs[1], by);
  ValueRef y = b.op("matmul", std::move(inputs));
  if (!b.status()) return false;
  take_over_marks(g, y.node, old);
  editor.replace(id, y);
  return true;
}

Result<PassReport> run(Graph& graph, PassContext& context) {
  PassReport report;
  for (NodeId id : graph.topological_order()) {
    if (!graph.contains(id)) continue;
    const std::string& op = graph.node(id).op();
    if ((op == "multiply" && fold_after(graph, id, context)) || (op == "matmul" && fold_before(graph, id, context))) ++report.rewrites;
  }
  return report;
}

}  // namespace

const Pass kFoldScale = {.name = "fold-scale",
                         .summary = "multiply a constant factor of a matmul's input or result into its weights",
                         .level = graph::Level::tensor,
                         .run = run};

}  // namespace buda::passes
