// SPDX-License-Identifier: Apache-2.0
// Letters of Western Europe lose their accents; everything else beyond ASCII is told by the number of its code point.
#include <buda/balance/problem/spelled_letters.hpp>

#include <buda/base/text.hpp>

#include <array>
#include <cstdint>

namespace buda::balance {
namespace {

// From U+00C0 on.
constexpr std::array<std::string_view, 64> kLatin1Letters = {
    "A", "A", "A", "A", "A", "A", "AE", "C", "E",  "E",  "E", "E", "I", "I", "I", "I", "D",  "N", "O",  "O", "O", "O",
    "O", "x", "O", "U", "U", "U", "U",  "Y", "TH", "ss", "a", "a", "a", "a", "a", "a", "ae", "c", "e",  "e", "e", "e",
    "i", "i", "i", "i", "d", "n", "o",  "o", "o",  "o",  "o", "_", "o", "u", "u", "u", "u",  "y", "th", "y"};

std::string spelled_code_point(std::uint32_t code) {
  constexpr std::uint32_t kFirst = 0xc0;
  if (code >= kFirst && code < kFirst + kLatin1Letters.size()) return std::string(kLatin1Letters[code - kFirst]);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string digits;
  for (; code > 0; code /= 16) digits.insert(digits.begin(), kDigits[code % 16]);
  return cat('u', digits);
}

}  // namespace

std::string spelled_in_ascii(std::string_view name) {
  if (!is_valid_utf8(name)) return std::string(name);
  std::string out;
  for (std::size_t i = 0; i < name.size();) {
    const auto lead = static_cast<unsigned char>(name[i]);
    if (lead < 0x80) {
      out += name[i++];
      continue;
    }
    const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    std::uint32_t code = lead & (0xffU >> (bytes + 1));
    for (std::size_t k = 1; k < bytes; ++k) code = code << 6 | (static_cast<unsigned char>(name[i + k]) & 0x3fU);
    out += spelled_code_point(code);
    i += bytes;
  }
  return out;
}

}  // namespace buda::balance
