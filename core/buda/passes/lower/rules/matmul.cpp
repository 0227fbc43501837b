// SPDX-License-Identifier: Apache-2.0
// Lowering of matrix products.
//
// Operands become (w, z, r, k) and (w, z, k, c). The inner size k is in whole tiles on the device, so what stands in its padding is
// multiplied and added too: one operand must be zero there and the other finite. Parameters and inputs are padded with zeros, and so is
// every product; where neither is, one is masked. A bias is laid into row 0 of a row of tiles, from where the device copies it down.
#include <buda/base/text.hpp>
#include <buda/passes/formats/format_facts.hpp>
#include <buda/passes/lower/rules/rules.hpp>
#include <buda/passes/lower/steps/broadcast.hpp>
#include <buda/passes/lower/steps/copies.hpp>
#include <buda/passes/lower/steps/padding.hpp>

namespace buda::passes {
namespace {

using graph::AttrMap;
using graph::Edge;
using graph::Tm;
using graph::TmDim;

// An operand repeated along z for the batch of the other one.
Result<Lowered> batched(OpBuilder& out, const Shape& model, const Shape& model_result, Lowered x, const Shape& result) {
  if (out.joins_batch() && x.shape[1] != 1 && x.shape[1] != result[1]) {
    auto leading = [](const Shape& s) { return Shape(std::vector<std::int64_t>(s.begin(), s.end() - 2)); };
    BUDA_ASSIGN(x, broadcast_slices(out, x, leading(model), leading(model_result)));
  }
  if (x.shape[1] != result[1]) {
    if (x.shape[1] != 1) return out.refuse(cat("the leading axes of an operand of shape ", model.text(), " do not match the result's"), "");
    x.tms.push_back(Tm::broadcast(TmDim::z, result[1]));
    x.shape[1] = result[1];
  }
  if (x.shape[0] != result[0] && x.shape[0] != 1)
    return out.refuse(cat("an operand of shape ", model.text(), " is repeated along some of its leading axes and not along others"),
                      "give its leading axes all their sizes, or all 1, in the model");
  return x;
}

// The four axes of the product as the device gives it: vectors are matrices of one row or one column.
Result<Shape> product_shape(const Operands& in, const OpBuilder& out) {
  const Shape &a = in.type(0).shape, &b = in.type(1).shape;
  std::vector<std::int64_t> dims = in.result_type().shape.dims();
  if (b.rank() == 1) dims.push_back(1);
  if (a.rank() == 1) dims.insert(dims.end() - 1, 1);
  return out.axes(Shape(dims));
}

// The bias as the third input: one row, which the device copies down each tile.
Result<Lowered> bias_operand(Operands& in, OpBuilder& out, const Shape& result) {
  BUDA_ASSIGN(Lowered bias, in.value(2));
  if (bias.shape[2] != 1 || bias.shape[3] != result[3] || bias.shape[0] != 1 || (bias.shape[1] != 1 && bias.shape[1] != result[1]))
    return out.refuse(cat("its bias of shape ", in.type(2).shape.text(), " is not one row of ", result[3], " values"),
                      "add it by an op of its own (the optimizer makes a bias of an add only where it is a row)");
  BUDA_ASSIGN(bias, without_transpose(out, "bias.copy", bias));
  if (bias.shape[1] != result[1]) add_broadcast(bias, TmDim::z, result[1]);
  add_broadcast(bias, TmDim::r, tiles(result[2]));
  return bias;
}

RuleResult lower_matmul(Operands& in, OpBuilder& out) {
  BUDA_ASSIGN(Shape result, product_shape(in, out));
  BUDA_ASSIGN(Lowered a, in.value(0));
  BUDA_ASSIGN(Lowered b, in.value(1));
  bool row_result = in.type(0).shape.rank() == 1, column_result = in.type(1).shape.rank() == 1;
  if (column_result) b = transposed(std::move(b));
  if ((row_result || column_result) && (result[0] != 1 || result[1] != 1))
    return out.refuse("the product of a vector and a batch of matrices changes the order of axes", "make the vector a matrix in the model");
  BUDA_ASSIGN(a, batched(out, in.type(0).shape, in.result_type().shape, std::move(a), result));
  BUDA_ASSIGN(b, batched(out, in.type(1).shape, in.result_type().shape, std::move(b), result));
  if (!adds_zeros(a, b)) {
    BUDA_ASSIGN(a, with_column_padding(out, a, 0));
  }
  // The chip transposes tiles only on their way to the second operand, and streams of one producer go to one operand.
  BUDA_ASSIGN(a, without_transpose(out, "copy", a));
  if (a.source == b.source) {
    BUDA_ASSIGN(b, materialized(out, "second", b));
  }
  std::vector<Edge> inputs{a.edge(), b.edge()};
  AttrMap attrs;
  Lowered product = after_matmul(a, b);
  if (in.size() == 3) {
    BUDA_ASSIGN(Lowered bias, bias_operand(in, out, result));
    inputs.push_back(bias.edge());
    attrs["bias"] = true;
    product = after_bias(product, bias);
  }
  BUDA_ASSIGN(product.source, out.op(column_result ? "column" : "", "matmul", std::move(inputs), std::move(attrs)));
  product.shape = result;
  return column_result ? transposed(std::move(product)) : product;
}

// Of integers in Int8, with sums in Int32. Bias and scales stand in all rows: sums of integers have no bias that is copied down.
RuleResult lower_int8_matmul(Operands& in, OpBuilder& out) {
  if (!multiplies_int8(out.device()))
    return out.refuse(cat("device '", out.device().name, "' does not multiply integers"),
                      "--quantized=dequantize computes with real numbers");
  BUDA_ASSIGN(Shape result, product_shape(in, out));
  BUDA_ASSIGN(Lowered a, in.value(0));
  BUDA_ASSIGN(Lowered b, in.value(1));
  BUDA_ASSIGN(a, batched(out, in.type(0).shape, in.result_type().shape, std::move(a), result));
  BUDA_ASSIGN(b, batched(out, in.type(1).shape, in.result_type().shape, std::move(b), result));
  if (!adds_zeros(a, b)) return out.refuse("its weights are known only at run time", "let them depend on parameters and constants alone");
  BUDA_ASSIGN(a, without_transpose(out, "copy", a));
  BUDA_ASSIGN(Lowered bias, broadcast_operand(in, 2, result, out));
  BUDA_ASSIGN(Lowered scale, broadcast_operand(in, 3, result, out));
  const bool dequantize = in.attrs().boolean("dequantize");
  Lowered product = after_matmul(a, b);
  product.data = product.rows = product.cols = product.corner = dequantize ? ValueRange::unknown() : kInt8Range;
  // Factors of 0 leave zeros.
  if (dequantize && scale.cols.is(0)) product.cols = product.corner = ValueRange::exactly(0);
  AttrMap attrs{{"bias", true}, {dequantize ? "dequant" : "requant", true}, {"zero_point", in.attrs().real("zero_point")}};
  BUDA_ASSIGN(product.source, out.op("", "matmul", {a.edge(), b.edge(), bias.edge(), scale.edge()}, std::move(attrs)));
  product.shape = result;
  return product;
}

}  // namespace

const std::vector<LoweringRule>& matmul_rules() {
  static const std::vector<LoweringRule> rules = {{"matmul", lower_matmul}, {"int8_matmul", lower_int8_matmul}};
  return rules;
}

}  // namespace buda::passes
