// SPDX-License-Identifier: Apache-2.0
// Conversions between numbers and text.
#include <buda/base/shortened.hpp>
#include <buda/base/text.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace buda {
namespace {

TEST(Text, ShortestNumbersReadBackAsTheSameValue) {
  for (double v : {0.1, 1e-300, 3.0, -2.5e17, 1.0 / 3, 5e-324, std::numeric_limits<double>::max()}) EXPECT_EQ(parse_double(to_text(v)), v);
  EXPECT_EQ(to_text(0.1f), "0.1");
  EXPECT_EQ(to_text(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(to_text(std::nan("")), "nan");
}

TEST(Text, IntegersAreParsedWholeOrNotAtAll) {
  EXPECT_EQ(parse_int("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(parse_int("9223372036854775808"), std::nullopt);
  EXPECT_EQ(parse_int("0x1f"), 31);
  EXPECT_EQ(parse_int("-0x10"), -16);
  for (const char* bad : {"", "-", "+1", "1 ", " 1", "1.0", "0x", "--1", "0x-1", "one"}) EXPECT_EQ(parse_int(bad), std::nullopt) << bad;
  EXPECT_EQ(parse_uint("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(parse_uint("-1"), std::nullopt);
}

TEST(Text, Utf8IsCheckedToTheLetter) {
  EXPECT_TRUE(is_valid_utf8("a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"));
  for (const char* bad : {"\x80", "\xc3", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff", "a\xe2\x82"})
    EXPECT_FALSE(is_valid_utf8(bad)) << bad;
}

TEST(Text, JoinsAndSplits) {
  EXPECT_EQ(list_text(std::vector<int>{1, 2, 3}), "[1, 2, 3]");
  EXPECT_EQ(list_text(std::vector<int>{}), "[]");
  EXPECT_EQ(split("a::b", ':'), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(trim(" \t x y \n"), "x y");
  EXPECT_EQ(trim(" \n"), "");
}

TEST(Text, BytesForPeople) {
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1536), "1.5 KiB");
  EXPECT_EQ(bytes_text(std::uint64_t{3} << 40), "3 TiB");
}

TEST(Text, ShortenedTextsEndBetweenCharacters) {
  EXPECT_EQ(shortened("embedding", 9), "embedding");
  EXPECT_EQ(shortened("embedding", 6), "emb...");
  EXPECT_EQ(shortened("embedding", 6, "…"), "embed…");
  EXPECT_EQ(shortened("größe", 5), "größe");
  EXPECT_EQ(shortened("größer", 5, "…"), "größ…");
  EXPECT_EQ(shortened("ääääää", 5), "ää...");
  EXPECT_EQ(shortened_to_end("embedding", 9), "embedding");
  EXPECT_EQ(shortened_to_end("embedding", 6), "...ing");
  EXPECT_EQ(shortened_to_end("öööabö", 4, "…"), "…abö");
}

}  // namespace
}  // namespace buda
