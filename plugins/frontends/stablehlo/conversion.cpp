// SPDX-License-Identifier: Apache-2.0
// Constants, element types, and the parts of complex numbers.
#include "dense.hpp"
#include "op_call.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

namespace buda::stablehlo {
namespace {

// Numbers with a fraction that have axes are what was trained; others belong to the model's code.
frontend::Operand tensor_operand(OpCall& n, const Tensor& tensor, std::string_view suffix) {
  const bool weight = is_float(tensor.dtype()) && tensor.shape().rank() > 0;
  return frontend::known_value(cat(n.name(), suffix), tensor, weight ? frontend::Role::weight : frontend::Role::constant, n.name());
}

Result<void> constant(OpCall& n) {
  const Attribute* value = n.attribute("value");
  const auto* found = value == nullptr ? nullptr : value->as<std::shared_ptr<const Dense>>();
  if (found == nullptr) return n.refuse("has no dense elements");
  const Dense& dense = **found;
  const Shape shape(Dims(dense.type.dims));
  Value out;
  const bool one_for_all = dense.real->shape() != shape;
  auto part = [&](const Tensor& tensor, std::string_view suffix) {
    frontend::Operand operand = tensor_operand(n, tensor, suffix);
    if (!one_for_all) return operand;
    return frontend::computed_value({}, n.broadcast_to(n.constant(tensor), shape));
  };
  out.real = part(*dense.real, "");
  if (dense.imaginary) out.imaginary = part(*dense.imaginary, ".imag");
  n.output(std::move(out));
  return success();
}

Result<void> convert(OpCall& n) {
  BUDA_TRY(n.expect_inputs(1, 1));
  const Type& to = n.result_type();
  if (!to.dtype) return n.refuse(cat("converts to ", to.text, ", which is not supported"));
  const Ref re = n.cast(n.real(0), *to.dtype);
  if (!to.is_complex) {
    n.output(re);
    return success();
  }
  const Ref im = n.is_complex(0) ? n.cast(n.imaginary(0), *to.dtype) : n.op("multiply", {re, n.scalar(0, *to.dtype)});
  n.output(re, im, 0);
  return success();
}

Result<void> bitcast_convert(OpCall& n) {
  BUDA_TRY(n.expect_inputs(1, 1));
  const Type& to = n.result_type();
  const DType from = n.dtype(0);
  if (!to.dtype) return n.refuse(cat("converts to ", to.text, ", which is not supported"));
  if (from == DType::boolean || *to.dtype == DType::boolean) {
    if (from != *to.dtype) return n.refuse("converts the bits of booleans, which have no number of bits here");
    n.output(n.value(0));
    return success();
  }
  auto bits = [&](Ref x) { return n.op("bitcast", {x}, {{"dtype", std::string(dtype_name(*to.dtype))}}); };
  if (n.is_complex(0) != to.is_complex) return n.refuse("converts the bits of complex numbers to others");
  const Ref re = bits(n.real(0));
  if (n.is_complex(0)) {
    n.output(re, bits(n.imaginary(0)), 0);
  } else {
    n.output(re);
  }
  return success();
}

// What is left of it where quantised operands are numbers by then, and quantised results become integers afterwards (quantized_call.hpp).
Result<void> between_numbers_and_integers(OpCall& n) {
  BUDA_TRY(n.expect_inputs(1, 1));
  n.output(n.value(0));
  return success();
}

Result<void> complex(OpCall& n) {
  BUDA_TRY(n.expect_inputs(2, 2));
  const Ref re = n.real(0);
  n.output(re, n.real(1), 0);
  return success();
}

Result<void> real(OpCall& n) {
  BUDA_TRY(n.expect_inputs(1, 1));
  n.output(n.real(0));
  return success();
}

Result<void> imaginary(OpCall& n) {
  BUDA_TRY(n.expect_inputs(1, 1));
  if (n.is_complex(0)) {
    n.output(n.imaginary(0));
  } else {
    n.output(n.op("multiply", {n.real(0), n.scalar(0, n.dtype(0))}));
  }
  return success();
}

Result<void> conjugate(OpCall& n) {
  BUDA_TRY(n.expect_inputs(1, 1));
  const Ref re = n.real(0);
  if (n.is_complex(0)) {
    n.output(re, n.step("negative").negative(n.imaginary(0)), 0);
  } else {
    n.output(re);
  }
  return success();
}

struct FloatBits {
  DType bits = DType::u32;
  int exponent = 0, mantissa = 0;
};

FloatBits bits_of(DType t) {
  switch (t) {
    case DType::f64:
      return {DType::u64, 11, 52};
    case DType::f16:
      return {DType::u16, 5, 10};
    case DType::bf16:
      return {DType::u16, 8, 7};
    default:
      return {DType::u32, 8, 23};
  }
}

std::uint64_t ones(int count) { return (std::uint64_t{1} << count) - 1; }

// Rounds the mantissa in the bits, ties to even; then numbers that the smaller exponent cannot hold become infinite or 0.
Result<void> reduce_precision(OpCall& n) {
  BUDA_TRY(n.expect_inputs(1, 1));
  BUDA_ASSIGN(std::int64_t exponent, n.integer("exponent_bits"));
  BUDA_ASSIGN(std::int64_t mantissa, n.integer("mantissa_bits"));
  const DType dtype = n.dtype(0);
  if (!is_float(dtype) || exponent < 1 || mantissa < 0) return n.refuse("takes floating-point numbers, and at least one bit of exponent");
  const FloatBits have = bits_of(dtype);
  const Number x{&n, n.real(0)};
  auto number = [&](std::uint64_t v) { return Number{&n, n.constant(Tensor::scalar(v).cast(have.bits))}; };
  auto as = [&](Number v, DType to) { return v.with(n.op("bitcast", {v.ref}, {{"dtype", std::string(dtype_name(to))}})); };
  const int width = static_cast<int>(8 * dtype_size(dtype));
  const Number all = as(x, have.bits), sign = apply("bitwise_and", all, number(std::uint64_t{1} << (width - 1)));
  Number size = apply("bitwise_and", all, number(ones(width - 1)));
  if (mantissa < have.mantissa) {
    const int dropped = have.mantissa - static_cast<int>(mantissa);
    const Number last = apply("bitwise_and", apply("shift_right", size, number(static_cast<std::uint64_t>(dropped))), number(1));
    const Number shifted = size + number(ones(dropped - 1)), rounded = shifted + last;
    size = apply("bitwise_and", rounded, number(ones(width - 1) & ~ones(dropped)));
  }
  const std::uint64_t infinity = ones(have.exponent) << have.mantissa;
  if (exponent < have.exponent) {
    const std::uint64_t bias = ones(have.exponent - 1), least = bias - ones(static_cast<int>(exponent) - 1),
                        most = bias + ones(static_cast<int>(exponent) - 1);
    const Number too_large = size > number((most << have.mantissa) | ones(have.mantissa)),
                 too_small = size <= number((least << have.mantissa) | ones(have.mantissa));
    size = where(too_large, number(infinity), size);
    size = where(too_small, number(0), size);
  }
  const Number reduced = as(apply("bitwise_or", size, sign), dtype), unordered = equal(x, x);
  n.output(where(unordered, reduced, x).ref);
  return success();
}

constexpr OpImporter kConversionOps[] = {
    {"chlo.conj", conjugate, Scope::elementwise},
    {"chlo.constant", constant, Scope::elementwise},
    {"stablehlo.bitcast_convert", bitcast_convert, Scope::elementwise, {}, "not to or from booleans, nor between real and complex numbers"},
    {"stablehlo.complex", complex, Scope::elementwise},
    {"stablehlo.constant", constant, Scope::elementwise},
    {"stablehlo.convert", convert, Scope::elementwise},
    {"stablehlo.uniform_dequantize", between_numbers_and_integers},
    {"stablehlo.uniform_quantize", between_numbers_and_integers},
    {"stablehlo.imag", imaginary, Scope::elementwise},
    {"stablehlo.real", real, Scope::elementwise},
    {"stablehlo.reduce_precision", reduce_precision, Scope::elementwise},
};

}  // namespace

std::span<const OpImporter> conversion_ops() { return kConversionOps; }

}  // namespace buda::stablehlo
