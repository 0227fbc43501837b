// SPDX-License-Identifier: Apache-2.0
// Whether the outputs of a device are those of the reference, by the rules of a suite.
#pragma once

#include <buda/tensor/named_tensors.hpp>

#include "recipe.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace buda::trial {

enum class Suite : std::uint8_t { integers, borders, special };

struct Difference {
  Port port;
  std::string what;     // "I32 -> 2049 becomes 2048", "finite -> nan": a class of differences
  std::string message;  // with the place and both numbers
};

// Integers and booleans have to be equal bit by bit. Floats are compared where only selections lead to them: the same class (NaN, +inf,
// -inf, finite), finite numbers equal but for the rounding of the device's formats; 0 equals -0.
std::optional<Difference> first_difference(const Recipe& recipe, const NamedTensors& got, Suite suite);

// Of the elements of ops whose operands arrived as the reference has them: how many have which class, by "op: expected -> got"; all numbers
// that agree count as one class. Only steps of which operands and results are outputs or sources are seen.
std::map<std::string, std::int64_t> class_pairs(const Recipe& recipe, const NamedTensors& got);

}  // namespace buda::trial
