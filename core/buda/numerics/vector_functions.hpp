// SPDX-License-Identifier: Apache-2.0
// Programs of the vector unit on the numbers of a destination register. Includes nothing whose inline functions could leak from a file
// compiled for one processor into code that runs on others.
//
// Functions of ops are programs of the vector unit's own instructions, compiled from text (module sfpu) that kernels are compiled from,
// too. A destination of 16 bits gets the nearest number, by SFP_STOCH_RND without its random part, which rounds halves away from zero and
// makes a NaN an infinity; one of 32 bits gets what the program computed, without denormals.
#pragma once

#include <buda/numerics/registers.hpp>
#include <buda/numerics/vector_instructions.hpp>

#include <cstddef>
#include <cstdint>

#pragma GCC visibility push(default)

namespace buda::numerics {

// The program finds a number in register 0 and, where there is a second operand, one of that in register 1.
struct VectorCall {
  const VectorInstruction* program = nullptr;
  std::size_t length = 0;
  std::size_t result = 0;  // the register where it leaves what it made
  Dest form = Dest::bf16;
  bool keeps_bits = false;           // it makes integers, which have no denormals
  std::uint32_t* numbers = nullptr;  // destination words, in place
  std::size_t count = 0;             // a multiple of 16
  const std::uint32_t* second = nullptr;
};

// One instruction in 32 lanes.
using VectorHandler = VectorFault (*)(const VectorInstruction& instruction, VectorState& state);

// As Kernels (kernels.hpp): the same bits everywhere.
struct VectorUnit {
  const char* name;
  void (*apply)(const VectorCall& call);
  VectorHandler execute;
  // What executes the instructions of an operation: to be looked up once for those that are executed often.
  VectorHandler (*handler)(VectorOp op);
  // SFPLOAD and SFPSTORE of the even or the odd columns of four rows of a destination register, in the lanes that are on.
  void (*load)(Dest form, bool odd, const std::uint32_t* rows, std::size_t to, VectorState& state);
  void (*store)(Dest form, bool odd, std::size_t from, const VectorState& state, std::uint32_t* rows);
  // a * b + c of floats: for tests
  void (*mad)(const std::uint32_t* a, const std::uint32_t* b, const std::uint32_t* c, std::uint32_t* result, std::size_t count);
};

// As after power-on.
void reset_vector_state(VectorState& state);
// The seed of the random numbers (configuration word 164).
void seed_random(VectorState& state, std::uint32_t seed);

const VectorUnit& portable_vector_unit();
const VectorUnit* avx2_vector_unit();
const VectorUnit* avx512_vector_unit();
const VectorUnit* runnable_avx2_vector_unit();
const VectorUnit* runnable_avx512_vector_unit();
const VectorUnit& best_vector_unit();

}  // namespace buda::numerics

#pragma GCC visibility pop
