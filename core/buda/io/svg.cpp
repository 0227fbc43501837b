// SPDX-License-Identifier: Apache-2.0
// Elements of SVG, with escaping.
#include <buda/io/svg.hpp>

#include <buda/base/text.hpp>

#include <cmath>

namespace buda::io {
namespace {

// Control characters are not allowed in XML at all, not even escaped.
std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) >= 0x20 || c == '\n' ? c : ' ';
    }
  return out;
}

std::string number_text(double v) {
  const auto tenths = static_cast<std::int64_t>(std::llround(v * 10));
  if (tenths % 10 == 0) return cat(tenths / 10);
  return cat(tenths < 0 ? "-" : "", std::abs(tenths) / 10, '.', std::abs(tenths) % 10);
}

}  // namespace

SvgAttribute::SvgAttribute(std::string_view name_, double number) : name(name_), value(number_text(number)) {}

std::string svg_element(std::string_view tag, std::initializer_list<SvgAttribute> attributes, std::string_view content) {
  std::string out = cat('<', tag);
  for (const SvgAttribute& a : attributes) out += cat(' ', a.name, "=\"", escaped(a.value), '"');
  return content.empty() ? out + "/>\n" : cat(out, '>', content, "</", tag, ">\n");
}

std::string svg_title(std::string_view text) { return cat("<title>", escaped(text), "</title>"); }

std::string svg_text(double x, double y, double size, std::string_view text) {
  return svg_element("text", {{"x", x}, {"y", y}, {"font-size", size}}, escaped(text));
}

std::string svg_page(double width, double height, std::string_view elements) {
  return cat("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", number_text(width), "\" height=\"", number_text(height),
             "\" font-family=\"sans-serif\" font-size=\"10\">\n", elements, "</svg>\n");
}

}  // namespace buda::io
