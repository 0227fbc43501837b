// SPDX-License-Identifier: Apache-2.0
// add, subtract, multiply, maximum.
#include <buda/arith/bits.hpp>
#include <buda/arith/op.hpp>
#include <buda/arith/parts.hpp>
#include <buda/arith/special_values.hpp>

#include <algorithm>

namespace buda::arith {
namespace {

using netlist::MathFidelity;
using netlist::OpType;

std::optional<Unable> check_binary(const OpShapes& shapes) {
  if (auto unable = check_elementwise(shapes, 2)) return unable;
  if (is_integer(shapes.op.inputs[0].format) != is_integer(shapes.op.inputs[1].format))
    return Unable{"one operand holds integers and the other does not", "", false};
  return std::nullopt;
}

// The product that the phases of a fidelity make; operand A is in0. Exact in float32: A has at most 10 significant bits, B 11, and the
// parts of B do not overlap.
float product(MathFidelity fidelity, float a, float b) {
  switch (fidelity) {
    case MathFidelity::lofi:
      return masked_bits(a, kMultiplierA.high) * masked_bits(b, kMultiplierB.high);
    case MathFidelity::hifi2:
      return masked_bits(a, kMultiplierA.full) * masked_bits(b, kMultiplierB.high);
    case MathFidelity::hifi2_b:
      return masked_bits(a, kMultiplierA.high) * masked_bits(b, kMultiplierB.full);
    case MathFidelity::hifi3: {
      float high = masked_bits(b, kMultiplierB.high);
      return masked_bits(a, kMultiplierA.full) * high + masked_bits(a, kMultiplierA.high) * (masked_bits(b, kMultiplierB.full) - high);
    }
    case MathFidelity::hifi4:
      break;
  }
  return masked_bits(a, kMultiplierA.full) * masked_bits(b, kMultiplierB.full);
}

// Added to what the matrix unit makes, which leaves no -0.
constexpr float kPlusZero = 0.0f;

template <class F>
void apply_binary(const OpCall& call, std::vector<float>& out, F f) {
  const float* a = call.inputs[0]->floats.data();
  const float* b = call.inputs[1]->floats.data();
  const DestRounding dest = dest_rounding(call.mode, call.op.acc_format, call.op.out_format);
  in_parts(call.threads, out.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) out[i] = f(a[i], b[i]);
    round_in_dest(dest, {out.data() + begin, end - begin});
  });
}

void multiply(const OpCall& call, std::vector<float>& out) {
  if (call.mode == Mode::fp32) return apply_binary(call, out, product_of);
  switch (call.op.fidelity) {  // one loop for each, so that each is vectorised
    case MathFidelity::lofi:
      return apply_binary(call, out, [](float a, float b) { return kPlusZero + product(MathFidelity::lofi, a, b); });
    case MathFidelity::hifi2:
      return apply_binary(call, out, [](float a, float b) { return kPlusZero + product(MathFidelity::hifi2, a, b); });
    case MathFidelity::hifi2_b:
      return apply_binary(call, out, [](float a, float b) { return kPlusZero + product(MathFidelity::hifi2_b, a, b); });
    case MathFidelity::hifi3:
      return apply_binary(call, out, [](float a, float b) { return kPlusZero + product(MathFidelity::hifi3, a, b); });
    case MathFidelity::hifi4:
      return apply_binary(call, out, [](float a, float b) { return kPlusZero + product(MathFidelity::hifi4, a, b); });
  }
}

Value run_binary_floats(const OpCall& call) {
  std::vector<float> out(call.inputs[0]->floats.size());
  // Numbers of 16 bits and less fit into the source registers anyway.
  const std::uint32_t kept = call.mode == Mode::exact ? kSourceRegisterBits : ~0u;
  switch (call.op.type) {
    case OpType::add:
      apply_binary(call, out, [kept](float a, float b) { return kPlusZero + sum_of(masked_bits(a, kept), masked_bits(b, kept)); });
      break;
    case OpType::subtract:
      apply_binary(call, out, [kept](float a, float b) { return kPlusZero + sum_of(masked_bits(a, kept), -masked_bits(b, kept)); });
      break;
    case OpType::maximum:
      apply_binary(call, out, [](float a, float b) { return a > b || a != a ? a : b; });
      break;
    default:
      multiply(call, out);
      break;
  }
  return finish(call, std::move(out));
}

Value run_binary_integers(const OpCall& call) {
  const auto& a = call.inputs[0]->ints;
  const auto& b = call.inputs[1]->ints;
  std::vector<std::int32_t> out(a.size());
  auto saturated = [](std::int64_t v) { return static_cast<std::int32_t>(std::clamp<std::int64_t>(v, -2147483647, 2147483647)); };
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t x = a[i], y = b[i];
    switch (call.op.type) {
      case OpType::add:
        out[i] = saturated(x + y);
        break;
      case OpType::subtract:
        out[i] = saturated(x - y);
        break;
      case OpType::maximum:
        out[i] = static_cast<std::int32_t>(std::max(x, y));
        break;
      default:
        out[i] = saturated(x * y);
        break;
    }
  }
  return finish(call, std::move(out));
}

Outcome run_binary(const OpCall& call) {
  if (call.inputs[0]->integer()) return run_binary_integers(call);
  return call.mode == Mode::bits ? bits::binary(call) : run_binary_floats(call);
}

}  // namespace

const OpKind kBinary = {&check_binary, &as_on_chip<run_binary, Reach::place>, &elements};

}  // namespace buda::arith
