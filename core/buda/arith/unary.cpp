// SPDX-License-Identifier: Apache-2.0
// Copies and SFPU functions.
#include <buda/arith/bits.hpp>
#include <buda/arith/op.hpp>
#include <buda/arith/parts.hpp>
#include <buda/arith/sfpu.hpp>
#include <buda/arith/special_values.hpp>

#include <buda/base/text.hpp>
#include <buda/ops/table/op_traits.hpp>

#include <bit>
#include <cmath>
#include <optional>

namespace buda::arith {
namespace {

using netlist::Op;
using netlist::OpType;
using netlist::VectorMode;

// Whether the SFPU processes the face in which a number lies: vector mode r takes the upper faces of a tile, c the left ones.
bool processed(VectorMode mode, std::size_t row_in_tile, std::size_t col_in_tile) {
  return mode == VectorMode::rc || (mode == VectorMode::r && row_in_tile < 16) || (mode == VectorMode::c && col_in_tile < 16);
}

template <class F>
void apply_unary(const OpCall& call, std::vector<float>& numbers, F f) {
  const VectorMode mode = call.op.attributes.vector;
  const std::size_t cols = call.inputs[0]->cols(), h = static_cast<std::size_t>(call.op.tile_dim.rows),
                    w = static_cast<std::size_t>(call.op.tile_dim.cols);
  const DestRounding dest = dest_rounding(call.mode, call.op.acc_format, call.op.out_format);
  in_parts(call.threads, numbers.size(), 1, [&](std::size_t begin, std::size_t end) {
    if (mode == VectorMode::rc) {
      for (std::size_t i = begin; i < end; ++i) numbers[i] = f(numbers[i], i);
    } else {
      for (std::size_t i = begin; i < end; ++i)
        if (processed(mode, i / cols % h, i % cols % w)) numbers[i] = f(numbers[i], i);
    }
    round_in_dest(dest, {numbers.data() + begin, end - begin});
  });
}

template <auto function>
void map(const OpCall& call, std::vector<float>& numbers) {
  apply_unary(call, numbers, [](float x, std::size_t) { return function(x); });
}

void lrelu(const OpCall& call, std::vector<float>& numbers) {
  const auto slope = static_cast<float>(call.op.attributes.slope);
  apply_unary(call, numbers, [slope](float x, std::size_t) { return x < 0.0f ? x * slope : x; });
}

void power(const OpCall& call, std::vector<float>& numbers) {
  const std::int32_t exponent = call.op.attributes.exp;
  apply_unary(call, numbers, [exponent](float x, std::size_t) { return sfpu::power(x, exponent); });
}

void dropout(const OpCall& call, std::vector<float>& numbers) {
  const double p = call.op.attributes.p;
  const std::int32_t seed = call.op.attributes.seed;
  const auto scale = static_cast<float>(p >= 1.0 ? 1.0 : 1.0 / (1.0 - p));
  apply_unary(call, numbers, [=](float x, std::size_t i) { return sfpu::dropout_keeps(seed, p, i) ? x * scale : 0.0f; });
}

// Works on the destination register.
using Function = void (*)(const OpCall& call, std::vector<float>& numbers);

// Null for an SFPU op that is not here yet.
Function sfpu_function(OpType type) {
  switch (type) {
    case OpType::exp:
      return map<sfpu::exp>;
    case OpType::log:
      return map<sfpu::log>;
    case OpType::sqrt:
      return map<sfpu::sqrt>;
    case OpType::gelu:
      return map<sfpu::gelu>;
    case OpType::gelu_derivative:
      return map<sfpu::gelu_derivative>;
    case OpType::reciprocal:
      return map<sfpu::reciprocal>;
    case OpType::sigmoid:
      return map<sfpu::sigmoid>;
    case OpType::tanh:
      return map<sfpu::tanh>;
    case OpType::sine:
      return map<sfpu::sine>;
    case OpType::cosine:
      return map<sfpu::cosine>;
    case OpType::square:
      return map<[](float x) { return x * x; }>;
    case OpType::abs:
      return map<[](float x) { return std::fabs(x); }>;
    case OpType::lrelu:
      return lrelu;
    case OpType::power:
      return power;
    case OpType::dropout:
      return dropout;
    default:
      return nullptr;
  }
}

bool is_unary_copy(const Op& op) { return ops::is_copy_of_tiles(op.type); }

std::optional<Unable> check_unary(const OpShapes& shapes) {
  if (auto unable = check_elementwise(shapes, 1)) return unable;
  if (is_unary_copy(shapes.op)) return std::nullopt;
  if (is_integer(shapes.op.inputs[0].format)) return Unable{"SFPU functions do not work on integers", "", false};
  if (sfpu_function(shapes.op.type) == nullptr) return Unable{cat(netlist::op_type_name(shapes.op.type), " has no function"), "", true};
  return std::nullopt;
}

// `change`: what is done with all numbers, of which those remain that the op's vector mode processes.
template <class Change>
Value run_in_dest(const OpCall& call, Change change) {
  const Value& in = *call.inputs[0];
  const Op& op = call.op;
  bits::DestNumbers numbers = bits::copied(call, in.format, in.floats);
  const bits::Words before = op.attributes.vector == VectorMode::rc ? bits::Words() : numbers.words;
  change(numbers);
  const std::size_t cols = in.cols(), h = static_cast<std::size_t>(op.tile_dim.rows), w = static_cast<std::size_t>(op.tile_dim.cols);
  for (std::size_t i = 0; i < before.size(); ++i)
    if (!processed(op.attributes.vector, i / cols % h, i % cols % w)) numbers.words[i] = before[i];
  return bits::finish(call, numbers);
}

Value run_unary_bits(const OpCall& call) {
  const Op& op = call.op;
  const auto function = bits::vector_function(op);
  return run_in_dest(call, [&](bits::DestNumbers& numbers) {
    if (function) bits::apply(call, numbers, *function);
    if (op.type == OpType::dropout)
      for (std::size_t i = 0; i < numbers.words.size(); ++i)
        if (!sfpu::dropout_keeps(op.attributes.seed, op.attributes.p, i)) numbers.words[i] = 0;
  });
}

Value run_unary(const OpCall& call) {
  const Value& in = *call.inputs[0];
  if (in.integer()) return finish(call, in.ints);
  if (call.mode == Mode::bits) return run_unary_bits(call);
  std::vector<float> numbers = in.floats;
  // Straight to the destination register, with its width.
  round_in_dest(dest_rounding(call.mode, call.op.acc_format, call.op.out_format), numbers);
  if (!is_unary_copy(call.op)) sfpu_function(call.op.type)(call, numbers);
  return finish(call, std::move(numbers));
}

double flops_unary(const Op& op) { return is_unary_copy(op) ? 0 : elements(op); }

}  // namespace

const OpKind kUnary = {&check_unary, &as_on_chip<always<run_unary>, Reach::place>, &flops_unary};

namespace bits {

Value unary_with(const OpCall& call, const buda::sfpu::Program& function) {
  return run_in_dest(call, [&](DestNumbers& numbers) { apply(call, numbers, function); });
}

std::optional<buda::sfpu::FunctionCall> vector_function(const Op& op) {
  const auto word = [](double v) { return std::bit_cast<std::uint32_t>(static_cast<float>(v)); };
  if (is_unary_copy(op) || sfpu_function(op.type) == nullptr) return std::nullopt;
  const netlist::OpAttributes& a = op.attributes;
  if (op.type == OpType::lrelu) return buda::sfpu::FunctionCall{"lrelu", {{"slope", word(a.slope)}}};
  if (op.type == OpType::power) return buda::sfpu::FunctionCall{"power", {}, a.exp};
  if (op.type == OpType::dropout) return buda::sfpu::FunctionCall{"scale", {{"by", word(a.p >= 1.0 ? 1.0 : 1.0 / (1.0 - a.p))}}};
  return buda::sfpu::FunctionCall{std::string(netlist::op_type_name(op.type)), {}};
}

}  // namespace bits

}  // namespace buda::arith
