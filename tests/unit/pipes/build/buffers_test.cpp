// SPDX-License-Identifier: Apache-2.0
// Ids, addresses and fields of buffers.
#include <buda/pipes/build/epoch_buffers.hpp>
#include <buda/pipes/build/op_buffers.hpp>
#include <buda/pipes/build/padding_buffers.hpp>
#include <buda/pipes/build/queue_address.hpp>
#include <buda/pipes/build/queue_buffers.hpp>

#include "unit/pipes/interchip/two_chips.hpp"
#include "unit/pipes/placed.hpp"

#include <set>

namespace buda::pipes {
namespace {

const Built& shares() {
  static const Built built(prologue_in_shares());
  return built;
}

TEST(BufferIds, AllDiffer) {
  const Placed p(shares());
  const OpBufferIds& mm = p.epoch.ids.ops.front();
  ASSERT_EQ(mm.inputs.size(), 2u);
  EXPECT_EQ(mm.inputs[0].size(), 2u);
  EXPECT_EQ(mm.shares[1].size(), 2u);
  EXPECT_EQ(mm.outputs.size(), 2u);
  std::set<Id> known;
  std::size_t count = 0;
  for (const auto* lists : {&mm.inputs, &mm.shares, &mm.intermediates})
    for (const auto& list : *lists)
      for (Id id : list) {
        known.insert(id);
        ++count;
      }
  for (Id id : mm.outputs) known.insert(id);
  EXPECT_EQ(known.size(), count + mm.outputs.size());
  EXPECT_GE(*known.begin(), shares().index->first_free_id());
}

TEST(BufferIds, TheFirstReaderOfAPrologueHasTheQueuesOwn) {
  const Placed p(shares());
  const std::size_t w = p.plan.queue_index.at(1);
  ASSERT_EQ(p.epoch.ids.prologues[w].size(), 1u);
  EXPECT_EQ(p.epoch.ids.prologues[w][0], (std::vector<Id>{shares().index->queue_buffer(1, 0)}));
}

TEST(OpBuffers, SharesThenCoreByCore) {
  const Placed p(shares());
  auto buffers = op_buffers(p.epoch, 0);
  ASSERT_TRUE(buffers.ok());
  std::vector<std::pair<BufferType, GridCoord>> kinds;
  for (const Buffer& b : *buffers)
    if (b.type != BufferType::intermediate) kinds.emplace_back(b.type, b.core);
  using enum BufferType;
  EXPECT_EQ(kinds, (std::vector<std::pair<BufferType, GridCoord>>{{prolog_relay, {0, 0}},
                                                                  {prolog_relay, {1, 0}},
                                                                  {unpacker, {0, 0}},
                                                                  {unpacker, {0, 0}},
                                                                  {packer, {0, 0}},
                                                                  {unpacker, {1, 0}},
                                                                  {unpacker, {1, 0}},
                                                                  {packer, {1, 0}}}));
}

TEST(QueueBuffers, KeptByAWorkerWherePrologue) {
  const Placed p(shares());
  auto w = queue_buffers(p.epoch, p.plan.queue_index.at(1)), a = queue_buffers(p.epoch, p.plan.queue_index.at(0));
  ASSERT_TRUE(w.ok() && a.ok());
  ASSERT_EQ(w->size(), 1u);
  EXPECT_EQ(w->front().type, BufferType::dram_prolog);
  EXPECT_EQ(w->front().core, (GridCoord{1, 0})) << "rows from the far end: it is multicast on network 1";
  EXPECT_EQ(w->front().prefetch_type, PrefetchType::post_tm);
  EXPECT_EQ(a->front().type, BufferType::dram_io);
  EXPECT_EQ(a->front().core, (GridCoord{kNoCore, kNoCore}));
}

TEST(QueueAddress, WhatTheDeviceDoesNotHave) {
  auto code = [](const std::string& what, const std::string& by) {
    std::string text = prologue_in_shares();
    text.replace(text.find(what), what.size(), by);
    Built b(text);
    return b.diagnostics.empty() ? "" : b.diagnostics.front().code;
  };
  EXPECT_EQ(code("[[0, 536870912]]", "[[6, 536870912]]"), "PP030");
  EXPECT_EQ(code("loc: dram, dram: [[0, 536870912]]", "loc: host, host: [[7, 0]]"), "PP031");
  EXPECT_EQ(code("[[0, 536870912]]", "[[0, 536870912]], read_ports: [9]"), "PP033");
}

TEST(QueueAddress, HostChannelsFollowOneAnother) {
  const Placed p(shares());
  netlist::Queue q;
  q.location = netlist::QueueLocation::host;
  q.buffers = {{0, 64}};
  const auto& host = shares().device->host;
  auto address = queue_address(p.plan, q, 0);
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(address->address, host.base + 64);
}

TEST(PaddingBuffers, OneForEachInputAndCore) {
  Built b(prologue_in_shares());
  ASSERT_TRUE(b.ok()) << b.problem;
  const EpochPlan plan = plan_of(b);
  IdSequence ids(b.index->first_free_id());
  PaddingBuffers padding(plan, b.padding, ids);
  const CoreCoord here{0, {0, 0}}, there{0, {1, 0}};
  const Id first = padding.block(0, 1, here, 2);
  EXPECT_EQ(padding.block(0, 1, here, 3), first);
  EXPECT_NE(padding.block(0, 1, there, 1), first);
  EXPECT_NE(padding.block(0, 0, here, 1), first);
  ASSERT_EQ(padding.buffers().size(), 3u);
  const Buffer& kept = padding.buffers().front();
  EXPECT_TRUE(kept.is_padding && kept.dram_buf_flag);
  EXPECT_EQ(kept.tiles_per_input, 5 * kept.scatter_gather_num_tiles) << "what all pipes take in a pass";
  EXPECT_LE(kept.scatter_gather_num_tiles, PaddingTable::kTiles);
  EXPECT_TRUE(padding.buffers().back().dram_io_flag) << "input 0 is read while the epoch runs";
}

TEST(PaddingTable, AConstantOnceForEachFormat) {
  netlist::Netlist n;
  auto& op = n.graphs.emplace_back().ops.emplace_back();
  op.inputs.resize(3);
  for (auto& input : op.inputs) input.format = DataFormat::float16_b;
  for (auto& input : op.inputs) input.maps.pad = netlist::Pad{};
  op.inputs[1].format = DataFormat::float32;
  Epoch epoch;
  epoch.graphs = {&n.graphs.front()};
  auto table = PaddingTable::make(n, {epoch}, 32);
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->entries().size(), 2u);
  EXPECT_NE(table->address(DataFormat::float16_b, 0), table->address(DataFormat::float32, 0));
  netlist::Op more = op;
  for (int i = 0; i < 20; ++i) {
    more.inputs.front().maps.pad->value = i + 1;
    n.graphs.front().ops.push_back(more);
  }
  auto full = PaddingTable::make(n, {epoch}, 32);
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.failure().diagnostics().front().code, "PP032");
}

// Several ops on one Ethernet core: operands are numbered one after the other.
TEST(CorePositions, CopiesStandAtTheEndOfTheirLinks) {
  Built b(two_chips(), "n300");
  ASSERT_TRUE(b.ok()) << b.problem;
  const Placed p(b);
  const std::size_t e = p.plan.op_index.at("e"), f = p.plan.op_index.at("f");
  const EthernetCore* at = p.epoch.cores.ethernet(e, 0);
  ASSERT_NE(at, nullptr);
  EXPECT_EQ(at->route, (ChipRoute{{0, 8, 1, 0}}));
  EXPECT_EQ(at->operands, 0);
  EXPECT_EQ(p.epoch.cores.noc(e, 0), b.device->eth[0]);
  EXPECT_EQ(p.epoch.cores.ethernet(f, 0), nullptr);
  EXPECT_EQ(p.epoch.cores.core(f, 3), (GridCoord{1, 1}));
}

TEST(EpochBuffers, QueuesFollowTheFirstOpThatUsesThem) {
  const Placed p(shares());
  auto buffers = epoch_buffers(p.epoch);
  ASSERT_TRUE(buffers.ok());
  std::vector<std::string> queues;
  for (const Buffer& b : *buffers)
    if (b.is_queue() && (queues.empty() || queues.back() != b.op)) queues.push_back(b.op);
  EXPECT_EQ(queues, (std::vector<std::string>{"a", "w", "out"}));
}

}  // namespace
}  // namespace buda::pipes
