// SPDX-License-Identifier: Apache-2.0
// Execution of stream programs: every tile arrives where it belongs, bytes are conserved, time is what the parts make it.
#include "unit/sim/run_of.hpp"

#include <buda/overlay/reports/report.hpp>

#include "unit/pipes/check/random_netlists.hpp"

#include <algorithm>
#include <cmath>

namespace buda::sim {
namespace {

// Bytes of the networks and memories in a report of the stream programs, as the fabric names them.
std::map<std::string, std::uint64_t> promised_bytes(const RunOf& r) {
  std::map<std::string, std::uint64_t> out;
  const auto report = overlay::make_report(r.blob, *r.built.device, r.built.cluster().eth_core);
  const bool chips = std::any_of(r.blob.cores.begin(), r.blob.cores.end(), [&](const auto& c) { return c.chip != r.blob.cores[0].chip; });
  for (const auto& link : report.links) {
    if (link.bytes == 0) continue;
    out[cat("NoC ", link.noc, ' ', link.from.text(), '>', link.to.text(), chips ? cat(" of chip ", link.chip) : std::string())] =
        link.bytes;
  }
  for (const auto& channel : report.channels)
    out[channel.host ? "host" : cat("DRAM ", chips ? cat(channel.chip, '.') : std::string(), channel.channel)] +=
        channel.read + channel.written + channel.before + channel.after;
  for (const auto& load : report.ethernet)
    out[cat("Ethernet ", load.link.chip, '.', load.link.channel, '>', load.link.to_chip, '.', load.link.to_channel)] += load.bytes;
  for (const auto& load : report.pcie) out[cat("PCIe ", load.chip, '>', load.to_chip)] += load.bytes;
  return out;
}

std::map<std::string, std::uint64_t> moved_bytes(const perf::EpochSummary& summary) {
  std::map<std::string, std::uint64_t> out;
  for (const auto& load : summary.loads) {
    std::string name = load.resource;
    if (name.starts_with("input") || name.starts_with("output")) continue;
    if (const auto half = name.find(name.ends_with("upper half") ? " upper half" : " lower half"); half != std::string::npos)
      name.resize(half);
    out[name] += load.bytes;
  }
  return out;
}

// Executes `wanted` random netlists.
void execute_random(int wanted, std::uint64_t seed, int chips, const std::string& device, const std::string& arch = "wormhole_b0") {
  Rng rng(seed);
  int built = 0;
  for (int round = 0; built < wanted && round < 4 * wanted; ++round) {
    const std::string text = pipes::random_netlist(rng, chips, arch);
    const RunOf r(text, device);
    if (!r.problem.empty()) continue;
    ++built;
    const std::string outcome = r.outcome();
    EXPECT_EQ(outcome, "ended") << text;
    if (outcome != "ended") continue;
    EXPECT_EQ(moved_bytes(r.summary()), promised_bytes(r)) << text;
  }
  EXPECT_EQ(built, wanted);
}

// Transfers of single tiles are the reference that larger ones approximate. Where transfers of several cores share an interface with large
// requests to memory, one netlist in a hundred is further off.
TEST(EpochRun, TransfersOfSeveralTilesTakeTheTimeOfSingleOnes) {
  Rng rng(179);
  const int wanted = pipes::netlists_wanted(60);
  int built = 0, off = 0;
  double differences = 0;
  for (int round = 0; built < wanted && round < 4 * wanted; ++round) {
    RunOf r(pipes::random_netlist(rng, 2, "wormhole_b0"), "n300");
    if (!r.problem.empty()) continue;
    ++built;
    const double several = r.summary().period.cycles();
    r.chunk_tiles = 1;
    const double difference = std::abs(several / r.summary().period.cycles() - 1);
    differences += difference;
    if (difference > 0.03) ++off;
  }
  ASSERT_EQ(built, wanted);
  EXPECT_LE(differences / built, 0.0035);
  EXPECT_LE(off, built / 50);
}

TEST(EpochRun, RandomNetlists) { execute_random(pipes::netlists_wanted(300), 177, 1, "wormhole_b0"); }

TEST(EpochRun, RandomNetlistsOfGrayskull) { execute_random(pipes::netlists_wanted(60), 178, 1, "grayskull", "grayskull"); }

TEST(EpochRun, RandomNetlistsOverEthernet) { execute_random(pipes::netlists_wanted(100), 111, 2, "n300"); }

TEST(EpochRun, RandomNetlistsOverPcie) { execute_random(pipes::netlists_wanted(60), 112, 2, "grayskull", "grayskull"); }

// The kernel gets all that it takes; the stream would wait for one more entry for ever.
TEST(EpochRun, AReaderOfMoreThanItsKernelTakesIsReported) {
  RunOf r(two_ops(4));
  ASSERT_EQ(r.problem, "");
  for (overlay::Core& core : r.blob.cores)
    for (overlay::Stream& s : core.streams)
      if (s.read) s.iterations *= 2;
  EXPECT_NE(r.outcome().find("input 0 of 'a' [0, 0] reads 32 tiles, and its kernel takes 16"), std::string::npos) << r.outcome();
}

constexpr const char* kShape = "grid_size: [1, 1], t: 1, mblock: [2, 2], ublock: [1, 1]";

// The sums come once from their ram and go back once, when the last input has been added.
TEST(EpochRun, GradientsAreReadBeforeAndWrittenAfter) {
  using pipes::op_text, pipes::queue_text;
  const std::string block = "t: 1, mblock: [2, 2], ublock: [1, 1], ublock_order: r, buf_size_mb: 2";
  const RunOf r(pipes::netlist_text(
      queue_text("x", "HOST", kShape, 1, 0x20000000) + queue_text("sums", "a", kShape, 1, 0x30000000, "type: ram, entries: 1"),
      op_text("a", "nop", "x", 1, "grid_loc: [0, 0], grid_size: [1, 1]", block, "gradient_op: true"), 4,
      "sums: {prologue: true, epilogue: true, zero: false, rd_ptr_global: 0, wr_ptr_global: 0}"));
  ASSERT_EQ(r.problem, "");
  ASSERT_EQ(r.outcome(), "ended");
  EXPECT_EQ(moved_bytes(r.summary()), promised_bytes(r));
}

// Each op that reads a queue before the epoch has buffers of its own there, with ids of their own.
TEST(EpochRun, TwoOpsReadAQueueBeforeTheEpoch) {
  using pipes::op_text, pipes::queue_text;
  const std::string block = "t: 1, mblock: [2, 2], ublock: [1, 1], ublock_order: r, buf_size_mb: 2";
  const RunOf r(pipes::netlist_text(
      queue_text("x", "HOST", kShape, 1, 0x20000000, "type: ram, entries: 1") + queue_text("y", "b", kShape, 1, 0x30000000),
      op_text("a", "nop", "x", 1, "grid_loc: [0, 0], grid_size: [1, 1]", block) +
          op_text("b", "add", "x, a", 2, "grid_loc: [1, 0], grid_size: [1, 1]", block),
      2, "x: {prologue: true, epilogue: false, zero: false, rd_ptr_global: 0, wr_ptr_global: 0}"));
  ASSERT_EQ(r.problem, "");
  EXPECT_EQ(r.outcome(), "ended");
}

// A writer that waits for more tiles than are left until the kernel needs room would stop a matmul that adds up in its output.
TEST(EpochRun, AnOutputWithOneBufferIsWrittenInTheChunksOfItsProgram) {
  using pipes::op_text, pipes::queue_text;
  const std::string tall = "grid_size: [1, 1], t: 4, mblock: [1, 1], ublock: [5, 1]";
  const RunOf r(
      pipes::netlist_text(queue_text("x", "HOST", "grid_size: [1, 1], t: 4, mblock: [1, 4], ublock: [5, 1]", 1, 0x20000000) +
                              queue_text("w", "HOST", "grid_size: [1, 1], t: 4, mblock: [4, 1], ublock: [1, 1]", 1, 0x28000000) +
                              queue_text("y", "mm", tall, 1, 0x30000000),
                          op_text("mm", "matmul", "x, w", 2, "grid_loc: [0, 0], grid_size: [1, 1]",
                                  "t: 4, mblock: [1, 1], ublock: [5, 1], ublock_order: r, buf_size_mb: 1", "attributes: {m_k: 4, u_kt: 1}"),
                          2));
  ASSERT_EQ(r.problem, "");
  EXPECT_EQ(r.outcome(), "ended");
}

TEST(EpochRun, AKernelThatIsNeverKeptWaitingSetsThePeriod) {
  RunOf r(two_ops(32));
  ASSERT_EQ(r.problem, "");
  r.cores = FixedCore(100, {{"b", 5000}});
  const auto summary = r.summary();
  EXPECT_NEAR(summary.period.cycles(), 5000, 5);
  ASSERT_FALSE(summary.causes.empty());
  EXPECT_EQ(summary.causes.front().what, "kernel of 'b'");
  EXPECT_GT(summary.causes.front().share, 0.95);
  ASSERT_EQ(summary.ops.size(), 2u);
  EXPECT_GT(summary.ops[0].output.waits, 0.5) << "'a' is held up by 'b'";
}

// What the last input still has to go through takes longer than a quarter of the epoch, and each of the later ops as long as any other.
TEST(EpochRun, TheSlowestKernelIsTheCauseAtTheBeginningOfALongPipeline) {
  RunOf r(chain_of_ops(8, 16));
  ASSERT_EQ(r.problem, "");
  r.cores = FixedCore(4500, {{"op0", 5000}});
  const auto summary = r.summary();
  EXPECT_NEAR(summary.period.cycles(), 5000, 5);
  EXPECT_EQ(summary.causes.front().what, "kernel of 'op0'");
  EXPECT_GT(summary.causes.front().share, 0.95);
  EXPECT_GT(summary.span.cycles(), 2 * 5000);
}

// An op that runs ahead, and then waits until the next one's core has its program, is not what sets the period.
TEST(EpochRun, ThePeriodIsThatOfAFullPipeline) {
  RunOf r(chain_of_ops(2, 16));
  ASSERT_EQ(r.problem, "");
  r.cores = FixedCore(1000, {{"op1", 5000}});
  for (const overlay::Core& core : r.blob.cores) r.core_starts.push_back(core.op == "op1" ? ticks_of(200'000) : 0);
  const auto summary = r.summary();
  EXPECT_NEAR(summary.period.cycles(), 5000, 5);
  EXPECT_GT(summary.mean_period.cycles(), 15'000) << "from the first input to the last";
}

TEST(EpochRun, SharesOfCausesAddUp) {
  RunOf r(two_ops(16));
  ASSERT_EQ(r.problem, "");
  r.cores = FixedCore(50);
  double sum = 0;
  const auto summary = r.summary();
  for (const auto& cause : summary.causes) sum += cause.share;
  EXPECT_NEAR(sum, 1, 1e-9);
  for (const auto& op : summary.ops) {
    double all = op.busy + op.output.waits;
    for (const auto& in : op.inputs) all += in.waits;
    EXPECT_LE(all, 1 + 1e-9) << op.name;
  }
}

// Twice as fast a core cannot make an epoch slower that is limited by something else, and memory cannot be faster than it is.
TEST(EpochRun, MemoryLimitsWhatKernelsDoNot) {
  RunOf r(two_ops(64));
  ASSERT_EQ(r.problem, "");
  r.cores = FixedCore(1);
  const auto summary = r.summary();
  const auto& cost = r.built.device->cost;
  const double least = 4 * 2080 / (cost.dram_channel_gbs / cost.clock_ghz / 2);
  EXPECT_GE(summary.period.cycles(), least * 0.99);
  EXPECT_LE(summary.period.cycles(), least * 2.5);
}

TEST(EpochRun, SlicesDoNotMatter) {
  const RunOf r(two_ops(64));
  ASSERT_EQ(r.problem, "");
  const auto whole = r.summary();
  auto run = r.start();
  ASSERT_TRUE(run.ok());
  Rng rng(5);
  Ticks until = 0;
  for (int slices = 0;; ++slices) {
    auto state = run->advance(until);
    ASSERT_TRUE(state.ok());
    if (*state == RunState::ended) {
      EXPECT_GT(slices, 1000);
      break;
    }
    ASSERT_EQ(*state, RunState::running);
    until += rng.below(1500);
  }
  EXPECT_EQ(run->summary().time, whole.time);
  EXPECT_EQ(run->summary().events, whole.events);
}

TEST(EpochRun, EpochsThatLackEntriesGoOnWhenTheyCome) {
  const RunOf r(two_ops(8));
  ASSERT_EQ(r.problem, "");
  const std::size_t x = r.built.index->queue("x"), y = r.built.index->queue("y");
  auto run = r.start({{x, {3, 0}}, {y, {0, 8}}});
  ASSERT_TRUE(run.ok());
  auto state = run->advance(kForever);
  ASSERT_TRUE(state.ok() && *state == RunState::waits);
  ASSERT_EQ(run->waiting_queues().size(), 1u);
  EXPECT_EQ(run->waiting_queues()[0].queue, x);
  EXPECT_FALSE(run->waiting_queues()[0].for_room);
  run->add_entries(x, 5, 0, run->time());
  state = run->advance(kForever);
  ASSERT_TRUE(state.ok() && *state == RunState::ended);

  auto full = r.start({{x, {8, 0}}, {y, {0, 2}}});
  ASSERT_TRUE(full.ok());
  state = full->advance(kForever);
  ASSERT_TRUE(state.ok() && *state == RunState::waits);
  ASSERT_EQ(full->waiting_queues().size(), 1u);
  EXPECT_EQ(full->waiting_queues()[0].queue, y);
  EXPECT_TRUE(full->waiting_queues()[0].for_room);
  full->add_entries(y, 0, 6, full->time());
  state = full->advance(kForever);
  ASSERT_TRUE(state.ok() && *state == RunState::ended);
}

}  // namespace
}  // namespace buda::sim
