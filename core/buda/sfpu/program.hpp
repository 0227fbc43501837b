// SPDX-License-Identifier: Apache-2.0
// Functions of the vector unit, compiled into its instructions.
#pragma once

#include <buda/sfpu/syntax.hpp>

#include <buda/diag/result.hpp>
#include <buda/numerics/vector_instructions.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace buda::sfpu {

// Its operands are in registers 0, 1, …, and what it makes is in register `result`. Expects flags that are on and all set, -1.0 in
// register 11, and leaves the flags so.
struct Program {
  std::vector<numerics::VectorInstruction> instructions;
  std::size_t result = 0;
};

// Functions by name. They may use each other; a name that comes twice is SF002.
using Library = std::map<std::string, Function, std::less<>>;
Result<void> add(Library& library, std::vector<Function> functions);

// The values of a function's parameters that are constants.
using Constants = std::map<std::string, std::uint32_t, std::less<>>;

// SF002 where a name is not known or used in the wrong way, SF003 where eight registers are not enough.
Result<Program> compile(const Library& library, std::string_view function, const Constants& constants = {});

}  // namespace buda::sfpu
