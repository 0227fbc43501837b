// SPDX-License-Identifier: Apache-2.0
// The vector unit's multiply-add (Wormhole's SFPMAD), for vectors of any width; included as vector_unit.hpp is.
//
// Denormal operands are zeros. The product's 48 bits are cut to 28, the last of which tells whether any bit was lost; it and the addend,
// which gets three more bits, are aligned to the larger exponent, where a bit that is lost is remembered only if others remain; the sum is
// normalised and rounded to the nearest even number. Results below the smallest normal number, and zeros, are +0. Infinities behave as
// IEEE says; a NaN has bit 0 set, and may have bits of the sum in its fraction.
//
// The sum has 27 bits before the carries, and 29 at most. Making it a float normalises and rounds it as the hardware does, but for one
// bit: of a sum of 29 bits the hardware forgets the last but one.
#pragma once

#include <buda/numerics/registers.hpp>

namespace buda::numerics {
namespace {

// `Isa`: vectors of as many bits of 32-bit integers, also without sign, of floats, and of 64-bit integers without sign (GCC's and Clang's
// extension); and whether any lane is not 0.
template <class Isa>
struct MultiplyAdd {
  using Ints = typename Isa::Ints;
  using Floats = typename Isa::Floats;
  using Wides = typename Isa::Wides;
  static constexpr std::int32_t kSign = static_cast<std::int32_t>(kSignBit), kInfinity = 0x7f800000;

  static Ints all(std::int32_t value) { return Ints{} + value; }
  static Ints select(Ints mask, Ints a, Ints b) { return mask != 0 ? a : b; }
  static Ints exponent(Ints x) { return x >> 23 & 255; }

  // The 48-bit product of two significands of 24 bits, without its last 20 bits, which set the last bit where they are not all zeros. The
  // factors come multiplied by 2^8 and 2^4, so that what stays is the upper half of 64 bits.
  static Ints product(Ints a, Ints b) {
    constexpr std::uint64_t kLow = 0xffffffff;
    const Wides x = __builtin_bit_cast(Wides, a), y = __builtin_bit_cast(Wides, b);
    const Wides even = (x & kLow) * (y & kLow), odd = (x >> 32) * (y >> 32);
    const Ints high = __builtin_bit_cast(Ints, even >> 32 | (odd & ~kLow)), low = __builtin_bit_cast(Ints, (even & kLow) | odd << 32);
    return high | ((low != 0) & 1);
  }

  // What is added: magnitudes and their exponents, and signs in bit 31.
  struct Term {
    Ints magnitude, exponent, sign;
  };
  struct Sum {
    Ints value, magnitude;  // the magnitude only where it is neither zero nor infinite
  };
  static Sum sum(const Term& p, const Term& z) {
    const Ints ahead = p.exponent - z.exponent, z_leads = (ahead < 0);
    const Ints large = select(z_leads, z.magnitude, p.magnitude), small = select(z_leads, p.magnitude, z.magnitude);
    // Bits that are lost set the last bit if anything is left.
    Ints by = select(z_leads, -ahead, ahead);
    by = by < 31 ? by : all(31);
    const Ints left = small >> by, aligned = left | ((left != 0) & ((left << by) != small) & 1);
    const Ints differ = (p.sign ^ z.sign) >> 31;
    const Ints difference = large + ((aligned ^ differ) - differ), negative = difference >> 31;
    Ints magnitude = (difference ^ negative) - negative;
    const Ints sign = (select(z_leads, z.sign, p.sign) ^ difference) & kSign;
    const Ints is_zero = (magnitude == 0);
    magnitude = magnitude & ~((magnitude >= 1 << 28) & 2);
    const Ints bits = __builtin_bit_cast(Ints, __builtin_convertvector(magnitude, Floats));
    const Ints scale = select(z_leads, z.exponent, p.exponent) - (127 + 26), made = (bits >> 23) + scale;
    const Ints number = bits + (scale << 23), is_small = is_zero | (made <= 0), is_large = (made >= 255);
    const Ints value = (is_large ? all(kInfinity) : number) | sign;
    return {value & ~is_small, number & ~(is_small | is_large)};
  }

  // What sum() gives with an addend of zero, for factors whose smaller exponent is `least`: most instructions only multiply.
  static Ints product_alone(const Term& p, Ints least) {
    const Ints bits = __builtin_bit_cast(Ints, __builtin_convertvector(p.magnitude, Floats));
    const Ints scale = p.exponent - (127 + 26), made = (bits >> 23) + scale;
    const Ints value = (made >= 255 ? all(kInfinity) : bits + (scale << 23)) | (p.sign & kSign);
    return value & ((least != 0) & (made > 0));
  }

  static Ints mad(Ints x, Ints y, Ints z) {
    const Ints ex = exponent(x), ey = exponent(y), ez = exponent(z), ep = ex + ey - 127;
    const Ints most = ex > ey ? ex : ey, least = ex < ey ? ex : ey;
    if (Isa::any((most == 255) | (ez == 255) | (ep >= 255))) [[unlikely]]
      return special(x, y, z);
    const Ints p = product(x << 8 | kSign, (y << 4 & 0x7fffff0) | 0x8000000);
    if (!Isa::any(ez)) return product_alone({p, ep, x ^ y}, least);
    const Ints mz = ((z << 3 & 0x3fffff8) | 0x4000000) & (ez != 0);
    const Ints value = sum({p, ep, x ^ y}, {mz, ez, z}).value;
    return select((least == 0) | (ep < 0), z & (ez != 0), value);
  }

  // The same where infinities, NaN, and products beyond the largest number are among the operands.
  [[gnu::noinline]] static Ints special(Ints x, Ints y, Ints z) {
    const Ints ex = exponent(x), ey = exponent(y), ez = exponent(z);
    const Ints mx = ((x & 0x7fffff) | 0x800000) & (ex != 0), my = ((y & 0x7fffff) | 0x800000) & (ey != 0);
    const Ints mz = (((z & 0x7fffff) | 0x800000) & (ez != 0)) << 3;
    const Ints sp = (x ^ y) & kSign, sz = z & kSign;
    Ints p = product(mx << 8, my << 4), ep = ex + ey - 127;

    // What is not finite: the result is known, or is a NaN, into which the sum's bits may go.
    const Ints xs = (ex == 255), ys = (ey == 255), zs = (ez == 255), ps = xs | ys | (ep >= 255);
    const Ints is_special = ps | zs, z_infinite = (mz == 0x4000000);
    const Ints product_nan =
        (xs & ((mx != 0x800000) | (my == 0))) | (ys & ((my != 0x800000) | (mx == 0))) | (zs & z_infinite & ps & (sz != sp));
    const Ints z_nan = zs & ~z_infinite & ~product_nan;
    const Ints is_nan = product_nan | z_nan;
    const Ints nan = select(product_nan, sp, sz) | 0x7f800001;
    const Ints infinite = is_special & ~is_nan, infinity = select(zs, z, sp | kInfinity);
    ep = ep < 255 ? ep : all(255);

    const Ints no_product = (p == 0) | (ep < 0);
    const Sum s = sum({p & ~no_product, ep & ~no_product, sp}, {mz, ez, sz});
    Ints result = select(is_nan, nan | s.magnitude, s.value);
    result = select(no_product & ~is_nan, z & (ez != 0), result);
    return select(infinite, infinity, result);
  }
};

}  // namespace
}  // namespace buda::numerics
