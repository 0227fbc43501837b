// SPDX-License-Identifier: Apache-2.0
// SVG text: escaping, numbers.
#include <buda/io/svg.hpp>

#include <gtest/gtest.h>

namespace buda::io {
namespace {

TEST(Svg, EscapesWhatComesFromNames) {
  EXPECT_EQ(svg_text(1, 2, 9, "a<b> & \"c\"\x01"), "<text x=\"1\" y=\"2\" font-size=\"9\">a&lt;b&gt; &amp; &quot;c&quot; </text>\n");
  EXPECT_EQ(svg_element("rect", {{"fill", "\"&"}}, svg_title("<\n>")), "<rect fill=\"&quot;&amp;\"><title>&lt;\n&gt;</title></rect>\n");
}

TEST(Svg, NumbersHaveOneDecimalAtMost) {
  EXPECT_EQ(svg_element("line", {{"x1", 3}, {"y1", 2.04}, {"x2", -0.26}, {"y2", 10.96}}),
            "<line x1=\"3\" y1=\"2\" x2=\"-0.3\" y2=\"11\"/>\n");
}

}  // namespace
}  // namespace buda::io
