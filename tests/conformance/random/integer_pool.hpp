// SPDX-License-Identifier: Apache-2.0
// What the families of integer steps share: the magnitudes of a graph, drawn integers, and operands of a wanted type.
#pragma once

#include "growing.hpp"

#include <cstdint>
#include <optional>
#include <utility>

namespace buda::trial {

inline bool is_whole(const Tensor& t) { return !is_float(t.dtype()); }

class IntegerPool {
 public:
  explicit IntegerPool(std::uint64_t seed);

  Growing& growing() { return growing_; }
  // An element type of integers, the common ones more often; or one of those that may be indices.
  DType any_integer_type();
  DType any_index_type() { return growing_.chance(60) ? DType::i64 : DType::i32; }

  // Integers of the graph's magnitudes, as far as the type holds them.
  Tensor numbers(const Shape& shape, DType dtype);
  // Integers of least…most.
  Tensor numbers(const Shape& shape, DType dtype, std::int64_t least, std::int64_t most);
  // `near` with some elements one higher or lower: so that comparisons meet equal and neighbouring numbers.
  Tensor neighbours(const Tensor& near);

  // An input, or a constant less often. Inputs carry the promise of their range where the graph makes promises.
  Port source(Tensor value, std::int64_t least, std::int64_t most);
  Port source(const Shape& shape, DType dtype);
  Port bools(const Shape& shape);

  // A value of integers (of any integer type), or of integers of one type, or of booleans; made where there is none.
  Port integers();
  Port operand_for(Port other);
  Port condition_for(const Shape& shape);
  // Places on an axis of that size: counted from either end, drawn, or taken from what was computed before and brought in range.
  Port places(const Shape& shape, std::int64_t size);

 private:
  std::pair<std::int64_t, std::int64_t> bounds(DType dtype) const;
  std::int64_t number(std::int64_t least, std::int64_t most, std::size_t style);

  Growing growing_;
  int bits_ = 8;           // magnitudes up to 2^bits_
  bool negative_ = false;  // whether signed types have negative numbers
  bool promises_ = true;
};

// The least and the largest number that an integer type and this suite have.
std::pair<std::int64_t, std::int64_t> limits(DType dtype);

// Steps of a family; they add nothing where what they drew does not fit.
void arithmetic_step(IntegerPool& pool);
void comparison_step(IntegerPool& pool);
void conversion_step(IntegerPool& pool);
void search_step(IntegerPool& pool);
void index_step(IntegerPool& pool);
void movement_step(IntegerPool& pool);

}  // namespace buda::trial
