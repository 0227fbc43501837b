// SPDX-License-Identifier: Apache-2.0
// Stream programs that use memory as they must not, and those of another netlist: each is refused before time begins.
#include "unit/sim/run_of.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <stdexcept>

namespace buda::sim {
namespace {

using overlay::Blob, overlay::Core, overlay::Stream, overlay::StreamKind;
using pipes::op_text, pipes::queue_text;
using ::testing::AllOf, ::testing::HasSubstr;

Core& core_of(Blob& blob, const std::string& op) {
  for (Core& core : blob.cores)
    if (core.op == op) return core;
  throw std::logic_error("no core of op " + op);
}

Stream& stream_of(Core& core, StreamKind kind) {
  for (Stream& s : core.streams)
    if (s.kind == kind) return s;
  throw std::logic_error("no such stream");
}

std::string outcome_of(const RunOf& original, const std::function<void(Blob&)>& change) {
  EXPECT_EQ(original.problem, "");
  Blob blob = original.blob;
  change(blob);
  return original.with(std::move(blob)).outcome();
}

// `mm` stands on two cores, which get what `a` makes by one multicast.
std::string multicast() {
  const std::string shape = "t: 1, mblock: [1, 1], ublock: [1, 1]", block = shape + ", ublock_order: r, buf_size_mb: 2";
  return pipes::netlist_text(
      queue_text("x", "HOST", "grid_size: [1, 1], " + shape, 1, 0x20000000) +
          queue_text("w", "HOST", "grid_size: [1, 1], t: 1, mblock: [1, 2], ublock: [1, 1]", 1, 0x28000000) +
          queue_text("y", "mm", "grid_size: [1, 2], " + shape, 2, 0x30000000),
      op_text("a", "nop", "x", 1, "grid_loc: [0, 0], grid_size: [1, 1]", block) +
          op_text("mm", "matmul", "a, w", 2, "grid_loc: [1, 0], grid_size: [1, 2]", block, "attributes: {m_k: 1, u_kt: 1}"),
      2);
}

TEST(WrongPrograms, BuffersThatOverlap) {
  const RunOf original(two_ops(4));
  EXPECT_THAT(outcome_of(original,
                         [](Blob& b) {
                           Core& a = core_of(b, "a");
                           stream_of(a, StreamKind::output).address = stream_of(a, StreamKind::input).address + 0x20;
                         }),
              HasSubstr(": what one receives overwrites the other [SM008]"));
}

TEST(WrongPrograms, PhasesBeyondTheirBuffer) {
  // The columns of `b` are not the rows of `a`, which therefore hands its tiles out one by one.
  std::string text = two_ops(4);
  text.replace(text.rfind("ublock_order: r"), 15, "ublock_order: c");
  const RunOf original(text);
  EXPECT_EQ(
      outcome_of(original, [](Blob& b) { stream_of(core_of(b, "a"), StreamKind::output).window_tiles = 1000; }),
      "on 'a' [0, 0] phase 0 of stream 24 sends 1 tiles from tile 0 of its buffer on, which has 8 tiles in windows of 1000 [SM007]\n");
}

TEST(WrongPrograms, QueuesElsewhere) {
  EXPECT_EQ(outcome_of(RunOf(two_ops(4)), [](Blob& b) { b.dram.front().address += 0x40; }),
            "the stream program has a buffer of queue 'x' at 0x20000040 in DRAM channel 0, where the netlist has none [SM009]\n");
}

TEST(WrongPrograms, ReceiversOfAMulticastAtTwoAddresses) {
  EXPECT_THAT(outcome_of(RunOf(multicast()),
                         [](Blob& b) {
                           for (Core& core : b.cores)
                             if (core.op == "mm" && core.core.col == 1) stream_of(core, StreamKind::input).address -= 0x20;
                         }),
              AllOf(HasSubstr("stream 0 on 'mm' [1, 0] multicasts to 0x"), HasSubstr(", and core [1, 1] has the buffer of stream 4 at 0x"),
                    HasSubstr(" [SM010]")));
}

TEST(WrongPrograms, CoresOfAnotherNetlist) {
  const RunOf original(two_ops(4));
  EXPECT_EQ(outcome_of(original,
                       [](Blob& b) {
                         core_of(b, "a").core = {3, 3};
                       }),
            "the stream program is not of this netlist: on 'a' [3, 3] op 'a' has no core [SM020]\n");
  EXPECT_EQ(
      outcome_of(original, [](Blob& b) { stream_of(core_of(b, "a"), StreamKind::input).operand = 1; }),
      "the stream program is not of this netlist: on 'a' [0, 0] stream 4 is for input 1, which is not there or has another [SM020]\n");
  EXPECT_EQ(outcome_of(original,
                       [](Blob& b) {
                         Core& a = core_of(b, "a");
                         Stream more = stream_of(a, StreamKind::output);
                         more.number += 1;
                         more.address += more.bytes;
                         a.streams.push_back(more);
                       }),
            "the stream program is not of this netlist: on 'a' [0, 0] streams 24 and 25 are for one output [SM020]\n");
}

}  // namespace
}  // namespace buda::sim
