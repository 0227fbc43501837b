// SPDX-License-Identifier: Apache-2.0
// What diagnostics look like.
#include <buda/diag/format.hpp>

#include <gtest/gtest.h>

namespace buda {
namespace {

std::string text_of(const Diagnostic& d, const std::string& line) {
  return format_text(d, {false, "tool"}, [&](const std::string&, std::uint32_t) { return line; });
}

TEST(FormatText, FirstLineIsGccsAndTheCaretStandsUnderTheColumn) {
  Diagnostic d = input_error("NL021", {"net.yaml", 412, 11}, "grid 12x2 does not fit");
  d.hint = "use a smaller one";
  d.notes.push_back({{"model.onnx"}, "comes from node 'Conv_12'"});
  EXPECT_EQ(text_of(d, "    grid: [12, 2]"),
            "net.yaml:412:11: error: grid 12x2 does not fit [NL021]\n"
            "  412 |     grid: [12, 2]\n"
            "      |           ^\n"
            "model.onnx: note: comes from node 'Conv_12'\n"
            "hint: use a smaller one\n");
}

TEST(FormatText, WithoutAPlaceTheProgramStandsThere) {
  EXPECT_EQ(text_of(usage_error("CL001", "what?"), ""), "tool: error: what? [CL001]\n");
}

TEST(FormatText, ControlCharactersDoNotReachTheTerminal) {
  Diagnostic d = input_error("X", {"a\x1b[2Jb"}, "m\x07\xff");
  EXPECT_EQ(text_of(d, ""), "a\\x1b[2Jb: error: m\\x07\\xff [X]\n");
}

TEST(FormatText, LongLinesAreShownAroundTheColumn) {
  std::string line(5000, 'x');
  line[3000] = '!';
  std::string out = text_of(input_error("X", {"f", 1, 3001}, "m"), line);
  auto second = out.substr(out.find('\n') + 1);
  auto excerpt = second.substr(0, second.find('\n'));
  auto caret = second.substr(second.find('\n') + 1);
  EXPECT_LT(excerpt.size(), 140u);
  EXPECT_EQ(excerpt.find('!'), caret.find('^'));
}

TEST(FormatText, AColumnBeyondTheLineIsHarmless) {
  EXPECT_NE(text_of(input_error("X", {"f", 1, 4000}, "m"), "short").find("short"), std::string::npos);
}

TEST(FormatJson, OneLineWithEverythingKnown) {
  Diagnostic d = does_not_fit("BA010", "mm", "l1", 900, 512, "too \"big\"\n", "split it");
  d.loc = {"g.json", 3, 1};
  EXPECT_EQ(format_json(d),
            "{\"severity\": \"error\", \"code\": \"BA010\", \"fault\": \"fit\", \"file\": \"g.json\", \"line\": 3, \"column\": 1, "
            "\"node\": \"mm\", "
            "\"message\": \"too \\\"big\\\"\\n\", \"hint\": \"split it\", \"data\": {\"resource\": \"l1\", \"needed\": \"900\", "
            "\"available\": \"512\"}}\n");
}

}  // namespace
}  // namespace buda
