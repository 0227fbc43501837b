// SPDX-License-Identifier: Apache-2.0
// Integers of known ranges, each as one value where that is an operand of the matrix unit, else as two digits.
//
// What is computed of them here is exact where the range of the result is at most limits.whole(), or where it is wrapped around.
#pragma once

#include <buda/graph/graph.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/passes/integers/digits.hpp>
#include <buda/passes/integers/exact_limits.hpp>
#include <buda/passes/integers/integer_range.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace buda::passes {

struct Number {
  IntegerRange range;
  graph::ValueRef single;  // in I32, if there are no digits
  std::optional<Digits> digits;
};

// At most one argument of a call makes nodes (ops::Builder).
class NumberBuilder {  // wide because it has a method for each operation on numbers
 public:
  NumberBuilder(ops::Builder& builder, const ExactLimits& limits) : b_(builder), d_(builder, limits.base), limits_(limits) {}

  Number single(graph::ValueRef value, const IntegerRange& range) { return {range, value, std::nullopt}; }
  Number of_digits(const Digits& digits, const IntegerRange& range) { return {range, {}, digits}; }
  Number constant(std::int64_t value);
  Digits digits(const Number& x);

  Number sum(const Number& a, const Number& b);
  Number difference(const Number& a, const Number& b);
  Number product(const Number& a, const Number& b);
  // The product modulo 2^bits, whatever its size.
  Number wrapped_product(const Number& a, const Number& b, int bits);
  Number size(const Number& x);  // without sign
  // A size with the sign of a product of both.
  Number signed_as_product(Number size, const Number& a, const Number& b);
  // The value of a number whose range is one of operands.
  graph::ValueRef operand(const Number& x);
  Number larger(const Number& a, const Number& b, bool smaller);
  // By a condition in booleans.
  Number chosen(graph::ValueRef condition, const Number& a, const Number& b);
  graph::ValueRef is_negative(const Number& x);
  // As digits where a movement would round the single value.
  Number movable(const Number& x);
  // A movement of each digit; of what is movable it makes no other ops.
  Number moved(const Number& x, const std::function<graph::ValueRef(graph::ValueRef)>& move);
  // In the range of an integer type, by the type's period.
  Number wrapped(const Number& x, DType type);
  // A sum of several in the type, of which this is not the last.
  Number partial_sum(const Number& a, const Number& b, DType type);

  // Of a value in [0, most], an operand: quotient and rest by a power of two.
  std::pair<graph::ValueRef, graph::ValueRef> parted(graph::ValueRef value, std::int64_t most, std::int64_t divisor);
  // Modulo a power of two; `range` of operands.
  graph::ValueRef modulo(graph::ValueRef value, IntegerRange range, std::int64_t divisor);
  // 1 or 0 where it is at least the bound.
  graph::ValueRef reaches(graph::ValueRef value, std::int64_t bound);

  ops::Builder& builder() { return b_; }
  DigitBuilder& digit_builder() { return d_; }

 private:
  // A term of a sum of operands, none of which is negative.
  struct Term {
    graph::ValueRef value;
    std::int64_t most = 0;
  };
  std::vector<Term> halves(const Number& x);
  void add(Term& sum, const Term& term);
  Number size_of_product(const Number& a, const Number& b, std::optional<int> bits);
  graph::ValueRef wrapped_high(const std::vector<std::vector<Term>>& columns, Term carry, std::int64_t modulus);

  ops::Builder& b_;
  DigitBuilder d_;
  ExactLimits limits_;
};

}  // namespace buda::passes
