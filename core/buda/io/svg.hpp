// SPDX-License-Identifier: Apache-2.0
// SVG out: elements as texts, with everything escaped that comes from names.
//
//   svg_page(200, 100, svg_element("rect", {{"x", 4}, {"width", 20.5}, {"fill", "#fff"}}, svg_title("relu")) + svg_text(8, 16, 10, "relu"))
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace buda::io {

struct SvgAttribute {
  // Numbers have at most one decimal, which is a tenth of a pixel.
  SvgAttribute(std::string_view name_, double number);
  SvgAttribute(std::string_view name_, std::int32_t number) : SvgAttribute(name_, static_cast<double>(number)) {}
  SvgAttribute(std::string_view name_, std::string_view text) : name(name_), value(text) {}
  std::string_view name;
  std::string value;
};

// <tag name="value" …>content</tag>, and a newline; `content` consists of elements, or is escaped text.
std::string svg_element(std::string_view tag, std::initializer_list<SvgAttribute> attributes, std::string_view content = {});
// The text that viewers show where the pointer rests: the first thing in an element's content.
std::string svg_title(std::string_view text);
// A line of text whose baseline begins at (x, y).
std::string svg_text(double x, double y, double size, std::string_view text);
// A file of the given size in pixels.
std::string svg_page(double width, double height, std::string_view elements);

}  // namespace buda::io
