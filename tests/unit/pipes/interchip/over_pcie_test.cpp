// SPDX-License-Identifier: Apache-2.0
// Chips without ethernet: what leads from one to the next over PCIe.
#include "unit/pipes/check/damage.hpp"
#include "unit/pipes/interchip/ring.hpp"

#include <buda/pipes/interchip/ring.hpp>

#include <algorithm>
#include <set>

namespace buda::pipes {
namespace {

const Built& ring() {
  static const Built built(ring_of_chips(), "grayskull");
  return built;
}

TEST(OverPcie, PipesStayInOnePiece) {
  ASSERT_TRUE(ring().ok()) << ring().problem;
  EXPECT_EQ(ring().check(), "");
  BufferIndex index(ring().graph.buffers);
  int marked = 0;
  for (const Pipe& p : ring().graph.pipes) {
    const Buffer *from = index.find(p.inputs.front()), *to = index.find(p.outputs.front().front());
    const bool crosses = !from->is_queue() && !to->is_queue() && from->chip != to->chip;
    EXPECT_EQ(p.mmio_downstream.has_value(), crosses) << p.id;
    if (!crosses) continue;
    ++marked;
    EXPECT_EQ(p.mmio_downstream, to->chip == (from->chip + 1) % 3 ? 1 : 0) << p.id;
    EXPECT_EQ(p.incoming_vc, 0);
  }
  EXPECT_EQ(marked, 4 + 2 + 1 + 4) << "to g, to the rows of m, to t in turns, to h";
  EXPECT_TRUE(
      std::none_of(ring().graph.buffers.begin(), ring().graph.buffers.end(), [](const Buffer& b) { return b.type == BufferType::relay; }));
}

// From the core that gives all of it, a pipe stands there; a multicast, where it begins.
TEST(OverPcie, WherePipesStand) {
  ASSERT_TRUE(ring().ok()) << ring().problem;
  EXPECT_EQ(ring().feeding(ring().input("g", {1, 0}, 0)).front()->mcast_core.front(), (CoreCoord{0, {1, 0}}));
  EXPECT_EQ(ring().feeding(ring().input("m", {5, 1}, 0)).front()->mcast_core.front(), (CoreCoord{1, {5, 0}}));
}

TEST(OverPcie, QueuesOfTheNextChipAreReadAndWrittenThere) {
  ASSERT_TRUE(ring().ok()) << ring().problem;
  const Buffer *read = ring().buffer("z", BufferType::dram_io), *written = ring().buffer("yh", BufferType::dram_io);
  ASSERT_TRUE(read != nullptr && written != nullptr);
  EXPECT_EQ(read->dram_addr, 0x80000000u + 0xc000000) << "after chip 2 comes chip 0";
  EXPECT_EQ(written->dram_addr, 0x40000000u + 0xc000000) << "before chip 2 stands chip 1";
  EXPECT_EQ(read->dram_io_flag_is_remote, 1);
  EXPECT_EQ(written->dram_io_flag_is_remote, 1);
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) text.replace(at, what.size(), by);
  return text;
}

TEST(OverPcie, OnlyNeighboursExchangeData) {
  // A fourth chip makes the ring longer: 0 and 2 are no neighbours then.
  const std::string four = replaced(
      ring_of_chips(), "queues:\n",
      "queues:\n" + on_chip(3, queue_text("far", "HOST", "grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [1, 1]", 1, 0x20000000)));
  Built read(four, "grayskull");
  ASSERT_EQ(read.diagnostics.size(), 1u);
  EXPECT_EQ(read.diagnostics.front().code, "PP034");
  Built taken(replaced(replaced(four, "inputs: [g, z]", "inputs: [g, f]"), "target_device: 0, loc: dram, dram: [[0, 0x3",
                       "target_device: 2, loc: dram, dram: [[0, 0x3"),
              "grayskull");
  ASSERT_EQ(taken.diagnostics.size(), 1u);
  EXPECT_EQ(taken.diagnostics.front().code, "PP034");
  EXPECT_EQ(taken.diagnostics.front().node, "h");
  EXPECT_NE(taken.problem.find("op 'f'"), std::string::npos) << taken.problem;
}

TEST(OverPcie, AQueueIsForOpsOfOneChip) {
  Built b(replaced(ring_of_chips(), "grid_loc: [0, 0], grid_size: [2, 2], inputs: [f]", "grid_loc: [0, 0], grid_size: [2, 2], inputs: [z]"),
          "grayskull");
  ASSERT_FALSE(b.ok());
  EXPECT_EQ(b.diagnostics.front().code, "PP001");
  EXPECT_NE(b.problem.find("chip 1 and of chip 2"), std::string::npos) << b.problem;
}

class PcieDamage : public DamageTest {
 protected:
  PcieDamage() : DamageTest(ring()) {}
  Pipe& crossing() {
    return pipe([](const Pipe& p) { return p.mmio_downstream.has_value(); });
  }
};

TEST_F(PcieDamage, NotMarked) {
  crossing().mmio_downstream.reset();
  expect_caught("PC023");
}
TEST_F(PcieDamage, TheOtherWayRound) {
  crossing().mmio_downstream = 0;
  expect_caught("PC026");
}
TEST_F(PcieDamage, WithinAChip) {
  pipe_to("m", 1).mmio_downstream = 1;
  expect_caught("PC026");
}
TEST_F(PcieDamage, ToAnotherChip) {
  buffer("g", BufferType::unpacker).chip = 2;
  expect_caught();
}
TEST_F(PcieDamage, TilesExchanged) {
  auto& inputs = pipe_to("m", 0).inputs;
  std::swap(inputs.front(), inputs.back());
  expect_caught("PC013");
}
TEST_F(PcieDamage, TurnsExchanged) {
  auto& outputs = pipe_to("t", 0).outputs;
  ASSERT_GT(outputs.size(), 1u);
  std::swap(outputs.front(), outputs.back());
  expect_caught("PC013");
}
TEST_F(PcieDamage, QueueOnTheWrongSide) {
  buffer("z", BufferType::dram_io).dram_addr -= 0x40000000;
  expect_caught("PC003");
}

}  // namespace
}  // namespace buda::pipes
