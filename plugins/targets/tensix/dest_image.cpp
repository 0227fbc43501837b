// SPDX-License-Identifier: Apache-2.0
// Words in the order of their bits in the register.
#include "dest_image.hpp"

namespace buda::tensix {
namespace {

// Of 8 bits of exponent and 7 of mantissa, which are the first half of a word, and of 5 and 10.
std::uint16_t word_of_wide_exponent(std::uint32_t number) {
  const std::uint32_t half = number >> 16;
  return static_cast<std::uint16_t>((half & 0x8000) | (half & 127) << 8 | (half >> 7 & 255));
}
std::uint16_t word_of_narrow_exponent(std::uint32_t number) {
  return static_cast<std::uint16_t>((number >> 16 & 0x8000) | (number >> 13 & 1023) << 5 | (number >> 23 & 31));
}

std::uint16_t word_of(DestForms::Form form, std::uint32_t narrow, std::uint32_t wide, bool is_first_row) {
  using Form = DestForms::Form;
  switch (form) {
    case Form::nothing:
    case Form::zeros:
      return 0;
    case Form::bf16:
      return word_of_wide_exponent(narrow);
    case Form::fp16:
      return word_of_narrow_exponent(narrow);
    case Form::fp32:
      break;
  }
  return is_first_row ? word_of_wide_exponent(wide) : static_cast<std::uint16_t>(wide);
}

}  // namespace

std::string dest_image(const DestRegister& dest, const DestForms& forms) {
  std::string out;
  out.reserve(2 * kDestRows * kColumns);
  for (std::size_t row = 0; row < kDestRows; ++row) {
    const auto words = dest.words(row);
    for (std::size_t column = 0; column < kColumns; ++column) {
      const std::uint16_t word = word_of(forms.of_row(row), words[column], words[kColumns + column], row % 16 < 8);
      out += static_cast<char>(word & 255);
      out += static_cast<char>(word >> 8);
    }
  }
  return out;
}

}  // namespace buda::tensix
