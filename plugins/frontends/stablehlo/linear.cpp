// SPDX-License-Identifier: Apache-2.0
// Products of matrices.
#include "op_call.hpp"

#include <buda/base/text.hpp>

#include <algorithm>
#include <functional>
#include <numeric>

namespace buda::stablehlo {
namespace {

struct DotAxes {
  Dims left_batch, right_batch, left_contracted, right_contracted;
};

bool are_axes(const Dims& a, const Dims& b, std::size_t rank) {
  std::vector<bool> seen(rank, false);
  for (const Dims* list : {&a, &b})
    for (auto axis : *list) {
      if (axis < 0 || static_cast<std::size_t>(axis) >= rank || seen[static_cast<std::size_t>(axis)]) return false;
      seen[static_cast<std::size_t>(axis)] = true;
    }
  return true;
}

Dims others(std::size_t rank, const Dims& a, const Dims& b) {
  Dims out;
  for (std::size_t i = 0; i < rank; ++i) {
    const auto axis = static_cast<std::int64_t>(i);
    if (std::find(a.begin(), a.end(), axis) == a.end() && std::find(b.begin(), b.end(), axis) == b.end()) out.push_back(axis);
  }
  return out;
}

std::int64_t product(const Shape& shape, const Dims& axes) {
  std::int64_t out = 1;
  for (auto axis : axes) out *= shape[static_cast<std::size_t>(axis)];
  return out;
}

// x with its axes in the order of the given groups, each group but the first (batch) made one axis.
Ref arranged(OpCall& n, Ref x, const Dims& batch, const Dims& second, const Dims& third) {
  const Shape shape = n.shape_of(x);
  Dims order = batch;
  order.insert(order.end(), second.begin(), second.end());
  order.insert(order.end(), third.begin(), third.end());
  if (!std::is_sorted(order.begin(), order.end())) x = n.step("ordered").transpose(x, order);
  Dims sizes;
  for (auto axis : batch) sizes.push_back(shape[static_cast<std::size_t>(axis)]);
  sizes.push_back(product(shape, second));
  sizes.push_back(product(shape, third));
  Shape to(std::move(sizes));
  return n.shape_of(x) == to ? x : n.step("matrix").reshape(x, to);
}

Result<Ref> real_product(OpCall& n, const DotAxes& axes, Ref a, Ref b) {
  const Shape left = n.shape_of(a), right = n.shape_of(b);
  const Dims left_free = others(left.rank(), axes.left_batch, axes.left_contracted);
  const Dims right_free = others(right.rank(), axes.right_batch, axes.right_contracted);
  Dims out;
  for (auto axis : axes.left_batch) out.push_back(left[static_cast<std::size_t>(axis)]);
  for (auto axis : left_free) out.push_back(left[static_cast<std::size_t>(axis)]);
  for (auto axis : right_free) out.push_back(right[static_cast<std::size_t>(axis)]);
  // [..., k] times a matrix, as a layer of a network has it.
  const bool last = axes.left_contracted.size() == 1 && axes.left_contracted[0] == static_cast<std::int64_t>(left.rank()) - 1;
  if (axes.left_batch.empty() && last && left.rank() > 1 && right_free.size() == 1 && right.rank() == 2) {
    const Ref matrix = arranged(n, b, {}, axes.right_contracted, right_free);
    return n.step("product").matmul(a, matrix);
  }
  const Ref x = arranged(n, a, axes.left_batch, left_free, axes.left_contracted);
  const Ref y = arranged(n, b, axes.right_batch, axes.right_contracted, right_free);
  const Ref made = n.step("product").matmul(x, y);
  Shape to(std::move(out));
  return n.shape_of(made) == to ? made : n.step("shaped").reshape(made, to);
}

Result<void> dot(OpCall& n, const DotAxes& axes) {
  const Shape left = n.shape(0), right = n.shape(1);
  bool fits = are_axes(axes.left_batch, axes.left_contracted, left.rank()) &&
              are_axes(axes.right_batch, axes.right_contracted, right.rank()) && axes.left_batch.size() == axes.right_batch.size() &&
              axes.left_contracted.size() == axes.right_contracted.size();
  auto same = [&](const Dims& a, const Dims& b) {
    for (std::size_t i = 0; fits && i < a.size(); ++i) fits = left[static_cast<std::size_t>(a[i])] == right[static_cast<std::size_t>(b[i])];
  };
  same(axes.left_batch, axes.right_batch);
  same(axes.left_contracted, axes.right_contracted);
  if (!fits) return n.refuse(cat("its axes do not fit operands of shapes ", left.text(), " and ", right.text()));
  const DType to = n.result_type().dtype.value_or(n.dtype(0));
  if (to == DType::boolean) return n.refuse("multiplies matrices of booleans");
  auto multiply = [&](Ref a, Ref b) { return real_product(n, axes, n.cast(a, to), n.cast(b, to)); };
  return n.output_product(multiply);
}

Result<void> dot_general(OpCall& n) {
  BUDA_TRY(n.expect_inputs(2, 2));
  DotAxes axes;
  BUDA_ASSIGN(Attributes numbers, n.group("dot_dimension_numbers"));
  BUDA_ASSIGN(axes.left_batch, n.integers_in(numbers, "lhs_batching_dimensions"));
  BUDA_ASSIGN(axes.right_batch, n.integers_in(numbers, "rhs_batching_dimensions"));
  BUDA_ASSIGN(axes.left_contracted, n.integers_in(numbers, "lhs_contracting_dimensions"));
  BUDA_ASSIGN(axes.right_contracted, n.integers_in(numbers, "rhs_contracting_dimensions"));
  return dot(n, axes);
}

// The old form: the last axis of the left operand and the first of the right one.
Result<void> plain_dot(OpCall& n) {
  BUDA_TRY(n.expect_inputs(2, 2));
  const auto rank = static_cast<std::int64_t>(n.shape(0).rank());
  return dot(n, {{}, {}, {rank - 1}, {0}});
}

// ---- systems of equations with triangular matrices

// Row after row: x[i] = (b[i] - sum over the rows before of a[i, j] x[j]) / a[i, i].
Result<void> triangular_solve(OpCall& n) {
  BUDA_TRY(n.expect_inputs(2, 2));
  if (n.is_complex(0)) return n.refuse("is not read for complex numbers");
  const bool left = n.flag("left_side", true), unit = n.flag("unit_diagonal", false);
  bool lower = n.flag("lower", true);
  const std::string turn = n.text("transpose_a", "NO_TRANSPOSE");
  Ref a = n.real(0), b = n.real(1);
  const std::size_t rank = n.shape(0).rank();
  if (rank < 2 || n.shape(1).rank() != rank) return n.refuse("takes matrices");
  Dims swapped(rank);
  std::iota(swapped.begin(), swapped.end(), 0);
  std::swap(swapped[rank - 1], swapped[rank - 2]);
  const bool transposed = turn != "NO_TRANSPOSE";
  // x a = b is aᵀ xᵀ = bᵀ.
  if (!left) b = n.step("b").transpose(b, swapped);
  if (transposed == left) {
    a = n.step("a").transpose(a, swapped);
    lower = !lower;
  }
  const auto row_axis = static_cast<std::int64_t>(rank) - 2, column_axis = row_axis + 1;
  const std::int64_t size = n.shape_of(a)[rank - 1];
  constexpr std::int64_t kMost = 512;
  if (size > kMost) return n.refuse(cat("solves for ", size, " unknowns; up to ", kMost, " are supported"));
  std::vector<Ref> rows(static_cast<std::size_t>(size));
  for (std::int64_t k = 0; k < size; ++k) {
    const std::int64_t i = lower ? k : size - 1 - k;
    Ref row = n.step("row").slice(b, row_axis, i, i + 1);
    const Ref factors = n.step("factors").slice(a, row_axis, i, i + 1);
    for (std::int64_t before = 0; before < k; ++before) {
      const std::int64_t j = lower ? before : size - 1 - before;
      const Ref factor = n.step("factor").slice(factors, column_axis, j, j + 1);
      const Ref term = n.step("term").multiply(factor, rows[static_cast<std::size_t>(j)]);
      row = n.step("difference").subtract(row, term);
    }
    if (!unit) row = n.op("divide", {row, n.step("diagonal").slice(factors, column_axis, i, i + 1)});
    rows[static_cast<std::size_t>(i)] = row;
  }
  std::vector<graph::Edge> parts(rows.begin(), rows.end());
  Ref x = parts.empty() ? b : n.step("solution").concatenate(std::move(parts), row_axis);
  n.output(left ? x : n.step("solution").transpose(x, swapped));
  return success();
}

// Column after column of a = l lᵀ.
Result<void> cholesky(OpCall& n) {
  BUDA_TRY(n.expect_inputs(1, 1));
  if (n.is_complex(0)) return n.refuse("is not read for complex numbers");
  const bool lower = n.flag("lower", false);
  const Shape shape = n.shape(0);
  const std::size_t rank = shape.rank();
  constexpr std::int64_t kMost = 256;
  if (rank < 2 || shape[rank - 1] != shape[rank - 2] || shape[rank - 1] > kMost)
    return n.refuse(cat("takes square matrices of up to ", kMost, " rows"));
  const auto row_axis = static_cast<std::int64_t>(rank) - 2, column_axis = row_axis + 1, size = shape[rank - 1];
  Dims swapped(rank);
  std::iota(swapped.begin(), swapped.end(), 0);
  std::swap(swapped[rank - 1], swapped[rank - 2]);
  const Ref a = lower ? n.real(0) : n.step("a").transpose(n.real(0), swapped);
  std::vector<graph::Edge> columns;
  Ref rest = a;  // what the columns so far leave
  for (std::int64_t j = 0; j < size; ++j) {
    const Ref column = n.step("column").slice(rest, column_axis, j, j + 1), pivot = n.step("pivot").slice(column, row_axis, j, j + 1);
    const Ref below = n.step("below").slice(column, row_axis, j, size), root = n.step("root").sqrt(pivot);
    Ref l = n.step("l").divide(below, root);
    Dims before(rank, 0);
    before[rank - 2] = j;
    if (j > 0) l = n.step("l").pad(l, before, Dims(rank, 0), 0);
    columns.emplace_back(l);
    const Ref turned = n.step("turned").transpose(l, swapped), product = n.step("product").multiply(l, turned);
    rest = n.step("rest").subtract(rest, product);
  }
  const Ref out = columns.empty() ? a : n.step("columns").concatenate(std::move(columns), column_axis);
  n.output(lower ? out : n.step("upper").transpose(out, swapped));
  return success();
}

constexpr OpImporter kLinearOps[] = {
    {"stablehlo.cholesky", cholesky, Scope::whole, {}, "matrices of up to 256 rows"},
    {"stablehlo.dot", plain_dot},
    {"stablehlo.dot_general", dot_general},
    {"stablehlo.triangular_solve", triangular_solve, Scope::whole, {}, "up to 512 unknowns"},
};

}  // namespace

std::span<const OpImporter> linear_ops() { return kLinearOps; }

}  // namespace buda::stablehlo
