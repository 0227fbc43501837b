// SPDX-License-Identifier: Apache-2.0
// Models have hundreds of megabytes of digits. Registers of 16 bytes, which every x86-64 processor has, take them at the speed of memory;
// what is left at the end, and all on other processors, goes a pair after the other.
#include <buda/tensor/bytes/hex_text.hpp>

#include <cstddef>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace buda {
namespace {

// -1 of characters that are no hexadecimal digit.
constexpr int value_of_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

#if defined(__SSE2__)
constexpr std::size_t kStep = 16;

struct Sixteen {
  __m128i values;  // garbage where `digit` is 0
  __m128i digit;   // all bits of a byte where its character is one
};

// Comparisons of SSE2 are signed; "min(x, most) == x" asks whether an unsigned x is at most `most`.
__m128i at_most(__m128i x, char most) { return _mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8(most)), x); }

// The lower four bits of '0' to '9' are their values, and those of 'A' to 'F' and 'a' to 'f' are 9 less than theirs.
Sixteen sixteen_digits(const char* at) {
  const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  const __m128i lower_case = _mm_or_si128(text, _mm_set1_epi8('a' - 'A'));
  const __m128i numeral = at_most(_mm_sub_epi8(text, _mm_set1_epi8('0')), 9);
  const __m128i letter = at_most(_mm_sub_epi8(lower_case, _mm_set1_epi8('a')), 5);
  const __m128i four_bits = _mm_and_si128(text, _mm_set1_epi8(15));
  return {_mm_add_epi8(four_bits, _mm_and_si128(letter, _mm_set1_epi8(9))), _mm_or_si128(numeral, letter)};
}

// Eight bytes, each in the lower half of 16 bits, which hold a pair of digits: the first, the upper half of the byte, is in the lower half.
__m128i eight_bytes(const char* at) {
  const __m128i pairs = sixteen_digits(at).values;
  return _mm_and_si128(_mm_or_si128(_mm_slli_epi16(pairs, 4), _mm_srli_epi16(pairs, 8)), _mm_set1_epi16(0xff));
}
#endif

}  // namespace

bool is_hex(std::string_view digits) {
  if (digits.size() % 2 != 0) return false;
  std::size_t i = 0;
#if defined(__SSE2__)
  __m128i all = _mm_set1_epi8(-1);
  for (; i + kStep <= digits.size(); i += kStep) all = _mm_and_si128(all, sixteen_digits(digits.data() + i).digit);
  if (_mm_movemask_epi8(all) != 0xffff) return false;
#endif
  for (; i < digits.size(); ++i)
    if (value_of_digit(digits[i]) < 0) return false;
  return true;
}

void decode_hex(std::string_view digits, char* to) {
  const std::size_t count = digits.size() / 2;
  const char* from = digits.data();
  std::size_t i = 0;
#if defined(__SSE2__)
  for (; i + kStep <= count; i += kStep) {
    const __m128i bytes = _mm_packus_epi16(eight_bytes(from + 2 * i), eight_bytes(from + 2 * i + kStep));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), bytes);
  }
#endif
  for (; i < count; ++i) to[i] = static_cast<char>(value_of_digit(from[2 * i]) << 4 | value_of_digit(from[2 * i + 1]));
}

}  // namespace buda
