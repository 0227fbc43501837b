// SPDX-License-Identifier: Apache-2.0
// Ops that make much of small errors of an operand: they need the absolute size of a number that can be large.
#pragma once

#include <buda/graph/graph.hpp>
#include <buda/passes/precision/estimates.hpp>

#include <cstddef>
#include <optional>
#include <string_view>

namespace buda::passes {

// What is wrong with an op when the device makes one of its operands.
struct CriticalReader {
  Estimate operand;
  double tolerance = 0;    // of the operand's error
  std::string_view what;   // "an angle"
  std::string_view unit;   // " rad"
  bool on_device = false;  // the device has the op: more bits of the operand are enough
  // Whatever it is made of; otherwise exact-integers takes care of it where integers are part of it.
  bool of_any_numbers = false;
};

// Nothing where the operand is as precise as the op needs it, or nothing is known of it.
//
//   sine, cosine, tan          an angle, to 1/64
//   relu, clip, maximum, …     what leaves a small part of a large range, as the weights of samples do: 1/12 of that part
//   power                      an integer as exponent, to less than 1/2, since the sign depends on whether it is odd
//   round, floor, ceil, cast   to integers: 1/64 of one
std::optional<CriticalReader> critical_reader(const graph::Graph& graph, const graph::Node& n, Estimates& estimates);

// Whether an op can be one; costs nothing.
bool may_be_critical(const graph::Graph& graph, const graph::Node& n);

}  // namespace buda::passes
