// SPDX-License-Identifier: Apache-2.0
// Arithmetic, comparisons and choices of two or three operands, which broadcast.
#include "call.hpp"
#include "promotion.hpp"

#include <buda/base/text.hpp>

#include <limits>

namespace buda::torchscript {
namespace {

struct Operands {
  DType dtype = DType::f32;
  Ref a, b;
};

// Both as values of the type that PyTorch gives the result.
Result<Operands> operands_of(Call& n, std::string_view first = "self", std::string_view second = "other") {
  Operands out;
  BUDA_ASSIGN(out.dtype, promoted_type(n, {first, second}));
  BUDA_ASSIGN(out.a, operand(n, first, out.dtype));
  BUDA_ASSIGN(out.b, operand(n, second, out.dtype));
  return out;
}

Result<Value> binary_direct(Call& n) {
  BUDA_ASSIGN(auto p, operands_of(n));
  return n.tensor(n.result().op(n.importer().op, {p.a, p.b}));
}

// a + alpha b; of rsub b - alpha a.
Result<Value> binary_sum(Call& n) {
  const bool turned = n.importer().name == "rsub";
  BUDA_ASSIGN(auto p, operands_of(n));
  if (turned) std::swap(p.a, p.b);
  BUDA_ASSIGN(double alpha, n.real_or("alpha", 1));
  if (alpha != 1) {
    Ref factor = n.number(alpha, p.dtype);
    p.b = n.step("scaled").multiply(p.b, factor);
  }
  if (p.dtype == DType::boolean && n.importer().op == "add") return n.tensor(n.result().op("logical_or", {p.a, p.b}));
  return n.tensor(n.result().op(n.importer().op, {p.a, p.b}));
}

Result<Value> binary_product(Call& n) {
  BUDA_ASSIGN(auto p, operands_of(n));
  return n.tensor(n.result().op(p.dtype == DType::boolean ? "logical_and" : "multiply", {p.a, p.b}));
}

// The floor of a quotient: our integer division truncates towards zero.
Ref floored_quotient(Call& n, const Operands& p, bool last) {
  if (is_float(p.dtype)) {
    Ref quotient = n.step("quotient").divide(p.a, p.b);
    return (last ? n.result() : n.step("floor")).op("floor", {quotient});
  }
  Ref rest = n.step("rest").op("modulo", {p.a, p.b});
  Ref even = n.step("even").subtract(p.a, rest);
  return (last ? n.result() : n.step("floor")).divide(even, p.b);
}

Result<Value> binary_quotient(Call& n) {
  BUDA_ASSIGN(std::string rounding, n.text_or("rounding_mode", ""));
  BUDA_ASSIGN(auto p, operands_of(n));
  if (n.importer().name == "floor_divide" || rounding == "floor") return n.tensor(floored_quotient(n, p, true));
  if (rounding == "trunc") {
    if (!is_float(p.dtype)) return n.tensor(n.result().divide(p.a, p.b));
    Ref quotient = n.step("quotient").divide(p.a, p.b);
    Ref sign = n.step("sign").op("sign", {quotient}), size = n.step("abs").abs(quotient);
    Ref whole = n.step("floor").op("floor", {size});
    return n.tensor(n.result().multiply(sign, whole));
  }
  if (!is_float(p.dtype)) {
    p.a = n.cast(p.a, DType::f32);
    p.b = n.cast(p.b, DType::f32);
  }
  return n.tensor(n.result().divide(p.a, p.b));
}

// Powers that are simpler to compute are told apart, as PyTorch does.
Result<Value> binary_power(Call& n) {
  if (!n.is_tensor("exponent") && n.is_tensor("self")) {
    BUDA_ASSIGN(double exponent, n.real_or("exponent", 1));
    BUDA_ASSIGN(auto dtype, promoted_type(n, {"self", "exponent"}));
    BUDA_ASSIGN(Ref x, operand(n, "self", dtype));
    if (exponent == 1) return n.tensor(x);
    if (exponent == 2) return n.tensor(n.result().square(x));
    if (exponent == 0.5 && is_float(dtype)) return n.tensor(n.result().sqrt(x));
    if (exponent == -1 && is_float(dtype)) return n.tensor(n.result().reciprocal(x));
    if (exponent == -0.5 && is_float(dtype)) {
      Ref root = n.step("root").sqrt(x);
      return n.tensor(n.result().reciprocal(root));
    }
  }
  BUDA_ASSIGN(auto p, operands_of(n, "self", "exponent"));
  return n.tensor(n.result().power(p.a, p.b));
}

Result<Value> binary_compared(Call& n) {
  BUDA_ASSIGN(auto p, operands_of(n));
  if (p.dtype == DType::boolean && n.importer().op != "equal") {
    p.a = n.cast(p.a, DType::u8);
    p.b = n.cast(p.b, DType::u8);
  }
  if (n.importer().name != "ne") return n.tensor(n.result().op(n.importer().op, {p.a, p.b}));
  Ref equal = n.step("equal").op("equal", {p.a, p.b});
  return n.tensor(n.result().op("logical_not", {equal}));
}

Result<Value> binary_logical(Call& n) {
  BUDA_ASSIGN(auto p, operands_of(n));
  Ref a = n.cast(p.a, DType::boolean), b = n.cast(p.b, DType::boolean);
  return n.tensor(n.result().op(n.importer().op, {a, b}));
}

// Of booleans logical, of integers bit by bit.
Result<Value> binary_bits(Call& n) {
  BUDA_ASSIGN(auto p, operands_of(n));
  return n.tensor(n.result().op(cat(p.dtype == DType::boolean ? "logical_" : "bitwise_", n.importer().op), {p.a, p.b}));
}

Result<Value> binary_where(Call& n) {
  if (!n.has("self")) return n.refuse("gives the places where a condition holds; how many these are depends on values");
  BUDA_ASSIGN(auto p, operands_of(n));
  Ref condition = n.cast(n.ref("condition"), DType::boolean);
  return n.tensor(n.result().op("where", {condition, p.a, p.b}));
}

Result<Value> binary_masked_fill(Call& n) {
  BUDA_ASSIGN(auto dtype, n.dtype("self"));
  Ref mask = n.cast(n.ref("mask"), DType::boolean);
  BUDA_ASSIGN(Ref value, operand(n, "value", dtype));
  Ref x = n.ref("self");
  return n.tensor(n.result().op("where", {mask, value, x}));
}

// self + value * tensor1 * tensor2 (or / tensor2)
Result<Value> binary_addc(Call& n) {
  BUDA_ASSIGN(auto dtype, promoted_type(n, {"self", "tensor1", "tensor2"}));
  BUDA_ASSIGN(Ref a, operand(n, "tensor1", dtype));
  BUDA_ASSIGN(Ref b, operand(n, "tensor2", dtype));
  BUDA_ASSIGN(double factor, n.real_or("value", 1));
  Ref term = n.importer().name == "addcmul" ? n.step("product").multiply(a, b) : n.step("quotient").divide(a, b);
  if (factor != 1) {
    Ref scale = n.number(factor, dtype);
    term = n.step("scaled").multiply(term, scale);
  }
  BUDA_ASSIGN(Ref x, operand(n, "self", dtype));
  return n.tensor(n.result().add(x, term));
}

// self + weight * (end - self)
Result<Value> binary_lerp(Call& n) {
  BUDA_ASSIGN(auto dtype, promoted_type(n, {"self", "end", "weight"}));
  BUDA_ASSIGN(Ref start, operand(n, "self", dtype));
  BUDA_ASSIGN(Ref end, operand(n, "end", dtype));
  BUDA_ASSIGN(Ref weight, operand(n, "weight", dtype));
  Ref way = n.step("way").subtract(end, start);
  Ref part = n.step("part").multiply(way, weight);
  return n.tensor(n.result().add(start, part));
}

// Of integers bit by bit, of real numbers with a power of two.
Result<Value> binary_shift(Call& n) {
  BUDA_ASSIGN(auto p, operands_of(n));
  if (is_float(p.dtype)) return n.refuse("shifts the bits of real numbers, which is not supported");
  return n.tensor(n.result().op(n.importer().op, {p.a, p.b}));
}

Result<Value> binary_hypot(Call& n) {
  BUDA_ASSIGN(auto p, operands_of(n));
  Ref a = n.step("a").square(p.a), b = n.step("b").square(p.b);
  Ref sum = n.step("sum").add(a, b);
  return n.tensor(n.result().sqrt(sum));
}

// The maximum, and log(1 + e^-|a - b|), so that nothing overflows.
Result<Value> binary_log_of_sum(Call& n) {
  BUDA_ASSIGN(auto p, operands_of(n));
  Ref zero = n.number(0, p.dtype), one = n.number(1, p.dtype);
  Ref most = n.step("max").maximum(p.a, p.b);
  Ref away = n.step("away").subtract(p.a, p.b);
  Ref size = n.step("abs").abs(away);
  // Equal infinities are no way apart.
  Ref same = n.step("same").op("equal", {p.a, p.b});
  Ref apart = n.step("apart").op("where", {same, zero, size});
  Ref minus = n.step("minus").negative(apart);
  Ref power = n.step("exp").exp(minus);
  Ref above_one = n.step("above_one").add(power, one);
  Ref log = n.step("log").log(above_one);
  return n.tensor(n.result().add(most, log));
}

// |a - b| <= atol + rtol |b|, or both are equal, as infinities may be.
Result<Value> binary_is_close(Call& n) {
  BUDA_ASSIGN(const double rtol, n.real_or("rtol", 1e-5));
  BUDA_ASSIGN(const double atol, n.real_or("atol", 1e-8));
  BUDA_ASSIGN(const bool equal_nan, n.flag_or("equal_nan", false));
  BUDA_ASSIGN(auto p, operands_of(n));
  Ref same = n.step("same").op("equal", {p.a, p.b});
  Ref a = is_float(p.dtype) ? p.a : n.cast(p.a, DType::f32), b = is_float(p.dtype) ? p.b : n.cast(p.b, DType::f32);
  const DType dtype = is_float(p.dtype) ? p.dtype : DType::f32;
  Ref away = n.step("away").subtract(a, b);
  Ref distance = n.step("distance").abs(away);
  Ref size = n.step("size").abs(b);
  Ref factor = n.number(rtol, dtype), least = n.number(atol, dtype), infinity = n.number(std::numeric_limits<double>::infinity(), dtype);
  Ref part = n.step("part").multiply(size, factor);
  Ref limit = n.step("limit").add(part, least);
  Ref near = n.step("near").op("less_equal", {distance, limit});
  // An infinite limit is near to nothing but itself.
  Ref finite = n.step("finite").op("less", {limit, infinity});
  Ref counts = n.step("counts").op("logical_and", {near, finite});
  if (!equal_nan) return n.tensor(n.result().op("logical_or", {counts, same}));
  Ref first = n.step("first").op("is_nan", {a}), second = n.step("second").op("is_nan", {b});
  Ref both = n.step("both").op("logical_and", {first, second});
  Ref either = n.step("either").op("logical_or", {counts, same});
  return n.tensor(n.result().op("logical_or", {either, both}));
}

// With numbers that are not infinite in place of infinities.
Result<Value> without_infinities(Call& n, Ref x, DType dtype) {
  constexpr double kMost = std::numeric_limits<float>::max();
  BUDA_ASSIGN(const double most, n.real_or("posinf", kMost));
  BUDA_ASSIGN(const double least, n.real_or("neginf", -kMost));
  Ref above = n.step("above").op("is_inf", {x}, {{"negative", false}}), below = n.step("below").op("is_inf", {x}, {{"positive", false}});
  Ref high = n.number(most, dtype), low = n.number(least, dtype);
  Ref y = n.step("high").op("where", {above, high, x});
  return n.tensor(n.result().op("where", {below, low, y}));
}

Result<Value> binary_nan_to_num(Call& n) {
  BUDA_ASSIGN(double value, n.real_or("nan", 0));
  BUDA_ASSIGN(auto dtype, n.dtype("self"));
  Ref x = n.ref("self");
  Ref nan = n.step("nan").op("is_nan", {x});
  Ref other = n.number(value, dtype);
  if (is_float(dtype) && (n.has("posinf") || n.has("neginf"))) {
    Ref number = n.step("number").op("where", {nan, other, x});
    return without_infinities(n, number, dtype);
  }
  if (dtype != DType::f32) return n.tensor(n.result().op("where", {nan, other, x}));
  constexpr double kMost = std::numeric_limits<float>::max();
  Ref number = n.step("number").op("where", {nan, other, x});
  return n.tensor(n.result().clip(number, -kMost, kMost));
}

constexpr OpImporter kBinaryOps[] = {
    {"__and__", "self other", binary_bits, "and"},
    {"__lshift__", "self other", binary_shift, "shift_left"},
    {"__or__", "self other", binary_bits, "or"},
    {"__rshift__", "self other", binary_shift, "shift_right"},
    {"__xor__", "self other", binary_bits, "xor"},
    {"add", "self other alpha", binary_sum, "add"},
    {"addcdiv", "self tensor1 tensor2 value", binary_addc},
    {"addcmul", "self tensor1 tensor2 value", binary_addc},
    {"bitwise_and", "self other", binary_bits, "and"},
    {"bitwise_left_shift", "self other", binary_shift, "shift_left"},
    {"bitwise_or", "self other", binary_bits, "or"},
    {"bitwise_right_shift", "self other", binary_shift, "shift_right"},
    {"bitwise_xor", "self other", binary_bits, "xor"},
    {"div", "self other rounding_mode", binary_quotient},
    {"divide", "self other rounding_mode", binary_quotient},
    {"eq", "self other", binary_compared, "equal"},
    {"floor_divide", "self other", binary_quotient},
    {"fmod", "self other", binary_direct, "remainder"},
    {"ge", "self other", binary_compared, "greater_equal"},
    {"gt", "self other", binary_compared, "greater"},
    {"hypot", "self other", binary_hypot},
    {"isclose", "self other rtol atol equal_nan", binary_is_close},
    {"le", "self other", binary_compared, "less_equal"},
    {"lerp", "self end weight", binary_lerp},
    {"logaddexp", "self other", binary_log_of_sum},
    {"logical_and", "self other", binary_logical, "logical_and"},
    {"logical_or", "self other", binary_logical, "logical_or"},
    {"logical_xor", "self other", binary_logical, "logical_xor"},
    {"lt", "self other", binary_compared, "less"},
    {"masked_fill", "self mask value", binary_masked_fill},
    {"maximum", "self other", binary_direct, "maximum"},
    {"minimum", "self other", binary_direct, "minimum"},
    {"mul", "self other", binary_product},
    {"multiply", "self other", binary_product},
    {"nan_to_num", "self nan posinf neginf", binary_nan_to_num},
    {"ne", "self other", binary_compared, "equal"},
    {"pow", "self exponent", binary_power},
    {"remainder", "self other", binary_direct, "modulo"},
    {"rsub", "self other alpha", binary_sum, "subtract"},
    {"sub", "self other alpha", binary_sum, "subtract"},
    {"true_divide", "self other rounding_mode", binary_quotient},
    {"where", "condition self other", binary_where, "", "with both values"},
};

}  // namespace

std::span<const OpImporter> binary_ops() { return kBinaryOps; }

}  // namespace buda::torchscript
