// SPDX-License-Identifier: Apache-2.0
// Operators on each element: arithmetic, functions, comparisons, selection, conversion.
//
// What was computed with channels first is used so: the elements are the same ones.
#include "node_import.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/angles.hpp>
#include <buda/frontend/arithmetic.hpp>
#include <buda/tensor/tensor.hpp>

#include <limits>
#include <optional>

namespace buda::tensorflow_frontend {
namespace {

using Ref = NodeImport::Ref;

// ---- one input

// make(x) applies the function; the last builder that it takes is n.result().
template <class F>
Result<void> output_each(NodeImport& n, F make) {
  Ref x = n.input(0);
  auto first = n.layouts().channels_first(x);
  Ref y = make(first ? *first : x);
  n.output(first ? n.layouts().channels_last(n.step("last"), y) : y);
  return success();
}

Result<void> import_unary(NodeImport& n) {
  return output_each(n, [&](Ref x) { return n.result().op(n.importer().op, {x}); });
}

// A scalar of the input's type.
Result<Ref> number(NodeImport& n, std::string_view step, double value) {
  BUDA_ASSIGN(auto type, n.type(0));
  return n.step(step).constant(value, type.dtype);
}

Result<void> import_relu6(NodeImport& n) {
  return output_each(n, [&](Ref x) { return n.result().clip(x, 0, 6); });
}

Result<void> import_leaky_relu(NodeImport& n) {
  return output_each(n, [&](Ref x) { return n.result().leaky_relu(x, n.real("alpha", 0.2)); });
}

Result<void> import_gelu(NodeImport& n) {
  return output_each(n, [&](Ref x) { return n.result().gelu(x, n.flag("approximate", true) ? "tanh" : "none"); });
}

Result<void> import_rsqrt(NodeImport& n) {
  return output_each(n, [&](Ref x) {
    Ref root = n.step("root").sqrt(x);
    return n.result().reciprocal(root);
  });
}

Result<void> import_log1p(NodeImport& n) {
  BUDA_ASSIGN(Ref one, number(n, "one", 1));
  return output_each(n, [&](Ref x) {
    Ref more = n.step("more").add(x, one);
    return n.result().log(more);
  });
}

Result<void> import_expm1(NodeImport& n) {
  BUDA_ASSIGN(Ref one, number(n, "one", 1));
  return output_each(n, [&](Ref x) {
    Ref power = n.step("exp").exp(x);
    return n.result().subtract(power, one);
  });
}

Result<void> import_erfc(NodeImport& n) {
  BUDA_ASSIGN(Ref one, number(n, "one", 1));
  return output_each(n, [&](Ref x) {
    Ref erf = n.step("erf").op("erf", {x});
    return n.result().subtract(one, erf);
  });
}

Result<void> import_is_finite(NodeImport& n) {
  return output_each(n, [&](Ref x) {
    Ref infinite = n.step("infinite").op("is_inf", {x});
    Ref nan = n.step("nan").op("is_nan", {x});
    Ref neither = n.step("not_finite").op("logical_or", {infinite, nan});
    return n.result().op("logical_not", {neither});
  });
}

Result<void> import_cast(NodeImport& n) {
  if (n.is_complex_type("DstT")) {
    n.output(Value::of_parts(n.input(0), Ref()));
    return success();
  }
  BUDA_ASSIGN(DType to, n.dtype("DstT", DType::f32));
  return output_each(n, [&](Ref x) { return n.result().op("cast", {x}, {{"dtype", std::string(dtype_name(to))}}); });
}

Result<void> import_filled(NodeImport& n) {
  BUDA_ASSIGN(auto type, n.type(0));
  constexpr std::int64_t kMost = std::int64_t{1} << 26;
  std::int64_t count = type.shape.volume().value_or(kMost + 1);
  if (count > kMost) return n.refuse(cat("its input ", type.shape.text(), " is too large"));
  double value = n.type_of_op() == "OnesLike" ? 1 : 0;
  n.output_known(Tensor(type.shape, std::vector<double>(static_cast<std::size_t>(count), value)).cast(type.dtype));
  return success();
}

// ---- two inputs

frontend::ElementOperand operand(NodeImport& n, std::size_t i) {
  auto shape = n.shape(i);
  return {n.input(i), shape && n.is_known(i) ? std::optional<Shape>(*shape) : std::nullopt};
}

// make(a, b), whose last builder is n.result().
template <class F>
Result<void> output_binary(NodeImport& n, F make) {
  auto a = operand(n, 0), b = operand(n, 1);
  auto in = frontend::element_operands(n, n.layouts(), a, b);
  Ref y = make(in.a, in.b);
  n.output(in.channels_first ? n.layouts().channels_last(n.step("last"), y) : y);
  return success();
}

Result<void> import_binary(NodeImport& n) {
  return output_binary(n, [&](Ref a, Ref b) { return n.result().op(n.importer().op, {a, b}); });
}

// The bias has one number for each channel.
Result<void> import_bias_add(NodeImport& n) {
  if (n.channels_last()) return output_binary(n, [&](Ref a, Ref b) { return n.result().add(a, b); });
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Shape bias, n.shape(1));
  if (bias.rank() != 1 || x.rank() < 2) return n.refuse(cat("its input is ", x.text(), " and its bias ", bias.text()));
  Ref channels = n.input(1);
  channels = n.step("bias").reshape(channels, frontend::channel_shape(bias[0], x.rank()));
  Ref a = n.input(0);
  n.output(n.result().add(a, channels));
  return success();
}

Result<void> import_squared_difference(NodeImport& n) {
  return output_binary(n, [&](Ref a, Ref b) { return frontend::squared_difference(n, a, b); });
}

Result<void> import_floor_div(NodeImport& n) {
  BUDA_ASSIGN(auto type, n.type(0));
  return output_binary(n, [&](Ref a, Ref b) { return frontend::floor_quotient(n, a, b, type.dtype); });
}

// 0 where the first input is 0, whatever the second one is.
Result<void> import_of_zero(NodeImport& n) {
  BUDA_ASSIGN(Ref zero, number(n, "zero", 0));
  BUDA_ASSIGN(Ref one, number(n, "one", 1));
  return output_binary(n, [&](Ref a, Ref b) {
    Ref none = n.step("none").op("equal", {a, zero});
    Ref other = n.step("other").op("where", {none, one, b});
    if (n.type_of_op() == "Xlog1py") other = n.step("more").add(other, one);
    if (n.importer().op == "multiply") other = n.step("log").log(other);
    Ref value = n.step("value").op(n.importer().op, {a, other});
    return n.result().op("where", {none, zero, value});
  });
}

Result<void> import_arc_tangent(NodeImport& n) {
  BUDA_ASSIGN(auto type, n.type(0));
  return output_binary(n, [&](Ref y, Ref x) { return frontend::arc_tangent(n, y, x, type.dtype); });
}

// The number of boundaries that are not above each element.
Result<void> import_bucketize(NodeImport& n) {
  BUDA_ASSIGN(auto type, n.type(0));
  const std::vector<float> boundaries = n.reals("boundaries");
  const auto last = static_cast<std::int64_t>(type.shape.rank());
  Ref x = n.input(0);
  x = n.cast(x, DType::f32, "number");
  Ref column = n.step("column").unsqueeze(x, {last});
  Ref bounds = n.step("boundaries").constant(Tensor(Shape{static_cast<std::int64_t>(boundaries.size())}, boundaries));
  Ref below = n.step("below").op("greater_equal", {column, bounds});
  Ref ones = n.cast(below, DType::f32, "ones");
  Ref count = n.step("count").reduce_sum(ones, {last}, false);
  n.output(n.result().op("cast", {count}, {{"dtype", std::string("I32")}}));
  return success();
}

// 0 where b is 0.
Result<void> import_no_nan(NodeImport& n) {
  BUDA_ASSIGN(Ref zero, number(n, "zero", 0));
  return output_binary(n, [&](Ref a, Ref b) {
    Ref none = n.step("none").op("equal", {b, zero});
    Ref value = n.step("value").op(n.importer().op, {a, b});
    return n.result().op("where", {none, zero, value});
  });
}

Result<void> import_not_equal(NodeImport& n) {
  return output_binary(n, [&](Ref a, Ref b) { return frontend::not_equal(n, a, b); });
}

Result<void> import_add_n(NodeImport& n) {
  if (n.input_count() == 0) return n.refuse("it has no inputs");
  if (n.input_count() == 1) {
    n.output_input(0);
    return success();
  }
  bool images = true;
  for (std::size_t i = 0; i < n.input_count(); ++i) images = images && n.layouts().channels_first(n.input(i)).has_value();
  auto operand = [&](std::size_t i) { return images ? *n.layouts().channels_first(n.input(i)) : n.input(i); };
  Ref sum = operand(0);
  for (std::size_t i = 1; i < n.input_count(); ++i) {
    Ref next = operand(i);
    sum = (i + 1 < n.input_count() ? n.step(cat("sum", i)) : n.result()).add(sum, next);
  }
  n.output(images ? n.layouts().channels_last(n.step("last"), sum) : sum);
  return success();
}

Result<void> import_clip(NodeImport& n) {
  if (n.is_known(1) && n.is_known(2)) {
    auto least = n.known_number(1, "least"), most = n.known_number(2, "most");
    if (least && most) return output_each(n, [&](Ref x) { return n.result().clip(x, *least, *most); });
  }
  Ref x = n.input(0), least = n.input(1), most = n.input(2);
  Ref below = n.step("below").minimum(x, most);
  n.output(n.result().maximum(below, least));
  return success();
}

// The older operator has a condition for each row where the newer one broadcasts.
Result<void> import_select(NodeImport& n) {
  BUDA_ASSIGN(Shape condition, n.shape(0));
  BUDA_ASSIGN(Shape x, n.shape(1));
  Ref choose = n.input(0);
  if (n.type_of_op() == "Select" && condition.rank() == 1 && x.rank() > 1) {
    NodeImport::Dims sizes(x.rank(), 1);
    sizes[0] = condition[0];
    choose = n.step("rows").reshape(choose, Shape(std::move(sizes)));
  }
  Ref a = n.input(1), b = n.input(2);
  n.output(n.result().op("where", {choose, a, b}));
  return success();
}

// The slopes broadcast to x as the file has it.
Result<void> import_prelu(NodeImport& n) {
  Ref x = n.input(0), slope = n.input(1);
  n.output(n.result().op("prelu", {x, slope}));
  return success();
}

constexpr OpImporter kElementwiseOps[] = {
    {"Abs", import_unary, "abs"},
    {"AccumulateNV2", import_add_n},
    {"Acos", import_unary, "acos"},
    {"Acosh", import_unary, "acosh"},
    {"Add", import_binary, "add"},
    {"AddN", import_add_n},
    {"AddV2", import_binary, "add"},
    {"Asin", import_unary, "asin"},
    {"Asinh", import_unary, "asinh"},
    {"Atan", import_unary, "atan"},
    {"Atan2", import_arc_tangent},
    {"Atanh", import_unary, "atanh"},
    {"BiasAdd", import_bias_add},
    {"BiasAddV1", import_bias_add},
    {"BitwiseAnd", import_binary, "bitwise_and"},
    {"BitwiseOr", import_binary, "bitwise_or"},
    {"BitwiseXor", import_binary, "bitwise_xor"},
    {"Bucketize", import_bucketize},
    {"Cast", import_cast},
    {"Ceil", import_unary, "ceil"},
    {"ClipByValue", import_clip},
    {"Cos", import_unary, "cosine"},
    {"Cosh", import_unary, "cosh"},
    {"Div", import_binary, "divide"},
    {"DivNoNan", import_no_nan, "divide"},
    {"Elu", import_unary, "elu"},
    {"Equal", import_binary, "equal"},
    {"Erf", import_unary, "erf"},
    {"Erfc", import_erfc},
    {"Exp", import_unary, "exp"},
    {"Expm1", import_expm1},
    {"Floor", import_unary, "floor"},
    {"FloorDiv", import_floor_div},
    {"FloorMod", import_binary, "modulo"},
    {"Gelu", import_gelu},
    {"Greater", import_binary, "greater"},
    {"GreaterEqual", import_binary, "greater_equal"},
    {"Inv", import_unary, "reciprocal"},
    {"Invert", import_unary, "bitwise_not"},
    {"IsFinite", import_is_finite},
    {"IsInf", import_unary, "is_inf"},
    {"IsNan", import_unary, "is_nan"},
    {"LeakyRelu", import_leaky_relu},
    {"LeftShift", import_binary, "shift_left"},
    {"Less", import_binary, "less"},
    {"LessEqual", import_binary, "less_equal"},
    {"Log", import_unary, "log"},
    {"Log1p", import_log1p},
    {"LogicalAnd", import_binary, "logical_and"},
    {"LogicalNot", import_unary, "logical_not"},
    {"LogicalOr", import_binary, "logical_or"},
    {"LogicalXor", import_binary, "logical_xor"},
    {"Maximum", import_binary, "maximum"},
    {"Minimum", import_binary, "minimum"},
    {"Mod", import_binary, "remainder"},
    {"Mul", import_binary, "multiply"},
    {"MulNoNan", import_no_nan, "multiply"},
    {"Neg", import_unary, "negative"},
    {"NotEqual", import_not_equal},
    {"OnesLike", import_filled},
    {"Pow", import_binary, "power"},
    {"Prelu", import_prelu, {}, "of TensorFlow.js"},
    {"RealDiv", import_binary, "divide"},
    {"Reciprocal", import_unary, "reciprocal"},
    {"Relu", import_unary, "relu"},
    {"Relu6", import_relu6},
    {"RightShift", import_binary, "shift_right"},
    {"Rint", import_unary, "round"},
    {"Round", import_unary, "round"},
    {"Rsqrt", import_rsqrt},
    {"Select", import_select},
    {"SelectV2", import_select},
    {"Selu", import_unary, "selu"},
    {"Sigmoid", import_unary, "sigmoid"},
    {"Sign", import_unary, "sign"},
    {"Sin", import_unary, "sine"},
    {"Sinh", import_unary, "sinh"},
    {"Softplus", import_unary, "softplus"},
    {"Softsign", import_unary, "softsign"},
    {"Sqrt", import_unary, "sqrt"},
    {"Square", import_unary, "square"},
    {"SquaredDifference", import_squared_difference},
    {"Sub", import_binary, "subtract"},
    {"Tan", import_unary, "tan"},
    {"Tanh", import_unary, "tanh"},
    {"TruncateDiv", import_binary, "divide"},
    {"TruncateMod", import_binary, "remainder"},
    {"Xdivy", import_of_zero, "divide"},
    {"Xlog1py", import_of_zero, "multiply"},
    {"Xlogy", import_of_zero, "multiply"},
    {"ZerosLike", import_filled},
};

}  // namespace

std::span<const OpImporter> elementwise_ops() { return kElementwiseOps; }

}  // namespace buda::tensorflow_frontend
