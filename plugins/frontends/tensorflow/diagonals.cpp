// SPDX-License-Identifier: Apache-2.0
// Diagonals of matrices, which are the last two axes. Of the newer operators' arguments those are read that mean the main diagonal, without
// a border.
#include "node_import.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace buda::tensorflow_frontend {
namespace {

using Ref = NodeImport::Ref;
using Dims = NodeImport::Dims;

// Input i, where it is there, must say this.
Result<void> expect(NodeImport& n, std::size_t i, std::string_view what, double standard) {
  if (i >= n.input_count()) return success();
  BUDA_ASSIGN(double number, n.known_number(i, what));
  if (number != standard) return n.refuse(cat("its ", what, " is ", number, "; ", standard, " is read"));
  return success();
}

// True on the main diagonal.
Ref main_diagonal(NodeImport& n, std::int64_t rows, std::int64_t columns) {
  std::vector<Boolean> on(static_cast<std::size_t>(rows * columns));
  for (std::int64_t i = 0; i < std::min(rows, columns); ++i) on[static_cast<std::size_t>(i * columns + i)] = Boolean{1};
  return n.step("diagonal").constant(Tensor(Shape{rows, columns}, std::move(on)));
}

constexpr std::int64_t kMaxMatrix = std::int64_t{1} << 26;  // elements

// A matrix for each row.
Result<void> import_from_diagonal(NodeImport& n) {
  BUDA_ASSIGN(auto type, n.type(0));
  const auto rank = static_cast<std::int64_t>(type.shape.rank());
  if (rank < 1) return n.refuse("its input is a single number");
  BUDA_TRY(expect(n, 1, "number of the diagonal", 0));
  BUDA_TRY(expect(n, 2, "number of rows", -1));
  BUDA_TRY(expect(n, 3, "number of columns", -1));
  BUDA_TRY(expect(n, 4, "value elsewhere", 0));
  const std::int64_t size = type.shape[type.shape.rank() - 1];
  if (size > 0 && size > kMaxMatrix / size) return n.refuse(cat("its matrix of ", size, " rows and columns is too large"));
  Ref x = n.input(0), on = main_diagonal(n, size, size);
  Ref row = n.step("row").unsqueeze(x, {rank - 1});
  Ref zero = n.step("zero").constant(0.0, type.dtype);
  n.output(n.result().op("where", {on, row, zero}));
  return success();
}

// The elements of a row of all elements that lie rows + 1 apart.
Result<void> import_to_diagonal(NodeImport& n) {
  BUDA_ASSIGN(Shape shape, n.shape(0));
  if (shape.rank() < 2) return n.refuse(cat("its input is ", shape.text(), ", not a matrix"));
  BUDA_TRY(expect(n, 1, "number of the diagonal", 0));
  const auto rank = static_cast<std::int64_t>(shape.rank());
  const std::int64_t rows = shape[shape.rank() - 2], columns = shape[shape.rank() - 1], size = std::min(rows, columns);
  Dims flat(shape.begin(), shape.end() - 2);
  flat.push_back(rows * columns);
  Ref x = n.input(0);
  Ref all = n.step("all").reshape(x, Shape(std::move(flat)));
  n.output(n.result().slice(all, rank - 2, 0, size == 0 ? 0 : (size - 1) * (columns + 1) + 1, columns + 1));
  return success();
}

Result<void> import_set_diagonal(NodeImport& n) {
  BUDA_ASSIGN(Shape shape, n.shape(0));
  BUDA_ASSIGN(Shape diagonal, n.shape(1));
  BUDA_TRY(expect(n, 2, "number of the diagonal", 0));
  if (shape.rank() < 2 || diagonal.rank() + 1 != shape.rank())
    return n.refuse(cat("its input is ", shape.text(), " and its diagonal ", diagonal.text()));
  const std::int64_t rows = shape[shape.rank() - 2], columns = shape[shape.rank() - 1];
  if (rows > 0 && columns > kMaxMatrix / rows) return n.refuse(cat("its matrix ", shape.text(), " is too large"));
  const auto rank = static_cast<std::int64_t>(shape.rank());
  Ref x = n.input(0), values = n.input(1);
  // One for each column; where there are fewer rows, what is filled up is not taken.
  if (rows < columns) {
    Dims none(diagonal.rank(), 0), after = none;
    after.back() = columns - rows;
    values = n.step("filled").pad(values, none, after, 0);
  }
  if (rows > columns) {
    values = n.step("column").unsqueeze(values, {rank - 1});
    Dims none(shape.rank(), 0), after = none;
    after[shape.rank() - 2] = rows - columns;
    values = n.step("filled").pad(values, none, after, 0);
  } else {
    values = n.step("row").unsqueeze(values, {rank - 2});
  }
  Ref on = main_diagonal(n, rows, columns);
  n.output(n.result().op("where", {on, values, x}));
  return success();
}

constexpr OpImporter kDiagonalOps[] = {
    {"MatrixDiag", import_from_diagonal},
    {"MatrixDiagPart", import_to_diagonal},
    {"MatrixDiagPartV2", import_to_diagonal, {}, "main diagonal"},
    {"MatrixDiagPartV3", import_to_diagonal, {}, "main diagonal"},
    {"MatrixDiagV2", import_from_diagonal, {}, "main diagonal, zero elsewhere"},
    {"MatrixDiagV3", import_from_diagonal, {}, "main diagonal, zero elsewhere"},
    {"MatrixSetDiag", import_set_diagonal},
    {"MatrixSetDiagV2", import_set_diagonal, {}, "main diagonal"},
    {"MatrixSetDiagV3", import_set_diagonal, {}, "main diagonal"},
};

}  // namespace

std::span<const OpImporter> diagonal_ops() { return kDiagonalOps; }

}  // namespace buda::tensorflow_frontend
