// SPDX-License-Identifier: Apache-2.0
// Elements as hexadecimal digits: every character at every place of a register, and tensors that are decoded when they are first read.
#include <buda/tensor/bytes/hex_text.hpp>
#include <buda/tensor/files/raw_file.hpp>
#include <buda/tensor/tensor.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <string>

namespace buda {
namespace {

using testing::HasSubstr;

constexpr std::size_t kRegisters = 96;  // characters: several steps of the vector code, and an end that is none

std::string decoded(std::string_view digits) {
  std::string out(digits.size() / 2, '\0');
  decode_hex(digits, out.data());
  return out;
}

TEST(HexText, EveryByteInEitherCaseAtEveryPlace) {
  constexpr std::string_view kLower = "0123456789abcdef", kUpper = "0123456789ABCDEF";
  for (std::size_t before = 0; before < kRegisters / 2; ++before)
    for (unsigned byte = 0; byte < 256; ++byte) {
      // The second half has the other case of the first.
      std::string digits, expected;
      for (std::size_t i = 0; i < before; ++i) digits += "5A", expected += 'Z';
      digits += {kLower[byte >> 4], kUpper[byte & 15], kUpper[byte >> 4], kLower[byte & 15]};
      expected += std::string(2, static_cast<char>(byte));
      ASSERT_TRUE(is_hex(digits)) << digits;
      ASSERT_EQ(decoded(digits), expected) << digits;
    }
  EXPECT_TRUE(is_hex(""));
}

TEST(HexText, EveryOtherCharacterAtEveryPlaceIsFound) {
  for (std::size_t size : {kRegisters, kRegisters + 14})
    for (std::size_t at = 0; at < size; ++at)
      for (int c = 0; c < 256; ++c) {
        std::string digits(size, 'f');
        digits[at] = static_cast<char>(c);
        const bool is_digit = c < 128 && std::isxdigit(c) != 0;
        ASSERT_EQ(is_hex(digits), is_digit) << "character " << c << " at " << at;
      }
}

TEST(HexText, DigitsComeInPairs) {
  for (std::size_t size = 0; size < kRegisters; ++size) EXPECT_EQ(is_hex(std::string(size, '0')), size % 2 == 0) << size;
}

TEST(HexText, ATensorIsDecodedWhenItIsRead) {
  const io::Bytes digits(std::string("0000803f000000400000404000008040"));  // 1, 2, 3, 4
  const Tensor tensor = Tensor::from_hex(DType::f32, {2, 2}, digits).value();
  EXPECT_TRUE(tensor.is_text());
  EXPECT_EQ(tensor.memory().data(), digits.data()) << "shared";
  const Tensor flat = tensor.reshaped({4}).value();
  EXPECT_EQ(flat, Tensor({4}, std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(flat.bytes().data(), tensor.bytes().data()) << "decoded once for all copies";
  EXPECT_EQ(tensor.as<float>().data(), tensor.elements());
  EXPECT_FALSE(Tensor({1}, std::vector<float>{1}).is_text());
  EXPECT_EQ(Tensor::from_hex(DType::f32, {0}, {}).value(), Tensor());
}

TEST(HexText, ATensorOfOtherTextIsRefused) {
  auto refusal = [](DType dtype, Shape shape, std::string text) {
    auto made = Tensor::from_hex(dtype, std::move(shape), io::Bytes(std::move(text)));
    return made ? std::string("made") : made.failure().diagnostics().front().code;
  };
  EXPECT_EQ(refusal(DType::u8, {2}, "0a0b"), "made");
  EXPECT_EQ(refusal(DType::u8, {2}, "0a0g"), "TN016");
  EXPECT_EQ(refusal(DType::u8, {2}, "0a0"), "TN003");
  EXPECT_EQ(refusal(DType::u8, {2}, "0a0b0"), "TN003");
  EXPECT_EQ(refusal(DType::u8, {3}, "0a0b"), "TN003");
  EXPECT_EQ(refusal(DType::u8, {-1}, ""), "TN001");
  constexpr std::size_t kParts = std::size_t{9} << 20;  // several parts
  std::string text(kParts, '0');
  text[kParts - 1] = ' ';
  EXPECT_EQ(refusal(DType::u8, {static_cast<std::int64_t>(kParts / 2)}, text), "TN016");
}

TEST(HexText, InAFileOfAnyFormat) {
  const io::Bytes file(std::string("dense<\"0x0000803F00000040\">"));
  const auto size = static_cast<std::int64_t>(file.size());
  EXPECT_EQ(raw_tensor(file, "m.mlir", {9, size, true}, DType::f32, {2}).value(), Tensor({2}, std::vector<float>{1, 2}));
  auto refusal = [&](std::int64_t offset, Shape shape) {
    return raw_tensor(file, "m.mlir", {offset, size, true}, DType::f32, std::move(shape)).failure().diagnostics().front();
  };
  EXPECT_EQ(refusal(8, {2}).code, "TN016");
  EXPECT_EQ(refusal(8, {2}).loc.file, "m.mlir");
  EXPECT_EQ(refusal(9, {3}).code, "TN015");
  EXPECT_THAT(refusal(9, {3}).message, HasSubstr("as hexadecimal digits"));
  EXPECT_EQ(refusal(9, {std::int64_t{1} << 60}).code, "TN015");
}

}  // namespace
}  // namespace buda
