// Lowering of matrix products.
//
// Operands become (w, z, r, k) and (w, z, k, c). The inner size k is in whole tiles on the device, so what stands in its padding is
// multiplied and added too: one side must be zero there and the other finite. Parameters and inputs are padded with zeros, and so is every
// product; where neither side is, one is masked. A bias is laid into row 0 of a row of tiles, from where the device copies it down.
#include <buda/base/text.hpp>
#include <buda/passes/lower/lowering_rules.hpp>

namespace buda::passes {
namespace {

using graph::AttrMap;
using graph::Edge;
using graph::Node;
using graph::Tm;
using graph::TmDim;

// An operand repeated along z for the batch of the other one.
Result<Lowered> batched(Lowering& l, const Node& n, const Edge& edge, Lowered x, const Shape& result) {
  const Shape& model = l.type(edge).shape;
  if (l.joins_batch() && x.shape[1] != 1 && x.shape[1] != result[1]) {
    auto leading = [](const Shape& s) { return Shape(std::vector<std::int64_t>(s.begin(), s.end() - 2)); };
    BUDA_ASSIGN(x, l.with_leading_axes(n, x, leading(model), leading(n.outputs[0].shape)));
  }
  if (x.shape[1] != result[1]) {
    if (x.shape[1] != 1)
      return l.refuse(n, cat("the leading axes of an operand of shape ", model.text(), " do not match the result's"), "");
    x.tms.push_back(Tm::broadcast(TmDim::z, result[1]));
    x.shape[1] = result[1];
  }
  if (x.shape[0] != result[0] && x.shape[0] != 1)
    return l.refuse(n, cat("an operand of shape ", model.text(), " is repeated along some of its leading axes and not along others"),
                    "give its leading axes all their sizes, or all 1, in the model");
  return x;
}

// The four axes of the product as the device gives it: vectors are matrices of one row or one column.
Result<Shape> product_shape(Lowering& l, const Node& n) {
  const Shape &a = l.type(n.inputs()[0]).shape, &b = l.type(n.inputs()[1]).shape;
  std::vector<std::int64_t> dims = n.outputs[0].shape.dims();
  if (b.rank() == 1) dims.push_back(1);
  if (a.rank() == 1) dims.insert(dims.end() - 1, 1);
  return l.four(n, Shape(dims));
}

// The bias as the third input: one row, which the device copies down each tile.
Result<Lowered> bias_operand(Lowering& l, const Node& n, const Shape& result) {
  const Edge& edge = n.inputs()[2];
  BUDA_ASSIGN(Lowered bias, l.value(edge));
  if (bias.shape[2] != 1 || bias.shape[3] != result[3] || bias.shape[0] != 1 || (bias.shape[1] != 1 && bias.shape[1] != result[1]))
    return l.refuse(n, cat("its bias of shape ", l.type(edge).shape.text(), " is not one row of ", result[3], " values"),
                    "add it by an op of its own (the optimizer makes a bias of an add only where it is a row)");
  BUDA_ASSIGN(bias, l.without_transpose(n, "bias.copy", bias));
  if (bias.shape[1] != result[1]) bias.tms.push_back(Tm::broadcast(TmDim::z, result[1]));
  if (tiles(result[2]) > 1) bias.tms.push_back(Tm::broadcast(TmDim::r, tiles(result[2])));
  return bias;
}

Result<Lowered> lower_matmul(Lowering& l, const Node& n) {
  BUDA_ASSIGN(Shape result, product_shape(l, n));
  BUDA_ASSIGN(Lowered a, l.value(n.inputs()[0]));
  BUDA_ASSIGN(Lowered b, l.value(n.inputs()[1]));
  bool row_result = l.type(n.inputs()[0]).shape.rank() == 1, column_result = l.type(n.inputs()[1]).shape.rank() == 1;
  if (column_result) b = transposed(std::move(b));
  if ((row_result || column_result) && (result[0] != 1 || result[1] != 1))
    return l.refuse(n, "the product of a vector and a batch of matrices changes the order of axes",
                    "make the vector a matrix in the model");
  BUDA_ASSIGN(a, batched(l, n, n.inputs()[0], std::move(a), result));
  BUDA_ASSIGN(b, batched(l, n, n.inputs()[1], std::move(b), result));
  if (!adds_zeros(a, b)) {
    BUDA_ASSIGN(a, l.with_cols(n, a, 0));
  }
  // The chip transposes tiles only on their way to the second operand, and streams of one producer go to one operand.
  BUDA_ASSIGN(a, l.without_transpose(n, "copy", a));
  if (a.source == b.source) {
    BUDA_ASSIGN(b, l.settled(n, "second", b));
  }
  std::vector<Edge> inputs{a.edge(), b.edge()};
  AttrMap attrs;
  Lowered out = after_matmul(a, b);
  if (n.inputs().size() == 3) {
    BUDA_ASSIGN(Lowered bias, bias_operand(l, n, result));
    inputs.push_back(bias.edge());
    attrs["bias"] = true;
    out = after_bias(out, bias);
  }
  BUDA_ASSIGN(out.source, l.emit(n, column_result ? "column" : "", "matmul", std::move(inputs), std::move(attrs)));
  out.shape = result;
  return column_result ? transposed(std::move(out)) : out;
}

}  // namespace

const std::vector<LoweringRule>& matmul_rules() {
  static const std::vector<LoweringRule> rules = {{"matmul", lower_matmul}};
  return rules;
}

}  // namespace buda::passes
