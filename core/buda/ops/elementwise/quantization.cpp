// SPDX-License-Identifier: Apache-2.0
// Between real numbers and small integers or 8-bit floats: quantize, dequantize, requantize, round_float8.
//
// A scale and a zero point hold for the whole value, or (as vectors) for each slice along an axis. The arithmetic is fp32's, rounding to
// the nearest and to even, as ONNX's QuantizeLinear has it, or away from zero, as TensorFlow Lite has it; what the integer type cannot hold
// becomes its nearest value. requantize is TensorFlow Lite's arithmetic of integers alone.
#include <buda/base/text.hpp>
#include <buda/ops/elements/arithmetic.hpp>
#include <buda/ops/elements/buffer.hpp>
#include <buda/ops/elements/strided.hpp>
#include <buda/ops/elementwise/unary_evaluation.hpp>
#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/families.hpp>
#include <buda/ops/table/rules.hpp>
#include <buda/tensor/formats/float8.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace buda::ops {
namespace {

bool is_small_integer(DType t) { return is_integer(t) && dtype_size(t) <= 4; }

// Elements that share a scale, and how many scales there are: element i has scale i / run % count.
struct Slices {
  std::int64_t run = 1, count = 1;

  std::size_t of(std::int64_t i) const { return static_cast<std::size_t>(i / run % count); }
};

Result<Slices> slices_of(const Shape& x, const Shape& scale, const Shape& zero, const Attrs& attrs) {
  if (scale != zero)
    return shape_error(cat("the scale is ", scale.text(), " and the zero point ", zero.text(), "; their shapes have to be equal"));
  if (scale.volume() == 1 && scale.rank() <= 1) return Slices{std::max<std::int64_t>(x.volume().value_or(1), 1), 1};
  if (scale.rank() != 1) return shape_error(cat("the scale is ", scale.text(), "; one number, or one for each slice, is needed"));
  BUDA_ASSIGN(std::size_t axis, resolved_axis(x, attrs.integer("dim")));
  if (x[axis] != scale[0])
    return shape_error(cat("there are ", scale[0], " scales for ", x[axis], " slices along axis ", axis, " of ", x.text()));
  Slices s{1, std::max<std::int64_t>(scale[0], 1)};
  for (std::size_t i = axis + 1; i < x.rank() && x.volume() != 0; ++i) s.run *= x[i];
  return s;
}

Result<std::vector<ValueType>> infer_quantize(const InferCall& call) {
  const auto& [x, scale, zero] = std::tie(call.inputs[0], call.inputs[1], call.inputs[2]);
  if ((!is_float(x.dtype) && x.dtype != DType::i32) || !is_float(scale.dtype))
    return dtype_error(cat("x is ", dtype_name(x.dtype), " and the scale ", dtype_name(scale.dtype), "; floating-point types are needed"));
  if (!is_small_integer(zero.dtype)) return dtype_error(cat("integers of at most 32 bits are possible, not ", dtype_name(zero.dtype)));
  BUDA_TRY(slices_of(x.shape, scale.shape, zero.shape, call.attrs));
  return one(zero.dtype, x.shape);
}

Result<std::vector<ValueType>> infer_dequantize(const InferCall& call) {
  const auto& [x, scale, zero] = std::tie(call.inputs[0], call.inputs[1], call.inputs[2]);
  if (!is_float(scale.dtype)) return dtype_error(cat("the scale is ", dtype_name(scale.dtype), "; a floating-point type is needed"));
  if (!is_small_integer(x.dtype) || x.dtype != zero.dtype)
    return dtype_error(cat("x is ", dtype_name(x.dtype), " and the zero point ", dtype_name(zero.dtype),
                           "; one integer type of at most 32 bits is needed"));
  BUDA_TRY(slices_of(x.shape, scale.shape, zero.shape, call.attrs));
  return one(scale.dtype, x.shape);
}

// Numbers and the scales and zero points that go with them.
struct Given {
  Tensor x, scale, zero;
  Slices slices;

  static Result<Given> of(const EvaluateCall& call, DType numbers) {
    Given g{call.inputs[0].cast(numbers), call.inputs[1].cast(DType::f32), call.inputs[2].cast(DType::i64), {}};
    BUDA_ASSIGN(g.slices, slices_of(call.inputs[0].shape(), call.inputs[1].shape(), call.inputs[2].shape(), call.attrs));
    return g;
  }
};

struct Limits {
  double least, most;
};

Limits limits_of(DType t) {
  double bits = static_cast<double>(dtype_size(t)) * 8;
  bool is_signed = t == DType::i8 || t == DType::i16 || t == DType::i32;
  return is_signed ? Limits{-std::exp2(bits - 1), std::exp2(bits - 1) - 1} : Limits{0, std::exp2(bits) - 1};
}

Result<std::vector<Tensor>> evaluate_quantize(const EvaluateCall& call) {
  BUDA_ASSIGN(Given g, Given::of(call, DType::f32));
  BUDA_ASSIGN(Buffer out, Buffer::make(DType::i64, call.outputs[0].shape));
  Limits limits = limits_of(call.outputs[0].dtype);
  bool away = call.attrs.text("ties") == "away";
  const float* x = g.x.as<float>().data();
  const float* scale = g.scale.as<float>().data();
  const std::int64_t* zero = g.zero.as<std::int64_t>().data();
  std::int64_t* y = out.as<std::int64_t>().data();
  in_chunks(call.threads, static_cast<std::int64_t>(g.x.size()), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      std::size_t s = g.slices.of(i);
      float steps = x[i] / scale[s];
      double rounded = static_cast<double>(away ? std::round(steps) : std::nearbyint(steps)) + static_cast<double>(zero[s]);
      // NaN is nowhere; like Tensor::cast, 0.
      y[i] = rounded == rounded ? static_cast<std::int64_t>(std::clamp(rounded, limits.least, limits.most)) : 0;
    }
  });
  return std::vector<Tensor>{std::move(out).take().cast(call.outputs[0].dtype)};
}

Result<std::vector<Tensor>> evaluate_dequantize(const EvaluateCall& call) {
  BUDA_ASSIGN(Given g, Given::of(call, DType::i64));
  BUDA_ASSIGN(Buffer out, Buffer::make(DType::f32, call.outputs[0].shape));
  const std::int64_t* x = g.x.as<std::int64_t>().data();
  const float* scale = g.scale.as<float>().data();
  const std::int64_t* zero = g.zero.as<std::int64_t>().data();
  float* y = out.as<float>().data();
  in_chunks(call.threads, static_cast<std::int64_t>(g.x.size()), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      std::size_t s = g.slices.of(i);
      y[i] = static_cast<float>(x[i] - zero[s]) * scale[s];
    }
  });
  return std::vector<Tensor>{std::move(out).take().cast(call.outputs[0].dtype)};
}

Result<std::vector<ValueType>> infer_requantize(const InferCall& call) {
  const auto& [x, multiplier, shift, zero] = std::tie(call.inputs[0], call.inputs[1], call.inputs[2], call.inputs[3]);
  if (x.dtype != DType::i32 && x.dtype != DType::i64) return dtype_error(cat("x is ", dtype_name(x.dtype), "; I32 or I64 is needed"));
  if (multiplier.dtype != DType::i32 || shift.dtype != DType::i32)
    return dtype_error(
        cat("the multiplier is ", dtype_name(multiplier.dtype), " and the shift ", dtype_name(shift.dtype), "; I32 is needed"));
  if (!is_small_integer(zero.dtype) || zero.shape.volume() != 1)
    return dtype_error(
        cat("the zero point is ", dtype_name(zero.dtype), ' ', zero.shape.text(), "; one integer of at most 32 bits is needed"));
  BUDA_TRY(slices_of(x.shape, multiplier.shape, shift.shape, call.attrs));
  return one(zero.dtype, x.shape);
}

// x 2^left multiplier / 2^31, rounded to the nearest (halves up); what leaves 32 bits on the way to the left wraps around.
std::int64_t high_half(std::int32_t x, std::int32_t multiplier, int left) {
  auto moved = static_cast<std::int32_t>(static_cast<std::uint32_t>(x) << left);
  if (moved == multiplier && moved == std::numeric_limits<std::int32_t>::min()) return std::numeric_limits<std::int32_t>::max();
  std::int64_t product = std::int64_t{moved} * multiplier;
  std::int64_t nudge = product >= 0 ? std::int64_t{1} << 30 : 1 - (std::int64_t{1} << 30);
  return (product + nudge) / (std::int64_t{1} << 31);
}

// x / 2^right, rounded to the nearest, halves away from zero.
std::int64_t rounded_shift(std::int64_t x, int right) {
  std::int64_t mask = (std::int64_t{1} << right) - 1;
  std::int64_t rest = x & mask, threshold = (mask >> 1) + (x < 0 ? 1 : 0);
  return (x >> right) + (rest > threshold ? 1 : 0);
}

std::int64_t scaled_fixed(std::int32_t x, std::int32_t multiplier, std::int32_t shift) {
  int left = std::clamp(shift, 0, 31), right = std::clamp(-shift, 0, 31);
  return rounded_shift(high_half(x, multiplier, left), right);
}

// Of sums of 64 bits: the multiplier loses its lower half, and there is one rounding, halves up.
std::int64_t scaled_fixed(std::int64_t x, std::int32_t multiplier, std::int32_t shift) {
  std::int64_t half = multiplier < 0x7fff0000 ? (std::int64_t{multiplier} + (1 << 15)) >> 16 : 0x7fff;
  int right = std::clamp(15 - shift, 1, 62);
  auto product = static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(half) + (std::uint64_t{1} << (right - 1));
  return static_cast<std::int32_t>(static_cast<std::int64_t>(product) >> right);
}

template <class T>
Result<std::vector<Tensor>> requantized(const EvaluateCall& call) {
  BUDA_ASSIGN(Slices slices, slices_of(call.inputs[0].shape(), call.inputs[1].shape(), call.inputs[2].shape(), call.attrs));
  BUDA_ASSIGN(Buffer out, Buffer::make(DType::i64, call.outputs[0].shape));
  Limits limits = limits_of(call.outputs[0].dtype);
  const T* x = call.inputs[0].as<T>().data();
  const std::int32_t* multiplier = call.inputs[1].as<std::int32_t>().data();
  const std::int32_t* shift = call.inputs[2].as<std::int32_t>().data();
  std::int64_t zero = call.inputs[3].cast(DType::i64).template as<std::int64_t>()[0];
  auto least = static_cast<std::int64_t>(limits.least), most = static_cast<std::int64_t>(limits.most);
  std::int64_t* y = out.as<std::int64_t>().data();
  in_chunks(call.threads, static_cast<std::int64_t>(call.inputs[0].size()), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      std::size_t s = slices.of(i);
      y[i] = std::clamp(scaled_fixed(x[i], multiplier[s], shift[s]) + zero, least, most);
    }
  });
  return std::vector<Tensor>{std::move(out).take().cast(call.outputs[0].dtype)};
}

Result<std::vector<Tensor>> evaluate_requantize(const EvaluateCall& call) {
  return call.inputs[0].dtype() == DType::i64 ? requantized<std::int64_t>(call) : requantized<std::int32_t>(call);
}

double two_per_element(std::span<const ValueType>, std::span<const ValueType> outputs, const Attrs&) {
  return 2 * volume(outputs[0].shape);
}

Result<std::vector<ValueType>> infer_round_float8(const InferCall& call) {
  BUDA_ASSIGN(DType dtype, common_dtype(call.inputs, Accepts::floats));
  return one(dtype, call.inputs[0].shape);
}

Result<std::vector<Tensor>> evaluate_round_float8(const EvaluateCall& call) {
  Float8 format = float8_by_name(call.attrs.text("format")).value_or(Float8::e4m3fn);
  bool saturate = call.attrs.boolean("saturate");
  return evaluate_with<false>(call, [=](auto tag) {
    using T = typename decltype(tag)::type;
    return [=](T x) -> T { return static_cast<T>(float8_rounded(format, static_cast<double>(x), saturate)); };
  });
}

}  // namespace

std::vector<OpDef> quantization_ops() {
  OpDef quantize{.name = "quantize",
                 .level = Level::tensor,
                 .family = "quantization",
                 .summary = "x / scale, rounded to the nearest, plus the zero point; in the zero point's type, saturating",
                 .inputs = {"x", "scale", "zero_point"},
                 .least_inputs = 3,
                 .most_inputs = 3,
                 .attrs = {{"dim", AttrType::integer, std::int64_t{1}, "the axis that several scales and zero points are for", {}},
                           {"ties",
                            AttrType::text,
                            std::string("even"),
                            "what halves are rounded to: the even neighbour, or the one away from zero",
                            {"even", "away"}}},
                 .infer = infer_quantize,
                 .evaluate = evaluate_quantize,
                 .flops = two_per_element};
  OpDef dequantize = quantize;
  dequantize.name = "dequantize";
  dequantize.summary = "(x - zero point) * scale, in the scale's type";
  dequantize.infer = infer_dequantize;
  dequantize.attrs.pop_back();
  dequantize.evaluate = evaluate_dequantize;
  OpDef requantize{
      .name = "requantize",
      .level = Level::tensor,
      .family = "quantization",
      .summary =
          "x * multiplier * 2^(shift - 31) plus the zero point, in the zero point's type, saturating; in integers, rounded as TensorFlow "
          "Lite does: twice for x in I32 (halves up, then away from zero), once for I64, with the upper half of the multiplier",
      .inputs = {"x", "multiplier", "shift", "zero_point"},
      .least_inputs = 4,
      .most_inputs = 4,
      .attrs = {{"dim", AttrType::integer, std::int64_t{1}, "the axis that several multipliers and shifts are for", {}}},
      .infer = infer_requantize,
      .evaluate = evaluate_requantize,
      .flops = two_per_element};
  OpDef round_float8{
      .name = "round_float8",
      .level = Level::tensor,
      .family = "quantization",
      .summary = "the nearest number of an 8-bit floating-point format, ties to even; in the type of x",
      .inputs = {"x"},
      .least_inputs = 1,
      .most_inputs = 1,
      .attrs = {{"format", AttrType::text, std::nullopt, "the format, as ONNX names it", {"E4M3FN", "E4M3FNUZ", "E5M2", "E5M2FNUZ"}},
                {"saturate", AttrType::boolean, true, "what is too large becomes the largest number, and not infinity or NaN", {}}},
      .infer = infer_round_float8,
      .evaluate = evaluate_round_float8,
      .flops = two_per_element};
  return {std::move(quantize), std::move(dequantize), std::move(requantize), std::move(round_float8)};
}

}  // namespace buda::ops
