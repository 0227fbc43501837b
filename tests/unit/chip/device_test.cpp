// SPDX-License-Identifier: Apache-2.0
// The device on a bus that only remembers: what it loads, when it is satisfied, and what it says when nothing moves.
#include <buda/chip/device.hpp>
#include <buda/chip/op_programs.hpp>

#include <buda/kernels/compile/target_kernels.hpp>
#include <buda/runtime/streams.hpp>
#include <buda/tensor/tensor.hpp>

#include <movers/tables.h>

#include "unit/pipes/built.hpp"
#include "unit/sim/run_of.hpp"
#include "unit/tensix/compilers.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <map>

namespace buda::chip {
namespace {

using device::NocCoord;
using testing::HasSubstr;

constexpr std::uint64_t kReset = 0xffb121b0u;

// Memory of all nodes, page by page.
class RememberingBus final : public Bus {
 public:
  Result<void> write(NocCoord node, std::uint64_t address, std::string_view bytes) override {
    for (char c : bytes) byte(node, address++) = c;
    return success();
  }
  Result<void> read(NocCoord node, std::uint64_t address, char* to, std::size_t bytes) override {
    for (std::size_t i = 0; i < bytes; ++i) to[i] = byte(node, address + i);
    return success();
  }
  // Cores that are not in reset have done everything, if they work at all.
  Result<void> step(std::uint32_t) override {
    ++steps;
    for (NocCoord node : workers)
      if (works && word(node, kReset) == 0x47000) {
        for (std::size_t offset : {offsetof(mover::MoverHeader, in_done), offsetof(mover::MoverHeader, out_done)})
          set_word(node, mover::kTables + offset, 1);
        for (std::uint64_t t = 0; t < 3; ++t)
          set_word(node, tt::kArgumentsAddress + 4 * t, word(node, tt::kArgumentsAddress + offsetof(tt::Arguments, runs)));
      }
    return success();
  }
  std::uint32_t word(NocCoord node, std::uint64_t address) {
    std::uint32_t out = 0;
    static_cast<void>(read(node, address, reinterpret_cast<char*>(&out), 4));
    return out;
  }

  bool works = true;
  std::vector<NocCoord> workers;
  int steps = 0;

 private:
  void set_word(NocCoord node, std::uint64_t address, std::uint32_t value) {
    static_cast<void>(write(node, address, {reinterpret_cast<const char*>(&value), 4}));
  }
  char& byte(NocCoord node, std::uint64_t address) {
    std::string& page = pages_[{node, address >> 12}];
    page.resize(4096);
    return page[address & 4095];
  }
  std::map<std::pair<NocCoord, std::uint64_t>, std::string> pages_;
};

struct Opened {
  explicit Opened(DeviceOptions options = {}, const std::string& text = sim::two_ops(2)) {
    const auto& board = pipes::shipped("wormhole_b0");
    auto parsed = netlist::parse_netlist(text, "net.yaml", {board.arch});
    EXPECT_TRUE(parsed.ok());
    if (!parsed) return;
    program.netlist = std::move(*parsed);
    EXPECT_TRUE(runtime::complete_program(program, {.streams = true}, {}, board, pipes::source_host()).ok());
    EXPECT_TRUE(check_program(program).ok());
    auto kernels = kernels::build_kernels(program.netlist, {}, pipes::source_host());
    EXPECT_TRUE(kernels.ok()) << pipes::messages(kernels.failure());
    auto made_bus = std::make_unique<RememberingBus>();
    bus = made_bus.get();
    for (const overlay::Core& core : program.epochs.front().blob->cores) bus->workers.push_back(core.noc);
    auto made = make_device(program, board, std::move(*kernels), std::move(made_bus), options, pipes::source_host());
    EXPECT_TRUE(made.ok()) << pipes::messages(made.failure());
    if (made) device = std::move(*made);
  }

  Result<void> push_and_run() {
    const auto entries = Tensor::zeros(DType::f32, Shape{2, 1, 64, 64});
    BUDA_TRY(device->push("x", *entries));
    return device->run(program.netlist.programs.front().name, {});
  }

  runtime::Program program;
  RememberingBus* bus = nullptr;
  std::unique_ptr<runtime::Device> device;
};

class ChipDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (tensix::test::compilers().empty()) GTEST_SKIP() << "no compiler for the processors of a core";
  }
};

TEST_F(ChipDevice, KeepsQueuesInItsMemoryAndLoadsResetsAndWaits) {
  Opened o;
  ASSERT_NE(o.device, nullptr);
  const auto done = o.push_and_run();
  ASSERT_TRUE(done.ok()) << pipes::messages(done.failure());
  EXPECT_GT(o.bus->steps, 0);
  for (NocCoord node : o.bus->workers) {
    EXPECT_EQ(o.bus->word(node, kReset), 0x47800u) << "cores are left in reset";
    EXPECT_NE(o.bus->word(node, mover::kBrisc), 0u);
    EXPECT_NE(o.bus->word(node, mover::kNcrisc), 0u);
    EXPECT_EQ(o.bus->word(node, tt::kArgumentsAddress + offsetof(tt::Arguments, runs)), 2u) << "two inputs";
  }
  auto waiting = o.device->waiting("y");
  ASSERT_TRUE(waiting.ok());
  EXPECT_EQ(*waiting, 2) << "an entry for each input";
  std::vector<float> numbers(2 * 64 * 64);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 251);
  ASSERT_TRUE(o.device->push("x", Tensor(Shape{2, 1, 64, 64}, numbers)).ok());
  auto back = o.device->read("x", 3, 1);
  ASSERT_TRUE(back.ok());
  const auto second = back->as<float>();
  EXPECT_TRUE(std::equal(second.begin(), second.end(), numbers.begin() + 64 * 64, numbers.end()));
}

// x and what was written last are added: the entry that is read has to be there before the epoch writes another one.
TEST_F(ChipDevice, WhatAnEpochReadsOfAQueueThatItWritesIsThereBefore) {
  using pipes::op_text, pipes::queue_text;
  const std::string shape = "t: 1, mblock: [1, 1], ublock: [1, 1]", block = shape + ", ublock_order: r, buf_size_mb: 2";
  Opened o({}, pipes::netlist_text(queue_text("x", "HOST", "grid_size: [1, 1], " + shape, 1, 0x20000000) +
                                       queue_text("y", "a", "grid_size: [1, 1], " + shape, 1, 0x30000000),
                                   op_text("a", "add", "x, y", 2, "grid_loc: [0, 0], grid_size: [1, 1]", block), 1));
  ASSERT_NE(o.device, nullptr);
  const auto entry = Tensor::zeros(DType::f32, Shape{1, 1, 32, 32});
  const std::string run = o.program.netlist.programs.front().name;
  ASSERT_TRUE(o.device->push("x", *entry).ok());
  const auto done = o.device->run(run, {});
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.failure().diagnostics().front().code, "CP001");
  EXPECT_THAT(done.failure().diagnostics().front().message, HasSubstr("there are 0 entries to read"));
  ASSERT_TRUE(o.device->push("y", *entry).ok());
  const auto again = o.device->run(run, {});
  EXPECT_TRUE(again.ok()) << pipes::messages(again.failure());
  auto waiting = o.device->waiting("y");
  ASSERT_TRUE(waiting.ok());
  EXPECT_GE(*waiting, 1);
}

TEST_F(ChipDevice, WhatWaitsForEverIsReported) {
  DeviceOptions options;
  options.quantum = 10;
  options.patience = 100;
  Opened o(options);
  ASSERT_NE(o.device, nullptr);
  o.bus->works = false;
  const auto done = o.push_and_run();
  ASSERT_FALSE(done.ok());
  const Diagnostic& d = done.failure().diagnostics().front();
  EXPECT_EQ(d.code, "CP003");
  ASSERT_FALSE(d.notes.empty());
  EXPECT_THAT(d.notes.front().message, HasSubstr("input 0: of 8 tiles 0 have come, 0 have left"));
  EXPECT_THAT(d.notes.front().message, HasSubstr("have done 0, 0 and 0 of 2 inputs"));
  for (NocCoord node : o.bus->workers) EXPECT_EQ(o.bus->word(node, kReset), 0x47800u);
}

// What a kernel has beside its rings is between them and behind the tables, or there is no room.
TEST(ChipPrograms, TheKernelsOwnBuffersNeedRoom) {
  netlist::Op op;
  op.name = "op";
  OpPrograms programs;
  programs.layout.inputs.resize(1);
  programs.layout.arguments.inputs[0].tile_bytes = programs.layout.arguments.output.tile_bytes = 2080;
  programs.layout.arguments.between = {0, 4128, 8, 32};
  device::L1Map l1{.size = 1 << 20, .operands_begin = 0x33000, .reserved_end = 64};
  overlay::Core core;
  core.streams = {overlay::Stream{.number = 4, .kind = overlay::StreamKind::input},
                  overlay::Stream{.number = 24, .kind = overlay::StreamKind::output, .operand = 16}};
  movers::CoreTables tables;
  tables.rings = {{4, 0x40000, 2080, 4, movers::Ring::Kernel::takes}, {24, 0x50000, 2080, 4, movers::Ring::Kernel::makes}};
  auto parts = arguments_of(op, programs, core, tables, 0x33000, 3, l1);
  ASSERT_TRUE(parts.ok()) << parts.failure().diagnostics().front().message;
  tt::Arguments a;
  std::memcpy(&a, parts->back().second.data(), sizeof a);
  EXPECT_EQ(a.between.address, 0x33000u);
  EXPECT_EQ(a.inputs[0].address, 0x40000u);
  EXPECT_EQ(a.output.stream, 24u);
  EXPECT_EQ(a.runs, 3u);

  programs.layout.arguments.between.tiles = 13;
  parts = arguments_of(op, programs, core, tables, 0x33000, 3, l1);
  ASSERT_TRUE(parts.ok());
  std::memcpy(&a, parts->back().second.data(), sizeof a);
  EXPECT_EQ(a.between.address, 0x42080u) << "below the rings there is room for twelve";
  programs.layout.arguments.between.tiles = 200;
  parts = arguments_of(op, programs, core, tables, 0x33000, 3, l1);
  ASSERT_FALSE(parts.ok());
  EXPECT_EQ(parts.failure().diagnostics().front().code, "CP002");
  tables.rings.pop_back();
  parts = arguments_of(op, programs, core, tables, 0x33000, 3, l1);
  ASSERT_FALSE(parts.ok());
  EXPECT_EQ(parts.failure().diagnostics().front().code, "CP001") << "an output that nobody takes has no buffer";
}

}  // namespace
}  // namespace buda::chip
