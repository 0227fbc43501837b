// SPDX-License-Identifier: Apache-2.0
// Base64 in both directions.
#include <buda/graph/file/base64.hpp>

#include <array>
#include <cstdint>

namespace buda::graph {
namespace {

constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNoLetter = 0xff;

constexpr std::array<std::uint8_t, 256> kValues = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNoLetter);
  for (std::size_t i = 0; i < kLetters.size(); ++i) values[static_cast<unsigned char>(kLetters[i])] = static_cast<std::uint8_t>(i);
  return values;
}();

}  // namespace

std::string base64_encoded(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) out += i + k <= bytes.size() ? kLetters[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

std::optional<std::string> base64_decoded(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  std::string out;
  out.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    bool last = i + 4 == text.size();
    std::size_t letters = last ? 4 - padding : 4;
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      std::uint8_t value = k < letters ? kValues[static_cast<unsigned char>(text[i + k])] : 0;
      if (value == kNoLetter) return std::nullopt;
      group = group << 6 | value;
    }
    for (std::size_t k = 0; k + 1 < letters; ++k) out += static_cast<char>(group >> (16 - 8 * k) & 0xff);
    // One byte leaves 4 bits of its second letter unused, two bytes 2 of the third.
    if (letters < 4 && (group & (letters == 2 ? 0xffffu : 0xffu)) != 0) return std::nullopt;
  }
  return out;
}

}  // namespace buda::graph
