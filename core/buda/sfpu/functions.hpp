// SPDX-License-Identifier: Apache-2.0
// The functions that ops have: share/kernels/sfpu, as this library was built with it.
#pragma once

#include <buda/sfpu/program.hpp>

#include <cstdint>
#include <string>

namespace buda::sfpu {

// A function with its constants; "power" has its exponent instead.
struct FunctionCall {
  std::string name;
  Constants constants;
  std::int32_t exponent = 0;
  friend auto operator<=>(const FunctionCall&, const FunctionCall&) = default;
};

const Library& functions();

// Compiled when it is asked for first, and kept. Null where there is no such function, or a constant is missing.
const Program* program_of(const FunctionCall& call);

}  // namespace buda::sfpu
