// SPDX-License-Identifier: Apache-2.0
// Weights: for each tap the sum over all windows of what a window has times the element at the tap. The elements are repeated (im2col,
// window_rows.hpp), not saved. Rows of all samples are below one another, so that one product sums over all.
//
// How the taps lie decides what a device does with them. Matrices of a product follow each other on the same cores, while columns are
// shared out among cores; and each matrix has whole tiles, however few columns are used. So taps lie side by side, channels filled up to
// whole tiles: one product. With groups:
//
//   one channel each       a product of numbers, element by element, of which rows are summed
//   that fill tiles        the groups of a tile are multiplied as one; what belongs to one group lies in blocks on the diagonal
//   others                 a product for each group
#include <buda/autograd/rules/weights_gradient.hpp>

#include <buda/autograd/rules/window_rows.hpp>
#include <buda/graph/graph.hpp>

#include <algorithm>
#include <functional>

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

Term of_one_group(Backward& b, const Window& window, const Term& elements, const Rows& rows) {
  const std::int64_t channels = elements.shape()[1], taps = window.taps(), columns = taps == 1 ? channels : in_tiles(channels);
  const Term places = with_columns(to_joined_rows(elements, rows.samples), columns);
  const Term patches = side_by_side(im2col(b, places, window, rows.samples));
  const Term product = whole(rows.windows.transposed_matrices().matmul(patches));  // [1, 1, o, taps * columns]
  const Term by_tap = product.reshape(Shape{1, product.shape()[2], taps, columns}).transpose({0, 2, 1, 3});
  return with_columns(by_tap, channels).transpose({0, 2, 3, 1});
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

// Groups of `in` channels of elements and `out` channels of windows, `together` of which make whole tiles of both.
struct Groups {
  std::int64_t number, in, out, together;

  std::int64_t tiles() const { return (number + together - 1) / together; }
};

// [n, groups * size, places…] as [tiles, 1, n * places, channels of a tile].
Term in_group_tiles(const Term& x, const Groups& groups, std::int64_t size) {
  const Shape shape = x.shape();
  const Term rows = with_columns(to_joined_rows(x, shape[0]), groups.tiles() * groups.together * size);
  const Shape s = rows.shape();
  return rows.reshape(Shape{1, s[2], groups.tiles(), groups.together * size}).transpose({2, 0, 1, 3});
}

Term of_group_tiles(Backward& b, const Window& window, const Term& elements, const Term& windows, const Groups& g) {
  const std::int64_t width = g.together * g.in, height = g.together * g.out, taps = window.taps();
  const Term patches = side_by_side(im2col(b, in_group_tiles(elements, g, g.in), window, elements.shape()[0]));
  const Term product = in_group_tiles(windows, g, g.out).transposed_matrices().matmul(patches);  // [tiles, 1, height, taps * width]
  const Term by_tap = product.reshape(Shape{g.tiles(), height, taps, width}).transpose({0, 2, 1, 3});
  const Term own = mask(product, height, width, [&](auto o, auto i) { return o / g.out == i / g.in; });
  const Term folds = mask(product, width, g.in, [&](auto i, auto c) { return i % g.in == c; });
  const Term blocks = (by_tap * own).matmul(folds).transpose({0, 2, 3, 1});  // [tiles, height, in, taps]
  const Term all = blocks.reshape(Shape{1, g.tiles() * height, g.in, taps});
  const std::int64_t channels = g.number * g.out;
  return channels == g.tiles() * height ? all : Term{b.builder(), b.builder().slice(all.value(), 1, 0, channels)};
}

Term of_each_group(Backward& b, const Window& window, const Term& elements, const Rows& rows, std::int64_t groups) {
  const Term patches = im2col(b, to_joined_rows(elements, rows.samples), window, rows.samples);
  // [1, taps or 1, groups, rows, channels of a group]
  const auto grouped = [&](const Term& v) {
    const Shape s = v.shape();
    return v.reshape(Shape{s[0], s[1], s[2], groups, s[3] / groups}).transpose({0, 1, 3, 2, 4});
  };
  const Term left = grouped(rows.windows).transposed_matrices();
  return whole(left.matmul(grouped(patches))).transpose({0, 2, 3, 4, 1});  // [1, groups, o, i, taps]
}

}  // namespace

void weights_gradient(Backward& b, const Window& window, const Term& elements, const Term& windows) {
  const std::int64_t groups = b.attrs().integer("groups"), n = elements.shape()[0];
  const std::int64_t samples = joined_samples(n, window.taps() * window.out());
  const Rows rows{samples, to_joined_rows(windows, samples)};
  const std::int64_t in = elements.shape()[1] / groups, out = windows.shape()[1] / groups;
  Term gradient;
  if (groups == 1)
    gradient = of_one_group(b, window, elements, rows);
  else if (in == 1 && out == 1)
    gradient = of_single_channels(b, window, elements, rows);
  else if (samples == n && kTile % in == 0 && kTile % out == 0)
    gradient = of_group_tiles(b, window, elements, windows, {groups, in, out, kTile / std::min(in, out)});
  else
    gradient = of_each_group(b, window, elements, rows, groups);
  b.give(1, gradient.reshape(b.in(1).shape()));
}

}  // namespace buda::autograd
