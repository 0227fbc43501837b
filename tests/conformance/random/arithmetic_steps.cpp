// SPDX-License-Identifier: Apache-2.0
// Arithmetic, comparisons, selections and conversions of integers and booleans.
#include "integer_pool.hpp"

#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <string>

namespace buda::trial {
namespace {

graph::AttrMap to_type(DType dtype) { return {{"dtype", std::string(dtype_name(dtype))}}; }

// Operands of a division: rarely zero, and small at times so that quotients are large.
Port divisor_for(IntegerPool& pool, Port dividend) {
  Growing& g = pool.growing();
  if (g.chance(30)) return pool.operand_for(dividend);
  const DType dtype = g.dtype(dividend);
  const auto [least, most] = limits(dtype);
  static constexpr std::int64_t kDivisors[] = {1, 2, 3, 5, 7, 8, 10, 13, 16, 32, 60, 64, 97, 100, 127};
  const std::int64_t sign = least < 0 && g.chance(20) ? -1 : 1;
  if (g.chance(60)) {
    const std::int64_t by = sign * std::min(g.one_of(kDivisors), most);
    return g.constant(Tensor::scalar<std::int64_t>(by).cast(dtype));
  }
  const Shape shape = g.meeting_shape(g.shape(dividend));
  return pool.source(pool.numbers(shape, dtype, 1, std::min<std::int64_t>(most, 300)), 1, std::min<std::int64_t>(most, 300));
}

void clip_step(IntegerPool& pool, Port x) {
  Growing& g = pool.growing();
  const Tensor bounds = pool.numbers(Shape{2}, g.dtype(x)).cast(DType::i64);
  const auto ends = bounds.as<std::int64_t>();
  graph::AttrMap attrs;
  const std::size_t sides = g.pick(3);
  if (sides != 1) attrs["min"] = static_cast<double>(std::min(ends[0], ends[1]));
  if (sides != 0) attrs["max"] = static_cast<double>(std::max(ends[0], ends[1]));
  g.op("clip", {x}, std::move(attrs));
}

// As positions are computed: the running number of what is not masked, less one.
void position_step(IntegerPool& pool) {
  Growing& g = pool.growing();
  const Port mask = pool.condition_for(g.any_shape());
  if (g.shape(mask).rank() == 0) return;
  const DType dtype = pool.any_index_type();
  auto ones = g.op("cast", {mask}, to_type(dtype));
  auto sums = ones ? g.op("cumsum", {*ones}, {{"dim", std::int64_t{-1}}}) : std::nullopt;
  if (sums) g.op("subtract", {*sums, g.constant(Tensor::scalar<std::int64_t>(1).cast(dtype))});
}

// Integers to floats, arithmetic there, and back with one of the roundings.
void float_detour(IntegerPool& pool) {
  Growing& g = pool.growing();
  static constexpr const char* kRoundings[] = {"floor", "round", "ceil"};
  static constexpr float kNumbers[] = {2, 4, 0.5f, 0.25f, 3, 7, 10, 0.1f};
  static constexpr const char* kOps[] = {"multiply", "divide", "add"};
  const Port x = pool.integers();
  auto value = g.op("cast", {x}, to_type(DType::f32));
  if (value && g.chance(60)) value = g.op(g.one_of(kOps), {*value, g.constant(Tensor::scalar<float>(g.one_of(kNumbers)))});
  if (value && g.chance(70)) value = g.op(g.one_of(kRoundings), {*value});
  if (value) g.op("cast", {*value}, to_type(g.chance(70) ? pool.any_index_type() : pool.any_integer_type()));
}

// Numbers with halves and quarters, of few enough bits that every format of a chip holds them.
void rounding_step(IntegerPool& pool) {
  Growing& g = pool.growing();
  static constexpr const char* kRoundings[] = {"floor", "round", "ceil"};
  const std::int64_t quarters = g.chance(50) ? 7 : 127;
  const Tensor numerators = pool.numbers(g.any_shape(), DType::i32, -quarters, quarters);
  std::vector<float> values = numerators.to_f32();
  const float unit = g.chance(50) ? 0.25f : 0.5f;
  for (float& v : values) v *= unit;
  const Port x = g.input(Tensor(numerators.shape(), std::move(values)));
  auto value = g.chance(80) ? g.op(g.one_of(kRoundings), {x}) : std::optional<Port>(x);
  if (value) g.op("cast", {*value}, to_type(g.chance(20) ? DType::boolean : pool.any_integer_type()));
}

}  // namespace

void arithmetic_step(IntegerPool& pool) {
  Growing& g = pool.growing();
  static constexpr const char* kBinary[] = {"add", "add", "subtract", "subtract", "multiply", "multiply", "maximum", "minimum"};
  static constexpr const char* kDivisions[] = {"divide", "modulo", "remainder"};
  static constexpr const char* kUnary[] = {"negative", "abs"};
  static constexpr const char* kBits[] = {"bitwise_and", "bitwise_or", "bitwise_xor"};
  const std::size_t family = g.pick(20);
  if (family == 0) return position_step(pool);
  const Port x = pool.integers();
  if (family < 9) {
    const Port y = pool.operand_for(x);
    const bool swapped = g.chance(30);
    g.op(g.one_of(kBinary), {swapped ? y : x, swapped ? x : y});
  } else if (family < 14) {
    g.op(g.one_of(kDivisions), {x, divisor_for(pool, x)});
  } else if (family < 16) {
    g.op(g.one_of(kUnary), {x});
  } else if (family < 19) {
    clip_step(pool, x);
  } else {
    g.op(g.one_of(kBits), {x, pool.operand_for(x)});
  }
}

void comparison_step(IntegerPool& pool) {
  Growing& g = pool.growing();
  static constexpr const char* kComparisons[] = {"equal", "equal", "less", "less_equal", "greater", "greater_equal"};
  static constexpr const char* kLogic[] = {"logical_and", "logical_or", "logical_xor"};
  switch (g.pick(8)) {
    case 0: {
      const Port a = pool.condition_for(g.any_shape());
      g.op(g.one_of(kLogic), {a, pool.condition_for(g.shape(a))});
      return;
    }
    case 1:
      g.op("logical_not", {pool.condition_for(g.any_shape())});
      return;
    case 2:
    case 3: {
      const Port x = pool.integers();
      const Port y = pool.operand_for(x);
      g.op("where", {pool.condition_for(g.shape(x)), x, y});
      return;
    }
    default: {
      const Port x = pool.integers();
      g.op(g.one_of(kComparisons), {x, pool.operand_for(x)});
    }
  }
}

void conversion_step(IntegerPool& pool) {
  Growing& g = pool.growing();
  switch (g.pick(6)) {
    case 0:
      return float_detour(pool);
    case 1:
      return rounding_step(pool);
    case 2:
      g.op("cast", {pool.integers()}, to_type(DType::boolean));
      return;
    case 3:
      g.op("cast", {pool.condition_for(g.any_shape())}, to_type(pool.any_integer_type()));
      return;
    default:
      g.op("cast", {pool.integers()}, to_type(pool.any_integer_type()));
  }
}

}  // namespace buda::trial
