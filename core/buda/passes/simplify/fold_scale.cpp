// SPDX-License-Identifier: Apache-2.0
// fold-scale: a constant factor before or after a matmul goes into its constant operand.
// fold-exact-scale: the same for powers of two alone, where no result is rounded otherwise than before, in any format.
//
// before                                        after
//   m = matmul(x, w, b) : F32 [64, 10]            y = matmul(x, y.weights, y.bias)
//   y = multiply(m, 0.125)                        with y.weights = w * 0.125 and y.bias = b * 0.125
//
//   s = multiply(x, c) : F32 [64, 100]            y = matmul(x, y.weights)
//   y = matmul(s, w)                              with y.weights = w * c, c standing along w's rows
//
//   q = matmul(x, w, b)                           y.scaled = matmul(x, y.weights, y.bias)
//   h = transpose(reshape(q)), to heads           y.moved = transpose(reshape(y.scaled))
//   y = multiply(matmul(h, k), 0.125)             y = matmul(y.moved, k)
//
// The factor is one number, or one number per column of the product (per row of w, before it). w, and b where there is one, are parameters
// or constants that nobody else uses: weights that are shared would have to be stored twice. The products are ops on known values, which
// constant-folding then computes. What fold-scale does rounds otherwise in the last digit.
#include <buda/graph/editor.hpp>
#include <buda/passes/pipeline/standard_passes.hpp>

#include <buda/ops/whole_graph/builder.hpp>
#include <buda/passes/fuse/fusing.hpp>
#include <buda/passes/lower/data_movement.hpp>
#include <buda/passes/simplify/constant_value.hpp>
#include <buda/tensor/tensor.hpp>

#include <cmath>

namespace buda::passes {
namespace {

using graph::Edge;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::ValueRef;
using ops::Builder;

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

bool is_power_of_two(const Tensor& factor) {
  auto number = uniform_element(factor);
  int exponent = 0;
  return number && std::abs(std::frexp(*number, &exponent)) == 0.5;
}

// A product whose operands but the first are its own constants, and what its bias adds to columns alone.
bool has_own_constants(const Graph& g, const Node& product) {
  for (std::size_t i = 1; i < product.inputs().size(); ++i)
    if (!is_own_constant(g, product.inputs()[i])) return false;
  return product.inputs().size() < 3 || is_row_of(g.type(product.inputs()[2].source)->shape, product.outputs[0].shape);
}

class Folder {
 public:
  Folder(Graph& graph, PassContext& context, const Pass& pass, bool only_exact)
      : g_(graph), context_(context), pass_(pass), only_exact_(only_exact) {}

  PassReport run() {
    PassReport report;
    for (NodeId id : g_.topological_order()) {
      if (!g_.contains(id)) continue;
      const std::string& op = g_.node(id).op();
      if ((op == "multiply" && (after(id) || behind_products(id))) || (op == "matmul" && before(id))) ++report.rewrites;
    }
    return report;
  }

 private:
  std::optional<Scaled> factor_of(const Node& multiply) const {
    auto s = may_fuse(multiply) ? scaled(g_, multiply) : std::nullopt;
    return s && only_exact_ && !is_power_of_two(s->by) ? std::nullopt : std::move(s);
  }
  bool allow(const Node& n) { return context_.rewrites.allow(pass_.name, n); }

  // The operands of a product, all but the first times a factor.
  static std::vector<Edge> times(Builder& b, std::vector<Edge> inputs, ValueRef by) {
    inputs[1] = b.named("weights").multiply(inputs[1], by);
    if (inputs.size() == 3) inputs[2] = b.named("bias").multiply(inputs[2], by);
    return inputs;
  }

  // y = multiply(matmul(x, w[, b]), c)
  bool after(NodeId id) {
    const Node& n = g_.node(id);
    auto s = factor_of(n);
    if (!s) return false;
    const Node& product = g_.node(s->x.source.node);
    if (!is_matrix_product(g_, product) || !only_feeds(g_, product, n) || !may_fuse(product) || !has_own_constants(g_, product))
      return false;
    if (!allow(n)) return false;

    NodeId old = product.id();
    std::vector<Edge> inputs = product.inputs();
    graph::GraphEditor editor(g_, id);
    Builder b(editor);
    ValueRef by = editor.add_constant("scale", std::move(s->by));
    ValueRef y = b.op("matmul", times(b, std::move(inputs), by));
    if (!b.status()) return false;
    take_over_marks(g_, y.node, old);
    editor.replace(id, y);
    return true;
  }

  // y = multiply(matmul(p, q), c), where p or q is a product with weights, moved: attention's scores.
  bool behind_products(NodeId id) {
    const Node& n = g_.node(id);
    auto s = factor_of(n);
    if (!s || s->by.shape().rank() != 0) return false;
    const Node& product = g_.node(s->x.source.node);
    if (product.op() != "matmul" || product.inputs().size() != 2 || !only_feeds(g_, product, n) || !may_fuse(product)) return false;
    for (std::size_t side = 0; side < 2; ++side) {
      // Movements between the two products, the last one first.
      std::vector<NodeId> moves;
      NodeId at = product.inputs()[side].source.node;
      while (is_rearrangement(g_.node(at)) && g_.use_count(at) == 1 && may_fuse(g_.node(at))) {
        moves.push_back(at);
        at = g_.node(at).inputs()[0].source.node;
      }
      const Node& projection = g_.node(at);
      if (!is_matrix_product(g_, projection) || g_.use_count(at) != 1 || !may_fuse(projection) || !has_own_constants(g_, projection))
        continue;
      if (!allow(n)) return false;
      return scale_projection(id, std::move(s->by), product.id(), side, at, moves);
    }
    return false;
  }

  bool scale_projection(NodeId id, Tensor factor, NodeId product, std::size_t side, NodeId projection, const std::vector<NodeId>& moves) {
    std::vector<Edge> inputs = g_.node(projection).inputs(), operands = g_.node(product).inputs();
    graph::GraphEditor editor(g_, id);
    Builder b(editor);
    ValueRef by = editor.add_constant("scale", std::move(factor));
    inputs = times(b, std::move(inputs), by);
    ValueRef moved = b.named("scaled").op("matmul", std::move(inputs));
    if (!b.status()) return false;
    take_over_marks(g_, moved.node, projection);
    for (auto move = moves.rbegin(); move != moves.rend(); ++move) {
      std::string op = g_.node(*move).op();
      graph::AttrMap attrs = g_.node(*move).attrs;
      moved = b.named("moved").op(op, {moved}, std::move(attrs));
    }
    operands[side] = moved;
    ValueRef y = b.op("matmul", std::move(operands));
    if (!b.status()) return false;
    take_over_marks(g_, y.node, product);
    editor.replace(id, y);
    return true;
  }

  // y = matmul(multiply(x, c), w[, b])
  bool before(NodeId id) {
    const Node& n = g_.node(id);
    if (!is_matrix_product(g_, n) || !is_own_constant(g_, n.inputs()[1])) return false;
    const Node& multiply = g_.node(n.inputs()[0].source.node);
    if (multiply.op() != "multiply" || !only_feeds(g_, multiply, n) || !may_fuse(n)) return false;
    auto s = factor_of(multiply);
    if (!s || !allow(n)) return false;

    NodeId old = multiply.id();
    std::vector<Edge> inputs = n.inputs();
    if (s->by.shape().rank() == 1) {
      auto column = s->by.reshaped({s->by.shape()[0], 1});
      if (!column) return false;
      s->by = std::move(*column);
    }
    graph::GraphEditor editor(g_, id);
    Builder b(editor);
    ValueRef by = editor.add_constant("scale", std::move(s->by));
    inputs[0] = s->x;
    inputs[1] = b.named("weights").multiply(inputs[1], by);
    ValueRef y = b.op("matmul", std::move(inputs));
    if (!b.status()) return false;
    take_over_marks(g_, y.node, old);
    editor.replace(id, y);
    return true;
  }

  Graph& g_;
  PassContext& context_;
  const Pass& pass_;
  bool only_exact_;
};

Result<PassReport> fold_scale(Graph& graph, PassContext& context) { return Folder(graph, context, kFoldScale, false).run(); }
Result<PassReport> run_exact(Graph& graph, PassContext& context) { return Folder(graph, context, kFoldExactScale, true).run(); }

}  // namespace

const Pass kFoldScale = {.name = "fold-scale",
                         .summary = "fold a constant factor of a matmul's input or result into its weights",
                         .level = graph::Level::tensor,
                         .run = fold_scale};

const Pass kFoldExactScale = {.name = "fold-exact-scale",
                              .summary = "the same for powers of two, which does not change rounding",
                              .level = graph::Level::tensor,
                              .run = run_exact};

}  // namespace buda::passes
