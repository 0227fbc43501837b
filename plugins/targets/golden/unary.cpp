// Copies and SFPU functions.
#include "op.hpp"
#include "parts.hpp"
#include "sfpu.hpp"

#include <cmath>

namespace buda::golden {
namespace {

using netlist::Op;
using netlist::OpType;
using netlist::VectorMode;

std::optional<Unable> check_unary(const OpShapes& shapes) {
  if (auto unable = check_elementwise(shapes, 1)) return unable;
  bool copy = shapes.op.type == OpType::nop || shapes.op.type == OpType::datacopy;
  if (!copy && is_integer(shapes.op.inputs[0].format)) return Unable{"SFPU functions do not work on integers", "", false};
  return std::nullopt;
}

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

template <float (*function)(float)>
void map(const OpCall& call, std::vector<float>& numbers) {
  apply_unary(call, numbers, [](float x, std::size_t) { return function(x); });
}

void dropout(const OpCall& call, std::vector<float>& numbers) {
  const double p = call.op.attributes.p;
  const std::int32_t seed = call.op.attributes.seed;
  const auto scale = static_cast<float>(p >= 1.0 ? 1.0 : 1.0 / (1.0 - p));
  apply_unary(call, numbers, [=](float x, std::size_t i) { return sfpu::dropout_keeps(seed, p, i) ? x * scale : 0.0f; });
}

void compute(const OpCall& call, std::vector<float>& numbers) {
  const auto& attributes = call.op.attributes;
  switch (call.op.type) {
    case OpType::exp:
      return map<sfpu::exp>(call, numbers);
    case OpType::log:
      return map<sfpu::log>(call, numbers);
    case OpType::sqrt:
      return map<sfpu::sqrt>(call, numbers);
    case OpType::gelu:
      return map<sfpu::gelu>(call, numbers);
    case OpType::gelu_derivative:
      return map<sfpu::gelu_derivative>(call, numbers);
    case OpType::reciprocal:
      return map<sfpu::reciprocal>(call, numbers);
    case OpType::sigmoid:
      return map<sfpu::sigmoid>(call, numbers);
    case OpType::tanh:
      return map<sfpu::tanh>(call, numbers);
    case OpType::sine:
      return map<sfpu::sine>(call, numbers);
    case OpType::cosine:
      return map<sfpu::cosine>(call, numbers);
    case OpType::square:
      return apply_unary(call, numbers, [](float x, std::size_t) { return x * x; });
    case OpType::abs:
      return apply_unary(call, numbers, [](float x, std::size_t) { return std::fabs(x); });
    case OpType::lrelu: {
      const auto slope = static_cast<float>(attributes.slope);
      return apply_unary(call, numbers, [slope](float x, std::size_t) { return x < 0.0f ? x * slope : x; });
    }
    case OpType::power: {
      const std::int32_t exponent = attributes.exp;
      return apply_unary(call, numbers, [exponent](float x, std::size_t) { return sfpu::power(x, exponent); });
    }
    case OpType::dropout:
      return dropout(call, numbers);
    default:
      return;  // nop, datacopy
  }
}

Value run_unary(const OpCall& call) {
  const Value& in = *call.inputs[0];
  if (in.integer()) return finish(call, in.ints);
  std::vector<float> numbers = in.floats;
  // Straight to the destination register, with its width.
  round_in_dest(dest_rounding(call.mode, call.op.acc_format, call.op.out_format), numbers);
  compute(call, numbers);
  return finish(call, std::move(numbers));
}

double flops_unary(const Op& op) { return op.type == OpType::nop || op.type == OpType::datacopy ? 0 : elements(op); }

}  // namespace

const OpKind kUnary = {&check_unary, &always<run_unary>, &flops_unary};

}  // namespace buda::golden
