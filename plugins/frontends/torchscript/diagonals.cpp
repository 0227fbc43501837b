// SPDX-License-Identifier: Apache-2.0
// Diagonals of matrices, and matrices turned by right angles.
#include "call.hpp"
#include "promotion.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace buda::torchscript {
namespace {

// In the order in which they are given.
Result<Dims> two_axes(Call& n, std::int64_t first, std::int64_t second, std::size_t rank) {
  BUDA_ASSIGN(first, frontend::axis_of(n, first, rank));
  BUDA_ASSIGN(second, frontend::axis_of(n, second, rank));
  if (first == second) return n.refuse(cat("names axis ", first, " twice"));
  return Dims{first, second};
}

struct Plane {
  Ref value;  // its two axes last
  Dims rest;
  std::int64_t rows = 0, cols = 0;
};

Result<Plane> plane_of(Call& n, Ref x, std::int64_t first, std::int64_t second) {
  BUDA_ASSIGN(const Shape shape, n.shape_of(x));
  if (shape.rank() < 2) return n.refuse(cat("takes a diagonal of ", shape.text()));
  BUDA_ASSIGN(const Dims axes, two_axes(n, first, second, shape.rank()));
  Dims order;
  Plane out;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) != axes.end()) continue;
    order.push_back(static_cast<std::int64_t>(i));
    out.rest.push_back(shape[i]);
  }
  order.insert(order.end(), axes.begin(), axes.end());
  out.rows = shape[static_cast<std::size_t>(axes[0])];
  out.cols = shape[static_cast<std::size_t>(axes[1])];
  out.value = std::is_sorted(order.begin(), order.end()) ? x : n.step("plane").transpose(x, order);
  return out;
}

// In a row of all elements they are as many apart as a row has, and one.
Result<Ref> diagonal_of(Call& n, ops::Builder& (*where)(Call&), const Plane& p, std::int64_t offset) {
  const std::int64_t count = offset >= 0 ? std::min(p.rows, p.cols - offset) : std::min(p.rows + offset, p.cols);
  if (count < 1)
    return n.refuse(cat("takes a diagonal without elements: number ", offset, " of ", p.rows, " rows and ", p.cols, " columns"));
  const auto axis = static_cast<std::int64_t>(p.rest.size());
  const std::int64_t first = offset >= 0 ? offset : -offset * p.cols;
  Dims flat = p.rest;
  flat.push_back(p.rows * p.cols);
  Ref row = n.step("row").reshape(p.value, Shape(std::move(flat)));
  return where(n).slice(row, axis, first, first + (count - 1) * (p.cols + 1) + 1, p.cols + 1);
}

ops::Builder& as_whole(Call& n) { return n.result(); }
ops::Builder& as_diagonal(Call& n) { return n.step("diagonal"); }

Result<Value> diagonal_plain(Call& n) {
  const bool of_last = n.importer().name == "linalg_diagonal";
  BUDA_ASSIGN(const auto offset, n.integer_or("offset", 0));
  BUDA_ASSIGN(const auto first, n.integer_or("dim1", of_last ? -2 : 0));
  BUDA_ASSIGN(const auto second, n.integer_or("dim2", of_last ? -1 : 1));
  BUDA_ASSIGN(const Plane plane, plane_of(n, n.ref("self"), first, second));
  BUDA_ASSIGN(Ref y, diagonal_of(n, as_whole, plane, offset));
  return n.tensor(y);
}

Result<Value> diagonal_sum(Call& n) {
  BUDA_ASSIGN(const auto dtype, n.dtype("self"));
  Ref x = n.ref("self");
  BUDA_ASSIGN(const Plane plane, plane_of(n, is_float(dtype) ? x : n.cast(x, DType::i64), 0, 1));
  BUDA_ASSIGN(Ref y, diagonal_of(n, as_diagonal, plane, 0));
  return n.tensor(n.result().op("reduce_sum", {y}, {{"dims", Dims{0}}, {"keep_dims", false}}));
}

// The elements of the last axis on a diagonal, zeros beside it.
Result<Ref> matrix_with(Call& n, ops::Builder& (*where)(Call&), Ref x, const Shape& shape, std::int64_t offset) {
  BUDA_ASSIGN(const auto dtype, n.dtype("self"));
  const std::size_t last = shape.rank() - 1;
  const std::int64_t count = shape[last], size = count + std::abs(offset);
  Dims before(shape.rank(), 0), after(shape.rank(), 0);
  (offset >= 0 ? before : after)[last] = std::abs(offset);
  // Column j of the matrix holds element j - offset, or of those below the first diagonal j.
  Ref padded = offset == 0 ? x : n.step("padded").pad(x, before, after);
  Dims wide(shape.begin(), shape.end());
  wide[last] = size;
  wide.insert(wide.begin() + static_cast<std::ptrdiff_t>(last), size);
  Ref row = n.step("row").unsqueeze(padded, {static_cast<std::int64_t>(last)});
  Ref rows = n.step("rows").broadcast(row, Shape(wide));
  std::vector<Boolean> mask(static_cast<std::size_t>(size * size));
  for (std::int64_t i = 0; i < size; ++i)
    if (i + offset >= 0 && i + offset < size) mask[static_cast<std::size_t>(i * size + i + offset)].byte = 1;
  Ref on = n.constant(Tensor(Shape{size, size}, std::move(mask)));
  Ref zero = n.number(0, dtype);
  return where(n).op("where", {on, rows, zero});
}

Result<Value> diagonal_embedded(Call& n) {
  BUDA_ASSIGN(const auto offset, n.integer_or("offset", 0));
  BUDA_ASSIGN(const Shape shape, n.shape("self"));
  if (shape.rank() == 0) return n.refuse("makes a matrix of a number");
  BUDA_ASSIGN(const auto first, n.axis_or("dim1", -2, shape.rank() + 1));
  BUDA_ASSIGN(const auto second, n.axis_or("dim2", -1, shape.rank() + 1));
  const auto rank = static_cast<std::int64_t>(shape.rank());
  if (first != rank - 1 || second != rank) return n.refuse("puts a diagonal into other axes than the last two, which is not supported");
  BUDA_ASSIGN(Ref y, matrix_with(n, as_whole, n.ref("self"), shape, offset));
  return n.tensor(y);
}

// Of a matrix its diagonal, of a row a matrix.
Result<Value> diagonal_either(Call& n) {
  BUDA_ASSIGN(const auto offset, n.integer_or("diagonal", 0));
  BUDA_ASSIGN(const Shape shape, n.shape("self"));
  if (shape.rank() == 1) {
    BUDA_ASSIGN(Ref y, matrix_with(n, as_whole, n.ref("self"), shape, offset));
    return n.tensor(y);
  }
  BUDA_ASSIGN(const Plane plane, plane_of(n, n.ref("self"), 0, 1));
  BUDA_ASSIGN(Ref y, diagonal_of(n, as_whole, plane, offset));
  return n.tensor(y);
}

Ref flipped(ops::Builder& b, Ref x, std::int64_t axis, const Shape& shape) {
  const std::int64_t size = shape[static_cast<std::size_t>(axis)];
  return b.slice(x, axis, size - 1, -size - 1, -1);
}

Result<Value> diagonal_turned(Call& n) {
  BUDA_ASSIGN(const Shape shape, n.shape("self"));
  BUDA_ASSIGN(const auto k, n.integer_or("k", 1));
  BUDA_ASSIGN(const Dims given, n.integers_or("dims", {0, 1}));
  if (given.size() != 2) return n.refuse(cat("turns ", given.size(), " axes"));
  BUDA_ASSIGN(const Dims axes, two_axes(n, given[0], given[1], shape.rank()));
  const std::int64_t quarters = (k % 4 + 4) % 4;
  Ref x = n.ref("self");
  if (quarters == 0) return n.tensor(x);
  if (quarters == 2) {
    Ref first = flipped(n.step("first"), x, axes[0], shape);
    return n.tensor(flipped(n.result(), first, axes[1], shape));
  }
  Dims order(shape.rank());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<std::size_t>(axes[0])], order[static_cast<std::size_t>(axes[1])]);
  Ref flip = flipped(n.step("flipped"), x, axes[quarters == 1 ? 1 : 0], shape);
  return n.tensor(n.result().transpose(flip, order));
}

constexpr OpImporter kDiagonalOps[] = {
    {"diag", "self diagonal", diagonal_either},
    {"diag_embed", "self offset dim1 dim2", diagonal_embedded, "", "into the last two axes"},
    {"diagonal", "self offset dim1 dim2", diagonal_plain, "", "a copy, not a view"},
    {"linalg_diagonal", "self offset dim1 dim2", diagonal_plain},
    {"rot90", "self k dims", diagonal_turned},
    {"trace", "self", diagonal_sum},
};

}  // namespace

std::span<const OpImporter> diagonal_ops() { return kDiagonalOps; }

}  // namespace buda::torchscript
