// SPDX-License-Identifier: Apache-2.0
// Values computed from the tiles that arrive are those of target golden, bit by bit, whatever time does.
#include <buda/functional/device.hpp>
#include <buda/timed/timed_device.hpp>

#include <buda/runtime/programs/program_order.hpp>
#include <buda/runtime/session/netlist_run.hpp>
#include <buda/runtime/session/stimulus.hpp>
#include <buda/runtime/streams.hpp>
#include <buda/tensor/tensor.hpp>

#include "unit/pipes/check/random_netlists.hpp"
#include "unit/sim/run_of.hpp"

#include <map>
#include <utility>

namespace buda::timed {
namespace {

using Outputs = NamedTensors;

// Fills the queues, runs the programs, and reads what they have made. Empty where something fails, with a message in `problem`.
Outputs outputs_of(runtime::Device& device, const netlist::Netlist& netlist, const NamedTensors& inputs, std::string& problem) {
  auto fails = [&](const auto& result) {
    if (!result) problem = pipes::messages(result.failure());
    return !result;
  };
  Outputs out;
  for (const auto* queue : runtime::input_queues(netlist)) {
    const bool ram = queue->kind == netlist::QueueKind::ram;
    const Tensor& given = inputs.at(queue->name);
    if (fails(ram ? device.write(queue->name, 0, given) : device.push(queue->name, given))) return {};
  }
  for (const auto* program : runtime::program_order(netlist))
    if (fails(device.run(program->name, {}))) return {};
  for (const auto* queue : runtime::output_queues(netlist)) {
    const bool ram = queue->kind == netlist::QueueKind::ram;
    auto made = ram ? device.read(queue->name, 0, queue->entries) : device.pop(queue->name, *device.waiting(queue->name));
    if (fails(made)) return {};
    out.emplace(queue->name, std::move(*made));
  }
  return out;
}

struct Prepared {
  runtime::Program program;
  NamedTensors inputs;
};

// Nothing for a netlist that cannot be built.
std::optional<Prepared> prepare(const std::string& text, const device::DeviceDescriptor& board, std::uint64_t seed) {
  auto parsed = netlist::parse_netlist(text, "net.yaml", {board.arch});
  if (!parsed) return std::nullopt;
  Prepared out;
  out.program.netlist = std::move(*parsed);
  if (!runtime::complete_program(out.program, {.streams = true}, {}, board, pipes::source_host())) return std::nullopt;
  auto entries = runtime::entries_read(out.program.netlist, {});
  auto inputs = entries ? runtime::stimulate(out.program.netlist, {}, seed, *entries) : Result<NamedTensors>(entries.failure());
  if (!inputs) return std::nullopt;
  out.inputs = std::move(*inputs);
  return out;
}

Outputs on_grid(const Prepared& p, const device::DeviceDescriptor& board, std::uint64_t jitter, std::string& problem,
                arith::Mode mode = arith::Mode::exact) {
  DeviceOptions options;
  options.computes.emplace().mode = mode;
  options.jitter = jitter;
  auto grid = TimedDevice::make(p.program, board, options, pipes::source_host());
  if (!grid) problem = pipes::messages(grid.failure());
  return grid ? outputs_of(**grid, p.program.netlist, p.inputs, problem) : Outputs();
}

void compare_random(int wanted, std::uint64_t seed, int chips, const std::string& device, const std::string& arch = "wormhole_b0",
                    arith::Mode mode = arith::Mode::exact) {
  const auto& board = pipes::shipped(device);
  Rng rng(seed);
  int compared = 0, stopped = 0;
  for (int round = 0; compared < wanted && round < 4 * wanted; ++round) {
    const std::string text = pipes::random_netlist(rng, chips, arch);
    const auto prepared = prepare(text, board, rng.next());
    if (!prepared) continue;
    functional::DeviceOptions options;
    options.mode = mode;
    auto golden = functional::make_device(prepared->program, options, pipes::source_host());
    if (!golden) continue;
    std::string problem;
    const Outputs expected = outputs_of(**golden, prepared->program.netlist, prepared->inputs, problem);
    if (expected.empty()) continue;
    ++compared;
    const Outputs plain = on_grid(*prepared, board, 0, problem, mode);
    const Outputs varied = on_grid(*prepared, board, rng.next(), problem, mode);
    // A few stop for want of buffers, whatever time does.
    const bool stops = problem.find("[SM003]") != std::string::npos && plain.empty();
    stopped += stops ? 1 : 0;
    EXPECT_EQ(plain, stops ? Outputs() : expected) << problem << text;
    EXPECT_EQ(varied, stops ? Outputs() : expected) << problem << text;
  }
  EXPECT_LE(100 * stopped, compared);
  EXPECT_EQ(compared, wanted);
}

TEST(Values, RandomNetlistsAsOnGolden) { compare_random(pipes::netlists_wanted(200), 31, 1, "wormhole_b0"); }

TEST(Values, RandomNetlistsInBitsAsOnGolden) {
  compare_random(pipes::netlists_wanted(40), 34, 1, "wormhole_b0", "wormhole_b0", arith::Mode::bits);
}

TEST(Values, RandomNetlistsOfTwoChipsAsOnGolden) { compare_random(pipes::netlists_wanted(20), 32, 2, "n300"); }

TEST(Values, RandomNetlistsOfGrayskullAsOnGolden) { compare_random(pipes::netlists_wanted(20), 33, 1, "grayskull", "grayskull"); }

// A ram that an op fills holds zeros before, also for who reads it before the epoch.
TEST(Values, ARamIsZeroBeforeItIsWritten) {
  using pipes::op_text, pipes::queue_text;
  const auto& board = pipes::shipped("wormhole_b0");
  const std::string shape = "grid_size: [1, 1], t: 1, mblock: [2, 2], ublock: [1, 1]";
  const std::string block = "t: 1, mblock: [2, 2], ublock: [1, 1], ublock_order: r, buf_size_mb: 2";
  // Graph `w`, which would write it, is not executed.
  const std::string place = "grid_loc: [0, 0], grid_size: [1, 1]";
  const std::string ops = op_text("b", "add", "x, state", 2, place, block) + "  w:\n    target_device: 0\n    input_count: 1\n" +
                          op_text("a", "nop", "x", 1, place, block);
  const auto prepared =
      prepare(pipes::netlist_text(queue_text("x", "HOST", shape, 1, 0x20000000) +
                                      queue_text("state", "a", shape, 1, 0x30000000, "type: ram, entries: 1") +
                                      queue_text("y", "b", shape, 1, 0x38000000),
                                  ops, 1, "state: {prologue: true, epilogue: false, zero: false, rd_ptr_global: 0, wr_ptr_global: 0}"),
              board, 7);
  ASSERT_TRUE(prepared);
  std::string problem;
  const Outputs made = on_grid(*prepared, board, 0, problem);
  ASSERT_EQ(problem, "");
  auto golden = functional::make_device(prepared->program, {}, pipes::source_host());
  ASSERT_TRUE(golden.ok());
  EXPECT_EQ(made, outputs_of(**golden, prepared->program.netlist, prepared->inputs, problem));
}

// 64 inputs through queues of eight entries: the host pushes and pops while the epoch runs, and an entry's slot is used again before all
// that depends on it is computed.
TEST(Values, EntriesThatTheHostBringsWhileAnEpochRuns) {
  const auto& board = pipes::shipped("wormhole_b0");
  constexpr std::int64_t kInputs = 64, kAtOnce = 4;
  std::string text = sim::two_ops(kInputs);
  const std::string settings = "queue_settings: {";
  text.insert(text.find(settings) + settings.size(), "x: {prologue: false, epilogue: false, zero: false, global_rdptr_autoinc: 1}");
  auto prepared = prepare(text, board, 5);
  ASSERT_TRUE(prepared);
  DeviceOptions options;
  options.computes.emplace();
  auto grid = TimedDevice::make(prepared->program, board, options, pipes::source_host());
  ASSERT_TRUE(grid.ok()) << pipes::messages(grid.failure());
  ASSERT_TRUE((*grid)->start("p", {}).ok());
  std::int64_t pushed = 0, popped = 0;
  while (popped < kInputs) {
    for (; pushed < kInputs && pushed - popped < kAtOnce; ++pushed) {
      std::vector<float> numbers(64 * 64, static_cast<float>(pushed));
      const auto done = (*grid)->push("x", Tensor(Shape{1, 1, 64, 64}, std::move(numbers)));
      if (!done) break;
    }
    auto progress = (*grid)->advance({});
    ASSERT_TRUE(progress.ok()) << pipes::messages(progress.failure());
    const std::int64_t there = *(*grid)->waiting("y");
    ASSERT_TRUE(there > 0 || pushed < kInputs || popped == kInputs);
    for (std::int64_t i = 0; i < there; ++i, ++popped) {
      auto made = (*grid)->pop("y", 1);
      ASSERT_TRUE(made.ok());
      EXPECT_EQ(made->to_f32().front(), static_cast<float>(popped));
    }
    if (progress->state == runtime::State::idle && there == 0) break;
  }
  EXPECT_EQ(popped, kInputs);
}

}  // namespace
}  // namespace buda::timed
