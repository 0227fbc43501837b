// SPDX-License-Identifier: Apache-2.0
// Numbers with which a Tensix core does not calculate as IEEE 754 says: NaN, infinities, the largest numbers, denormals and -0.
//
// The matrix unit takes exponent 255 for an ordinary one, so that 0 times an infinity is 0 and a difference of infinities is 0; it reads
// denormals as zeros and leaves no -0. The vector unit compares in the order of sign and magnitude and stores no denormals. Packers make
// a NaN an infinity where numbers have 16 bits (docs/internals/special-values.md). Mode::bits does all that by itself. Mode::exact takes
// its results wherever such a number goes in or comes out, so that both agree there; all others it computes as before. Mode::fp32, whose
// numbers have no formats, shares the rules of the matrix unit that decide what a masked sum is: nothing comes of a zero.
#pragma once

#include <buda/arith/gemm.hpp>
#include <buda/arith/op.hpp>

#include <cstdint>

namespace buda::arith {

// What of the output an input's number reaches: the number in its place; in a product its row (operand 0) or column (1); where the output
// is one of the inputs' numbers, the number that it is itself, so that a mask which loses leaves no trace; anything.
enum class Reach : std::uint8_t { place, product, chosen, anything };

// What mode exact computed, with the numbers of mode bits where special ones reach. `run` is the op in any mode.
Outcome corrected(const OpCall& call, Outcome computed, Outcome (*run)(const OpCall&), Reach reach);

// An op's `run` so that exact agrees with bits: for the table of kinds.
template <Outcome (*run)(const OpCall&), Reach reach>
Outcome as_on_chip(const OpCall& call) {
  Outcome computed = run(call);
  return call.mode == Mode::exact ? corrected(call, std::move(computed), run, reach) : computed;
}

// A product and a sum of mode fp32.
inline float product_of(float a, float b) { return a == 0.0f || b == 0.0f ? 0.0f : a * b; }
inline float sum_of(float a, float b) {
  const float sum = a + b;
  return sum != sum && a == a && b == b ? 0.0f : sum;
}

// gemm() of mode fp32: products with a zero are left out where the other factor is no number.
void gemm_past_zeros(const Gemm& g, unsigned threads);

}  // namespace buda::arith
