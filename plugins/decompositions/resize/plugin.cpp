// SPDX-License-Identifier: Apache-2.0
// Decomposition plugin `resize`: interpolation between places as one sparse product, or as a product along each axis.
//
//   y = resize(x)    rows = x as [n, 1, places, c]; each place of y is a row that adds up its neighbours' rows, times their weights: one
//                    neighbour (nearest), up to 2, 4 or 8 (linear along one, two or three axes), 4, 16 or 64 (cubic). Scales may be any.
//                    With few channels, which would leave most of each row empty, and one or two axes, x stays as it is:
//                    along the last axis y = x A, along the one before y = B x, with the weights of neighbours in A and B.
//
// The first two axes, samples and channels, keep their sizes. A crop that reaches beyond x picks nothing there, and the value for it is
// added.
#include <buda/ops/spatial/resize.hpp>
#include <buda/passes/decompose/channels_last.hpp>
#include <buda/plugin/decomposition.hpp>
#include <buda/plugin/plugin.hpp>

#include <algorithm>

namespace {

using buda::Shape;
using buda::graph::Edge;
using buda::graph::Graph;
using buda::graph::GraphEditor;
using buda::graph::Node;
using buda::graph::NodeId;
using buda::ops::ResizeTaps;

buda::ops::Attrs attrs_of(const Node& n) { return {*buda::ops::standard_ops().find(buda::graph::Level::tensor, n.op()), n.attrs}; }

// Neighbours of a place, as numbers of elements from 1, and their weights.
struct Terms {
  std::vector<std::int32_t> picks;
  std::vector<float> weights;
  bool outside = false;
};

// Whether each element of an axis is made of itself alone.
bool keeps(const ResizeTaps& taps, std::int64_t size) {
  if (static_cast<std::int64_t>(taps.places.size() / taps.per_element) != size) return false;
  for (std::size_t i = 0; i < taps.places.size(); ++i)
    if (taps.weights[i] != 0 && (taps.weights[i] != 1 || taps.places[i] != static_cast<std::int64_t>(i / taps.per_element))) return false;
  return true;
}

// Of all places, axis by axis: each axis multiplies places and neighbours.
std::vector<Terms> terms_of(const Shape& x, const std::vector<ResizeTaps>& axes) {
  std::vector<Terms> out{{{1}, {1.0f}}};
  for (std::size_t axis = 2; axis < axes.size(); ++axis) {
    const ResizeTaps& taps = axes[axis];
    std::vector<Terms> next;
    for (const Terms& outer : out)
      for (std::size_t o = 0; o < taps.places.size(); o += taps.per_element) {
        Terms terms;
        terms.outside = outer.outside || (!taps.outside.empty() && taps.outside[o / taps.per_element] != 0);
        for (std::size_t i = 0; i < outer.picks.size() && !terms.outside; ++i)
          for (std::size_t k = o; k < o + taps.per_element; ++k) {
            if (taps.weights[k] == 0) continue;
            terms.picks.push_back(static_cast<std::int32_t>((outer.picks[i] - 1) * x[axis] + taps.places[k] + 1));
            terms.weights.push_back(outer.weights[i] * static_cast<float>(taps.weights[k]));
          }
        next.push_back(std::move(terms));
      }
    out = std::move(next);
  }
  return out;
}

// ---- a product along each axis

constexpr std::int64_t kTile = 32;
// Elements of both matrices; more would fill the device's memory with zeros.
constexpr std::int64_t kMaxWeights = std::int64_t{1} << 22;
// So few channels leave most of a row of a tile empty.
constexpr std::int64_t kMaxChannelsOfPlanes = 4;
// Results of more tiles than this are too large to waste any.
constexpr std::int64_t kMinTilesOfPlanes = 4096;

std::int64_t tiles(std::int64_t size) { return (size + kTile - 1) / kTile; }

// Whether products along the axes take less than half of what a sparse product takes, in products of tiles, and rows would be no better for
// the neighbours.
bool goes_along_axes(const Shape& from, const Shape& to, const std::vector<ResizeTaps>& axes) {
  if (from.rank() > 4) return false;
  const std::size_t last = from.rank() - 1;
  const bool is_plane = from.rank() == 4;
  const std::int64_t rows = is_plane ? from[2] : 1, new_rows = is_plane ? to[2] : 1, channels = from[1];
  if (from[last] * to[last] + rows * new_rows > kMaxWeights) return false;
  std::int64_t terms = 1;
  for (std::size_t axis = 2; axis <= last; ++axis) terms *= static_cast<std::int64_t>(axes[axis].per_element);
  const std::int64_t of_rows = tiles(new_rows * to[last]) * tiles(channels);
  if (is_plane && channels > kMaxChannelsOfPlanes && of_rows <= kMinTilesOfPlanes) return false;
  const std::int64_t matrices = is_plane ? channels : 1, height = is_plane ? tiles(rows) : tiles(channels);
  std::int64_t of_axes = height * tiles(from[last]) * tiles(to[last]);
  if (is_plane) of_axes += tiles(new_rows) * tiles(rows) * tiles(to[last]);
  return 2 * matrices * of_axes <= of_rows * (terms + 1);
}

// The weights of neighbours along an axis: a column for each element of the result, or a row.
std::vector<float> weights_along(const ResizeTaps& taps, std::int64_t size, bool as_columns) {
  const auto results = static_cast<std::int64_t>(taps.places.size() / taps.per_element);
  std::vector<float> out(static_cast<std::size_t>(size * results), 0.0f);
  for (std::size_t i = 0; i < taps.places.size(); ++i) {
    const auto result = static_cast<std::int64_t>(i / taps.per_element);
    if (taps.weights[i] == 0 || (!taps.outside.empty() && taps.outside[static_cast<std::size_t>(result)] != 0)) continue;
    const std::int64_t at = as_columns ? taps.places[i] * results + result : result * size + taps.places[i];
    out[static_cast<std::size_t>(at)] += static_cast<float>(taps.weights[i]);
  }
  return out;
}

Edge along_axes(buda::ops::Builder& b, Edge x, const Shape& from, const Shape& to, const std::vector<ResizeTaps>& axes, buda::DType dtype) {
  const std::size_t last = from.rank() - 1;
  std::vector<std::size_t> order{last};
  if (from.rank() == 4) order.insert(to[2] * from[3] < to[3] * from[2] ? order.begin() : order.end(), 2);
  for (std::size_t axis : order) {
    if (keeps(axes[axis], from[axis])) continue;
    const bool as_columns = axis == last;
    const Shape shape = as_columns ? Shape{from[axis], to[axis]} : Shape{to[axis], from[axis]};
    Edge weights = b.named("weights").constant(shape, weights_along(axes[axis], from[axis], as_columns), dtype);
    std::vector<Edge> operands = as_columns ? std::vector<Edge>{x, weights} : std::vector<Edge>{weights, x};
    x = b.named("blended").op("matmul", std::move(operands));
  }
  return x;
}

// The value where the crop reaches beyond x, and zeros elsewhere, of the shape of an element of all channels.
std::vector<float> beyond(const Shape& to, const std::vector<ResizeTaps>& axes, float extrapolation) {
  std::vector<float> out{0.0f};
  for (std::size_t axis = 2; axis < to.rank(); ++axis) {
    std::vector<float> next;
    for (float outer : out)
      for (std::int64_t i = 0; i < to[axis]; ++i)
        next.push_back(!axes[axis].outside.empty() && axes[axis].outside[static_cast<std::size_t>(i)] != 0 ? extrapolation : outer);
    out = std::move(next);
  }
  return out;
}

class Resize final : public buda::passes::Decomposition {
 public:
  std::vector<std::string> consumes() const override { return {"resize"}; }
  std::vector<std::string> produces() const override { return {"reshape", "transpose", "sparse_matmul", "matmul", "add"}; }

  bool matches(const Graph& graph, const Node& n) const override {
    const Shape& x = graph.type(n.inputs()[0].source)->shape;
    if (!is_float(n.outputs[0].dtype) || x.rank() < 3 || n.outputs[0].shape.volume() == 0) return false;
    auto axes = buda::ops::resize_taps(x, attrs_of(n));
    return axes && keeps((*axes)[0], x[0]) && keeps((*axes)[1], x[1]);
  }

  buda::Result<void> rewrite(GraphEditor& editor, NodeId id) override {
    const Node& n = editor.graph().node(id);
    Edge x = n.inputs()[0];
    Shape from = editor.graph().type(x.source)->shape, result = n.outputs[0].shape;
    buda::DType dtype = n.outputs[0].dtype;
    BUDA_ASSIGN(auto axes, buda::ops::resize_taps(from, attrs_of(n)));
    auto extrapolation = static_cast<float>(attrs_of(n).real("extrapolation"));
    if (goes_along_axes(from, result, axes)) {
      buda::ops::Builder b(editor);
      Edge y = along_axes(b, x, from, result, axes, dtype);
      const bool reaches = std::any_of(axes.begin() + 2, axes.end(), [](const ResizeTaps& taps) {
        return std::any_of(taps.outside.begin(), taps.outside.end(), [](char is_outside) { return is_outside != 0; });
      });
      if (reaches && extrapolation != 0) {
        Shape places = result;
        places[0] = places[1] = 1;
        y = b.named("extrapolated").add(y, b.named("outside").constant(places, beyond(result, axes, extrapolation), dtype));
      }
      BUDA_TRY(b.status());
      editor.replace(id, y.source);
      return buda::success();
    }
    std::vector<Terms> terms = terms_of(from, axes);
    std::size_t most = 1;
    bool weighted = false, reaches_outside = false;
    std::vector<float> added;
    for (const Terms& t : terms) {
      most = std::max(most, t.picks.size());
      weighted = weighted || (!t.outside && t.weights != std::vector<float>{1.0f});
      reaches_outside = reaches_outside || t.outside;
      added.push_back(t.outside ? extrapolation : 0.0f);
    }
    std::vector<std::int32_t> picks(most * terms.size(), 0);
    std::vector<float> weights(most * terms.size(), 0.0f);
    for (std::size_t p = 0; p < terms.size(); ++p)
      for (std::size_t k = 0; k < terms[p].picks.size(); ++k) {
        picks[k * terms.size() + p] = terms[p].picks[k];
        weights[k * terms.size() + p] = terms[p].weights[k];
      }
    Shape shape{static_cast<std::int64_t>(most), 1, static_cast<std::int64_t>(terms.size())};

    buda::ops::Builder b(editor);
    std::vector<Edge> operands(2);
    operands[1] = buda::passes::to_rows(b, x);
    operands[0] = b.named("picks").constant(shape, std::move(picks));
    if (weighted) operands.push_back(b.named("weights").constant(shape, std::move(weights), dtype));
    Edge y = b.named("blended").op("sparse_matmul", std::move(operands));
    if (reaches_outside && extrapolation != 0) {
      Edge outside = b.named("outside").constant(Shape{static_cast<std::int64_t>(terms.size()), 1}, std::move(added), dtype);
      y = b.named("extrapolated").add(y, outside);
    }
    BUDA_TRY(b.status());
    buda::graph::ValueRef done = buda::passes::from_rows(b, y, result);
    BUDA_TRY(b.status());
    editor.replace(id, done);
    return buda::success();
  }
};

}  // namespace

BUDA_PLUGIN(.name = "resize", .version = "1.0", .description = "resizing as a sparse product, or as products along its axes",
            .license = "Apache-2.0") {
  registrar.add_decomposition(buda::plugin::decomposition_entry<Resize>(
      "resize", "nearest, linear and cubic resizing as a sparse product, or as products along its axes"));
}
