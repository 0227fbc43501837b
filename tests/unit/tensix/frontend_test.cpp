// SPDX-License-Identifier: Apache-2.0
// Macro operations and the replay buffer: what comes out for what was pushed.
#include <buda/isa/opcodes.hpp>
#include <tensix/frontend.hpp>

#include <gtest/gtest.h>

namespace buda::tensix::test {
namespace {

std::uint32_t word(std::string_view text) { return std::get<std::uint32_t>(isa::assemble(text)); }

std::vector<std::uint32_t> all(Frontend& f) {
  std::vector<std::uint32_t> out;
  while (auto next = f.next()) out.push_back(*next);
  return out;
}

TEST(Frontend, NestedLoopsReplaceTheLastInstructions) {
  Frontend f(32);
  const std::uint32_t before = word("SETRWC which=1"), inner = word("MVMUL"), other = word("MVMUL dst=8"),
                      inner_last = word("MVMUL dst=16"), outer_last = word("MVMUL dst=24"), after = word("INCRWC a=1"),
                      after2 = word("INCRWC a=2");
  const std::uint32_t loop[9] = {2, 2, before, after, after2, inner, other, outer_last, inner_last};
  for (std::size_t i = 0; i < 9; ++i) ASSERT_TRUE(f.macro_operations().configure(i, loop[i]));
  f.queue().push(word("MOP template=1"));
  EXPECT_EQ(all(f), (std::vector<std::uint32_t>{before, inner, other, inner, inner_last, after, after2,  //
                                                before, inner, other, inner, outer_last, after, after2}));
}

TEST(Frontend, MasksSkip) {
  Frontend f(32);
  const std::uint32_t a = word("UNPACR"), b = word("UNPACR unpacker=1"), skip_a = word("INCADCZW z0=1"), skip_b = word("INCADCZW z0=2"),
                      nop = word("NOP");
  const std::uint32_t loop[9] = {0, 1, b, a, nop, nop, nop, skip_a, skip_b};
  for (std::size_t i = 0; i < 9; ++i) ASSERT_TRUE(f.macro_operations().configure(i, loop[i]));
  f.queue().push(word("MOP_CFG mask_high=0"));
  f.queue().push(word("MOP mask_low=2, count=2"));
  EXPECT_EQ(all(f), (std::vector<std::uint32_t>{a, b, skip_a, skip_b, a, b}));
}

TEST(Frontend, ReplaysWhatWasLoaded) {
  Frontend f(32);
  const std::uint32_t one = word("MVMUL dst=1"), two = word("MVMUL dst=2"), three = word("MVMUL dst=3");
  f.queue().push(word("REPLAY load=1, start=31, length=2"));
  f.queue().push(one);
  f.queue().push(two);
  f.queue().push(three);
  f.queue().push(word("REPLAY start=31, length=2"));
  f.queue().push(word("REPLAY load=1, execute=1, start=0, length=1"));
  f.queue().push(three);
  f.queue().push(word("REPLAY start=31, length=2"));
  EXPECT_EQ(all(f), (std::vector<std::uint32_t>{three, one, two, three, one, three}));
}

TEST(Frontend, GivesBackWhatCouldNotBeExecuted) {
  Frontend f(1);
  f.queue().push(word("MVMUL"));
  EXPECT_FALSE(f.queue().has_room());
  ASSERT_TRUE(f.next());
  f.put_back();
  EXPECT_FALSE(f.empty());
  EXPECT_EQ(all(f).size(), 1u);
  EXPECT_TRUE(f.empty());
}

TEST(Frontend, RefusesLoopsThatTheHardwareRunsTooOften) {
  Frontend f(32);
  const std::uint32_t loop[9] = {1, 0, word("NOP"), word("MVMUL"), word("NOP"), word("MVMUL"), word("NOP"), word("MVMUL"), word("MVMUL")};
  for (std::size_t i = 0; i < 9; ++i) f.macro_operations().configure(i, loop[i]);
  f.queue().push(word("MOP template=1"));
  EXPECT_FALSE(f.next());
  EXPECT_NE(f.fault().find("129 rounds"), std::string::npos);
}

}  // namespace
}  // namespace buda::tensix::test
