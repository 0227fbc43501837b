// SPDX-License-Identifier: Apache-2.0
// Escapes, character by character.
#include <buda/base/printable.hpp>

#include <buda/base/text.hpp>

namespace buda {
namespace {

constexpr char kHex[] = "0123456789abcdef";

bool steers(std::uint32_t code) {
  const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  const bool direction =
      code == 0x061c || code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return control || direction || code == 0x2028 || code == 0x2029 || code == 0xfeff;
}

// Of valid UTF-8.
std::size_t length_of(unsigned char lead) { return lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4; }

std::uint32_t code_of(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return lead;
  std::uint32_t code = lead & (0x7fu >> character.size());
  for (std::size_t k = 1; k < character.size(); ++k) code = code << 6 | (static_cast<unsigned char>(character[k]) & 0x3fu);
  return code;
}

std::string escape_of(std::uint32_t code) {
  if (code < 0x80) return {'\\', 'x', kHex[code >> 4], kHex[code & 15]};
  std::string digits;
  for (; code != 0; code >>= 4) digits.insert(digits.begin(), kHex[code & 15]);
  return cat("\\u{", digits, '}');
}

}  // namespace

std::string printable(std::string_view text, Lines lines) {
  std::string out;
  out.reserve(text.size());
  const bool utf8 = is_valid_utf8(text);
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (!utf8 && byte >= 0x80) {
      out.append({'\\', 'x', kHex[byte >> 4], kHex[byte & 15]});
      ++i;
      continue;
    }
    const std::string_view character = text.substr(i, length_of(byte));
    i += character.size();
    if (byte == '\t' && lines == Lines::one) {
      out += ' ';
    } else if ((byte == '\n' || byte == '\t') && lines == Lines::kept) {
      out += static_cast<char>(byte);
    } else if (const std::uint32_t code = code_of(character); steers(code)) {
      out += escape_of(code);
    } else {
      out += character;
    }
  }
  return out;
}

bool is_printable(std::string_view text) { return printable(text, Lines::kept) == text; }

}  // namespace buda
