// SPDX-License-Identifier: Apache-2.0
// The vector unit (SFPU) of a Tensix core as its instructions see it: 32 lanes, registers of 32 bits, and flags that say in which lanes
// instructions act. Includes nothing whose inline functions could leak from a file compiled for one processor into code that runs on
// others.
//
// Registers 0 to 7 are written by instructions; 9 holds 0, 10 holds 1.0, and 11 to 14 what SFPCONFIG wrote. Flags: an instruction acts in
// all lanes while flags are off, and otherwise in those whose flag is set.
// Source: tt-isa-documentation, WormholeB0, the pages of the instructions SFP*; modes are named as their field `mod`.
#pragma once

#include <cstddef>
#include <cstdint>

#pragma GCC visibility push(default)

namespace buda::numerics {

enum class VectorOp : std::uint8_t {
  nop,
  load_immediate,  // d = immediate. mod 0: its upper 16 bits; 1: a Float16; 2, 4: without, with a sign; 8, 10: only the upper, lower half
  mad,             // d = a * b + c
  exponent,        // d = exponent of c, mod 1: as it is, 0: minus 127
  fraction,        // d = fraction of c, mod 0: with the hidden bit
  integer_add,     // mod bits 0 and 1: 0: d = c + d, 1: d = c + immediate, 2: d = c - d; bit 2: flags stay, otherwise they tell d < 0, or,
                   // with bit 3, d >= 0
  shift,           // d = d shifted left by mod 0: c, 1: immediate; right where that is negative
  test,            // flags that are set stay so where c, as an integer, is mod 0: < 0, 2: != 0, 4: >= 0, 6: == 0
  move,            // d = c, mod 1: with the other sign, 2: in all lanes, 8: the next random number
  absolute,        // d = |c|, mod 0: of an integer, 1: of a float
  bit_and,         // d = d & c
  bit_or,
  bit_xor,
  bit_not,        // d = ~c
  with_exponent,  // d = c with the exponent mod 0: d, 1: immediate, 2: that of d
  with_sign,      // d = c with the sign of mod 0: d, 1: immediate
  push_flags,
  pop_flags,
  set_flags,     // mod 0: all flags; 10: flags by bit 1 of immediate, and on or off by bit 0
  invert_flags,  // those of the lanes in which the flags that were pushed last are set
  sort,          // mod 1: the smaller of d and c, in the order of sign and magnitude, into d, and the larger into c; 2, 3: the larger into
                 // d in rows 2 and 3 of lanes, or 1 and 3; 0: exchanged
  float_of,      // d = the integer c, sign and magnitude, as the nearest float
  round,         // d = c, mod 0: as a Float16, 1: as a Float16_b; 2 to 7: as an integer of 8 or 16 bits (sign and magnitude)
  rotate,        // mod 3: d = c with the 8 lanes of each row one to the right
  transpose,     // of registers 0 to 3, and of 4 to 7: row j of register i and row i of register j change places
  set_constant,  // register d (11 to 14) = mod 0: lane 0 of register 0, 1: its value after power-on; d 15, mod 1: with an immediate of 4,
                 // sort exchanges register i + 4 whenever it exchanges register i, below 4
};

struct VectorInstruction {
  VectorOp op = VectorOp::nop;
  std::uint8_t mod = 0, d = 0, c = 0, b = 0, a = 0;
  std::int32_t immediate = 0;
  friend bool operator==(const VectorInstruction&, const VectorInstruction&) = default;
};

inline constexpr std::size_t kVectorLanes = 32, kVectorRegisters = 16, kFlagDepth = 8;

// What instructions change. Flags are 0 or all ones.
struct VectorState {
  struct Flags {
    alignas(64) std::int32_t lanes[kVectorLanes];
    bool on = false;
  };
  alignas(64) std::int32_t registers[kVectorRegisters][kVectorLanes] = {};
  Flags flags = {};
  Flags stack[kFlagDepth] = {};
  std::size_t depth = 0;
  std::uint32_t random[kVectorLanes] = {};
  bool carries = false;  // registers 4 to 7 with 0 to 3
};

enum class VectorFault : std::uint8_t { none, unknown_mode, read_only_register, flag_stack };

}  // namespace buda::numerics

#pragma GCC visibility pop
