// SPDX-License-Identifier: Apache-2.0
// Cutting between characters, which may have several bytes.
#include <buda/base/shortened.hpp>

#include <algorithm>

namespace buda {
namespace {

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

std::size_t characters_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

// Where character `number` begins.
std::size_t place_of(std::string_view text, std::size_t number) {
  std::size_t at = 0;
  for (std::size_t seen = 0; at < text.size(); ++at)
    if (begins_character(text[at]) && seen++ == number) break;
  return at;
}

std::size_t kept_characters(std::size_t max_characters, std::string_view ellipsis) {
  return max_characters - std::min(max_characters, characters_of(ellipsis));
}

}  // namespace

std::string shortened(std::string_view text, std::size_t max_characters, std::string_view ellipsis) {
  if (characters_of(text) <= max_characters) return std::string(text);
  return std::string(text.substr(0, place_of(text, kept_characters(max_characters, ellipsis)))).append(ellipsis);
}

std::string shortened_to_end(std::string_view text, std::size_t max_characters, std::string_view ellipsis) {
  const std::size_t all = characters_of(text);
  if (all <= max_characters) return std::string(text);
  return std::string(ellipsis).append(text.substr(place_of(text, all - kept_characters(max_characters, ellipsis))));
}

}  // namespace buda
