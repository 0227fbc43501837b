// SPDX-License-Identifier: Apache-2.0
// Transposed convolutions: the product first, for all taps at once, and then each element of the result picks what falls on it.
//
//   before   y = conv2d_transpose(x, weights, bias)                           x [n, i, h, w], weights [i, o, kh, kw]
//   after    rows    = transpose(reshape(x))                                  [n, 1, h*w, i]
//            product = matmul(rows, weights as [i, kh*kw*o])                  [n, 1, h*w, kh*kw*o]
//            parts   = reshape(transpose(reshape(product)))                   [n, 1, kh*kw*h*w, o]       taps below one another
//            sums    = sparse_matmul(picks, parts)                            [n, 1, elements, o]
//            y       = reshape(transpose(sums + bias))
//
// Nothing is multiplied that does not reach the result, where a convolution of x with zeros in between would mostly multiply zeros: with
// a stride as large as the kernel each element picks one row. The taps change from columns to rows by edges (hslice, vstack), for which
// rows and the columns of a tap fill whole tiles.
//
// Of small groups such a product would mostly multiply zeros, too, taps times as many as it has channels. There, each element picks for
// each tap the window whose tap stands on it, and the op `depthwise` multiplies and adds up, as for a convolution.
#include "rules.hpp"

#include <buda/graph/editor.hpp>
#include <buda/ops/linear_algebra/selection_matrix.hpp>
#include <buda/passes/decompose/channels_last.hpp>
#include <buda/tensor/tensor.hpp>

namespace buda::conv {
namespace {

using graph::Graph;
using graph::GraphEditor;
using graph::Node;
using graph::NodeId;

// [i, kh*kw*o], made in the order of a convolution from o to i, [kh*kw, o, i], which is that of the convolution whose gradient this one
// computes: weights that are trained are then kept in one order for both.
Edge weights_matrix(Builder& b, const Edge& weights, std::int64_t groups, std::int64_t inputs, std::int64_t taps, std::int64_t columns) {
  const Edge padded = passes::padded_to(b, dense_transposed_weights(b, weights, groups), 1, columns);
  const Edge below = b.named("weights.rows").reshape(padded, {taps * columns, inputs});
  return b.named("weights").transpose(below, {1, 0});
}

class TransposedConvolution final : public passes::Decomposition {
 public:
  std::vector<std::string> consumes() const override { return {"conv1d_transpose", "conv2d_transpose", "conv3d_transpose"}; }
  std::vector<std::string> produces() const override {
    return {"reshape", "transpose", "pad", "slice", "sparse_matmul", "matmul", "depthwise", "multiply", "add", "gather"};
  }
  bool matches(const Graph& graph, const Node& node) const override {
    return is_float(node.outputs[0].dtype) && node.outputs[0].shape.volume() != 0 &&
           graph.type(node.inputs()[0].source)->shape.volume() != 0;
  }

  Result<void> rewrite(GraphEditor& editor, NodeId id) override {
    const Node& n = editor.graph().node(id);
    std::vector<Edge> in = n.inputs();
    Shape result = n.outputs[0].shape, x = editor.graph().type(in[0].source)->shape, w = editor.graph().type(in[1].source)->shape;
    BUDA_ASSIGN(Window window, ops::transposed_window(attrs_of(n), x, {w.begin() + 2, w.end()}));
    std::int64_t groups = attrs_of(n).integer("groups");

    Builder b(editor);
    Edge y = is_depthwise(w, groups) ? by_elements(b, in, window, groups) : by_windows(b, in, window, groups, result[1]);
    BUDA_TRY(b.status());
    if (in.size() > 2) y = b.named("biased").add(y, in[2]);
    graph::ValueRef done = passes::from_rows(b, y, result);
    BUDA_TRY(b.status());
    editor.replace(id, done);
    return success();
  }

 private:
  static Edge by_elements(Builder& b, const std::vector<Edge>& in, const Window& window, std::int64_t groups) {
    Edge x = passes::to_rows(b, in[0]);
    if (!window.is_identity()) {
      Edge picks = b.named("picks").constant(ops::window_selection(window));
      x = b.named("picked").op("sparse_matmul", {picks, x});
    }
    return depthwise(b, x, depthwise_transposed_weights(b, in[1], groups));
  }

  static Edge by_windows(Builder& b, const std::vector<Edge>& in, const Window& window, std::int64_t groups, std::int64_t outputs) {
    const Shape x = b.graph().type(in[0].source)->shape;
    std::int64_t taps = window.taps(), rows_per_tap = taps == 1 ? window.out() : whole_tiles(window.out());
    std::int64_t columns = taps == 1 ? outputs : whole_tiles(outputs);
    Edge rows = passes::padded_to(b, passes::to_rows(b, in[0]), 2, rows_per_tap);
    Edge matrix = weights_matrix(b, in[1], groups, x[1], taps, columns);
    Edge parts = b.named("product").matmul(rows, matrix);
    if (taps > 1) {
      parts = b.named("product.taps").reshape(parts, {x[0], rows_per_tap, taps, columns});
      parts = b.named("product.slices").transpose(parts, {0, 2, 1, 3});
      parts = b.named("parts").reshape(parts, {x[0], 1, taps * rows_per_tap, columns});
    }
    Edge picks = b.named("picks").constant(ops::scatter_selection(window, rows_per_tap));
    Edge y = b.named("sums").op("sparse_matmul", {picks, parts});
    return b.status() ? passes::narrowed_to(b, y, 3, outputs) : Edge{};
  }
};

}  // namespace

std::unique_ptr<passes::Decomposition> make_transposed_convolution() { return std::make_unique<TransposedConvolution>(); }

}  // namespace buda::conv
