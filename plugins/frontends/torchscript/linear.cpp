// SPDX-License-Identifier: Apache-2.0
// Products of matrices.
#include "call.hpp"
#include "promotion.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/einsum.hpp>

#include <numeric>

namespace buda::torchscript {
namespace {

Result<Value> linear_matmul(Call& n) {
  Ref a = n.ref("self"), b = n.ref("other");
  return n.tensor(n.result().matmul(a, b));
}

Ref swapped(Call& n, Ref x, std::size_t rank, std::string_view name) {
  Dims order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[rank - 1], order[rank - 2]);
  return n.step(name).transpose(x, std::move(order));
}

// x times the transpose of weight, plus bias. Of matrices it is one op, as the ONNX frontend makes of Gemm.
Result<Value> linear_linear(Call& n) {
  BUDA_ASSIGN(Shape x, n.shape("input"));
  BUDA_ASSIGN(Shape w, n.shape("weight"));
  if (w.rank() != 2 || x.rank() < 1) return n.refuse(cat("its weight is ", w.text(), " and its input ", x.text()));
  Ref input = n.ref("input"), weight = n.ref("weight");
  if (x.rank() == 2) {
    std::vector<graph::Edge> inputs{input, weight};
    if (n.has("bias")) inputs.emplace_back(n.ref("bias"));
    return n.tensor(n.result().op("gemm", std::move(inputs), {{"trans_b", true}}));
  }
  Ref turned = swapped(n, weight, 2, "weight");
  if (!n.has("bias")) return n.tensor(n.result().matmul(input, turned));
  Ref product = n.step("product").matmul(input, turned);
  Ref bias = n.ref("bias");
  return n.tensor(n.result().add(product, bias));
}

// beta * self + alpha * mat1 * mat2
Result<Value> linear_addmm(Call& n) {
  BUDA_ASSIGN(double alpha, n.real_or("alpha", 1));
  BUDA_ASSIGN(double beta, n.real_or("beta", 1));
  BUDA_ASSIGN(Shape a, n.shape("mat1"));
  Ref x = n.ref("mat1"), y = n.ref("mat2"), c = n.ref("self");
  if (a.rank() == 2 && n.importer().name == "addmm") {
    ops::AttrMap attrs;
    if (alpha != 1) attrs["alpha"] = alpha;
    if (beta != 1) attrs["beta"] = beta;
    return n.tensor(n.result().op("gemm", {x, y, c}, std::move(attrs)));
  }
  BUDA_ASSIGN(auto dtype, n.dtype("self"));
  Ref product = n.step("product").matmul(x, y);
  if (alpha != 1) {
    Ref factor = n.number(alpha, dtype);
    product = n.step("scaled").multiply(product, factor);
  }
  if (beta == 0) return n.tensor(product);
  if (beta != 1) {
    Ref factor = n.number(beta, dtype);
    c = n.step("term").multiply(c, factor);
  }
  return n.tensor(n.result().add(product, c));
}

Result<Value> linear_dot(Call& n) {
  Ref a = n.ref("self"), b = n.ref("other");
  Ref products = n.step("products").multiply(a, b);
  return n.tensor(n.result().reduce_sum(products, {0}, false));
}

Result<Value> linear_outer(Call& n) {
  Ref a = n.ref("self"), b = n.ref("other");
  Ref column = n.step("column").unsqueeze(a, {1});
  return n.tensor(n.result().multiply(column, b));
}

Result<Value> linear_einsum(Call& n) {
  BUDA_ASSIGN(std::string equation, n.text_or("equation", ""));
  BUDA_ASSIGN(auto refs, n.refs("tensors"));
  if (refs.empty()) return n.refuse("has no operands");
  std::vector<frontend::EinsumOperand> operands;
  for (Ref r : refs) {
    BUDA_ASSIGN(Shape shape, n.shape_of(r));
    operands.push_back({r, shape});
  }
  BUDA_ASSIGN(Ref result, frontend::einsum(n, equation, operands));
  return n.tensor(result);
}

Result<Value> linear_determinant(Call& n) {
  BUDA_ASSIGN(Ref x, real_operand(n, "self"));
  return n.tensor(n.result().op("determinant", {x}));
}

constexpr OpImporter kLinearOps[] = {
    {"_determinant", "self", linear_determinant, "", kPartOfOthers},
    {"addmm", "self mat1 mat2 beta alpha", linear_addmm},
    {"addmv", "self mat1 mat2 beta alpha", linear_addmm},
    {"baddbmm", "self mat1 mat2 beta alpha", linear_addmm},
    {"bmm", "self other", linear_matmul},
    {"dot", "self other", linear_dot},
    {"einsum", "equation tensors path", linear_einsum},
    {"linear", "input weight bias", linear_linear},
    {"matmul", "self other", linear_matmul},
    {"mm", "self other", linear_matmul},
    {"mv", "self other", linear_matmul},
    {"outer", "self other", linear_outer},
};

}  // namespace

std::span<const OpImporter> linear_ops() { return kLinearOps; }

}  // namespace buda::torchscript
