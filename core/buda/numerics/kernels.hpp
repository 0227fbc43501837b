// SPDX-License-Identifier: Apache-2.0
// The matrix unit in bulk: one version for any processor and one for each vector instruction set, all with the bits of matrix_unit.hpp.
// Includes nothing whose inline functions could leak from a file compiled for one processor into code that runs on others.
#pragma once

#include <buda/numerics/registers.hpp>

#include <cstddef>
#include <cstdint>

#pragma GCC visibility push(default)

namespace buda::numerics {

// Columns of the destination that a kernel works on at once.
inline constexpr std::size_t kPanel = 32;

// Operands of products are taken apart before: of each number its exponent, and a signed slice of its significand for each half of the
// phases. A zero has the slice 0 and an exponent that no other reaches.
inline constexpr std::int16_t kZeroExponent = -8192;

// A part of a destination, rows of kPanel numbers, to which the products of 16 inner indices are added.
struct MvmulStep {
  const std::int16_t* a_exponents;  // of SrcA: 16 rows of kPanel numbers
  const std::int16_t* a_slices;     // four times the slice
  const std::int16_t* b_exponents;  // of SrcB: `rows` rows of 16 numbers, b_stride apart
  const std::int16_t* b_slices;
  std::size_t b_stride;
  std::uint32_t* dest[2];  // of columns 0 to 15 and of the others: `rows` rows, dest_stride apart
  std::size_t dest_stride;
  std::size_t rows;
  int adjustment;  // exponent_adjustment()
  Dest form;
};

// Element by element, `count` numbers, a multiple of 16.
struct Elementwise {
  const std::uint32_t* a;
  const std::uint32_t* b;
  std::uint32_t* dest;
  std::size_t count;
  Source source;
  Dest form;
  unsigned phase;  // of a product
};

struct Kernels {
  const char* name;
  void (*mvmul)(const MvmulStep& step);
  // dest += a * b; dest = a + b, or dest += a + b
  void (*elwmul)(const Elementwise& e);
  void (*elwadd)(const Elementwise& e, bool accumulates);
};

const Kernels& portable_kernels();
// Null where the file was compiled without these instructions.
const Kernels* avx2_kernels();
const Kernels* avx512_kernels();
// Null, too, where this processor has no such instructions.
const Kernels* runnable_avx2_kernels();
const Kernels* runnable_avx512_kernels();
// The fastest that this processor can run.
const Kernels& best_kernels();

enum class InstructionSet : std::uint8_t { portable, avx2, avx512 };
// For measurements: best_kernels() and best_vector_unit() shall need no more than this. Before either is asked for.
void use_at_most(InstructionSet set);
bool may_use(InstructionSet set);

}  // namespace buda::numerics

#pragma GCC visibility pop
