// SPDX-License-Identifier: Apache-2.0
// Inputs whose value was fixed when the model was imported: the graph computes with the value and keeps the input, which nothing reads. A
// tag of the input records the value, so that another one that is given at run time is noticed:
//
//   shape = input : I64 [2]      fixed_value=[3, 4]
#pragma once

#include <buda/graph/fwd.hpp>
#include <buda/tensor/fwd.hpp>

#include <string>

namespace buda::graph {

inline constexpr const char* kFixedValue = "fixed_value";  // the tag; its value is fixed_value_text()

// Equal for values that are equal element for element, in the same type: NaN equals NaN, and -0 equals 0. The elements in row-major order;
// of more than 64 a fingerprint ("fnv1a:" and 16 hexadecimal digits).
std::string fixed_value_text(const Tensor& value);

// The recorded value of an input; empty without one.
std::string fixed_value_of(const Node& input);

}  // namespace buda::graph
