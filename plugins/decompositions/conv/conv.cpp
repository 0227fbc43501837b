// SPDX-License-Identifier: Apache-2.0
// Convolutions over one, two or three axes: rows picked by a constant sparse matrix, and a product with the weights.
//
//   before   y = conv2d(x, weights, bias)                                    x [n, i, h, w], weights [o, i, kh, kw]
//   after    rows    = transpose(reshape(x))                                  [n, 1, h*w, i]
//            picked  = sparse_matmul(picks, rows)                             [n, kh*kw, windows, i]     one slice for each tap
//            columns = reshape(transpose(picked))                             [n, 1, windows, kh*kw*i]   taps side by side
//            product = matmul(columns, weights as [kh*kw*i, o], bias)         [n, 1, windows, o]
//            y       = reshape(transpose(product))                            [n, o, rows of windows, columns of windows]
//
// On the device the slices are put side by side by an edge (hstack), for which channels fill whole tiles: others are padded with zeros, and
// so are the weights. A window of one tap that stands on every element needs no picker. With groups as wide as depthwise ones the product
// is the device's op `depthwise`; other groups have zeros in their weights.
//
// An int8_conv2d becomes an int8_matmul in the same way, with its bias, which may differ by window, as rows.
//
// With the tag `window_parts` (--override-multi-op-fracture-factor) the rows of the window are shared out among several products, which may
// run side by side, and whose results are added. Such a convolution is not prestrided: its rows are those that the user sees.
#include "rules.hpp"

#include <buda/base/text.hpp>
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

// Operands of convolutions; of integers in Int8 alone a scale.
constexpr std::size_t kBias = 2, kScale = 3;

class Convolution final : public passes::Decomposition {
 public:
  explicit Convolution(bool prestride) : prestride_(prestride) {}

  std::vector<std::string> consumes() const override { return {"conv1d", "conv2d", "conv3d", "int8_conv2d"}; }
  std::vector<std::string> produces() const override {
    return {"reshape", "transpose", "pad", "slice", "sparse_matmul", "matmul", "int8_matmul", "depthwise", "multiply", "add", "gather"};
  }
  bool matches(const Graph&, const Node& node) const override {
    return is_float(node.outputs[0].dtype) && node.outputs[0].shape.volume() != 0;
  }

  Result<void> rewrite(GraphEditor& editor, NodeId id) override {
    const Node& n = editor.graph().node(id);
    std::vector<Edge> in = n.inputs();
    Shape result = n.outputs[0].shape, weights = editor.graph().type(in[1].source)->shape;
    std::int64_t groups = attrs_of(n).integer("groups");
    BUDA_ASSIGN(Window window,
                ops::sliding_window(attrs_of(n), editor.graph().type(in[0].source)->shape, {weights.begin() + 2, weights.end()}));
    bool from_outside = editor.graph().node(in[0].source.node).kind() == graph::NodeKind::input;
    graph::AttrMap sums;
    for (std::string_view key : {"zero_point", "dequantize"})
      if (auto given = n.attrs.find(key); given != n.attrs.end()) sums.insert(*given);
    // Sums of integers are scaled once: all taps belong to one product.
    std::int64_t parts = 1;
    if (in.size() <= kScale) {
      BUDA_ASSIGN(parts, parts_of(n, weights[2]));
    }
    Builder b(editor);
    Edge y;
    if (auto blocks = prestride_ && from_outside && groups == 1 && parts == 1 ? prestrided(b, in[0], in[1], window) : std::nullopt) {
      y = dense(b, picked(b, blocks->rows, blocks->window), blocks->weights, in, sums);
    } else {
      Edge rows = passes::to_rows(b, in[0]);
      y = product(b, rows, of_part(b, window, in, 0, parts), groups, sums);
      for (std::int64_t i = 1; i < parts; ++i) {
        Edge part = product(b, rows, of_part(b, window, in, i, parts), groups, sums);
        y = b.named("sum").add(y, part);
      }
    }
    BUDA_TRY(b.status());
    graph::ValueRef done = passes::from_rows(b, y, result);
    BUDA_TRY(b.status());
    editor.replace(id, done);
    return success();
  }

 private:
  // Into how many products the user wants the window to be split.
  static Result<std::int64_t> parts_of(const Node& n, std::int64_t rows) {
    auto tag = n.tags.find(passes::kWindowParts);
    if (tag == n.tags.end()) return 1;
    std::int64_t parts = parse_int(tag->second).value_or(0);
    if (parts == -1) return rows;
    if (parts >= 1 && rows % parts == 0) return parts;
    Diagnostic d = input_error("PA071", n.loc,
                               cat("op '", n.name(), "' (", n.op(), ") cannot be fractured: the ", rows,
                                   " rows of its window cannot be divided into ", tag->second, " parts"));
    d.hint = cat("-1, or ", rows, ", makes a product of each row");
    return d;
  }

  // Some rows of the window: where they stand, and the inputs with their weights. The bias goes with the first ones.
  struct Part {
    Window window;
    std::vector<Edge> in;
  };
  static Part of_part(Builder& b, const Window& window, const std::vector<Edge>& in, std::int64_t number, std::int64_t parts) {
    if (parts == 1 || !b.status()) return {window, in};
    Part out{window, {in[0], in[1]}};
    const Shape weights = b.graph().type(in[1].source)->shape;
    ops::WindowAxis& axis = out.window.axes[ops::kMaxSpatialAxes - (weights.rank() - 2)];
    std::int64_t rows = axis.kernel / parts, first = number * rows;
    axis.before -= first * axis.dilation;
    axis.after -= (axis.kernel - first - rows) * axis.dilation;
    axis.kernel = rows;
    out.in[1] = b.named("rows").slice(in[1], 2, first, first + rows);
    if (in.size() > 2 && number == 0) out.in.push_back(in[2]);
    return out;
  }

  static Edge product(Builder& b, const Edge& rows, const Part& part, std::int64_t groups, const graph::AttrMap& sums) {
    if (!b.status()) return {};
    Edge x = picked(b, rows, part.window);
    const Shape weights = b.graph().type(part.in[1].source)->shape;
    if (is_depthwise(weights, groups)) {
      Edge y = depthwise(b, x, depthwise_weights(b, part.in[1]));
      return part.in.size() > kBias && b.status() ? Edge(b.named("biased").add(y, part.in[kBias])) : y;
    }
    return dense(b, x, dense_weights(b, part.in[1], groups), part.in, sums);
  }

  static Edge picked(Builder& b, const Edge& rows, const Window& window) {
    if (window.is_identity()) return rows;
    Edge picks = b.named("picks").constant(ops::tap_selection(window));
    return b.named("picked").op("sparse_matmul", {picks, rows});
  }

  // x [n, taps, windows, i] and weights [taps, i, o]; `sums` says what becomes of sums of integers.
  static Edge dense(Builder& b, Edge x, Edge weights, const std::vector<Edge>& in, const graph::AttrMap& sums) {
    if (!b.status()) return {};
    Shape shape = b.graph().type(weights.source)->shape;
    if (shape[0] > 1) {
      x = passes::padded_to(b, x, 3, whole_tiles(shape[1]));
      weights = passes::padded_to(b, weights, 1, whole_tiles(shape[1]));
      shape = b.graph().type(weights.source)->shape;
    }
    Edge matrix = b.named("weights").reshape(weights, {shape[0] * shape[1], shape[2]});
    std::vector<Edge> operands{passes::taps_to_columns(b, x), matrix};
    if (in.size() > kScale) {
      operands.push_back(passes::to_rows(b, in[kBias]));
      operands.push_back(in[kScale]);
      return b.named("product").op("int8_matmul", std::move(operands), sums);
    }
    if (in.size() > kBias) operands.push_back(in[kBias]);
    return b.named("product").op("matmul", std::move(operands));
  }

  bool prestride_;
};

}  // namespace

std::unique_ptr<passes::Decomposition> make_convolution(bool prestride) { return std::make_unique<Convolution>(prestride); }

}  // namespace buda::conv
