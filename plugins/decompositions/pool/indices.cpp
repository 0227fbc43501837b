// SPDX-License-Identifier: Apache-2.0
// Maximum pools that also say where the maxima stand.
//
//   picked [n, taps, windows, c]    each tap's elements, as in a pool without indices
//   hit = 1 where an element is the window's maximum
//   place = places - max over taps of hit (places - place of the tap): the first one, as the row-major order of elements has it; a tap in
//           the padding, which picks an element inside, changes nothing
//   index = place + places (sample * channels + channel); counted column by column through a comparison of places
//
// Equal is what the format cannot tell apart (plugin `compare`). Indices are numbers in F32, as many as the device compares exactly
// (exact-integers).
#include "rules.hpp"

#include <buda/graph/editor.hpp>
#include <buda/ops/linear_algebra/selection_matrix.hpp>
#include <buda/ops/spatial/pool.hpp>
#include <buda/plugin/rule.hpp>
#include <buda/tensor/tensor.hpp>

namespace buda::pool {
namespace {

using namespace plugin;
using graph::Graph;
using graph::Node;
using Dims = std::vector<std::int64_t>;

constexpr std::int64_t kMaxElements = std::int64_t{1} << 24;

ops::Attrs attrs_of(const Node& n) { return {*ops::standard_ops().find(graph::Level::tensor, n.op()), n.attrs}; }

Result<ops::Window> window_of(const Graph& graph, const Node& n) {
  const Shape& x = graph.type(n.inputs()[0].source)->shape;
  return ops::pool_window(x, attrs_of(n), x.rank() - 2);
}

// For each tap and window the element's number in its channel, counted row by row or column by column: [1, taps, windows, 1].
struct Places {
  std::vector<float> by_rows, by_columns;
};

Places places_of(const ops::Window& window, const Tensor& picker) {
  const auto& [d, h, w] = window.axes;
  Places out;
  for (std::int32_t pick : picker.as<std::int32_t>()) {
    std::int64_t place = pick - 1, z = place / (h.in * w.in), y = place / w.in % h.in, x = place % w.in;
    out.by_rows.push_back(static_cast<float>(place));
    out.by_columns.push_back(static_cast<float>((x * h.in + y) * d.in + z));
  }
  return out;
}

class MaxPoolWithIndices final : public passes::Decomposition {
 public:
  explicit MaxPoolWithIndices(double surround) : surround_(surround) {}
  std::vector<std::string> consumes() const override { return {"max_pool1d", "max_pool2d", "max_pool3d"}; }
  std::vector<std::string> produces() const override {
    return {"reshape", "transpose", "sparse_matmul", "reduce_max", "subtract", "multiply", "add", "clip", "abs", "cast", "exact_cast"};
  }

  bool matches(const Graph& graph, const Node& n) const override {
    const Shape& x = graph.type(n.inputs()[0].source)->shape;
    if (n.outputs.size() != 2 || !is_float(n.outputs[0].dtype) || n.outputs[0].shape.volume() == 0) return false;
    if (x.volume() == 0 || *x.volume() >= kMaxElements) return false;
    auto window = window_of(graph, n);
    return window && ops::clamped_tap_selection(*window).has_value();
  }

  Result<void> rewrite(graph::GraphEditor& editor, graph::NodeId id) override {
    BUDA_ASSIGN(ops::Window window, window_of(editor.graph(), editor.graph().node(id)));
    Rewrite r(editor, id);
    Shape shape = r.type(0).shape, result = r.result().shape;
    std::int64_t samples = shape[0], channels = shape[1], in = window.in(), out = window.out(), taps = window.taps();
    Tensor picker = *ops::clamped_tap_selection(window);
    Places places = places_of(window, picker);

    Term x = surround_ == 0 ? r.in(0) : r.in(0) + surround_;
    Term lines = r.reshape(x, Shape{samples, channels, in});
    Term rows = r.reshape(r.op("transpose", {lines}, {{"perm", Dims{0, 2, 1}}}), Shape{samples, 1, in, channels});
    Term picked = r.op("sparse_matmul", {r.constant_as_is(picker), rows});
    Term most = reduce("reduce_max", picked, {1});
    Term hit = 1 - above(most, picked);
    r.keep_exact(true);
    Shape table{1, taps, out, 1};
    Term by_rows = r.constant(table, std::move(places.by_rows));
    Term from_end = hit * (static_cast<double>(in) - by_rows);
    Term place = static_cast<double>(in) - reduce("reduce_max", from_end, {1});
    if (r.text("indices") == "column_major") {
      Term is_place = 1 - not_zero(by_rows - place);
      Term by_columns = r.constant(table, std::move(places.by_columns));
      place = reduce("reduce_max", is_place * (by_columns + 1), {1}) - 1;
    }
    std::vector<float> first;
    for (std::int64_t c = 0; c < samples * channels; ++c) first.push_back(static_cast<float>(c * in));
    Term index = place + r.constant(Shape{samples, 1, 1, channels}, std::move(first));
    index = r.exactly(in_order(r, index, result), DType::i64);
    r.keep_exact(false);
    if (surround_ != 0) most = most - surround_;
    Term values = r.exactly(in_order(r, most, result), r.result().dtype);
    return r.finish_with({values, index});
  }

 private:
  // [n, 1, windows, c] as [n, c, windows…].
  static Term in_order(Rewrite& r, const Term& rows, const Shape& result) {
    Shape s = r.shape(rows);
    Term lines = r.reshape(rows, Shape{s[0], s[2], s[3]});
    return r.reshape(r.op("transpose", {lines}, {{"perm", Dims{0, 2, 1}}}), result);
  }

  double surround_;
};

}  // namespace

std::unique_ptr<passes::Decomposition> make_max_pool_with_indices(double surround) {
  return std::make_unique<MaxPoolWithIndices>(surround);
}

}  // namespace buda::pool
