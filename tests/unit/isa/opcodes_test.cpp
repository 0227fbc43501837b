// SPDX-License-Identifier: Apache-2.0
// The table is consistent, words known from kernels mean what they should, and every way back leads back.
#include <buda/isa/opcodes.hpp>

#include <buda/base/rng.hpp>

#include <gtest/gtest.h>

#include <set>

namespace buda::isa {
namespace {

TEST(Opcodes, HaveDisjointFieldsWithNamesOfTheirOwn) {
  EXPECT_EQ(opcodes().size(), 128u);
  std::set<std::string_view> names;
  std::size_t with_fields = 0;
  for (const Opcode& o : opcodes()) {
    EXPECT_TRUE(names.insert(o.name).second) << o.name;
    EXPECT_LT(o.code, 0xc0) << o.name;  // so that a rotated word never ends in 11
    with_fields += o.has_fields ? 1 : 0;
    std::set<std::string_view> fields;
    std::uint32_t used = 0;
    for (const Field& f : o.fields()) {
      EXPECT_TRUE(fields.insert(f.name).second) << o.name << ' ' << f.name;
      EXPECT_EQ(used & f.mask(), 0u) << o.name << ' ' << f.name;
      EXPECT_LE(f.low + f.width, 24) << o.name << ' ' << f.name;
      used |= f.mask();
    }
    EXPECT_EQ(find_opcode(o.code), &o);
    EXPECT_EQ(find_opcode(o.name), &o);
  }
  EXPECT_EQ(with_fields, 92u);
}

TEST(Opcodes, WordsOfAMatmul) {
  const std::pair<std::uint32_t, const char*> words[] = {
      {0x26000000, "MVMUL"},
      {0x26008028, "MVMUL dst=40, addr_mod=1"},
      {0x04000101, "REPLAY load=1, length=16"},
      {0x42800041, "UNPACR last=1, flip=1, unpacker=1"},
      {0x41000f01, "PACR last=1, packers=15"},
      {0xb20a1428, "SETC16 value=5160, register=10"},
      {0x37c0000f, "SETRWC which=15, flip=3"},
      {0xa2020000, "STALLWAIT blocked=4"},
      {0x10180000, "ZEROACC mode=3"},
      {0x84000000, "SFPMAD"},
  };
  for (const auto& [word, text] : words) {
    EXPECT_EQ(disassemble(word), text);
    EXPECT_EQ(std::get<std::uint32_t>(assemble(text)), word) << text;
  }
}

TEST(Opcodes, EveryWordComesBack) {
  Rng rng(3);
  for (const Opcode& o : opcodes())
    for (int i = 0; i < 100; ++i) {
      const std::uint32_t word = std::uint32_t{o.code} << 24 | (static_cast<std::uint32_t>(rng.next()) & o.mask());
      const auto instruction = decode(word);
      ASSERT_TRUE(instruction) << o.name;
      EXPECT_EQ(encode(*instruction), word) << o.name;
      EXPECT_EQ(std::get<std::uint32_t>(assemble(disassemble(word))), word) << o.name;
      const std::uint32_t code = in_program(word);
      EXPECT_TRUE(is_push(code));
      EXPECT_EQ(from_program(code), word);
    }
  // And any other bits are shown as what they are.
  for (int i = 0; i < 10000; ++i) {
    const auto word = static_cast<std::uint32_t>(rng.next());
    EXPECT_EQ(std::get<std::uint32_t>(assemble(disassemble(word))), word);
  }
}

TEST(Opcodes, WhatIsNoneIsTold) {
  EXPECT_FALSE(decode(0x0500'0000));
  EXPECT_FALSE(decode(0x2600'0400));  // a bit between fields
  EXPECT_EQ(disassemble(0x26000400), ".word 0x26000400");
  EXPECT_FALSE(is_push(0x00000013));  // nop of RISC-V
  const auto error = [](std::string_view text) { return std::get<std::string>(assemble(text)); };
  EXPECT_EQ(error("MVMUK dst=1"), "there is no instruction 'MVMUK'; did you mean 'MVMUL'?");
  EXPECT_EQ(error("MVMUL det=1"), "MVMUL has no field 'det'; did you mean 'dst'?");
  EXPECT_EQ(error("MVMUL dst=1024"), "field 'dst' has 10 bits, and 1024 is above 1023");
  EXPECT_EQ(error("MVMUL dst"), "field 'dst' needs a number, as in dst=1");
  EXPECT_EQ(error("MVMUL dst=x"), "field 'dst' needs a number, as in dst=1");
  EXPECT_EQ(error(".word x"), ".word needs a number of 32 bits");
  EXPECT_EQ(std::get<std::uint32_t>(assemble("  MVMUL  dst=0x10 , flip=2 ")), 0x26800010u);
}

}  // namespace
}  // namespace buda::isa
