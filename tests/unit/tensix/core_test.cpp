// SPDX-License-Identifier: Apache-2.0
// A core as a whole: whatever is in its L1, it says what is wrong or goes on.
#include <buda/base/rng.hpp>
#include <buda/isa/opcodes.hpp>
#include <tensix/core.hpp>
#include <tensix/dest_image.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace buda::tensix::test {
namespace {

using testing::HasSubstr;

constexpr std::size_t kL1 = 64 * 1024;
constexpr std::array<std::uint32_t, kThreads> kEntries = {0x1000, 0x2000, 0x3000};

// Pushes of one thread, and then `ebreak`.
void put(Core& core, std::size_t thread, const std::vector<std::uint32_t>& words) {
  std::uint32_t at = kEntries[thread];
  for (std::uint32_t word : words) {
    core.set_word(at, isa::in_program(word));
    at += 4;
  }
  core.set_word(at, 0x0000006f);  // j .
}

std::uint32_t instruction(std::string_view text) { return std::get<std::uint32_t>(isa::assemble(text)); }

// Runs instructions of the math thread, and gives what is wrong with them.
std::string fault_of(const std::vector<std::string_view>& instructions, std::size_t thread = 1) {
  Core core(kL1);
  std::vector<std::uint32_t> words;
  for (std::string_view text : instructions) words.push_back(instruction(text));
  for (std::size_t t = 0; t < kThreads; ++t) put(core, t, t == thread ? words : std::vector<std::uint32_t>{});
  core.reset(kEntries);
  for (int i = 0; i < 10; ++i)
    if (core.advance().fault) return core.fault();
  return {};
}

TEST(Core, UndefinedBehaviourIsNamed) {
  EXPECT_THAT(fault_of({"SETRWC flip=1"}), HasSubstr("gives back a bank of SrcA that it does not have: SETRWC flip=1"));
  EXPECT_THAT(fault_of({"SEMGET semaphores=2"}), HasSubstr("semaphore 1 is taken, and is 0"));
  EXPECT_THAT(fault_of(std::vector<std::string_view>(16, "SEMPOST semaphores=2")), HasSubstr("semaphore 1 is posted above 15"));
  EXPECT_THAT(fault_of({"SEMWAIT semaphores=2"}), HasSubstr("waits for no condition"));
  EXPECT_THAT(fault_of({"UNPACR_NOP kind=7", "UNPACR_NOP kind=7", "UNPACR_NOP kind=7"}, 0), HasSubstr("makes a bank valid that is"));
  EXPECT_THAT(fault_of({"UNPACR multi_context=1"}, 0), HasSubstr("compressed zeros"));
  EXPECT_THAT(fault_of({"PACR packers=15, last=1"}, 2), HasSubstr("masked edges"));
  EXPECT_THAT(fault_of({"ZEROACC mode=2, dst=2"}), HasSubstr("has no half number 2"));
  EXPECT_THAT(fault_of({"SETC16 register=60"}), HasSubstr("has no setting 60"));
  EXPECT_THAT(fault_of({"SFPLUT"}), HasSubstr("not executed yet: SFPLUT"));
  EXPECT_THAT(fault_of({"UNPACR_NOP kind=7", "UNPACR_NOP kind=7, unpacker=1", "SETRWC which=1, a=4", "MVMUL"}),
              HasSubstr("from row 4 of SrcA"));
}

TEST(Core, JumpsBeyondTheEndOfMemoryAreNamed) {
  Core core(kL1);
  for (std::size_t t = 0; t < kThreads; ++t) put(core, t, {});
  core.set_word(kEntries[1], 0xffc00067u);  // jr -4(zero)
  core.reset(kEntries);
  bool failed = false;
  for (int i = 0; i < 10 && !failed; ++i) failed = core.advance().fault;
  EXPECT_TRUE(failed);
  EXPECT_THAT(core.fault(), HasSubstr("it executes 0xfffffffc, where no code can be"));
}

TEST(Core, WaitsWithTheInstructionThatCannotGoOn) {
  Core core(kL1);
  put(core, 0, {});
  put(core, 1, {instruction("MVMUL dst=8")});
  put(core, 2, {instruction("SEMWAIT semaphores=2, condition=1")});
  core.reset(kEntries);
  for (int i = 0; i < 5; ++i) ASSERT_FALSE(core.advance().fault) << core.fault();
  EXPECT_THAT(core.where(1), HasSubstr("waiting with MVMUL dst=8"));
  EXPECT_THAT(core.where(2), HasSubstr("waiting with SEMWAIT condition=1, semaphores=2"));
}

// Instructions of the table with random fields, and random configuration.
TEST(Core, SurvivesRandomInstructions) {
  Rng rng(3);
  const auto random = [&] { return static_cast<std::uint32_t>(rng.next() >> 32); };
  std::vector<std::uint8_t> executed;
  for (const isa::Opcode& o : isa::opcodes())
    if (executor_of(o.code) != nullptr || o.name == "MOP" || o.name == "REPLAY" || o.name == "MOP_CFG") executed.push_back(o.code);
  for (int round = 0; round < 3000; ++round) {
    Core core(kL1);
    for (std::size_t t = 0; t < kThreads; ++t) {
      std::vector<std::uint32_t> words;
      for (int i = 0; i < 40; ++i) {
        const isa::Opcode* opcode = isa::find_opcode(executed[random() % executed.size()]);
        // Small values more often than others.
        words.push_back(std::uint32_t{opcode->code} << 24 | (random() & opcode->mask() & (random() % 2 == 0 ? random() : 0xffffffu)));
      }
      put(core, t, words);
    }
    core.reset(kEntries);
    // Often what kernels set, so that units come to what they do.
    for (std::uint32_t w = 0; w < Config::kWords; ++w) core.coprocessor().config.word(0, w) = random() % 3 == 0 ? random() : 0;
    core.coprocessor().config.word(0, 61) |= 1;
    core.coprocessor().config.word(0, 101) |= 1;
    for (int i = 0; i < 8 && !core.advance().fault; ++i) {
    }
    for (std::size_t t = 0; t < kThreads; ++t) core.where(t);
    core.fault();
  }
}

TEST(DestImage, HasWordsAsTheRegisterDoes) {
  DestRegister dest;
  DestForms forms;
  const auto put_number = [&](numerics::Dest form, std::size_t row, std::uint32_t number) {
    dest.row(form == numerics::Dest::fp32, row)[2] = number;
    forms.write(form, row, 4);
  };
  put_number(numerics::Dest::bf16, 0, 0xbf9d0000);
  put_number(numerics::Dest::fp16, 4, 15u << 23 | 0x155u << 13);
  put_number(numerics::Dest::fp32, 9, 0x3f9d1234);  // rows 17 and 25
  put_number(numerics::Dest::bf16, 64, 0xbf9d0000);
  forms.cleared(64, 16);
  const std::string image = dest_image(dest, forms);
  ASSERT_EQ(image.size(), 2 * kDestRows * kColumns);
  const auto word = [&](std::size_t row) {
    const std::size_t at = 2 * (row * kColumns + 2);
    return static_cast<std::uint8_t>(image[at]) | static_cast<std::uint8_t>(image[at + 1]) << 8;
  };
  EXPECT_EQ(word(0), 0x9d7f);
  EXPECT_EQ(word(4), 0x2aaf);
  EXPECT_EQ(word(17), 0x1d7f);
  EXPECT_EQ(word(25), 0x1234);
  EXPECT_EQ(word(64), 0);
}

}  // namespace
}  // namespace buda::tensix::test
