// SPDX-License-Identifier: Apache-2.0
// The processors of a core: programs of stock compilers, and what is no program.
#include "compilers.hpp"
#include "programs.h"

#include <buda/base/rng.hpp>
#include <buda/base/text.hpp>
#include <buda/io/file_system.hpp>
#include <buda/io/process.hpp>
#include <buda/io/temporary_directory.hpp>
#include <buda/isa/opcodes.hpp>
#include <buda/kernels/programs/elf.hpp>
#include <tensix/riscv/processor.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace buda::tensix::riscv::test {
namespace {

using testing::HasSubstr;

// Takes results: stores to `kResults` and pushes.
class RecordingBus final : public Bus {
 public:
  static constexpr std::uint32_t kResults = 0xffe40000u;
  Access load(std::uint32_t, std::uint32_t&, Cycle&) override { return Access::waits; }
  Access store(std::uint32_t address, std::uint32_t value, Cycle&) override {
    if (address != kResults) return Access::fault;
    results.push_back(value);
    return Access::done;
  }
  // A word per cycle, as many as there is room for.
  Pushed push(std::span<const Instruction> code, Cycle& time) override {
    std::size_t count = 0;
    for (; count < code.size() && code[count].operation == Operation::push; ++count) {
      if (pushed.size() == room) return {count, Access::waits};
      pushed.push_back(static_cast<std::uint32_t>(code[count].immediate));
      if (count > 0) ++time;
    }
    return {count, Access::done};
  }
  std::string fault() const override { return undefined.empty() ? "there is nothing" : undefined; }
  bool permits(std::uint32_t, std::uint32_t, bool) override { return true; }
  bool tolerates(Check check, const std::string& what) override {
    undefined = sentence(check, what);
    return false;
  }

  std::vector<std::uint32_t> results, pushed;
  std::size_t room = 1000;
  std::string undefined;
};

struct Machine {
  std::vector<std::uint8_t> l1 = std::vector<std::uint8_t>(64 * 1024);
  RecordingBus bus;
  Processor processor{bus, l1, 8192};

  void load(std::uint32_t at, const std::vector<std::uint32_t>& words) {
    for (std::uint32_t w : words) {
      for (int i = 0; i < 4; ++i) l1[at + static_cast<std::uint32_t>(i)] = static_cast<std::uint8_t>(w >> (8 * i));
      at += 4;
    }
  }
};

constexpr std::string_view kMain = R"(#include "programs.h"
extern "C" __attribute__((naked, section(".start"), used)) void _start() { asm volatile("li sp, 0xffb02000\n\tj go"); }
extern "C" void* memset(void* to, int v, __SIZE_TYPE__ n) { for (__SIZE_TYPE__ i = 0; i < n; ++i) ((volatile char*)to)[i] = (char)v; return to; }
extern "C" __attribute__((used)) void go() {
  auto& out = *(volatile unsigned*)0xffe40000u;
  for (unsigned seed = 1; seed < 6; ++seed) { out = programs::sorting(seed * 77u); out = programs::arithmetic(seed * 99u); out = programs::choosing(seed * 55u); }
  asm volatile("ebreak");
  for (;;) asm volatile("");
}
)";
constexpr std::string_view kScript =
    "SECTIONS { . = 0x400; .text : { *(.start) *(.text*) *(.rodata*) *(.srodata*) *(.data*) *(.sdata*) *(.bss*) *(.sbss*) } /DISCARD/ : { "
    "*(.comment) *(.riscv.attributes) *(.eh_frame*) } }";

TEST(Processor, RunsProgramsOfStockCompilersWithTheResultsOfThisMachine) {
  std::vector<std::uint32_t> expected;
  for (unsigned seed = 1; seed < 6; ++seed)
    for (std::uint32_t r : {programs::sorting(seed * 77u), programs::arithmetic(seed * 99u), programs::choosing(seed * 55u)})
      expected.push_back(r);
  const auto compilers = tensix::test::compilers();
  if (compilers.empty()) GTEST_SKIP() << "no compiler for RISC-V";
  auto scratch = io::TemporaryDirectory::make("/tmp", "buda-processor-");
  ASSERT_TRUE(scratch.ok());
  auto files = io::make_real_file_system();
  ASSERT_TRUE(files->write(scratch->path() + "/main.cpp", kMain).ok());
  ASSERT_TRUE(files->write(scratch->path() + "/main.ld", kScript).ok());
  for (const auto& compiler : compilers)
    for (const char* level : {"-O0", "-O2", "-Os"}) {
      std::vector<std::string> command = {compiler.path,
                                          "-march=rv32im",
                                          "-mabi=ilp32",
                                          "-std=c++17",
                                          level,
                                          "-ffreestanding",
                                          "-nostdlib",
                                          "-fno-exceptions",
                                          "-fno-rtti",
                                          "-fno-threadsafe-statics",
                                          cat("-I", std::getenv("BUDA_SOURCE_DIR"), "/tests/unit/tensix"),
                                          cat("-Wl,-T,", scratch->path(), "/main.ld"),
                                          "-o",
                                          scratch->path() + "/main.elf",
                                          scratch->path() + "/main.cpp"};
      command.insert(command.begin() + 1, compiler.flags.begin(), compiler.flags.end());
      auto ran = io::run_process(command);
      ASSERT_TRUE(ran.ok());
      ASSERT_EQ(ran->exit_code, 0) << compiler.name << level;
      auto bytes = io::make_real_file_system()->read(scratch->path() + "/main.elf");
      ASSERT_TRUE(bytes.ok());
      auto program = kernels::parse_executable(bytes->view(), "main.elf");
      ASSERT_TRUE(program.ok()) << program.failure().diagnostics()[0].message;
      Machine m;
      m.processor.reset(program->entry);
      for (const auto& s : program->segments) std::copy(s.bytes.begin(), s.bytes.end(), m.l1.begin() + s.address);
      EXPECT_EQ(m.processor.run(100'000'000), Stop::halted) << compiler.name << level << m.processor.fault();
      EXPECT_EQ(m.bus.results, expected) << compiler.name << level;
    }
}

TEST(Processor, PushesWordsThatAreNoInstructionsOfRiscv) {
  Machine m;
  const auto word = std::get<std::uint32_t>(isa::assemble("MVMUL dst=8, addr_mod=1"));
  m.load(0, {isa::in_program(word), 0x00100073});
  m.processor.reset(0);
  EXPECT_EQ(m.processor.run(10), Stop::halted);
  EXPECT_EQ(m.bus.pushed, std::vector<std::uint32_t>{word});
}

TEST(Processor, PushesRunsOfWordsAsItWouldPushEach) {
  const auto word = std::get<std::uint32_t>(isa::assemble("MVMUL dst=8, addr_mod=1"));
  std::vector<std::uint32_t> program(40, isa::in_program(word));
  program.push_back(0xf61ff06f);  // jal zero, back to the first
  Machine m;
  m.load(0, program);
  m.processor.reset(0);
  EXPECT_EQ(m.processor.run(41), Stop::budget);  // one by one, as each is decoded
  EXPECT_EQ(m.processor.pc(), 0u);
  EXPECT_EQ(m.bus.pushed.size(), 40u);
  EXPECT_EQ(m.processor.cycle(), 41u);
  EXPECT_EQ(m.processor.run(4), Stop::budget);
  EXPECT_EQ(m.processor.pc(), 16u);
  m.bus.room = 50;
  EXPECT_EQ(m.processor.run(100), Stop::waits);
  EXPECT_EQ(m.processor.pc(), 40u);
  EXPECT_EQ(m.processor.executed(), 51u);
  EXPECT_EQ(m.processor.cycle(), 51u);
  m.bus.room = 1000;
  EXPECT_EQ(m.processor.run(31), Stop::budget);
  EXPECT_EQ(m.processor.pc(), 0u);
  EXPECT_EQ(m.bus.pushed.size(), 80u);
  EXPECT_EQ(m.processor.cycle(), 82u);
}

TEST(Processor, StandsBeforeWhatItWaitsFor) {
  Machine m;
  m.load(0, {0xffe00537, 0x00052583});  // lui a0, 0xffe00; lw a1, 0(a0)
  m.processor.reset(0);
  EXPECT_EQ(m.processor.run(10), Stop::waits);
  EXPECT_EQ(m.processor.pc(), 4u);
  EXPECT_EQ(m.processor.run(10), Stop::waits);
}

TEST(Processor, SaysWhatItCannotDo) {
  const auto fault = [](const std::vector<std::uint32_t>& words) {
    Machine m;
    m.load(0, words);
    m.processor.reset(0);
    EXPECT_EQ(m.processor.run(100), Stop::fault);
    return m.processor.fault();
  };
  EXPECT_THAT(fault({0xffffffff}), HasSubstr("not an instruction of RV32IM"));
  EXPECT_THAT(fault({0x00100513, 0x00052583}), HasSubstr("it loads 4 bytes from 0x1"));
  EXPECT_THAT(fault({0xffe40537, 0x00b50023}), HasSubstr("only whole words"));
  EXPECT_THAT(fault({0x00a02023}), HasSubstr("among instructions that were executed"));
  EXPECT_THAT(fault({0xfff00067}), HasSubstr("where no code can be"));
}

// Whatever the words are, the processor stops or goes on, and ends.
TEST(Processor, SurvivesRandomWords) {
  Rng rng(7);
  for (int i = 0; i < 300; ++i) {
    Machine m;
    for (auto& byte : m.l1) byte = static_cast<std::uint8_t>(rng.next());
    m.processor.reset(static_cast<std::uint32_t>(rng.next()) % 16000 * 4);
    m.processor.run(2000);
    isa::riscv::disassemble(static_cast<std::uint32_t>(rng.next()), 0);
  }
}

}  // namespace
}  // namespace buda::tensix::riscv::test
