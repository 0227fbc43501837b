// SPDX-License-Identifier: Apache-2.0
// Products of matrices.
#include "fused.hpp"
#include "node_import.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/einsum.hpp>

#include <numeric>
#include <utility>

namespace buda::tensorflow_frontend {
namespace {

using Ref = NodeImport::Ref;

// The matrices of an input, transposed where the node says so.
Result<Ref> matrices(NodeImport& n, std::size_t i, bool transposed) {
  BUDA_ASSIGN(Shape shape, n.shape(i));
  if (shape.rank() < 2) return n.refuse(cat("its input ", i, " is ", shape.text(), "; matrices are needed"));
  Ref value = n.input(i);
  if (!transposed) return value;
  NodeImport::Dims order(shape.rank());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[shape.rank() - 1], order[shape.rank() - 2]);
  return n.step(i == 0 ? "a" : "b").transpose(value, order);
}

Result<void> product(NodeImport& n, const std::string& first, const std::string& second) {
  BUDA_ASSIGN(Ref a, matrices(n, 0, n.flag(first, false)));
  BUDA_ASSIGN(Ref b, matrices(n, 1, n.flag(second, false)));
  FollowingOps following(n, 2);
  BUDA_ASSIGN(Shape columns, n.shape_of(b));
  BUDA_ASSIGN(Ref bias, following.take_bias(columns[columns.rank() - 1]));
  Ref y = bias.valid() ? following.before().matmul(a, b, bias) : following.before().matmul(a, b);
  BUDA_ASSIGN(y, following.apply(y, false));
  n.output(y);
  return success();
}

Result<void> import_matmul(NodeImport& n) { return product(n, "transpose_a", "transpose_b"); }
Result<void> import_batch_matmul(NodeImport& n) { return product(n, "adj_x", "adj_y"); }

Result<void> import_einsum(NodeImport& n) {
  std::vector<frontend::EinsumOperand> operands;
  for (std::size_t i = 0; i < n.input_count(); ++i) {
    BUDA_ASSIGN(Shape shape, n.shape(i));
    operands.push_back({n.input(i), shape});
  }
  BUDA_ASSIGN(Ref y, frontend::einsum(n, n.text("equation", ""), operands));
  n.output(y);
  return success();
}

// Half the sum of squares of all elements.
Result<void> import_l2_loss(NodeImport& n) {
  BUDA_ASSIGN(auto type, n.type(0));
  Ref x = n.input(0);
  Ref squares = n.step("squares").square(x);
  Ref sum = n.step("sum").op("reduce_sum", {squares}, {{"keep_dims", false}});
  Ref half = n.step("half").constant(0.5, type.dtype);
  n.output(n.result().multiply(sum, half));
  return success();
}

constexpr OpImporter kLinearOps[] = {
    {"BatchMatMul", import_batch_matmul},
    {"BatchMatMulV2", import_batch_matmul},
    {"BatchMatMulV3", import_batch_matmul},
    {"Einsum", import_einsum},
    {"L2Loss", import_l2_loss},
    {"MatMul", import_matmul},
    {"_FusedBatchMatMulV2", import_batch_matmul, {}, "with what follows it, as for `_FusedConv2D`"},
    {"_FusedMatMul", import_matmul, {}, "with what follows it, as for `_FusedConv2D`"},
};

}  // namespace

std::span<const OpImporter> linear_ops() { return kLinearOps; }

}  // namespace buda::tensorflow_frontend
