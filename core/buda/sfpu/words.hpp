// SPDX-License-Identifier: Apache-2.0
// Instructions of the vector unit as the words that a thread pushes, and back.
#pragma once

#include <buda/numerics/vector_instructions.hpp>

#include <cstdint>
#include <optional>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::sfpu {

struct Program;

std::uint32_t word_of(const numerics::VectorInstruction& instruction);
// Nothing for a word that is no such instruction, or has fields that are not executed.
std::optional<numerics::VectorInstruction> instruction_of(std::uint32_t word);

// Whether an instruction reads a register.
bool reads(const numerics::VectorInstruction& instruction, std::uint8_t reg);

// A program's words. The result of a multiply-add is not there for the next instruction, and a sort needs one to pass: SFPNOP stands there.
std::vector<std::uint32_t> words_of(const Program& program);

}  // namespace buda::sfpu

#pragma GCC visibility pop
