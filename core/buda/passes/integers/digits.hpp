// SPDX-License-Identifier: Apache-2.0
// Integers that are too large for an operand of the matrix unit, as two digits.
//
//   value = high * base + low, 0 <= low < base
//
// Digits are values in I32, each small enough to be an operand. What is made of them here is exact as long as the high digits stay so; the
// caller knows by the range of the result.
#pragma once

#include <buda/graph/graph.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/passes/integers/integer_range.hpp>

#include <cstdint>

namespace buda::passes {

struct Digits {
  graph::ValueRef high, low;
};

// Writes the ops; digits of both operands have the base. At most one argument of a call makes nodes (ops::Builder).
class DigitBuilder {
 public:
  DigitBuilder(ops::Builder& builder, std::int64_t base) : b_(builder), base_(base) {}

  // ---- from and to single values
  Digits of_constant(const Tensor& tensor);
  Digits of_number(std::int64_t value);
  // Of a value on the device all of whose elements are operands, or one larger than the largest.
  Digits of_operand(graph::ValueRef value, const IntegerRange& range, const Shape& shape);
  // Of a value that the host has; the host computes them.
  Digits of_host_value(graph::ValueRef value);
  // The whole value in this type, on the host (tag kDigits, digit_parts.hpp).
  graph::ValueRef on_host(const Digits& d, DType type);
  // The same on the device, where all elements are in `range`, which is one of operands.
  graph::ValueRef on_device(const Digits& d, const IntegerRange& range, DType type);

  // ---- arithmetic
  Digits sum(const Digits& a, const Digits& b);
  Digits difference(const Digits& a, const Digits& b);
  // By a condition, in booleans.
  Digits chosen(graph::ValueRef condition, const Digits& a, const Digits& b);
  Digits larger(const Digits& a, const Digits& b, bool smaller);

  // ---- comparisons, in booleans
  graph::ValueRef equal(const Digits& a, const Digits& b);
  graph::ValueRef less(const Digits& a, const Digits& b);
  graph::ValueRef is_negative(const Digits& a);

  // 1 or 0 in I32.
  graph::ValueRef as_number(graph::ValueRef condition);
  graph::ValueRef number(std::int64_t value);

 private:
  graph::ValueRef cast(graph::ValueRef value, DType type);
  graph::ValueRef host(graph::ValueRef value);

  ops::Builder& b_;
  std::int64_t base_;
};

}  // namespace buda::passes
