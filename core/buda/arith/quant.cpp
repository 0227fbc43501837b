// SPDX-License-Identifier: Apache-2.0
// quantization, dequantization, requantization.
#include <buda/arith/bits.hpp>
#include <buda/arith/op.hpp>
#include <buda/arith/special_values.hpp>

#include <algorithm>
#include <bit>

namespace buda::arith {

using netlist::OpType;

namespace {

std::vector<float> rescale(const OpCall& call, const std::vector<std::int32_t>& numbers, const Value& scale) {
  const auto zero = static_cast<float>(call.op.attributes.zero_point);
  const bool dequantize = call.op.type == OpType::dequantization || call.op.attributes.dequant;
  std::vector<float> out(numbers.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto x = static_cast<float>(numbers[i]);
    out[i] = dequantize ? (x - zero) * scale.floats[i] : x * scale.floats[i] + zero;
  }
  return out;
}

// By the vector unit, of numbers in the destination register.
Value rescaled_bits(const OpCall& call, bits::DestNumbers numbers, const Value& scale) {
  const bits::Rescaling how = bits::rescaling_of(call.op);
  numbers.integer = how.makes_integers;
  bits::apply(call, numbers, how.function, bits::copied(call, scale.format, scale.floats).words);
  return bits::finish(call, numbers);
}

std::optional<Unable> check_quant(const OpShapes& shapes) {
  if (auto unable = check_elementwise(shapes, 2)) return unable;
  const netlist::Op& op = shapes.op;
  if (is_integer(op.inputs[1].format)) return Unable{"its scale, input 1, must be a floating-point tensor", "", false};
  if ((op.type == OpType::quantization) == is_integer(op.inputs[0].format))
    return Unable{op.type == OpType::quantization ? "its input is integer already" : "its input is not an integer tensor", "", false};
  return std::nullopt;
}

Value run_quant(const OpCall& call) {
  const Value& in = *call.inputs[0];
  if (in.integer()) return rescaled(call, in.ints, *call.inputs[1]);
  if (call.mode == Mode::bits) return rescaled_bits(call, bits::copied(call, in.format, in.floats), *call.inputs[1]);
  const auto zero = static_cast<float>(call.op.attributes.zero_point);
  std::vector<float> out(in.floats.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = in.floats[i] * call.inputs[1]->floats[i] + zero;
  return finish(call, std::move(out));
}

double flops_quant(const netlist::Op& op) { return 2 * elements(op); }

}  // namespace

Value rescaled(const OpCall& call, const std::vector<std::int32_t>& numbers, const Value& scale) {
  return call.mode == Mode::bits ? rescaled_bits(call, bits::copied(numbers), scale) : finish(call, rescale(call, numbers, scale));
}

bits::Rescaling bits::rescaling_of(const netlist::Op& op) {
  const auto& a = op.attributes;
  const bool from_float = op.type == OpType::quantization, to_float = op.type == OpType::dequantization || a.dequant;
  return {{from_float ? "quantization"
           : to_float ? "dequantization"
                      : "requantization",
           {{"zero", std::bit_cast<std::uint32_t>(static_cast<float>(a.zero_point))}}},
          !to_float};
}

const OpKind kQuant = {&check_quant, &as_on_chip<always<run_quant>, Reach::place>, &flops_quant};

}  // namespace buda::arith
