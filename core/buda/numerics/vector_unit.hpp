// The vector unit's instructions and the programs of its functions, for vectors of any width: compiled by each file that includes this for
// its instruction set, so that everything here has internal linkage. (A file long because the programs call the instructions by their plain
// names, which a base class that is a template would hide.)
//
// Multiply-add (Wormhole's SFPMAD). Denormal operands are zeros. The product's 48 bits are cut to 28, the last of which tells whether any
// bit was lost; it and the addend, which gets three more bits, are aligned to the larger exponent, where a bit that is lost is remembered
// only if others remain; the sum is normalised and rounded to the nearest even number. Results below the smallest normal number, and zeros,
// are +0. Infinities behave as IEEE says; a NaN has bit 0 set, and may have bits of the sum in its fraction.
#pragma once

#include <buda/numerics/vector_functions.hpp>

namespace buda::numerics {
namespace {

// `Ints`: a vector of 32-bit integers (GCC's and Clang's extension).
template <class Ints, class Unsigned, class Floats>
struct VectorPrograms {  // wide because it has a function for each instruction and program
  static constexpr std::size_t kLanes = sizeof(Ints) / 4;
  static constexpr std::int32_t kSign = static_cast<std::int32_t>(kSignBit), kInfinity = 0x7f800000, kOne = 0x3f800000;

  static Ints load(const std::uint32_t* from) {
    Ints v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
  }
  static void store(Ints v, std::uint32_t* to) { __builtin_memcpy(to, &v, sizeof v); }
  static Ints all(std::int32_t value) { return Ints{} + value; }
  static Ints number(float value) {
    std::int32_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return all(bits);
  }
  static Ints select(Ints mask, Ints a, Ints b) { return (a & mask) | (b & ~mask); }
  static Ints larger(Ints a, Ints b) { return a > b ? a : b; }
  static Ints smaller(Ints a, Ints b) { return a < b ? a : b; }
  static Ints right(Ints v, Ints by) {
    return __builtin_bit_cast(Ints, __builtin_bit_cast(Unsigned, v) >> __builtin_bit_cast(Unsigned, by));
  }

  static Ints exponent(Ints x) { return x >> 23 & 255; }
  static Ints with_exponent(Ints x, Ints e) { return (x & ~(255 << 23)) | (e << 23); }
  static Ints is_nan(Ints x) { return ((x & ~kSign) > kInfinity); }
  static Ints is_zero(Ints x) { return (exponent(x) == 0); }

  // v / 2^by, where a lost bit is remembered in the last one if anything is left. For 0 <= v < 2^29.
  static Ints cut(Ints v, Ints by) {
    by = smaller(by, all(31));
    const Ints kept = v >> by;
    return kept | ((kept != 0) & ((kept << by) != v) & 1);
  }

  // The 48-bit product of two significands, without its last 20 bits, which set the last bit where they are not all zeros.
  static Ints product(Ints a, Ints b) {
    const Ints ah = a >> 12, al = a & 4095, bh = b >> 12, bl = b & 4095;
    const Ints middle = ah * bl + al * bh;
    const Ints low = al * bl + ((middle & 4095) << 12);
    const Ints high = ah * bh + (middle >> 12) + (low >> 24);
    const Ints rest = low & 0xffffff;
    return (high << 4) | (rest >> 20) | (((rest & 0xfffff) != 0) & 1);
  }

  static Ints mad(Ints x, Ints y, Ints z) {
    const Ints ex = exponent(x), ey = exponent(y);
    const Ints ez = exponent(z);
    const Ints mx = ((x & 0x7fffff) | 0x800000) & (ex != 0), my = ((y & 0x7fffff) | 0x800000) & (ey != 0);
    Ints mz = (((z & 0x7fffff) | 0x800000) & (ez != 0)) << 3;
    const Ints sp = (x ^ y) & kSign, sz = z & kSign;
    Ints p = product(mx, my), ep = ex + ey - 127;

    // What is not finite: the result is known, or is a NaN, into which the sum's bits may go.
    const Ints xs = (ex == 255), ys = (ey == 255), zs = (ez == 255), ps = xs | ys | (ep >= 255);
    const Ints special = ps | zs, z_infinite = (mz == 0x4000000);
    const Ints product_nan =
        (xs & ((mx != 0x800000) | (my == 0))) | (ys & ((my != 0x800000) | (mx == 0))) | (zs & z_infinite & ps & (sz != sp));
    const Ints z_nan = zs & ~z_infinite & ~product_nan;
    const Ints is_nan_result = product_nan | z_nan;
    const Ints nan = select(product_nan, sp, sz) | 0x7f800001;
    const Ints infinite = special & ~is_nan_result, infinity = select(zs, z, sp | kInfinity);
    ep = smaller(ep, all(255));

    const Ints no_product = (p == 0) | (ep < 0);
    const Ints keeps_z = no_product & ~is_nan_result;
    p = p & ~no_product;
    ep = ep & ~no_product;

    const Ints e = larger(ep, ez);
    p = cut(p, e - ep);
    mz = cut(mz, e - ez);
    const Ints sign = select((p >= mz), sp, sz);
    const Ints difference = p - mz, distance = select((difference < 0), -difference, difference);
    const Ints sum = select((sp == sz), p + mz, distance);
    // The position of the leading bit, as in vector_kernels.hpp.
    const Ints top = (__builtin_bit_cast(Ints, __builtin_convertvector(sum & ~(sum >> 1), Floats)) >> 23) - 127;
    const Ints n = top - 26, er = e + n;
    const Ints down = larger(n, all(0)), up = smaller(larger(-n, all(0)), all(31));
    const Ints m = ((sum << up) >> down) | ((n > 0) & sum & 1);
    Ints r = (er << 23) + (m >> 3 & 0x7fffff);
    r = r - ((m & 7) + (r & 1) > 4);
    // Only where 0 <= er < 255 is r what it should be.
    Ints result = sign | r;
    result = result & (er >= 0) & ((r >> 23 & 255) != 0) & (sum != 0);
    result = select((er >= 255) & (sum != 0), sign | kInfinity, result);
    const Ints leaks = (er >= 0) & (er < 255) & ((r >> 23 & 255) != 0) & (sum != 0);
    result = select(is_nan_result, nan | (r & leaks), result);
    result = select(keeps_z, z & (exponent(z) != 0), result);
    return select(infinite, infinity, result);
  }

  static Ints mul(Ints a, Ints b) { return mad(a, b, Ints{}); }
  static Ints add(Ints a, Ints b) { return mad(a, all(kOne), b); }
  static Ints sub(Ints a, Ints b) { return mad(b, all(kOne ^ kSign), a); }
  static Ints less(Ints a, Ints b) { return sub(a, b) >> 31; }

  // Horner's scheme; the coefficients begin with that of the highest power.
  template <class... Rest>
  static Ints polynomial(Ints x, float first, Rest... rest) {
    Ints sum = number(first);
    ((sum = mad(sum, x, number(rest))), ...);
    return sum;
  }

  // x * 2^by; infinite, or +0, where that is out of range.
  static Ints scaled(Ints x, Ints by) {
    const Ints e = exponent(x) + by;
    const Ints moved = select((e > 254), (x & kSign) | kInfinity, with_exponent(x, e));
    return moved & (e > 0) & ~is_zero(x);
  }

  // The nearest whole number, as a float; adding 1.5 * 2^23 leaves no fraction. For |x| < 2^22.
  static constexpr float kWhole = 12582912.0f;
  static Ints whole(Ints x) { return sub(add(x, number(kWhole)), number(kWhole)); }
  static Ints integer(Ints x) { return add(x, number(kWhole)) - number(kWhole); }

  // e^x = 2^k * e^r with |r| <= ln 2 / 2.
  static Ints exp(Ints x) {
    const Ints z = mul(x, number(1.44269504f)), k = whole(z);
    const Ints r = mad(k, number(-1.42860677e-06f), mad(k, number(-0.693145752f), x));
    const Ints p =
        polynomial(r, 0.0001989098271f, 0.001393364269f, 0.008333310933f, 0.04166646499f, 0.1666666668f, 0.5000000013f, 1.0f, 1.0f);
    Ints result = scaled(p, integer(z));
    result = select(less(number(88.7228394f), x), all(kInfinity), result);
    result = result & ~less(x, number(-88.0f));
    return select(is_nan(x), x, result);
  }

  // 1 / x by Newton's method from a line through the significand.
  static Ints reciprocal(Ints x) {
    const Ints m = with_exponent(x & ~kSign, all(126)), minus_m = m | kSign;  // in [0.5, 1)
    Ints y = mad(minus_m, number(1.88235294f), number(2.82352941f));
    for (int i = 0; i < 3; ++i) y = mad(y, mad(minus_m, y, all(kOne)), y);
    Ints result = scaled(y, 126 - exponent(x));
    result = select(is_zero(x), all(kInfinity), result);
    result = result & ~(exponent(x) == 255);
    return select(is_nan(x), x, result | (x & kSign));
  }

  // x * x^(-1/2), by Newton's method from the bits of x.
  static Ints sqrt(Ints x) {
    const Ints half = mul(x, number(-0.5f));
    Ints y = 0x5f3759df - (x >> 1);
    for (int i = 0; i < 3; ++i) y = mul(y, mad(mul(half, y), y, number(1.5f)));
    Ints root = mul(x, y);
    root = mad(mul(y, number(0.5f)), mad(root | kSign, root, x), root);
    root = select(is_zero(x), Ints{}, select((x == kInfinity), x, root));
    return select(is_nan(x) | ((x >> 31) & ~is_zero(x)), all(0x7fc00001), root);
  }

  // ln x = e ln 2 + ln(1 + f), with 1 + f between sqrt(1/2) and sqrt(2).
  static Ints log(Ints x) {
    const Ints upper = ((x & 0x7fffff) > 0x3504f3);
    const Ints m = with_exponent(x, 127 + upper), e = exponent(x) - 127 - upper;
    const Ints f = sub(m, all(kOne)), square = mul(f, f);
    const Ints p = polynomial(f, 0.06971611471f, -0.1147973385f, 0.1168541992f, -0.1242568733f, 0.1424905765f, -0.1666780232f,
                              0.2000071575f, -0.2499999696f, 0.3333333118f);
    const Ints ef = from_integer(e);
    Ints y = mad(mul(f, square), p, mul(ef, number(-2.12194440e-4f)));
    y = mad(square, number(-0.5f), y);
    y = mad(ef, number(0.693359375f), add(f, y));
    y = select(is_zero(x), all(kInfinity | kSign), select((x == kInfinity), x, y));
    return select(is_nan(x) | ((x >> 31) & ~is_zero(x)), all(0x7fc00001), y);
  }
  // Whole numbers below 2^22 as floats.
  static Ints from_integer(Ints i) { return sub(i + number(kWhole), number(kWhole)); }

  static Ints sigmoid(Ints x) {
    const Ints e = exp(x | kSign), r = reciprocal(add(e, all(kOne)));
    return select(is_nan(x), x, select(x >> 31, mul(e, r), r));
  }

  // 1 - 2 / (e^2x + 1), and near zero a polynomial, where this would lose bits.
  static Ints tanh(Ints x) {
    const Ints a = x & ~kSign, s = mul(a, a);
    const Ints near =
        mad(mul(a, s), polynomial(s, 0.002269501684f, -0.008323187058f, 0.02176250291f, -0.05395846163f, 0.1333330015f, -0.3333333315f), a);
    const Ints far = mad(reciprocal(add(exp(add(a, a)), all(kOne))), number(-2.0f), all(kOne));
    return select(is_nan(x), x, select(less(a, number(0.625f)), near, far) | (x & kSign));
  }

  // Phi(-a) = e^(-a^2/2) P(1 / (1 + a/4)), for a >= 0.
  static Ints tail(Ints a, Ints e) {
    const Ints u = reciprocal(mad(a, number(0.25f), all(kOne)));
    return mul(e, polynomial(u, 0.03766544501f, -0.2160984141f, 0.441190834f, -0.3941931375f, 0.3542767842f, -0.04674095865f, 0.1305610579f,
                             0.09291557774f, 0.1004560086f, -3.319707973e-5f));
  }
  static Ints bell(Ints a) { return exp(mul(mul(a, a), number(-0.5f))); }

  static Ints gelu(Ints x) {
    const Ints a = smaller(x & ~kSign, number(14.0f)), h = tail(a, bell(a));
    return select(is_nan(x), x,
                  select(x >> 31, mul(select(((x & ~kSign) > number(14.0f)), Ints{}, x), h),
                         mad(x | kSign, select((x > number(14.0f)), Ints{}, h), x)));
  }
  static Ints gelu_derivative(Ints x) {
    const Ints a = smaller(x & ~kSign, number(14.0f)), e = bell(a), h = tail(a, e);
    const Ints density = mul(e, number(0.398942280f)), signed_a = a | (x & kSign);
    return select(is_nan(x), x, mad(signed_a, density, select(x >> 31, h, sub(all(kOne), h))));
  }

  // sin(x) = (-1)^k sin(x - k pi).
  static Ints sine_from(Ints x, Ints k, Ints turn) {
    Ints r = mad(k, number(-3.140625f), x);
    r = mad(k, number(-9.67502594e-4f), r);
    r = mad(k, number(-1.50995798e-7f), r);
    const Ints s = mul(r, r);
    const Ints y = mad(mul(r, s), polynomial(s, -2.408019043e-8f, 2.753646356e-6f, -0.0001984108656f, 0.008333332769f, -0.1666666666f), r);
    return select((exponent(x) == 255), all(0x7fc00001), y ^ ((turn & 1) << 31));
  }
  static Ints sine(Ints x) {
    const Ints z = mul(x, number(0.318309886f));
    return sine_from(x, whole(z), integer(z));
  }
  // cos(x) = sin(x + pi/2) = (-1)^(j+1) sin(x - (j + 1/2) pi)
  static Ints cosine(Ints x) {
    const Ints z = mad(x, number(0.318309886f), number(-0.5f));
    return sine_from(x, add(whole(z), number(0.5f)), integer(z) + 1);
  }

  static Ints power(Ints x, std::int32_t n) {
    Ints result = all(kOne), base = x;
    for (std::uint32_t e = n < 0 ? 0u - static_cast<std::uint32_t>(n) : static_cast<std::uint32_t>(n); e != 0; e >>= 1) {
      if ((e & 1) != 0) result = mul(result, base);
      base = mul(base, base);
    }
    return n < 0 ? reciprocal(result) : result;
  }

  static Ints order(Ints x) { return x ^ ((x >> 31) & ~kSign); }

  // SFPLOAD: a fp16 gets an exponent of 8 bits; one without an exponent stays without.
  template <Dest form>
  static Ints loaded(Ints word) {
    if constexpr (form != Dest::fp16) return word;
    return word + ((exponent(word) != 0) & (112 << 23));
  }
  // SFP_STOCH_RND and SFPSTORE.
  template <Dest form>
  static Ints stored(Ints x) {
    if constexpr (form == Dest::fp32) return select(is_zero(x), x & kSign, x);
    constexpr int kDropped = form == Dest::bf16 ? 16 : 13;
    const Ints special = (exponent(x) == 255);
    Ints r = (x + (1 << (kDropped - 1))) & -(1 << kDropped);
    r = select(special, x & (kSign | kInfinity), r) & ~is_zero(x);
    if constexpr (form == Dest::bf16) return r;
    const Ints e = exponent(r) - 112;
    const Ints word = select((e > 31), (r & kSign) | static_cast<std::int32_t>(kLargestFp16), with_exponent(r, e & 31));
    return select((e <= 0), r & kSign, word);
  }

  static Ints of(const VectorCall& c, Ints x, Ints second) {
    switch (c.function) {
      case VectorFunction::exp:
        return exp(x);
      case VectorFunction::log:
        return log(x);
      case VectorFunction::sqrt:
        return sqrt(x);
      case VectorFunction::reciprocal:
        return reciprocal(x);
      case VectorFunction::sigmoid:
        return sigmoid(x);
      case VectorFunction::tanh:
        return tanh(x);
      case VectorFunction::gelu:
        return gelu(x);
      case VectorFunction::gelu_derivative:
        return gelu_derivative(x);
      case VectorFunction::sine:
        return sine(x);
      case VectorFunction::cosine:
        return cosine(x);
      case VectorFunction::square:
        return mul(x, x);
      case VectorFunction::abs:
        return x & ~kSign;
      case VectorFunction::lrelu:
        return select(x >> 31, mul(x, number(c.argument)), x);
      case VectorFunction::power:
        return power(x, c.exponent);
      case VectorFunction::scale:
        return mul(x, number(c.argument));
      case VectorFunction::maximum:
        return select((order(second) > order(x)), second, x);
    }
    return x;
  }

  template <Dest form>
  static void apply_as(const VectorCall& c) {
    for (std::size_t i = 0; i < c.count; i += kLanes) {
      const Ints second = c.second == nullptr ? Ints{} : loaded<form>(load(c.second + i));
      store(stored<form>(of(c, loaded<form>(load(c.numbers + i)), second)), c.numbers + i);
    }
  }

  static void apply(const VectorCall& c) {
    if (c.form == Dest::fp32) return apply_as<Dest::fp32>(c);
    if (c.form == Dest::bf16) return apply_as<Dest::bf16>(c);
    apply_as<Dest::fp16>(c);
  }

  static void mad_all(const std::uint32_t* a, const std::uint32_t* b, const std::uint32_t* c, std::uint32_t* result, std::size_t count) {
    for (std::size_t i = 0; i < count; i += kLanes) store(mad(load(a + i), load(b + i), load(c + i)), result + i);
  }
};

}  // namespace
}  // namespace buda::numerics
