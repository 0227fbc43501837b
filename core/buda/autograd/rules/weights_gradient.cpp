// SPDX-License-Identifier: Apache-2.0
// Weights: for each tap the sum over all windows of what a window has times the element at the tap. The elements are repeated (im2col,
// window_rows.hpp), not saved. Rows of all samples are below one another, so that one product sums over all.
//
// How the taps lie decides what a device does with them. Matrices of a product follow each other on the same cores, while columns are
// shared out among cores; and each matrix has whole tiles, however few columns are used. So taps lie side by side, channels filled up to
// whole tiles: one product. With groups:
//
//   one channel each       a product of numbers, element by element, of which rows are summed
//   others                 groups that together fill tiles are multiplied as one; what belongs to one group lies in blocks on the diagonal
#include <buda/autograd/rules/weights_gradient.hpp>

#include <buda/autograd/rules/window_rows.hpp>
#include <buda/graph/graph.hpp>
#include <buda/ops/spatial/window_blocks.hpp>

#include <algorithm>
#include <functional>
#include <numeric>

namespace buda::autograd {
namespace {

using ops::Window;

constexpr std::int64_t kTile = graph::kTileSide;

std::int64_t in_tiles(std::int64_t n) { return (n + kTile - 1) / kTile * kTile; }

// The last axis filled up with zeros, or cut.
Term with_columns(const Term& x, std::int64_t columns) {
  const Shape shape = x.shape();
  if (!x.valid() || shape[shape.rank() - 1] == columns) return x;
  const std::int64_t last = static_cast<std::int64_t>(shape.rank()) - 1, size = shape[shape.rank() - 1];
  if (columns < size) return {x.builder(), x.builder().slice(x.value(), last, 0, columns)};
  Dims before(shape.rank(), 0), after(shape.rank(), 0);
  after.back() = columns - size;
  return {x.builder(), x.builder().pad(x.value(), before, after)};
}

// Patches [w, taps, rows, i] as [w, 1, rows, taps * i].
Term side_by_side(const Term& patches) {
  const Shape s = patches.shape();
  return s[1] == 1 ? patches : patches.transpose({0, 2, 1, 3}).reshape(Shape{s[0], 1, s[2], s[1] * s[3]});
}

// Of samples that were not joined.
Term whole(const Term& sums) { return sums.shape()[0] == 1 ? sums : sums.sum({0}); }

// Rows of samples that can be joined, where taps are so many.
struct Rows {
  std::int64_t samples;
  Term windows;  // [n / samples, 1, rows, o]
};

// Of joined rows of one group: [1, taps, o, i].
Term of_taps(Backward& b, const Window& window, const Term& places, const Rows& rows) {
  const std::int64_t channels = places.shape()[3], taps = window.taps(), columns = taps == 1 ? channels : in_tiles(channels);
  const Term patches = side_by_side(im2col(b, with_columns(places, columns), window, rows.samples));
  const Term product = whole(rows.windows.transposed_matrices().matmul(patches));  // [1, 1, o, taps * columns]
  const Term by_tap = product.reshape(Shape{1, product.shape()[2], taps, columns}).transpose({0, 2, 1, 3});
  return with_columns(by_tap, channels);
}

// Over blocks, as the convolution is computed of a model's input, which the host puts in blocks: both then read the same, and what is taken
// from the weights has the order of the weights.
Term of_input_blocks(Backward& b, const ops::WindowBlocks& blocks, const Term& elements, const Rows& rows) {
  const Shape x = elements.shape(), w = b.in(1).shape();
  const std::int64_t places = blocks.window.in(), channels = x[1] * blocks.elements;
  const Term apart = elements.reshape(blocks.split(x)).transpose(blocks.order());
  const Term taps = of_taps(b, blocks.window, apart.reshape(Shape{x[0] / rows.samples, 1, rows.samples * places, channels}), rows);
  Dims filled = w.dims();
  for (std::size_t i = 0; i < blocks.strides.size(); ++i) filled[2 + i] += blocks.before[i] + blocks.after[i];
  const Shape split = blocks.split(Shape(filled));
  const Dims order = blocks.order();
  Dims in_order, back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    in_order.push_back(split[static_cast<std::size_t>(order[i])]);
    back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  }
  Term out = taps.transpose({2, 0, 1, 3}).reshape(Shape(in_order)).transpose(back).reshape(Shape(filled));
  for (std::size_t i = 0; i < blocks.strides.size() && out.valid(); ++i)
    if (filled[2 + i] != w[2 + i])
      out = {out.builder(),
             out.builder().slice(out.value(), static_cast<std::int64_t>(2 + i), blocks.before[i], blocks.before[i] + w[2 + i])};
  return out;
}

Term of_one_group(Backward& b, const Window& window, const Term& elements, const Rows& rows) {
  const graph::Node& source = b.builder().node(elements.value());
  if (source.kind() == graph::NodeKind::input)
    if (const auto blocks = ops::window_blocks(window, elements.shape().rank() - 2, elements.shape()[1]))
      return of_input_blocks(b, *blocks, elements, rows);
  return of_taps(b, window, to_joined_rows(elements, rows.samples), rows).transpose({0, 2, 3, 1});
}

Term of_single_channels(Backward& b, const Window& window, const Term& elements, const Rows& rows) {
  const Term patches = im2col(b, to_joined_rows(elements, rows.samples), window, rows.samples);
  return whole((patches * rows.windows).sum({2})).transpose({0, 3, 2, 1});  // [1, channels, 1, taps]
}

// A constant matrix of ones and zeros, where `is_one` says.
Term mask(const Term& like, std::int64_t rows, std::int64_t columns, const std::function<bool(std::int64_t, std::int64_t)>& is_one) {
  std::vector<float> elements;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) elements.push_back(is_one(i, j) ? 1.0f : 0.0f);
  return {like.builder(), like.builder().constant(Shape{rows, columns}, std::move(elements), like.dtype())};
}

// Groups of `in` channels of elements and `out` channels of windows, `together` of which are a block: whole tiles of both.
struct Groups {
  std::int64_t number, in, out, together;

  std::int64_t blocks() const { return (number + together - 1) / together; }
};

Groups groups_of(std::int64_t number, std::int64_t in, std::int64_t out) {
  // Powers of two, so that the larger one is a multiple of the other.
  return {number, in, out, std::max(kTile / std::gcd(kTile, in), kTile / std::gcd(kTile, out))};
}

// Joined rows [w, 1, rows, groups * size] as [w * blocks, 1, rows, channels of a block].
Term in_blocks(const Term& rows, const Groups& groups, std::int64_t size) {
  const std::int64_t channels = groups.together * size;
  const Term filled = with_columns(rows, groups.blocks() * channels);
  const Shape s = filled.shape();
  return filled.reshape(Shape{s[0], s[2], groups.blocks(), channels})
      .transpose({0, 2, 1, 3})
      .reshape(Shape{s[0] * groups.blocks(), 1, s[2], channels});
}

Term of_groups(Backward& b, const Window& window, const Term& elements, const Rows& rows, const Groups& g) {
  const std::int64_t width = g.together * g.in, height = g.together * g.out, taps = window.taps(), blocks = g.blocks();
  const Term places = in_blocks(to_joined_rows(elements, rows.samples), g, g.in);
  const Term patches = side_by_side(im2col(b, places, window, rows.samples));
  Term product = in_blocks(rows.windows, g, g.out).transposed_matrices().matmul(patches);  // [w * blocks, 1, height, taps * width]
  if (product.shape()[0] != blocks)
    product = product.reshape(Shape{product.shape()[0] / blocks, blocks, height, taps * width}).sum({0}, false);
  Term by_tap = product.reshape(Shape{blocks, height, taps, width}).transpose({0, 2, 1, 3});
  if (g.together > 1) {
    const Term own = mask(product, height, width, [&](auto o, auto i) { return o / g.out == i / g.in; });
    const Term folds = mask(product, width, g.in, [&](auto i, auto c) { return i % g.in == c; });
    by_tap = (by_tap * own).matmul(folds);
  }
  const Term all = by_tap.transpose({0, 2, 3, 1}).reshape(Shape{1, blocks * height, g.in, taps});
  const std::int64_t channels = g.number * g.out;
  return channels == blocks * height ? all : Term{b.builder(), b.builder().slice(all.value(), 1, 0, channels)};
}

}  // namespace

void weights_gradient(Backward& b, const Window& window, const Term& elements, const Term& windows) {
  const std::int64_t groups = b.attrs().integer("groups"), n = elements.shape()[0];
  const std::int64_t samples = joined_samples(n, window.taps() * window.out());
  const Rows rows{samples, to_joined_rows(windows, samples)};
  const Groups g = groups_of(groups, elements.shape()[1] / groups, windows.shape()[1] / groups);
  Term gradient;
  if (groups == 1)
    gradient = of_one_group(b, window, elements, rows);
  else if (g.in == 1 && g.out == 1)
    gradient = of_single_channels(b, window, elements, rows);
  else
    gradient = of_groups(b, window, elements, rows, g);
  b.give(1, gradient.reshape(b.in(1).shape()));
}

}  // namespace buda::autograd
