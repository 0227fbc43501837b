// SPDX-License-Identifier: Apache-2.0
// The kernels for any processor, in vectors of 16 bytes, which most have. Compilers make loops of what one has not.
#include <buda/numerics/vector_kernels.hpp>

namespace buda::numerics {
namespace {

struct SixteenBytes {
  using Shorts [[gnu::vector_size(16)]] = std::int16_t;
  using Ints [[gnu::vector_size(16)]] = std::int32_t;
  using Unsigned [[gnu::vector_size(16)]] = std::uint32_t;
  using Floats [[gnu::vector_size(16)]] = float;

  static Shorts quotients(Shorts product0, Shorts distance0, Shorts product1, Shorts distance1) {
    return quotient(product0, distance0) + quotient(product1, distance1);
  }

  static Ints low(Shorts v) { return half(v, 0); }
  static Ints high(Shorts v) { return half(v, 1); }

 private:
  // As floats, which hold the quotient and its half exactly: shifts by numbers of their own are what processors lack.
  static Shorts quotient(Shorts product, Shorts distance) {
    distance = distance < 20 ? distance : Shorts{} + 20;
    return joined(quotient(low(product), low(distance)), quotient(high(product), high(distance)));
  }

  static Ints quotient(Ints product, Ints distance) {
    const Ints scale = (125 - distance) << 23, half = (product & static_cast<std::int32_t>(kSignBit)) | 0x3f000000;
    return __builtin_convertvector(
        __builtin_convertvector(product, Floats) * __builtin_bit_cast(Floats, scale) + __builtin_bit_cast(Floats, half), Ints);
  }
  static Ints half(Shorts v, int which) {
    using HalfShorts [[gnu::vector_size(8)]] = std::int16_t;
    HalfShorts part;
    __builtin_memcpy(&part, reinterpret_cast<const char*>(&v) + 8 * which, sizeof part);
    return __builtin_convertvector(part, Ints);
  }
  static Shorts joined(Ints a, Ints b) {
    const Shorts x = __builtin_bit_cast(Shorts, a), y = __builtin_bit_cast(Shorts, b);
    // The lower halves of numbers that fit them.
    constexpr int kLower = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : 1;
    return __builtin_shufflevector(x, y, kLower, 2 + kLower, 4 + kLower, 6 + kLower, 8 + kLower, 10 + kLower, 12 + kLower, 14 + kLower);
  }
};

}  // namespace

const Kernels& portable_kernels() {
  using Chosen = VectorKernels<SixteenBytes>;
  static constexpr Kernels kernels = {"portable", &Chosen::mvmul, &Chosen::elwmul, &Chosen::elwadd};
  return kernels;
}

}  // namespace buda::numerics
