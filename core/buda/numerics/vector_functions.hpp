// The functions of the vector unit (SFPU) that ops have. Includes nothing whose inline functions could leak from a file compiled for one
// processor into code that runs on others.
//
// They are programs of the vector unit's own instructions (vector_unit.hpp): multiply-adds of single precision with the hardware's
// rounding, and operations on the bits of numbers. The polynomials are this project's own; docs/internals/numerics.md has their largest
// errors. A destination of 16 bits gets the nearest number, by SFP_STOCH_RND without its random part, which rounds halves away from zero
// and makes a NaN an infinity; one of 32 bits gets what the program computed, without denormals.
#pragma once

#include <buda/numerics/registers.hpp>

#include <cstddef>
#include <cstdint>

namespace buda::numerics {

enum class VectorFunction : std::uint8_t {
  exp,
  log,
  sqrt,
  reciprocal,
  sigmoid,
  tanh,
  gelu,             // x * Phi(x)
  gelu_derivative,  // Phi(x) + x * phi(x)
  sine,
  cosine,
  square,
  abs,
  lrelu,    // x, or argument * x where x has a sign
  power,    // x^exponent
  scale,    // x * argument
  maximum,  // of x and `second`, in the order of sign and magnitude
};

struct VectorCall {
  VectorFunction function = VectorFunction::abs;
  Dest form = Dest::bf16;
  std::uint32_t* numbers = nullptr;  // destination words, in place
  std::size_t count = 0;             // a multiple of 16
  float argument = 0;
  std::int32_t exponent = 0;
  const std::uint32_t* second = nullptr;
};

// As Kernels (kernels.hpp): the same bits everywhere.
struct VectorUnit {
  const char* name;
  void (*apply)(const VectorCall& call);
  // a * b + c of floats: for tests
  void (*mad)(const std::uint32_t* a, const std::uint32_t* b, const std::uint32_t* c, std::uint32_t* result, std::size_t count);
};

const VectorUnit& portable_vector_unit();
const VectorUnit* avx2_vector_unit();
const VectorUnit* avx512_vector_unit();
const VectorUnit* runnable_avx2_vector_unit();
const VectorUnit* runnable_avx512_vector_unit();
const VectorUnit& best_vector_unit();

}  // namespace buda::numerics
