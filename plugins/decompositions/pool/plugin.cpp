// SPDX-License-Identifier: Apache-2.0
// Decomposition plugin `pool`: maxima and means over windows through rows picked by constant sparse matrices.
//
//   max_pool   rows [n, 1, places, c], picked [n, taps, windows, c] by a sparse matrix with one slice for each tap, then the maximum of the
//              taps. A tap that lies in padding picks the window's nearest element inside instead, which changes no maximum; so negative
//              numbers come out right, which zeros in the padding would hide. Who wants it the other way lets a number be added before
//              and taken off again (option surround).
//   avg_pool   one sparse product: each window's row adds up its elements, times 1 / their number as padding, ceil_mode and
//              divisor_override make it.
//
// A window over all places is a reduction. Maxima with their indices are in indices.cpp.
#include "rules.hpp"

#include <buda/ops/linear_algebra/selection_matrix.hpp>
#include <buda/ops/spatial/pool.hpp>
#include <buda/passes/decompose/channels_last.hpp>
#include <buda/plugin/decomposition.hpp>
#include <buda/plugin/plugin.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace {

using buda::Shape;
using buda::Tensor;
using buda::graph::Edge;
using buda::graph::Graph;
using buda::graph::GraphEditor;
using buda::graph::Node;
using buda::graph::NodeId;
using buda::graph::ValueRef;
using buda::ops::Builder;
using buda::ops::Window;

buda::ops::Attrs attrs_of(const Node& n) { return {*buda::ops::standard_ops().find(buda::graph::Level::tensor, n.op()), n.attrs}; }

buda::Result<Window> window_of(const Graph& graph, const Node& n) {
  const Shape& x = graph.type(n.inputs()[0].source)->shape;
  return buda::ops::pool_window(x, attrs_of(n), x.rank() - 2);
}

// One window, which has each element once.
bool is_global(const Window& window) {
  return std::all_of(window.axes.begin(), window.axes.end(), [](const buda::ops::WindowAxis& a) {
    return a.out == 1 && a.kernel == a.in && a.before == 0 && (a.dilation == 1 || a.kernel == 1);
  });
}

std::vector<std::int64_t> spatial_axes(const Shape& x) {
  std::vector<std::int64_t> axes;
  for (std::size_t i = 2; i < x.rank(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  return axes;
}

bool can_be_pooled(const Node& n) { return n.outputs.size() == 1 && is_float(n.outputs[0].dtype) && n.outputs[0].shape.volume() != 0; }

buda::Result<void> finish(GraphEditor& editor, NodeId id, Builder& b, ValueRef y) {
  BUDA_TRY(b.status());
  editor.replace(id, y);
  return buda::success();
}

class MaxPool final : public buda::passes::Decomposition {
 public:
  explicit MaxPool(double surround) : surround_(surround) {}
  std::vector<std::string> consumes() const override { return {"max_pool1d", "max_pool2d", "max_pool3d"}; }
  std::vector<std::string> produces() const override { return {"reshape", "transpose", "sparse_matmul", "reduce_max", "add", "subtract"}; }

  bool matches(const Graph& graph, const Node& n) const override {
    if (!can_be_pooled(n)) return false;
    auto window = window_of(graph, n);
    return window && buda::ops::clamped_tap_selection(*window).has_value();
  }

  buda::Result<void> rewrite(GraphEditor& editor, NodeId id) override {
    const Node& n = editor.graph().node(id);
    Edge x = n.inputs()[0];
    Shape result = n.outputs[0].shape;
    BUDA_ASSIGN(Window window, window_of(editor.graph(), n));
    Tensor number = Tensor::scalar(static_cast<float>(surround_)).cast(n.outputs[0].dtype);
    Builder b(editor);
    if (surround_ != 0) {
      Edge raise = b.named("surround").constant(number);
      x = b.named("raised").add(x, raise);
    }
    Edge y;
    if (is_global(window)) {
      y = b.reduce_max(x, spatial_axes(result));
    } else {
      Edge rows = buda::passes::to_rows(b, x);
      Edge picks = b.named("picks").constant(*buda::ops::clamped_tap_selection(window));
      y = b.named("picked").op("sparse_matmul", {picks, rows});
      if (window.taps() > 1) y = b.named("most").reduce_max(y, {1});
      BUDA_TRY(b.status());
      y = buda::passes::from_rows(b, y, result);
    }
    if (surround_ == 0) return finish(editor, id, b, y.source);
    Edge lower = b.named("surround").constant(number);
    return finish(editor, id, b, b.subtract(y, lower));
  }

 private:
  double surround_;
};

class AvgPool final : public buda::passes::Decomposition {
 public:
  std::vector<std::string> consumes() const override { return {"avg_pool1d", "avg_pool2d", "avg_pool3d"}; }
  std::vector<std::string> produces() const override { return {"reshape", "transpose", "sparse_matmul", "reduce_avg"}; }
  bool matches(const Graph&, const Node& n) const override { return can_be_pooled(n); }

  buda::Result<void> rewrite(GraphEditor& editor, NodeId id) override {
    const Node& n = editor.graph().node(id);
    Edge x = n.inputs()[0];
    Shape result = n.outputs[0].shape;
    buda::DType dtype = n.outputs[0].dtype;
    BUDA_ASSIGN(Window window, window_of(editor.graph(), n));
    std::vector<double> divisors = buda::ops::pool_divisors(window, attrs_of(n));
    Builder b(editor);
    if (is_global(window) && divisors[0] == static_cast<double>(window.in()))
      return finish(editor, id, b, b.reduce_avg(x, spatial_axes(result)));
    // Taps are terms of one sum here, where for a maximum they are slices.
    Tensor taps = buda::ops::tap_selection(window);
    BUDA_ASSIGN(Tensor terms, taps.reshaped({window.taps(), 1, window.out()}));
    std::vector<float> factors;
    for (std::int64_t t = 0; t < window.taps(); ++t)
      for (double d : divisors) factors.push_back(d == 0 ? 0.0f : static_cast<float>(1 / d));
    Edge rows = buda::passes::to_rows(b, x);
    Edge picks = b.named("picks").constant(std::move(terms));
    Edge weights = b.named("weights").constant(Shape{window.taps(), 1, window.out()}, std::move(factors), dtype);
    Edge y = b.named("means").op("sparse_matmul", {picks, rows, weights});
    BUDA_TRY(b.status());
    return finish(editor, id, b, buda::passes::from_rows(b, y, result));
  }
};

}  // namespace

BUDA_PLUGIN(.name = "pool", .version = "1.0", .description = "pools by row selection", .license = "Apache-2.0") {
  const buda::schema::OptionSpec surround{.name = "surround",
                                          .type = buda::schema::OptionType::real,
                                          .summary = "add this number to what is pooled, and take it off the maxima; 0: do not",
                                          .value_name = "R",
                                          .default_text = "0"};
  registrar.add_decomposition(
      {.name = "max_pool",
       .summary = "maxima of windows by row selection",
       .options = {surround},
       .make = [](const buda::schema::OptionValues& values, buda::Host&) -> buda::Result<std::unique_ptr<buda::passes::Decomposition>> {
         return std::unique_ptr<buda::passes::Decomposition>(std::make_unique<MaxPool>(values.real("surround")));
       }});
  registrar.add_decomposition(
      {.name = "max_pool_indices",
       .summary = "maxima with their indices, by comparison",
       .options = {surround},
       .make = [](const buda::schema::OptionValues& values, buda::Host&) -> buda::Result<std::unique_ptr<buda::passes::Decomposition>> {
         return buda::pool::make_max_pool_with_indices(values.real("surround"));
       }});
  registrar.add_decomposition(buda::plugin::decomposition_entry<AvgPool>("avg_pool", "means of windows through one sparse product"));
}
