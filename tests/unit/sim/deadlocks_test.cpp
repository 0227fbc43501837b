// SPDX-License-Identifier: Apache-2.0
// Twelve deadlocks, each with its reason: the ops that wait for each other are named, and where a hint is given, it makes the net run.
#include <buda/sim/epoch/hint.hpp>

#include "unit/sim/run_of.hpp"

#include <regex>
#include <stdexcept>

namespace buda::sim {
namespace {

using overlay::StreamKind;
using pipes::op_text, pipes::queue_text;

const std::string kOne = "t: 1, mblock: [2, 2], ublock: [2, 2]", kFour = "t: 4, mblock: [2, 2], ublock: [2, 2]";

std::string block_of(const std::string& shape, int buffers) { return cat(shape, ", ublock_order: r, buf_size_mb: ", buffers); }

std::string at(int row, int col = 0) { return cat("grid_loc: [", row, ", ", col, "], grid_size: [1, 1]"); }

std::string queue(const std::string& name, const std::string& input, const std::string& shape, unsigned base, int entries = 8) {
  return queue_text(name, input, "grid_size: [1, 1], " + shape, 1, base, cat("type: queue, entries: ", entries));
}

std::string room(const std::string& tiles) { return cat(", input_buf_min_size_tiles: [", tiles, "]"); }

// The sum over t, as one of t.
std::string sum(const std::string& name, const std::string& of, int row) {
  return op_text(name, "reduce", of, 1, at(row), block_of(kOne, 1), "attributes: {dim: z, type: max, z: 4}");
}

// What `op` gets for its inputs beside what it needs.
using Rooms = std::map<std::string, std::string>;

std::string room_of(const Rooms& rooms, const std::string& op) {
  const auto found = rooms.find(op);
  return found == rooms.end() ? "" : room(found->second);
}

// fork -> join, and fork -> sum -> … -> join with `between` more ops.
std::string fork_sum_join(int between, const Rooms& rooms) {
  std::string ops = op_text("fork", "nop", "x", 1, at(0), block_of(kFour, 1)) + sum("sum", "fork", 1);
  std::string last = "sum";
  for (int i = 0; i < between; ++i) {
    ops += op_text(cat("step", i), "nop", last, 1, at(2 + i), block_of(kOne, 2));
    last = cat("step", i);
  }
  ops += op_text("join", "add", "fork, " + last, 2, at(2 + between), block_of(kFour, 1),
                 "input_1_tms: [broadcast: {z: 4}]" + room_of(rooms, "join"));
  return pipes::netlist_text(queue("x", "HOST", kFour, 0x20000000) + queue("y", "join", kFour, 0x30000000), ops, 2);
}

// Two sums of one fork, and a join of three.
std::string fork_two_sums_join(const Rooms& rooms) {
  const std::string ops =
      op_text("fork", "nop", "x", 1, at(0), block_of(kFour, 1)) + sum("sum_a", "fork", 1) + sum("sum_b", "fork", 2) +
      op_text("both", "add", "sum_a, sum_b", 2, at(3), block_of(kOne, 2)) +
      op_text("join", "add", "both, fork", 2, at(4), block_of(kFour, 1), "input_0_tms: [broadcast: {z: 4}]" + room_of(rooms, "join"));
  return pipes::netlist_text(queue("x", "HOST", kFour, 0x20000000) + queue("y", "join", kFour, 0x30000000), ops, 2);
}

// A matmul whose left operand is what its right one is the transposed sum of: it cannot begin before all of it is there.
std::string fork_into_matmul(const Rooms& rooms) {
  const std::string ops = op_text("fork", "nop", "x", 1, at(0), block_of(kFour, 1)) + sum("sum", "fork", 1) +
                          op_text("mm", "matmul", "fork, sum", 2, at(2), block_of(kFour, 1),
                                  "attributes: {m_k: 2, u_kt: 2}, input_1_tms: [broadcast: {z: 4}]" + room_of(rooms, "mm"));
  return pipes::netlist_text(queue("x", "HOST", kFour, 0x20000000) + queue("y", "mm", kFour, 0x30000000), ops, 2);
}

struct Outcome {
  RunState state = RunState::running;
  std::string text, hint;
};

Outcome outcome_of(const RunOf& r, const EntriesByQueue& entries = {}) {
  EXPECT_EQ(r.problem, "");
  Outcome out;
  auto run = r.start(entries);
  if (!run) return {RunState::running, pipes::messages(run.failure()), ""};
  auto state = run->advance(kForever);
  if (!state) return {RunState::running, pipes::messages(state.failure()), ""};
  out.state = *state;
  if (*state != RunState::deadlocked) return out;
  const Diagnostic why = run->why();
  out.text = why.message;
  for (const Note& note : why.notes) out.text += "\n" + note.message;
  const EpochSetup setup{
      *r.built.index, *r.built.device, r.built.epochs.front(), r.built.padding, std::make_shared<const overlay::Blob>(r.blob), r.cores};
  out.hint = hint_for(setup, entries, *run);
  return out;
}

void expect_named(const Outcome& outcome, const std::vector<std::string>& names) {
  EXPECT_EQ(outcome.state, RunState::deadlocked) << outcome.text;
  for (const std::string& name : names) EXPECT_NE(outcome.text.find(name), std::string::npos) << name << "\n" << outcome.text;
}

// A deadlock of a netlist: the hint, applied, makes it run.
template <class F>
void expect_hint_helps(F&& netlist, const std::vector<std::string>& names) {
  const Outcome outcome = outcome_of(RunOf(netlist(Rooms{})));
  expect_named(outcome, names);
  std::smatch match;
  ASSERT_TRUE(std::regex_match(outcome.hint, match, std::regex("op '(.*)': input_buf_min_size_tiles: \\[(.*)\\]"))) << outcome.hint;
  const RunOf larger(netlist(Rooms{{match[1], match[2]}}));
  EXPECT_EQ(larger.problem, "");
  EXPECT_EQ(larger.outcome(), "ended") << outcome.hint;
}

TEST(Deadlocks, ForkAndJoin) {
  expect_hint_helps([](const Rooms& rooms) { return fork_sum_join(0, rooms); }, {"'fork'", "'sum'", "'join'"});
}

TEST(Deadlocks, ForkAndJoinOverALongerWay) {
  expect_hint_helps([](const Rooms& rooms) { return fork_sum_join(3, rooms); }, {"'fork'", "'sum'", "'step0'", "'step2'", "'join'"});
}

TEST(Deadlocks, ForkOfThreeBranches) {
  expect_hint_helps([](const Rooms& rooms) { return fork_two_sums_join(rooms); }, {"'fork'", "'both'", "'join'"});
}

TEST(Deadlocks, AMatmulThatNeedsAllOfOneOperand) {
  expect_hint_helps([](const Rooms& rooms) { return fork_into_matmul(rooms); }, {"'fork'", "'sum'", "'mm'"});
}

// x -> a -> b -> y, with changed stream programs.
struct Changed {
  Changed() : original(two_ops(4)), blob(original.blob) {}
  overlay::Stream& stream(const std::string& op, StreamKind kind) {
    for (overlay::Core& core : blob.cores)
      for (overlay::Stream& s : core.streams)
        if (core.op == op && s.kind == kind) return s;
    throw std::logic_error("no such stream");
  }
  Outcome outcome() const { return outcome_of(original.with(blob)); }

  RunOf original;
  overlay::Blob blob;
};

TEST(Deadlocks, MissingPhase) {
  Changed c;
  c.stream("a", StreamKind::output).phases[0].first[1] -= 4;
  expect_named(c.outcome(), {"'b' [1, 0] waits for input 0"});
}

TEST(Deadlocks, PhasesThatDoNotMeet) {
  Changed c;
  c.stream("b", StreamKind::input).phases[0].first[0] = 7;
  expect_named(c.outcome(), {"the output of 'a'", "input 0 of 'b'", "phase 7"});
}

TEST(Deadlocks, AnIterationTooFew) {
  Changed c;
  overlay::Stream& output = c.stream("a", StreamKind::output);
  output.phases[0].first[1] /= 4;
  output.iterations = 3;
  const Outcome outcome = c.outcome();
  expect_named(outcome, {"'a'", "'b'"});
}

TEST(Deadlocks, AnInputThatHoldsLessThanItsKernelTakesAtOnce) {
  RunOf original(pipes::netlist_text(queue("x", "HOST", "t: 1, mblock: [1, 2], ublock: [2, 2]", 0x20000000) +
                                         queue("y", "b", "t: 1, mblock: [1, 2], ublock: [2, 2]", 0x30000000),
                                     op_text("a", "nop", "x", 1, at(0), block_of("t: 1, mblock: [1, 2], ublock: [2, 2]", 2)) +
                                         op_text("b", "nop", "a", 1, at(1), block_of("t: 1, mblock: [1, 2], ublock: [2, 2]", 2)),
                                     4));
  ASSERT_EQ(original.problem, "");
  overlay::Blob blob = original.blob;
  for (overlay::Core& core : blob.cores)
    for (overlay::Stream& s : core.streams)
      if (core.op == "b" && s.kind == StreamKind::input) s.bytes = 2 * static_cast<std::uint64_t>(s.message_bytes);
  const Outcome outcome = outcome_of(original.with(blob));
  expect_named(outcome, {"'b' [1, 0] waits for input 0: 2 of 4 tiles", "which is full: 2 of 2 tiles"});
  EXPECT_EQ(outcome.hint, "op 'b': input_buf_min_size_tiles: [4]");
}

// A queue between two ops of an epoch whose header nobody moves while it runs: it has to hold all inputs.
std::string queue_between(int entries) {
  return pipes::netlist_text(
      queue("x", "HOST", kOne, 0x20000000) + queue("q", "a", kOne, 0x28000000, entries) + queue("y", "b", kOne, 0x30000000),
      op_text("a", "nop", "x", 1, at(0), block_of(kOne, 2)) + op_text("b", "nop", "q", 1, at(1), block_of(kOne, 2)), 4);
}

TEST(Deadlocks, ShortQueue) {
  const RunOf r(queue_between(2));
  ASSERT_EQ(r.problem, "");
  const std::size_t q = r.built.index->queue("q");
  expect_named(outcome_of(r, {{q, {0, 2, 0}}}),
               {"the output of 'a' [0, 0] waits for space in queue 'q'", "input 0 of 'b' [1, 0] waits for entry 2 of queue 'q'"});
  // It ends where the header tells of what has been read, or with all the room.
  for (const QueueEntries& enough : {QueueEntries{0, 2, 1}, QueueEntries{0, 4, 0}}) {
    auto other = r.start({{q, enough}});
    ASSERT_TRUE(other.ok());
    auto end = other->advance(kForever);
    ASSERT_TRUE(end.ok());
    EXPECT_EQ(*end, RunState::ended);
  }
}

TEST(Deadlocks, HostThatNeverPops) {
  const RunOf r(two_ops(4));
  const std::size_t y = r.built.index->queue("y");
  auto run = r.start({{y, {0, 1, 0}}});
  ASSERT_TRUE(run.ok());
  auto state = run->advance(kForever);
  ASSERT_TRUE(state.ok() && *state == RunState::waits);
  ASSERT_EQ(run->waiting_queues().size(), 1u);
  EXPECT_EQ(run->waiting_queues()[0].queue, y);
  EXPECT_TRUE(run->waiting_queues()[0].for_room);
}

TEST(Deadlocks, HostThatNeverPushes) {
  const RunOf r(two_ops(4));
  const std::size_t x = r.built.index->queue("x");
  auto run = r.start({{x, {2, 0, 0}}});
  ASSERT_TRUE(run.ok());
  auto state = run->advance(kForever);
  ASSERT_TRUE(state.ok() && *state == RunState::waits);
  ASSERT_EQ(run->waiting_queues().size(), 1u);
  EXPECT_EQ(run->waiting_queues()[0].queue, x);
  EXPECT_FALSE(run->waiting_queues()[0].for_room);
}

// Two streams send what one has read; a tile is gone when both have sent it. One receiver waits for the other.
TEST(Deadlocks, ForkedReads) {
  RunOf r(pipes::netlist_text(
      queue("x", "HOST", kFour, 0x20000000) + queue("y", "join", kFour, 0x30000000),
      sum("sum", "x", 0) + op_text("join", "add", "x, sum", 2, at(1), block_of(kFour, 1), "input_1_tms: [broadcast: {z: 4}]"), 2));
  ASSERT_EQ(r.problem, "");
  ASSERT_EQ(r.outcome(), "ended") << "each reads for itself";
  // The join takes what the sum's reader sends: a relay that reads, and a fork of it.
  overlay::Stream *of_sum = nullptr, *of_join = nullptr;
  std::int32_t core_of_sum = 0, core_of_join = 0;
  for (std::size_t c = 0; c < r.blob.cores.size(); ++c)
    for (overlay::Stream& s : r.blob.cores[c].streams) {
      if (!s.read) continue;
      (r.blob.cores[c].op == "sum" ? of_sum : of_join) = &s;
      (r.blob.cores[c].op == "sum" ? core_of_sum : core_of_join) = static_cast<std::int32_t>(c);
    }
  ASSERT_TRUE(of_sum != nullptr && of_join != nullptr);
  overlay::Stream relay = *of_sum, fork = *of_sum;
  relay.kind = fork.kind = StreamKind::relay;
  relay.number = 40;
  fork.number = 41;
  relay.buffer = fork.buffer = 0;
  relay.address = fork.address = 0x80000;
  relay.bytes = fork.bytes = of_sum->bytes;
  relay.destinations = {{{core_of_sum, of_sum->number}, core_of_sum}};
  fork.destinations = {{{core_of_join, of_join->number}, core_of_join}};
  fork.fork_of = 40;
  fork.read.reset();
  for (overlay::Stream* s : {of_sum, of_join}) s->read.reset();
  of_sum->sources = {{core_of_sum, 40}};
  of_join->sources = {{core_of_sum, 41}};
  auto& streams = r.blob.cores[static_cast<std::size_t>(core_of_sum)].streams;
  streams.push_back(relay);
  streams.push_back(fork);
  expect_named(outcome_of(r), {"'sum'", "'join'", "is full"});
}

}  // namespace
}  // namespace buda::sim
