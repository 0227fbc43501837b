// SPDX-License-Identifier: Apache-2.0
// Tables of small stream programs: what comes, what leaves, in which order, and what is refused.
#include <buda/movers/encode.hpp>
#include <buda/movers/lower.hpp>
#include <buda/movers/space.hpp>

#include <buda/base/text.hpp>

#include <movers/tables.h>

#include "unit/movers/blobs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace buda::movers {
namespace {

using overlay::Blob;
using testing::ElementsAre;
using testing::HasSubstr;

Tables lowered(const Blob& blob, const Execution& execution = {}) {
  auto tables = lower(blob, execution);
  EXPECT_TRUE(tables.ok()) << (tables.ok() ? "" : tables.failure().diagnostics().front().message);
  return tables.ok() ? std::move(*tables) : Tables{};
}

// What a run of tuples says, tuple by tuple.
template <std::size_t N>
std::vector<std::array<std::int64_t, N>> tuples(const std::vector<overlay::Run<N>>& runs) {
  std::vector<std::array<std::int64_t, N>> out;
  overlay::for_each(runs, [&](const auto& t) { out.push_back(t); });
  return out;
}

Diagnostic refusal(const Blob& blob, const Execution& execution = {}) {
  auto tables = lower(blob, execution);
  EXPECT_FALSE(tables.ok());
  return tables.ok() ? Diagnostic{} : tables.failure().diagnostics().front();
}

TEST(Lower, ReadsEntriesFromTheirSlotsOn) {
  Execution execution;
  execution.queues["x"] = {1, 0, 1, 1};
  const Tables tables = lowered(blob_of(kReader + "," + kTaker), execution);
  const In& in = tables.cores[0].ins[0];
  // Tiles 2, 3, 0 and 1 of slots 1, 0 and 1 again: neighbours are read together, also where an entry ends.
  const auto tile = [](std::int64_t slot, std::int64_t number) { return std::int64_t{4096} + 32 + (slot * 4 + number) * 2080; };
  EXPECT_EQ(tuples(in.read),
            (std::vector<std::array<std::int64_t, 3>>{
                {2, 0, tile(1, 2)}, {2, 0, tile(1, 0)}, {2, 0, tile(0, 2)}, {2, 0, tile(0, 0)}, {2, 0, tile(1, 2)}, {2, 0, tile(1, 0)}}));
  EXPECT_EQ(in.chunk, 2);
  EXPECT_EQ(tables.cores[0].nodes, (std::vector<MemoryNode>{{{0, 1}, 0}}));
}

TEST(Lower, BothEndsOfAConnectionMeet) {
  const Tables tables = lowered(blob_of(kReader + "," + kTaker));
  const Out& out = tables.cores[0].outs[0];
  const In& in = tables.cores[1].ins[0];
  EXPECT_EQ(tuples(out.sends), (std::vector<std::array<std::int64_t, 5>>{{12, 0, 0, 0, 12}}));
  EXPECT_EQ(tuples(in.takes), (std::vector<std::array<std::int64_t, 2>>{{12, 0}}));
  const Connection& c = out.connections[0];
  EXPECT_EQ(c.first, (device::NocCoord{2, 1}));
  EXPECT_EQ(c.address, 3000u);
  EXPECT_EQ(c.slots, 3);
  EXPECT_THAT(in.arrivals, ElementsAre(c.arrival));
  EXPECT_THAT(in.credits, ElementsAre(Word{{1, 1}, c.credits}));
  EXPECT_GE(tables.cores[0].table, c.credits + 4);
  EXPECT_GE(tables.cores[1].table, c.arrival + 16);
}

TEST(Lower, SlotsOfWindowsAreFreeWhenTheLastOfThemHasLeft) {
  const Tables tables = lowered(blob_of(kWindows, ""));
  const Out& out = tables.cores[0].outs[0];
  EXPECT_EQ(tuples(out.sends),
            (std::vector<std::array<std::int64_t, 5>>{{2, 0, 2, 0, 0}, {2, 1, 0, 0, 4}, {2, 0, 6, 2, 4}, {2, 1, 4, 2, 8}}));
}

TEST(Lower, AMulticastHasOneWordForAllReceivers) {
  const auto receiver = [](int column, const char* more) {
    return cat(
        R"({"core": [0, )", column, R"(], "noc": ")", column + 1, R"(-1", "op": "b", "streams": [)", more,
        R"({"stream": 4, "kind": "input", "operand": 0, "address": 3000, "bytes": 8320, "message": 2080, "from": [[0, 24]], "phases": [[0, 8]]}]})");
  };
  const std::string sender = R"({"core": [0, 0], "noc": "1-1", "op": "a", "streams": [
{"stream": 24, "kind": "output", "operand": 16, "address": 20000, "bytes": 8320, "message": 2080, "to": [[1, 3, 4]], "phases": [[0, 8]]}]})";
  const Tables tables = lowered(blob_of(sender + "," + receiver(1, "") + "," + receiver(2, "") + "," + receiver(3, ""), ""));
  const Connection& c = tables.cores[0].outs[0].connections[0];
  EXPECT_EQ(c.receivers, 3);
  EXPECT_EQ(c.first, (device::NocCoord{2, 1}));
  EXPECT_EQ(c.last, (device::NocCoord{4, 1}));
  for (std::size_t i = 1; i <= 3; ++i) {
    EXPECT_THAT(tables.cores[i].ins[0].arrivals, ElementsAre(c.arrival));
    EXPECT_THAT(tables.cores[i].ins[0].credits, ElementsAre(Word{{1, 1}, c.credits + 4 * (i - 1)}));
  }
}

// Where one of the receivers has other buffers, too, theirs are at one address all the same.
TEST(Lower, LargerBuffersOfAMulticastAreAtOneAddress) {
  const auto receiver = [](int column, const char* more) {
    return cat(
        R"({"core": [0, )", column, R"(], "noc": ")", column + 1, R"(-1", "op": "b", "streams": [)", more,
        R"({"stream": 4, "kind": "input", "operand": 0, "address": 3000, "bytes": 8320, "message": 2080, "from": [[0, 24]], "phases": [[0, 8]]}]})");
  };
  const char* relay =
      R"({"stream": 1, "kind": "relay", "operand": 0, "address": 11000, "bytes": 41600, "message": 2080, "read": {"buffers": [{"dram": 0}], "block_tiles": 2, "chunk_tiles": 2, "blocks": [[0]]}, "write": {"dram": 0, "chunk_tiles": 1}, "phases": [[0, 2]]},)";
  const std::string sender = R"({"core": [0, 0], "noc": "1-1", "op": "a", "streams": [
{"stream": 24, "kind": "output", "operand": 16, "address": 20000, "bytes": 8320, "message": 2080, "to": [[1, 2, 4]], "phases": [[0, 8]]}]})";
  Execution execution;
  execution.l1_end = 1 << 20;
  execution.kernel_inputs[{1, 0}] = execution.kernel_inputs[{2, 0}] = {8, 8};
  const Tables tables = lowered(blob_of(sender + "," + receiver(1, "") + "," + receiver(2, relay)), execution);
  const Connection& c = tables.cores[0].outs[0].connections[0];
  EXPECT_EQ(c.slots, 8);
  EXPECT_EQ(tables.cores[1].rings[0].address, c.address);
  ASSERT_EQ(tables.cores[2].rings.size(), 2u);
  EXPECT_EQ(tables.cores[2].rings[1].address, c.address);
  EXPECT_EQ(tables.cores[2].rings[1].slots, 8);
  const Ring& other = tables.cores[2].rings[0];
  EXPECT_TRUE(other.address + other.bytes() <= c.address || c.address + 8 * 2080 <= other.address);

  execution.kernel_inputs[{2, 0}] = {8, 7};
  EXPECT_EQ(refusal(blob_of(sender + "," + receiver(1, "") + "," + receiver(2, relay)), execution).code, "MV002");
}

TEST(FreeSpace, TakesTheSmallestPartThatIsLargeEnough) {
  FreeSpace space(100, 1100);
  EXPECT_EQ(space.bytes(), 1100u - 128) << "from a multiple of 32 bytes on";
  space.take(300, 20);
  space.take(310, 100);
  space.take(0, 130);
  EXPECT_EQ(space.bytes(), (300u - 160) + (1100 - 416));
  EXPECT_EQ(space.place(700), std::nullopt);
  EXPECT_EQ(space.place(100), 160u);
  EXPECT_EQ(space.place(684), 416u);
  EXPECT_EQ(space.place(12), 288u) << "what is left of the part";
  EXPECT_EQ(space.place(1), std::nullopt);
}

TEST(Lower, TilesThatStayAreAGroup) {
  const std::string cores = R"({"core": [0, 0], "noc": "1-1", "op": "a", "streams": [
{"stream": 4, "kind": "input", "operand": 0, "address": 1000, "bytes": 8320, "message": 2080, "read": {"buffers": [{"dram": 0}], "block_tiles": 3, "chunk_tiles": 2, "before_epoch": true, "blocks": [[0]]}, "phases": [[0, 3]]}]})";
  Execution execution;
  execution.inputs = 5;
  execution.kernel_inputs[{0, 0}] = {30, 3};  // twice for each input
  const Tables tables = lowered(blob_of(cores), execution);
  EXPECT_EQ(tables.cores[0].ins[0].group, 3);
  EXPECT_EQ(tables.cores[0].ins[0].times, 10);
  EXPECT_EQ(tables.cores[0].rings[0].slots, 3) << "the kernel begins anew where the group does";

  execution.kernel_inputs[{0, 0}] = {30, 31};
  EXPECT_EQ(refusal(blob_of(cores), execution).code, "MV002") << "it does not take so many";
  execution.kernel_inputs[{0, 0}] = {31, 1};
  EXPECT_EQ(refusal(blob_of(cores), execution).code, "MV002");
}

// The kernel has them one after the other as often as it needs together, and so that it begins anew where they do. Senders see three slots.
TEST(Lower, AGroupThatIsTooSmallIsThereSeveralTimes) {
  Execution execution;
  execution.l1_end = 1 << 20;
  execution.kernel_inputs[{1, 0}] = {180, 7};
  std::string stays = kTaker;
  stays.replace(stays.find("6240"), 4, "24960");
  stays.replace(stays.find("[0, 12]"), 7, "[0, 3]");
  std::string sends = kReader;
  for (std::size_t at = 0; (at = sends.find("[0, 12]", at)) != std::string::npos;) sends.replace(at, 7, "[0, 3]");
  const Tables tables = lowered(blob_of(sends + "," + stays), execution);
  const Ring& ring = tables.cores[1].rings[0];
  EXPECT_EQ(ring.slots, 3);
  EXPECT_EQ(ring.copies, 3);
  EXPECT_EQ(ring.address, 3000u) << "the buffer of the blob has room for nine";
  EXPECT_EQ(tables.cores[1].ins[0].times, 60);
  EXPECT_EQ(tables.cores[0].outs[0].connections[0].slots, 3);
  execution.kernel_inputs[{1, 0}] = {180, 19};
  const Tables more = lowered(blob_of(sends + "," + stays), execution);
  EXPECT_EQ(more.cores[1].rings[0].copies, 10) << "sixty is not a multiple of 7, 8 or 9";
  EXPECT_GE(more.cores[1].rings[0].address, mover::kTables + mover::kSmallTableBytes) << "the buffer of the blob has not";
}

TEST(Lower, AKernelsTilesMustHaveRoomTogether) {
  Execution execution;
  execution.kernel_inputs[{1, 0}] = {12, 4};
  const Diagnostic d = refusal(blob_of(kReader + "," + kTaker), execution);
  EXPECT_EQ(d.code, "MV002");
  EXPECT_EQ(d.node, "b");
  EXPECT_THAT(d.message, HasSubstr("op 'b': its buffers have to have 8320 bytes of L1 at the same time, and there are 0"));
  execution.l1_end = mover::kTables + mover::kSmallTableBytes + 8320;
  const Tables tables = lowered(blob_of(kReader + "," + kTaker), execution);
  EXPECT_EQ(tables.cores[1].rings[0].slots, 4);
  const Connection& c = tables.cores[0].outs[0].connections[0];
  EXPECT_EQ(c.slots, 4);
  EXPECT_EQ(c.address, mover::kTables + mover::kSmallTableBytes);
  EXPECT_EQ(tables.cores[0].rings[0].address, 1000u) << "other ops keep their buffers";
}

// Read into the ring before the kernel has room, and written when the last input has been added to them.
TEST(Lower, SumsOfAGradientStayForAllInputs) {
  Execution execution;
  execution.inputs = 3;
  const Tables tables = lowered(blob_of(kSums), execution);
  const Ring& ring = tables.cores[0].rings[0];
  EXPECT_TRUE(ring.sums);
  EXPECT_EQ(ring.stream, 32);
  EXPECT_EQ(ring.kernel_stream(), 24);
  EXPECT_EQ(tuples(tables.cores[0].ins[0].read), (std::vector<std::array<std::int64_t, 3>>{{4, 0, 4096 + 32}}));
  EXPECT_EQ(tuples(tables.cores[0].outs[0].sends), (std::vector<std::array<std::int64_t, 5>>{{4, 0, 8, 4096 + 32, 12}}));
  auto words = encode(tables.cores[0], {10, 12}, std::nullopt);
  ASSERT_TRUE(words.ok());
  mover::MoverHeader header;
  std::memcpy(&header, words->data(), sizeof header);
  mover::OutRecord out;
  std::memcpy(&out, words->data() + (header.outs - mover::kTables), sizeof out);
  EXPECT_EQ(out.lowest, 8u) << "what comes before is free as soon as it is made";
}

TEST(Lower, RefusesWhatMoversDoNotDo) {
  const std::string gradient = R"({"core": [0, 0], "noc": "1-1", "op": "a", "streams": [
{"stream": 24, "kind": "output", "operand": 16, "address": 20000, "bytes": 8320, "message": 2080, "write": {"dram": 0, "chunk_tiles": 1, "after_epoch": true}, "phases": [[0, 4]]}]})";
  const Diagnostic d = refusal(blob_of(gradient));
  EXPECT_EQ(d.code, "MV001");
  EXPECT_EQ(d.node, "a");
  EXPECT_THAT(d.message, HasSubstr("written after the epoch"));
  std::string other_chip = kTaker;
  other_chip.replace(0, 1, R"({"chip": 1, )");
  Blob two = blob_of(kReader + "," + kTaker);
  two.cores[1].chip = 1;
  EXPECT_THAT(refusal(two).message, HasSubstr("several chips"));
}

TEST(Encode, SaysWhereEverythingIs) {
  const Tables tables = lowered(blob_of(kReader + "," + kTaker));
  auto words = encode(tables.cores[0], {10, 12}, std::array<std::uint32_t, 3>{0xd000, 0x12000, 0x16000});
  ASSERT_TRUE(words.ok());
  mover::MoverHeader header;
  std::memcpy(&header, words->data(), sizeof header);
  EXPECT_EQ(header.nodes[0], (1u | 1u << 6) << 4);
  EXPECT_EQ(header.nodes[1], (8u | 10u << 6) << 4) << "the second network counts from the other corner";
  EXPECT_EQ(header.ring_count, 2u);
  EXPECT_EQ(header.computes, 1u);
  const auto record = [&](std::uint32_t address, auto& out) { std::memcpy(&out, words->data() + (address - mover::kTables), sizeof out); };
  mover::RingRecord ring;
  record(header.rings + sizeof ring, ring);
  EXPECT_EQ(ring.stream, 0xffb40000u + 24 * 0x1000u);
  EXPECT_EQ(ring.from_kernel, 1u);
  EXPECT_EQ(ring.out_count, 1u);
  EXPECT_EQ(ring.first_out, header.outs);
  mover::InRecord in;
  record(header.ins, in);
  EXPECT_EQ(in.reads, 1u);
  std::uint32_t first[4];
  record(in.list.next, first);
  EXPECT_THAT(first, ElementsAre(2u, 2u, (0u | 1u << 6) << 4, 4096u + 32 + 2 * 2080));
  mover::OutRecord out;
  record(header.outs, out);
  mover::Connection connection;
  record(out.connections, connection);
  EXPECT_EQ(connection.nodes, (2u | 1u << 6) << 4);
  EXPECT_EQ(connection.control, 0u);
}

TEST(Encode, TablesHaveToFit) {
  Tables tables = lowered(blob_of(kReader + "," + kTaker));
  // Tiles in no order that runs would have.
  std::int64_t at = 7;
  for (int i = 0; i < 9000; ++i) overlay::append(tables.cores[0].ins[0].read, {1, 0, 4096 + 32 * (at = at * 7919 % 100'003)});
  auto words = encode(tables.cores[0], {10, 12}, std::nullopt);
  ASSERT_FALSE(words.ok());
  EXPECT_EQ(words.failure().diagnostics().front().code, "MV003");
}

}  // namespace
}  // namespace buda::movers
