// SPDX-License-Identifier: Apache-2.0
// Damage to what leads from chip to chip.
#include "unit/pipes/check/damage.hpp"
#include "unit/pipes/interchip/two_chips.hpp"

#include <algorithm>
#include <set>

namespace buda::pipes {
namespace {

class RelayDamage : public DamageTest {
 protected:
  RelayDamage() : DamageTest(base()) {}
  // Two links with two streams each: one for the copy, one for the way back, and two for the four cores of `g`.
  static const Built& base() {
    static const Built built(two_chips(), "n300", 2);
    return built;
  }
  // A relay on chip 1 from which two pipes take.
  Buffer& shared() {
    return buffer([](const Buffer& b) { return b.type == BufferType::ethernet_relay && b.is_scatter; });
  }
  Pipe& reader(const Buffer& relay, std::size_t number) {
    return pipe([&](const Pipe& p) { return base_id(p.inputs.front()) == relay.id && number-- == 0; });
  }
  Pipe& over_link() {
    BufferIndex index(graph_.buffers);
    return pipe(
        [&](const Pipe& p) { return p.ethernet_pipe && index.find(p.outputs.front().front())->type == BufferType::ethernet_relay; });
  }
  Buffer& relay(BufferType type, std::int32_t chip) {
    return buffer([&](const Buffer& b) { return b.type == type && b.chip == chip; });
  }
};

TEST_F(RelayDamage, ThereIsNoneToBeginWith) {
  EXPECT_EQ(base().check(graph_), "");
  EXPECT_EQ(std::count_if(graph_.buffers.begin(), graph_.buffers.end(),
                          [](const Buffer& b) { return b.type == BufferType::ethernet_relay && b.is_scatter; }),
            2);
}
TEST_F(RelayDamage, LinkThatIsNotThere) {
  Buffer& b = relay(BufferType::ethernet_relay, 0);
  b.ethernet_chan = 5;
  expect_caught("PC023");
}
TEST_F(RelayDamage, RelayOnAnotherCoreThanItsChannel) {
  relay(BufferType::ethernet_relay, 1).core.row += 1;
  expect_caught("PC001");
}
TEST_F(RelayDamage, RelayOnAnotherChip) {
  relay(BufferType::relay, 0).chip = 1;
  expect_caught("PC023");
}
TEST_F(RelayDamage, LinkNotMarked) {
  over_link().ethernet_pipe = false;
  expect_caught("PC023");
}
TEST_F(RelayDamage, LinkWithinAChip) {
  reader(shared(), 0).ethernet_pipe = true;
  expect_caught("PC023");
}
TEST_F(RelayDamage, RelayThatNothingComesTo) {
  Id lost = over_link().id;
  std::erase_if(graph_.pipes, [&](const Pipe& p) { return p.id == lost; });
  expect_caught("PC010");
}
TEST_F(RelayDamage, RelayThatFeedsItself) {
  Pipe& p = over_link();
  p.inputs = p.outputs.front();
  expect_caught("PC010");
}
TEST_F(RelayDamage, RelayFedTwice) {
  Pipe copy = over_link();
  copy.id = 999'000'000'000;
  graph_.pipes.push_back(copy);
  expect_caught("PC011");
}
TEST_F(RelayDamage, PartsExchanged) {
  std::swap(reader(shared(), 0).inputs, reader(shared(), 1).inputs);
  expect_caught("PC013");
}
TEST_F(RelayDamage, PartTakenTwice) {
  reader(shared(), 1).inputs = reader(shared(), 0).inputs;
  expect_caught("PC024");
}
TEST_F(RelayDamage, PartThatNobodyTakes) {
  Id lost = reader(shared(), 1).id;
  std::erase_if(graph_.pipes, [&](const Pipe& p) { return p.id == lost; });
  expect_caught("PC024");
}
TEST_F(RelayDamage, PartsOfAnotherSize) {
  shared().scatter_gather_num_tiles = 1;
  expect_caught("PC009");
}
TEST_F(RelayDamage, MorePartsThanTilesThatCome) {
  shared().replicate += 1;
  expect_caught("PC009");
}
TEST_F(RelayDamage, GatheredInAnotherOrder) {
  BufferIndex index(graph_.buffers);
  auto& inputs =
      pipe([&](const Pipe& p) { return p.inputs.size() == 2 && index.find(p.outputs.front().front())->type == BufferType::relay; }).inputs;
  std::swap(inputs[0], inputs[1]);
  expect_caught("PC013");
}
TEST_F(RelayDamage, CopyOnAnotherChannel) {
  Buffer& b = buffer("e", BufferType::unpacker);
  b.ethernet_chan = 1;
  expect_caught("PC001");
}
TEST_F(RelayDamage, CopyOnAnotherChip) {
  buffer("e", BufferType::packer).chip = 0;
  expect_caught("PC001");
}
TEST_F(RelayDamage, CopyWithTwoMemories) {
  buffer("e", BufferType::packer).buffer_space_shared.reset();
  expect_caught("PC025");
}
TEST_F(RelayDamage, CopyThatComesFromAWorker) {
  pipe_to("e", 0).ethernet_pipe = false;
  expect_caught("PC025");
}
TEST_F(RelayDamage, CopyOfAnotherOrder) {
  BufferIndex index(graph_.buffers);
  auto& inputs =
      pipe([&](const Pipe& p) { return p.inputs.size() > 2 && index.find(p.outputs.front().front())->type == BufferType::relay; }).inputs;
  std::swap(inputs[0], inputs[1]);
  expect_caught("PC013");
}
TEST_F(RelayDamage, CopyOverAnotherLink) {
  BufferIndex index(graph_.buffers);
  Id before = pipe_to("e", 0).inputs.front();
  Buffer& b = buffer([&](const Buffer& r) { return r.id == before; });
  b.ethernet_chan = 9;
  b.core = {base().device->eth[9].y, base().device->eth[9].x};
  expect_caught("PC025");
}

// Four cores of chip 0 give to four of chip 1, each to one; a few streams from chip to chip, and as many around by chip 2.
class FullLinks : public testing::Test {
 protected:
  FullLinks() {
    device_.chips = 3;
    cluster_.links = {{0, 0, 1, 0}, {1, 1, 2, 1}, {0, 2, 2, 2}};
  }
  Built build(std::size_t streams) {
    const std::string four = "grid_size: [2, 2], t: 1, mblock: [1, 1], ublock: [1, 2]",
                      shape = "t: 1, mblock: [1, 1], ublock: [1, 2], ublock_order: r, buf_size_mb: 2";
    std::string out = queue_text("y", "g", four, 4, 0x30000000);
    cluster_.eth_core.link_streams.resize(streams);
    return Built(
        cat("devices: {arch: [wormhole_b0]}\nqueues:\n", queue_text("x", "HOST", four, 4, 0x20000000),
            out.replace(out.find("target_device: 0"), 16, "target_device: 1"), "graphs:\n  a:\n    target_device: 0\n    input_count: 2\n",
            op_text("f", "nop", "x", 1, "grid_loc: [0, 0], grid_size: [2, 2]", shape), "  b:\n    target_device: 1\n    input_count: 2\n",
            op_text("g", "nop", "f", 1, "grid_loc: [0, 0], grid_size: [2, 2]", shape),
            "programs:\n  - p:\n    - execute: {graph_name: a, queue_settings: {}}\n    - execute: {graph_name: b, queue_settings: {}}\n"),
        device_, cluster_);
  }
  static std::ptrdiff_t shared(const Built& b) {
    return std::count_if(b.graph.buffers.begin(), b.graph.buffers.end(),
                         [](const Buffer& r) { return r.type == BufferType::ethernet_relay && r.is_scatter; });
  }
  // Of those that lead over chip 2, with a relay at the end of a link and one at the beginning of the next.
  static std::ptrdiff_t detours(const Built& b) {
    return std::count_if(b.graph.buffers.begin(), b.graph.buffers.end(),
                         [](const Buffer& r) { return r.type == BufferType::ethernet_relay && r.chip == 2; }) /
           2;
  }

 private:
  device::DeviceDescriptor device_ = shipped("wormhole_b0");
  device::Cluster cluster_ = shipped_cluster(shipped("wormhole_b0"));
};

TEST_F(FullLinks, ADetourComesBeforeSharing) {
  struct Case {
    std::size_t streams;
    std::ptrdiff_t shared, detours;
  };
  for (const Case& c : {Case{4, 0, 0}, Case{2, 0, 2}, Case{1, 2, 1}}) {
    SCOPED_TRACE(c.streams);
    Built b = build(c.streams);
    ASSERT_TRUE(b.ok()) << b.problem;
    EXPECT_EQ(shared(b), c.shared);
    EXPECT_EQ(detours(b), c.detours);
    EXPECT_EQ(b.check(), "");
  }
}

// One core gives to two in turns, which no row or column of the receivers joins.
std::string relays_in_turns() {
  std::string queue = queue_text("out", "op", "grid_size: [1, 2], t: 1, mblock: [2, 2], ublock: [1, 1]", 2, 0x50000000);
  return cat("devices: {arch: [wormhole_b0]}\nqueues:\n",
             queue_text("q", "HOST", "grid_size: [1, 1], t: 4, mblock: [2, 1], ublock: [1, 1]", 1, 0x20000000),
             queue.replace(queue.find("target_device: 0"), 16, "target_device: 1"),
             "graphs:\n  a:\n    target_device: 0\n    input_count: 2\n",
             op_text("f", "nop", "q", 1, "grid_loc: [0, 0], grid_size: [1, 1]",
                     "t: 4, mblock: [2, 1], ublock: [1, 1], ublock_order: r, buf_size_mb: 4"),
             "  b:\n    target_device: 1\n    input_count: 2\n",
             op_text("op", "nop", "f", 1, "grid_loc: [4, 4], grid_size: [1, 2]",
                     "t: 1, mblock: [2, 2], ublock: [1, 1], ublock_order: c, buf_size_mb: 2", "input_0_tms: [hstack: 4]"),
             "programs:\n  - p:\n    - execute: {graph_name: a, queue_settings: {}}\n    - execute: {graph_name: b, queue_settings: {}}\n");
}

TEST(Crossing, TurnsPartAtTheProducers) {
  Built b(relays_in_turns(), "n300");
  ASSERT_TRUE(b.ok()) << b.problem;
  std::set<Id> first;
  for (std::int32_t col : {4, 5}) {
    auto feeds = b.feeding(b.input("op", {4, col}, 0));
    while (feeds.size() == 1 && feeds.front()->outputs.size() == 1) {
      const Id from = feeds.front()->inputs.front();
      feeds = b.feeding(
          &*std::find_if(b.graph.buffers.begin(), b.graph.buffers.end(), [&](const Buffer& buffer) { return buffer.id == from; }));
    }
    ASSERT_EQ(feeds.size(), 1u);
    EXPECT_EQ(feeds.front()->outputs.size(), 2u);
    first.insert(feeds.front()->id);
  }
  EXPECT_EQ(first.size(), 1u);
  EXPECT_EQ(b.check(), "");
}
TEST(Crossing, TurnsAtTheEndOfALinkWithOneStream) {
  device::Cluster cluster = shipped_cluster(shipped("n300"));
  cluster.links.resize(1);
  cluster.eth_core.link_streams.resize(1);
  Built b(relays_in_turns(), shipped("n300"), cluster);
  ASSERT_TRUE(b.ok()) << b.problem;
  auto feeds = b.feeding(b.input("op", {4, 4}, 0));
  ASSERT_EQ(feeds.size(), 1u);
  EXPECT_EQ(feeds.front()->outputs.size(), 2u);
  EXPECT_EQ(b.check(), "");
}
TEST(Crossing, TurnsExchanged) {
  Built b(relays_in_turns(), "n300");
  ASSERT_TRUE(b.ok()) << b.problem;
  for (Pipe& p : b.graph.pipes)
    if (p.outputs.size() == 2) std::swap(p.outputs[0], p.outputs[1]);
  EXPECT_NE(b.check(), "");
}

}  // namespace
}  // namespace buda::pipes
