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
#include "rules.hpp"

#include <buda/ops/picker.hpp>
#include <buda/passes/channels_last.hpp>

namespace buda::conv {
namespace {

using graph::Graph;
using graph::GraphEditor;
using graph::Node;
using graph::NodeId;

class Convolution final : public passes::Decomposition {
 public:
  explicit Convolution(bool prestride) : prestride_(prestride) {}

  std::vector<std::string> consumes() const override { return {"conv1d", "conv2d", "conv3d"}; }
  std::vector<std::string> produces() const override {
    return {"reshape", "transpose", "pad", "slice", "sparse_matmul", "matmul", "depthwise", "multiply", "add", "gather"};
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
    Builder b(editor);
    Edge y;
    if (auto blocks = prestride_ && from_outside && groups == 1 ? prestrided(b, in[0], in[1], window) : std::nullopt) {
      y = dense(b, picked(b, blocks->rows, blocks->window), blocks->weights, in);
    } else if (groups > 1 && weights[0] == groups * weights[1] && graph::kTileSide % weights[1] == 0) {
      y = depthwise(b, picked(b, passes::to_rows(b, in[0]), window), in);
    } else {
      Edge x = picked(b, passes::to_rows(b, in[0]), window);
      y = dense(b, x, dense_weights(b, in[1], groups), in);
    }
    BUDA_TRY(b.status());
    graph::ValueRef done = passes::from_rows(b, y, result);
    BUDA_TRY(b.status());
    editor.replace(id, done);
    return success();
  }

 private:
  static Edge picked(Builder& b, const Edge& rows, const Window& window) {
    if (window.is_identity()) return rows;
    Edge picks = b.named("picks").constant(ops::tap_picker(window));
    return b.named("picked").op("sparse_matmul", {picks, rows});
  }

  // x [n, taps, windows, i] and weights [taps, i, o]
  static Edge dense(Builder& b, Edge x, Edge weights, const std::vector<Edge>& in) {
    if (!b.status()) return {};
    Shape shape = b.graph().type(weights.source)->shape;
    if (shape[0] > 1) {
      x = passes::padded_to(b, x, 3, whole_tiles(shape[1]));
      weights = passes::padded_to(b, weights, 1, whole_tiles(shape[1]));
      shape = b.graph().type(weights.source)->shape;
    }
    Edge matrix = b.named("weights").reshape(weights, {shape[0] * shape[1], shape[2]});
    std::vector<Edge> operands{passes::taps_to_columns(b, x), matrix};
    if (in.size() > 2) operands.push_back(in[2]);
    return b.named("product").op("matmul", std::move(operands));
  }

  static Edge depthwise(Builder& b, Edge x, const std::vector<Edge>& in) {
    if (!b.status()) return {};
    std::int64_t channels = b.graph().type(x.source)->shape[3];
    x = passes::taps_to_columns(b, passes::padded_to(b, x, 3, whole_tiles(channels)));
    Edge weights = depthwise_weights(b, in[1]);
    Edge y = b.named("product").op("depthwise", {x, weights});
    y = passes::narrowed_to(b, y, 3, channels);
    return in.size() > 2 ? Edge(b.named("biased").add(y, in[2])) : y;
  }

  bool prestride_;
};

}  // namespace

std::unique_ptr<passes::Decomposition> make_convolution(bool prestride) { return std::make_unique<Convolution>(prestride); }

}  // namespace buda::conv
