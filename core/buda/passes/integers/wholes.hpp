// SPDX-License-Identifier: Apache-2.0
// What exact-integers knows of the integers and booleans of a graph: their ranges, and the digits of those that have some.
#pragma once

#include <buda/graph/graph.hpp>
#include <buda/passes/integers/digits.hpp>
#include <buda/passes/integers/exact_limits.hpp>
#include <buda/passes/integers/integer_range.hpp>

#include <map>
#include <optional>

namespace buda::passes {

// The integer that a float is equal to. It may be gone where only the float read it, but not its digits.
struct EqualInteger {
  graph::ValueRef value;
  IntegerRange range;
  std::optional<Digits> digits;
};

class Wholes {
 public:
  Wholes(const graph::Graph& graph, const ExactLimits& limits) : graph_(graph), limits_(limits) {}

  // Of results of ops what was noted, else what the type can hold; of constants the elements' own.
  IntegerRange range(graph::ValueRef value) const;
  const Digits* digits(graph::ValueRef value) const;
  void note(graph::ValueRef value, const IntegerRange& range) { ranges_[value] = range; }
  void note(graph::ValueRef value, const Digits& digits) { digits_[value] = digits; }

  const EqualInteger* equal(graph::ValueRef number) const;
  void note(graph::ValueRef number, const EqualInteger& whole) { equals_[number] = whole; }

  // A single value on the device all of whose elements are operands of a sum, or of a product (exact_limits.hpp).
  bool is_operand(graph::ValueRef value) const { return is_single_within(value, limits_.operand); }
  bool is_factor(graph::ValueRef value) const { return is_single_within(value, limits_.factor); }
  // The same one number further (ExactLimits::held).
  bool is_held(graph::ValueRef value) const { return is_single_within(value, limits_.held()); }
  bool is_moved(graph::ValueRef value) const { return is_single_within(value, limits_.moved()); }
  // Whether it has digits or can get some, all elements being in `range`.
  bool can_split(graph::ValueRef value, const IntegerRange& range) const;
  bool can_split(graph::ValueRef value) const { return can_split(value, range(value)); }
  // The digits of a value that can get some.
  Digits split(graph::ValueRef value, ops::Builder& builder);

 private:
  bool is_single_within(graph::ValueRef value, std::int64_t size) const { return digits(value) == nullptr && range(value).within(size); }
  // An input or a value of the host, which comes to the device however the device asks for it.
  bool comes_from_host(graph::ValueRef value) const;

  const graph::Graph& graph_;
  ExactLimits limits_;
  mutable std::map<graph::ValueRef, IntegerRange> ranges_;
  std::map<graph::ValueRef, Digits> digits_;
  std::map<graph::ValueRef, EqualInteger> equals_;
};

}  // namespace buda::passes
