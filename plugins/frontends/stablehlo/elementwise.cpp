// SPDX-License-Identifier: Apache-2.0
// Operations on each element. Booleans add as "or" and multiply as "and"; complex numbers are computed with in their parts.
#include "formulas.hpp"
#include "op_call.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <limits>
#include <numbers>

namespace buda::stablehlo {
namespace {

Number operand(OpCall& n, std::size_t i) { return {&n, n.real(i)}; }
Complex complex_operand(OpCall& n, std::size_t i) {
  const Number re{&n, n.real(i)};
  if (!n.is_complex(i)) return {re, re * 0.0};
  return {re, {&n, n.imaginary(i)}};
}

void output(OpCall& n, Number x) { n.output(x.ref); }
void output(OpCall& n, Complex z) { n.output(z.re.ref, z.im.ref, 0); }

// ---- one operand

Result<void> unary(OpCall& n) {
  BUDA_TRY(n.expect_inputs(1, 1));
  if (n.is_complex(0)) return n.refuse("is not read for complex numbers");
  output(n, apply(n.importer().op, operand(n, 0)));
  return success();
}

Result<void> negate(OpCall& n) {
  BUDA_TRY(n.expect_inputs(1, 1));
  if (n.is_complex(0)) {
    output(n, negated(complex_operand(n, 0)));
  } else {
    output(n, -operand(n, 0));
  }
  return success();
}

Result<void> absolute(OpCall& n) {
  BUDA_TRY(n.expect_inputs(1, 1));
  output(n, n.is_complex(0) ? magnitude(complex_operand(n, 0)) : apply("abs", operand(n, 0)));
  return success();
}

Result<void> sign(OpCall& n) {
  BUDA_TRY(n.expect_inputs(1, 1));
  if (n.is_complex(0)) {
    const Complex z = complex_operand(n, 0);
    const Number size = magnitude(z), zero = equal(size, 0.0), re = z.re / size, im = z.im / size;
    const Number kept_re = where(zero, z.re, re), kept_im = where(zero, z.im, im);
    output(n, Complex{kept_re, kept_im});
    return success();
  }
  const Number x = operand(n, 0);
  if (is_float(n.dtype(0))) {
    // The sign of 0 stays.
    const Number s = apply("sign", x), zero = equal(x, 0.0);
    output(n, where(zero, x, s));
    return success();
  }
  const Number positive = x > 0.0, up{&n, n.cast(positive.ref, n.dtype(0))};
  if (!is_signed(n.dtype(0))) {
    output(n, up);
    return success();
  }
  const Number negative = x < 0.0, down{&n, n.cast(negative.ref, n.dtype(0))};
  output(n, up - down);
  return success();
}

Complex sine(Complex z) {
  const Number s = apply("sine", z.re), c = apply("cosine", z.re), ch = apply("cosh", z.im), sh = apply("sinh", z.im);
  const Number re = s * ch, im = c * sh;
  return {re, im};
}

Complex cosine(Complex z) {
  const Number s = apply("sine", z.re), c = apply("cosine", z.re), ch = apply("cosh", z.im), sh = apply("sinh", z.im);
  const Number re = c * ch, im = s * sh;
  return {re, -im};
}

// tanh(x + iy) = (tanh x (1 + tan² y) + i tan y (1 - tanh² x)) / (1 + tanh² x tan² y), with cosh for tanh's complement.
Complex hyperbolic_tangent(Complex z) {
  const Number t = apply("tanh", z.re), c = apply("cosh", z.re), tan = apply("tan", z.im);
  const Number tan2 = apply("square", tan), t2 = apply("square", t), c2 = apply("square", c);
  const Number product = t2 * tan2, divisor = product + 1.0, up = t * (tan2 + 1.0), side = tan / c2;
  const Number re = up / divisor, im = side / divisor;
  // Beyond |x| = 20 the result is ±1, where the squares may overflow.
  const Number size = apply("abs", z.re), far = size > 20.0, zero = tan * 0.0;
  const Number far_re = where(far, t, re), far_im = where(far, zero, im);
  return {far_re, far_im};
}

Complex tangent(Complex z) {
  const Complex turned = hyperbolic_tangent(times_i(z));
  return {turned.im, -turned.re};
}

// e^(x) - 1 and e^(iy): (e^x - 1) cos y - 2 sin²(y/2) + i e^x sin y.
Complex complex_exponential_minus_one(Complex z) {
  const Number small = exponential_minus_one(z.re), half = apply("sine", z.im * 0.5), square = apply("square", half),
               c = apply("cosine", z.im);
  const Number first = small * c, second = square * 2.0, e = exponential(z.re), s = apply("sine", z.im);
  const Number re = first - second, im = e * s;
  return {re, im};
}

Complex complex_log_plus_one(Complex z) {
  const Number squares = apply("square", z.re), im2 = apply("square", z.im), sum = squares + im2, excess = z.re * 2.0;
  const Number near = log_plus_one(excess + sum) * 0.5, shifted = z.re + 1.0;
  const Complex far = logarithm(Complex{shifted, z.im});
  const Number size = magnitude(z), is_near = size < 0.5, re = where(is_near, near, far.re);
  return {re, far.im};
}

Complex reciprocal(Complex z) {
  const Number one = z.re.constant(1), zero = z.re.constant(0);
  return Complex{one, zero} / z;
}

Complex logistic(Complex z) {
  const Complex e = exponential(Complex{-z.re, -z.im});
  return reciprocal(Complex{e.re + 1.0, e.im});
}

Complex cube_root(Complex z) {
  const Complex log = logarithm(z);
  return exponential(Complex{log.re / 3.0, log.im / 3.0});
}

Number real_cube_root(Number x) {
  const Number size = apply("abs", x), third = x.constant(1.0 / 3), guess = apply("power", size, third);
  // One step of Newton's method, since 1/3 is rounded.
  const Number square = apply("square", guess), cube = square * guess, error = cube - size, slope = square * 3.0, step = error / slope;
  const Number better = guess - step, zero = equal(size, 0.0), infinite = equal(size, std::numeric_limits<double>::infinity());
  const Number skip = apply("logical_or", zero, infinite), root = where(skip, size, better), negative = x < 0.0, opposite = -root;
  return where(negative, opposite, root);
}

Number reciprocal_root(Number x) { return apply("reciprocal", square_root(x)); }
Complex reciprocal_root(Complex z) { return reciprocal(square_root(z)); }

struct RealAndComplex {
  std::string_view name;
  Number (*real)(Number);
  Complex (*complex)(Complex);
};

constexpr RealAndComplex kRealAndComplex[] = {
    {"stablehlo.exponential", exponential, exponential},
    {"stablehlo.exponential_minus_one", exponential_minus_one, complex_exponential_minus_one},
    {"stablehlo.log", logarithm, logarithm},
    {"stablehlo.log_plus_one", log_plus_one, complex_log_plus_one},
    {"stablehlo.logistic", [](Number x) { return apply("sigmoid", x); }, logistic},
    {"stablehlo.sqrt", square_root, square_root},
    {"stablehlo.rsqrt", reciprocal_root, reciprocal_root},
    {"stablehlo.cbrt", real_cube_root, cube_root},
    {"stablehlo.sine", [](Number x) { return apply("sine", x); }, sine},
    {"stablehlo.cosine", [](Number x) { return apply("cosine", x); }, cosine},
    {"stablehlo.tanh", [](Number x) { return apply("tanh", x); }, hyperbolic_tangent},
    {"stablehlo.tan", [](Number x) { return apply("tan", x); }, tangent},
    {"chlo.tan", [](Number x) { return apply("tan", x); }, tangent},
    {"chlo.square", [](Number x) { return x * x; }, [](Complex z) { return z * z; }},
};

Result<void> function(OpCall& n) {
  BUDA_TRY(n.expect_inputs(1, 1));
  for (const RealAndComplex& f : kRealAndComplex) {
    if (f.name != n.importer().name) continue;
    if (n.is_complex(0)) {
      output(n, f.complex(complex_operand(n, 0)));
    } else {
      output(n, f.real(operand(n, 0)));
    }
  }
  return success();
}

Result<void> is_finite(OpCall& n) {
  BUDA_TRY(n.expect_inputs(1, 1));
  const Number size = apply("abs", operand(n, 0));
  output(n, size < std::numeric_limits<double>::infinity());
  return success();
}

Result<void> is_infinite(OpCall& n) {
  BUDA_TRY(n.expect_inputs(1, 1));
  const bool positive = n.importer().name != "chlo.is_neg_inf", negative = n.importer().name != "chlo.is_pos_inf";
  n.output(n.result().op("is_inf", {n.real(0)}, {{"positive", positive}, {"negative", negative}}));
  return success();
}

// Halves away from zero: the fraction is exact, so that 0.49999997 does not become 1.
Result<void> round_away(OpCall& n) {
  BUDA_TRY(n.expect_inputs(1, 1));
  const Number x = operand(n, 0), size = apply("abs", x), floor = apply("floor", size), rest = size - floor, up = rest >= 0.5;
  const Number step{&n, n.cast(up.ref, n.dtype(0))}, whole = floor + step, negative = x < 0.0, opposite = -whole;
  const Number huge = equal(size, std::numeric_limits<double>::infinity()), out = where(negative, opposite, whole),
               zero = equal(whole, 0.0);
  const Number signed_zero = where(zero, x * 0.0, out);
  output(n, where(huge, x, signed_zero));
  return success();
}

// ---- bits

DType unsigned_of(DType t) {
  switch (dtype_size(t)) {
    case 1:
      return DType::u8;
    case 2:
      return DType::u16;
    case 4:
      return DType::u32;
    default:
      return DType::u64;
  }
}

Number shifted_right(Number x, double by) { return apply("shift_right", x, x.constant(by)); }

Number masked(Number x, std::uint64_t mask) {
  const Number bits{x.call, x.call->constant(Tensor::scalar(mask).cast(x.call->dtype_of(x.ref)))};
  return apply("bitwise_and", x, bits);
}

// Sums of neighbouring bits, pairs and halves of bytes; then of bytes.
Number bit_count(Number x) {
  const std::size_t bytes = dtype_size(x.call->dtype_of(x.ref));
  const Number odd = masked(shifted_right(x, 1), 0x5555555555555555), pairs = x - odd;
  const Number low = masked(pairs, 0x3333333333333333), high = masked(shifted_right(pairs, 2), 0x3333333333333333), fours = low + high;
  const Number upper = shifted_right(fours, 4);
  Number sum = masked(fours + upper, 0x0F0F0F0F0F0F0F0F);
  for (std::size_t width = 1; width < bytes; width *= 2) {
    const Number shifted = shifted_right(sum, static_cast<double>(8 * width));
    sum = sum + shifted;
  }
  return bytes == 1 ? sum : masked(sum, 0x7F);
}

Result<void> count_bits(OpCall& n) {
  BUDA_TRY(n.expect_inputs(1, 1));
  const DType dtype = n.dtype(0);
  if (!is_integer(dtype)) return n.refuse("takes integers");
  Number x{&n, n.cast(n.real(0), unsigned_of(dtype))};
  Number out = x;
  if (n.importer().name == "stablehlo.count_leading_zeros") {
    // Every bit below the first one is set, and what is left are the zeros.
    for (double by = 1; by < 8.0 * static_cast<double>(dtype_size(dtype)); by *= 2) {
      const Number lower = shifted_right(x, by);
      x = apply("bitwise_or", x, lower);
    }
    out = bit_count(apply("bitwise_not", x));
  } else {
    out = bit_count(x);
  }
  n.output(n.cast(out.ref, dtype));
  return success();
}

// Shifts by the width or more leave nothing; the op of ours keeps the sign.
Result<void> shift(OpCall& n) {
  BUDA_TRY(n.expect_inputs(2, 2));
  const DType dtype = n.dtype(0);
  if (n.importer().name != "stablehlo.shift_right_logical" || !is_signed(dtype)) {
    const bool arithmetic = n.importer().name == "stablehlo.shift_right_arithmetic" && !is_signed(dtype);
    if (!arithmetic) {
      output(n, apply(n.importer().op, operand(n, 0), operand(n, 1)));
      return success();
    }
    static constexpr DType kSigned[] = {DType::i8, DType::i16, DType::i32, DType::i64};
    DType to = DType::i64;
    for (DType t : kSigned)
      if (dtype_size(t) == dtype_size(dtype)) to = t;
    const Ref a = n.cast(n.real(0), to), b = n.cast(n.real(1), to);
    n.output(n.cast(apply("shift_right", Number{&n, a}, Number{&n, b}).ref, dtype));
    return success();
  }
  const Ref a = n.cast(n.real(0), unsigned_of(dtype)), b = n.cast(n.real(1), unsigned_of(dtype));
  n.output(n.cast(apply("shift_right", Number{&n, a}, Number{&n, b}).ref, dtype));
  return success();
}

Result<void> logic(OpCall& n) {
  BUDA_TRY(n.expect_inputs(2, 2));
  const std::string word(n.importer().op);
  output(n, apply(cat(n.dtype(0) == DType::boolean ? "logical_" : "bitwise_", word), operand(n, 0), operand(n, 1)));
  return success();
}

Result<void> invert(OpCall& n) {
  BUDA_TRY(n.expect_inputs(1, 1));
  output(n, apply(n.dtype(0) == DType::boolean ? "logical_not" : "bitwise_not", operand(n, 0)));
  return success();
}

// ---- two operands

// Those of CHLO may have other shapes, which broadcast: the smaller one's axes are named, or are the last ones.
Result<void> broadcast_operands(OpCall& n, Ref& a, Ref& b) {
  if (!n.importer().name.starts_with("chlo.broadcast_")) return success();
  BUDA_ASSIGN(Dims axes, n.integers_or("broadcast_dimensions", {}));
  const Shape x = n.shape_of(a), y = n.shape_of(b);
  if (axes.empty() || x.rank() == y.rank()) return success();
  Ref& smaller = x.rank() < y.rank() ? a : b;
  const Shape& small = x.rank() < y.rank() ? x : y;
  const Shape& large = x.rank() < y.rank() ? y : x;
  Dims aligned(large.rank(), 1);
  if (axes.size() != small.rank()) return n.refuse("its broadcast_dimensions do not fit its operands");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] < 0 || static_cast<std::size_t>(axes[i]) >= large.rank())
      return n.refuse("its broadcast_dimensions do not fit its operands");
    aligned[static_cast<std::size_t>(axes[i])] = small[i];
  }
  smaller = n.step("aligned").reshape(smaller, Shape(std::move(aligned)));
  return success();
}

Complex complex_power(Complex a, Complex b) {
  const Complex log = logarithm(a), out = exponential(log * b);
  const Number none_re = equal(a.re, 0.0), none_im = equal(a.im, 0.0), none = apply("logical_and", none_re, none_im);
  const Number no_re = equal(b.re, 0.0), no_im = equal(b.im, 0.0), no_power = apply("logical_and", no_re, no_im);
  const Number one = a.re.constant(1), zero = a.re.constant(0), at_zero = where(no_power, one, zero);
  const Number re = where(none, at_zero, out.re), im = where(none, zero, out.im);
  return {re, im};
}

Result<Complex> complex_binary(OpCall& n, Complex a, Complex b) {
  const std::string_view op = n.importer().op;
  if (op == "add") return a + b;
  if (op == "subtract") return a - b;
  if (op == "multiply") return a * b;
  if (op == "divide") return a / b;
  if (op == "power") return complex_power(a, b);
  return n.refuse("is not read for complex numbers");
}

// What a division by 0 gives is left open by the specification; as XLA does, all bits are set, and the remainder is the dividend.
Number integer_quotient(Number a, Number b, std::string_view op) {
  const Number out = apply(op, a, b);
  const Tensor* divisor = a.call->find_known(b.ref);
  if (divisor != nullptr) {
    const Tensor nonzero = divisor->cast(DType::boolean);
    bool any_zero = false;
    for (Boolean t : nonzero.as<Boolean>()) any_zero = any_zero || t.byte == 0;
    if (!any_zero) return out;
  }
  const Number zero = equal(b, 0.0);
  if (op == "remainder") return where(zero, a, out);
  const Number none = a.constant(0), ones = apply("bitwise_not", none);
  return where(zero, ones, out);
}

Result<void> binary(OpCall& n) {
  BUDA_TRY(n.expect_inputs(2, 2));
  const std::string_view op = n.importer().op;
  Ref x = n.real(0), y = n.real(1);
  BUDA_TRY(broadcast_operands(n, x, y));
  const Number a{&n, x}, b{&n, y};
  if (n.is_complex(0) || n.is_complex(1)) {
    if (n.importer().name.starts_with("chlo.") && n.shape(0) != n.shape(1))
      return n.refuse("is not read for complex numbers of other shapes");
    const Complex left = complex_operand(n, 0), right = complex_operand(n, 1);
    BUDA_ASSIGN(Complex z, complex_binary(n, left, right));
    output(n, z);
    return success();
  }
  const DType dtype = n.dtype(0);
  if (dtype == DType::boolean) {
    if (op == "add" || op == "maximum") {
      output(n, apply("logical_or", a, b));
      return success();
    }
    if (op == "multiply" || op == "minimum") {
      output(n, apply("logical_and", a, b));
      return success();
    }
  }
  const bool divides = op == "divide" || op == "remainder";
  output(n, divides && is_integer(dtype) ? integer_quotient(a, b, op) : apply(op, a, b));
  return success();
}

Result<void> arc_tangent(OpCall& n) {
  BUDA_TRY(n.expect_inputs(2, 2));
  Ref y = n.real(0), x = n.real(1);
  BUDA_TRY(broadcast_operands(n, y, x));
  if (n.is_complex(0)) {
    // -i ln((x + iy) / √(x² + y²))
    const Complex a = complex_operand(n, 0), b = complex_operand(n, 1), sum = b + times_i(a), squares = b * b, more = a * a;
    const Complex log = logarithm(sum / square_root(squares + more));
    output(n, Complex{log.im, -log.re});
    return success();
  }
  output(n, angle({&n, y}, {&n, x}));
  return success();
}

// ---- three operands

Result<void> select(OpCall& n) {
  BUDA_TRY(n.expect_inputs(3, 3));
  const Number condition = operand(n, 0), a = operand(n, 1), b = operand(n, 2);
  const Number re = where(condition, a, b);
  if (!n.is_complex(1)) {
    output(n, re);
    return success();
  }
  const Number im = where(condition, {&n, n.imaginary(1)}, {&n, n.imaginary(2)});
  output(n, Complex{re, im});
  return success();
}

Result<void> clamp(OpCall& n) {
  BUDA_TRY(n.expect_inputs(3, 3));
  const Number least = operand(n, 0), x = operand(n, 1), most = operand(n, 2);
  if (n.dtype(0) == DType::boolean) {
    output(n, apply("logical_and", apply("logical_or", x, least), most));
    return success();
  }
  output(n, apply("minimum", apply("maximum", x, least), most));
  return success();
}

struct Direction {
  std::string_view name, op;
};
constexpr Direction kDirections[] = {{"EQ", "equal"},      {"NE", "equal"},   {"LT", "less"},
                                     {"LE", "less_equal"}, {"GT", "greater"}, {"GE", "greater_equal"}};

// Floating-point numbers in total order, with NaN at both ends: their bits as integers, mirrored where they are negative.
Number total_order(Number x) {
  OpCall& n = *x.call;
  const std::size_t size = dtype_size(n.dtype_of(x.ref));
  const DType to = size == 8 ? DType::i64 : size == 4 ? DType::i32 : DType::i16;
  const Number bits{&n, n.op("bitcast", {x.ref}, {{"dtype", std::string(dtype_name(to))}})};
  const std::int64_t magnitude = size == 8 ? INT64_MAX : size == 4 ? INT32_MAX : INT16_MAX;
  const Number all{&n, n.constant(Tensor::scalar(magnitude).cast(to))}, mirrored = apply("bitwise_xor", bits, all), negative = bits < 0.0;
  return where(negative, mirrored, bits);
}

Result<void> compare(OpCall& n) {
  BUDA_TRY(n.expect_inputs(2, 2));
  const std::string direction = n.text("comparison_direction");
  Ref x = n.real(0), y = n.real(1);
  BUDA_TRY(broadcast_operands(n, x, y));
  for (const Direction& d : kDirections) {
    if (d.name != direction) continue;
    Number a{&n, x}, b{&n, y};
    if (n.text("compare_type") == "TOTALORDER" && is_float(n.dtype(0)) && !n.is_complex(0)) {
      a = total_order(a);
      b = total_order(b);
    }
    Number out = apply(d.op, a, b);
    if (n.is_complex(0)) {
      if (d.op != "equal") return n.refuse("orders complex numbers");
      const Number im = equal({&n, n.imaginary(0)}, {&n, n.imaginary(1)});
      out = apply("logical_and", out, im);
    }
    output(n, d.name == "NE" ? apply("logical_not", out) : out);
    return success();
  }
  return n.refuse(cat("its comparison_direction is '", direction, "'; EQ, NE, LT, LE, GT and GE are supported"));
}

constexpr OpImporter kElementwiseOps[] = {
    {"stablehlo.abs", absolute, Scope::elementwise},
    {"stablehlo.add", binary, Scope::elementwise, "add"},
    {"stablehlo.and", logic, Scope::elementwise, "and"},
    {"stablehlo.atan2", arc_tangent, Scope::elementwise},
    {"stablehlo.cbrt", function, Scope::elementwise},
    {"stablehlo.ceil", unary, Scope::elementwise, "ceil"},
    {"stablehlo.clamp", clamp, Scope::elementwise},
    {"stablehlo.compare", compare, Scope::elementwise},
    {"stablehlo.cosine", function, Scope::elementwise},
    {"stablehlo.count_leading_zeros", count_bits, Scope::elementwise},
    {"stablehlo.divide", binary, Scope::elementwise, "divide"},
    {"stablehlo.exponential", function, Scope::elementwise},
    {"stablehlo.exponential_minus_one", function, Scope::elementwise},
    {"stablehlo.floor", unary, Scope::elementwise, "floor"},
    {"stablehlo.is_finite", is_finite, Scope::elementwise},
    {"stablehlo.log", function, Scope::elementwise},
    {"stablehlo.log_plus_one", function, Scope::elementwise},
    {"stablehlo.logistic", function, Scope::elementwise},
    {"stablehlo.maximum", binary, Scope::elementwise, "maximum"},
    {"stablehlo.minimum", binary, Scope::elementwise, "minimum"},
    {"stablehlo.multiply", binary, Scope::elementwise, "multiply"},
    {"stablehlo.negate", negate, Scope::elementwise},
    {"stablehlo.not", invert, Scope::elementwise},
    {"stablehlo.or", logic, Scope::elementwise, "or"},
    {"stablehlo.popcnt", count_bits, Scope::elementwise},
    {"stablehlo.power", binary, Scope::elementwise, "power"},
    {"stablehlo.remainder", binary, Scope::elementwise, "remainder"},
    {"stablehlo.round_nearest_afz", round_away, Scope::elementwise},
    {"stablehlo.round_nearest_even", unary, Scope::elementwise, "round"},
    {"stablehlo.rsqrt", function, Scope::elementwise},
    {"stablehlo.select", select, Scope::elementwise},
    {"stablehlo.shift_left", shift, Scope::elementwise, "shift_left"},
    {"stablehlo.shift_right_arithmetic", shift, Scope::elementwise, "shift_right"},
    {"stablehlo.shift_right_logical", shift, Scope::elementwise, "shift_right"},
    {"stablehlo.sign", sign, Scope::elementwise},
    {"stablehlo.sine", function, Scope::elementwise},
    {"stablehlo.sqrt", function, Scope::elementwise},
    {"stablehlo.subtract", binary, Scope::elementwise, "subtract"},
    {"stablehlo.tan", function, Scope::elementwise},
    {"stablehlo.tanh", function, Scope::elementwise},
    {"stablehlo.xor", logic, Scope::elementwise, "xor"},
    {"chlo.broadcast_add", binary, Scope::elementwise, "add"},
    {"chlo.broadcast_and", logic, Scope::elementwise, "and"},
    {"chlo.broadcast_atan2", arc_tangent, Scope::elementwise},
    {"chlo.broadcast_compare", compare, Scope::elementwise},
    {"chlo.broadcast_divide", binary, Scope::elementwise, "divide"},
    {"chlo.broadcast_maximum", binary, Scope::elementwise, "maximum"},
    {"chlo.broadcast_minimum", binary, Scope::elementwise, "minimum"},
    {"chlo.broadcast_multiply", binary, Scope::elementwise, "multiply"},
    {"chlo.broadcast_or", logic, Scope::elementwise, "or"},
    {"chlo.broadcast_power", binary, Scope::elementwise, "power"},
    {"chlo.broadcast_remainder", binary, Scope::elementwise, "remainder"},
    {"chlo.broadcast_select", select, Scope::elementwise},
    {"chlo.broadcast_subtract", binary, Scope::elementwise, "subtract"},
    {"chlo.broadcast_xor", logic, Scope::elementwise, "xor"},
    {"chlo.is_inf", is_infinite, Scope::elementwise},
    {"chlo.is_neg_inf", is_infinite, Scope::elementwise},
    {"chlo.is_pos_inf", is_infinite, Scope::elementwise},
    {"chlo.square", function, Scope::elementwise},
    {"chlo.tan", function, Scope::elementwise},
};

}  // namespace

std::span<const OpImporter> elementwise_ops() { return kElementwiseOps; }

}  // namespace buda::stablehlo
