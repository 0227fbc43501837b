// SPDX-License-Identifier: Apache-2.0
// Text of any origin becomes text for a terminal.
#include <buda/screen/text.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace buda::screen {

std::string number_text(double value, int decimals) {
  char text[64];
  if (std::abs(value) < 1e15) {
    std::snprintf(text, sizeof text, "%.*f", decimals, value);
  } else {
    std::snprintf(text, sizeof text, "%.3g", value);
  }
  return text;
}

std::string safe_text(std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= ' ' && byte <= '~') {
      out += c;
    } else {
      out += {'\\', 'x', kDigits[byte / 16], kDigits[byte % 16]};
    }
  }
  return out;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> out;
  width = std::max<std::size_t>(width, 1);
  while (text.size() > width) {
    std::size_t end = text.rfind(' ', width);
    const bool blank = end != std::string_view::npos && end > 0;
    if (!blank) end = width;
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(end + (blank ? 1 : 0));
  }
  out.emplace_back(text);
  return out;
}

}  // namespace buda::screen
