// SPDX-License-Identifier: Apache-2.0
// What may reach a terminal.
#include <buda/base/printable.hpp>

#include <gtest/gtest.h>

#include <string>

namespace buda {
namespace {

TEST(Printable, ControlCharactersAreEscaped) {
  EXPECT_EQ(printable("a\x1b[2Jb\x07\x7f"), "a\\x1b[2Jb\\x07\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\u{9b}31m");  // C1: some terminals take it for ESC [
  EXPECT_EQ(printable("\xc2\x85"), "\\u{85}");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\x00b");
}

TEST(Printable, TextThatShowsOtherTextIsEscaped) {
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "x"),
            "\\u{202e}x");  // right to left
  EXPECT_EQ(printable("\xe2\x81\xa6"), "\\u{2066}");
  EXPECT_EQ(printable("\xe2\x80\xa8"), "\\u{2028}");
}

TEST(Printable, OtherTextStays) {
  EXPECT_EQ(printable("Größe 層 🙂 <'\"\\"), "Größe 層 🙂 <'\"\\");
  EXPECT_TRUE(is_printable("Größe\n\t層"));
  EXPECT_FALSE(is_printable("\r"));
}

TEST(Printable, LinesAreKeptInListings) {
  EXPECT_EQ(printable("a\tb\nc\r"), "a b\\x0ac\\x0d");
  EXPECT_EQ(printable("a\tb\nc\r", Lines::kept), "a\tb\nc\\x0d");
}

TEST(Printable, BytesThatAreNoUtf8AreEscaped) {
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(printable("\xe2\x80"), "\\xe2\\x80");
}

}  // namespace
}  // namespace buda
