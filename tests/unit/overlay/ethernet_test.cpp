// SPDX-License-Identifier: Apache-2.0
// Stream programs of what leads from chip to chip.
#include <buda/overlay/build.hpp>
#include <buda/overlay/reports/report.hpp>

#include "unit/pipes/interchip/two_chips.hpp"

#include <algorithm>
#include <functional>

namespace buda::overlay {
namespace {

using pipes::Built;
using pipes::PipeGraph;

// Two links with two streams each: one for the copy, one for the way back, and two for the four cores of `g`.
const Built& two() {
  static const Built built(pipes::two_chips(), "n300", 2);
  return built;
}

Result<Blob> blob_of(const PipeGraph& graph) { return build_blob(graph, *two().device, two().cluster()); }

const Core* ethernet_core(const Blob& blob, std::int32_t chip, std::int32_t channel) {
  for (const Core& c : blob.cores)
    if (c.chip == chip && c.ethernet == channel) return &c;
  return nullptr;
}

TEST(Ethernet, ACopyHandsOutWhereItCameIn) {
  auto blob = blob_of(two().graph);
  ASSERT_TRUE(blob.ok()) << pipes::messages(blob.failure());
  const Core* core = ethernet_core(*blob, 1, 0);
  ASSERT_NE(core, nullptr);
  const Stream *in = nullptr, *out = nullptr;
  for (const Stream& s : core->streams) {
    if (s.kind == StreamKind::input) in = &s;
    if (s.kind == StreamKind::output) out = &s;
  }
  ASSERT_TRUE(in != nullptr && out != nullptr);
  EXPECT_EQ(in->address, out->address);
  EXPECT_EQ(in->bytes, out->bytes);
  const auto& links = two().cluster().eth_core.link_streams;
  EXPECT_NE(std::find(links.begin(), links.end(), in->number), links.end());
  EXPECT_EQ(std::find(links.begin(), links.end(), out->number), links.end());
  ASSERT_EQ(in->sources.size(), 1u);
  EXPECT_EQ(blob->cores[static_cast<std::size_t>(in->sources.front().core)].chip, 0);
}

// TT-Buda gives the output of a copy the size of its input, undivided, also when it is scattered: there is one room for both.
TEST(Ethernet, AScatteredCopyHasTheRoomOfItsInput) {
  PipeGraph graph = two().graph;
  auto copy = std::find_if(graph.buffers.begin(), graph.buffers.end(),
                           [](const pipes::Buffer& b) { return b.type == pipes::BufferType::packer && b.ethernet_chan; });
  ASSERT_NE(copy, graph.buffers.end());
  ASSERT_FALSE(copy->is_scatter);
  const std::int64_t window = copy->scatter_gather_num_tiles;
  copy->is_scatter = true;
  copy->replicate = window;
  copy->scatter_gather_num_tiles = 1;
  copy->epoch_tiles /= window;
  const std::int64_t room = copy->size_tiles;
  for (pipes::Pipe& p : graph.pipes)
    if (p.inputs.front() == copy->id) {
      p.inputs.clear();
      for (std::int64_t i = 0; i < window; ++i) p.inputs.push_back(copy->id + static_cast<pipes::Id>(i));
    }
  for (std::int64_t size : {room, room + 1, std::int64_t{1}}) {
    for (pipes::Buffer& b : graph.buffers)
      if (b.id == copy->buffer_space_shared) b.size_tiles = size;
    auto blob = blob_of(graph);
    ASSERT_TRUE(blob.ok()) << pipes::messages(blob.failure());
    for (const Stream& s : ethernet_core(*blob, 1, 0)->streams)
      if (s.kind == StreamKind::input || s.kind == StreamKind::output) {
        EXPECT_EQ(static_cast<std::int64_t>(s.bytes), (size == 1 ? window : room) * s.message_bytes) << size;
      }
  }
}

TEST(Ethernet, RelaysWriteWholeChunksOfTheirBuffers) {
  auto blob = blob_of(two().graph);
  ASSERT_TRUE(blob.ok());
  int writing = 0;
  for (const Core& core : blob->cores)
    for (const Stream& s : core.streams) {
      if (s.kind != StreamKind::relay || !s.write) continue;
      ++writing;
      const auto chunk = static_cast<std::uint64_t>(s.write->chunk_tiles * s.message_bytes);
      EXPECT_EQ(s.bytes % chunk, 0u);
      EXPECT_GE(s.bytes, 2 * chunk);
      EXPECT_GT(s.write->chunk_tiles, 1);
    }
  EXPECT_GT(writing, 0);
}

TEST(Ethernet, LinksAreCountedByDirection) {
  auto blob = blob_of(two().graph);
  ASSERT_TRUE(blob.ok());
  Report report = make_report(*blob, *two().device, two().cluster().eth_core);
  std::uint64_t there = 0, back = 0;
  for (const EthernetLoad& c : report.ethernet) (c.link.chip == 0 ? there : back) += c.bytes;
  EXPECT_EQ(there, 2u * 2 * 8 * 2080) << "eight tiles to g and to e, of two inputs";
  EXPECT_EQ(back, 2u * 8 * 2080) << "from h to its queue";
  for (const CoreReport& c : report.cores) EXPECT_EQ(c.streams_available, c.ethernet ? 32 : two().device->streams.per_core);
}

// The relay from which two pipes take their parts, after something has been done to it.
std::string refusal(const std::function<void(PipeGraph&, const pipes::Buffer&, pipes::Pipe&, pipes::Pipe&)>& damage) {
  PipeGraph graph = two().graph;
  auto relay = std::find_if(graph.buffers.begin(), graph.buffers.end(),
                            [](const pipes::Buffer& b) { return b.type == pipes::BufferType::ethernet_relay && b.is_scatter; });
  std::vector<pipes::Pipe*> readers;
  for (pipes::Pipe& p : graph.pipes)
    if (pipes::base_id(p.inputs.front()) == relay->id) readers.push_back(&p);
  if (readers.size() != 2) return "there is no shared relay";
  damage(graph, pipes::Buffer(*relay), *readers[0], *readers[1]);
  auto blob = blob_of(graph);
  return blob ? "" : blob.failure().diagnostics().front().code;
}

TEST(Ethernet, PartsOfARelayAreTakenOnceAndInOrder) {
  EXPECT_EQ(refusal([](auto&, auto&, auto&, auto&) {}), "");
  EXPECT_EQ(refusal([](auto&, auto&, auto& a, auto& b) { a.inputs = b.inputs; }), "OV002") << "twice";
  EXPECT_EQ(
      refusal([](auto& g, auto&, auto&, auto& b) { std::erase_if(g.pipes, [id = b.id](const pipes::Pipe& p) { return p.id == id; }); }),
      "OV002")
      << "by nobody";
  EXPECT_EQ(refusal([](auto&, auto& relay, auto& a, auto& b) {
              a.inputs = {relay.id + 2, relay.id}, b.inputs = a.inputs;
            }),
            "OV001")
      << "out of order";
  EXPECT_EQ(refusal([](auto& g, auto& relay, auto& a, auto& b) {
              a.inputs = {relay.id + 2, relay.id};
              std::erase_if(g.pipes, [id = b.id](const pipes::Pipe& p) { return p.id == id; });
            }),
            "OV001")
      << "out of order, by one pipe";
}

TEST(Ethernet, FirmwareIsAtBothEndsOfALink) {
  PipeGraph graph = two().graph;
  auto relay = std::find_if(graph.buffers.begin(), graph.buffers.end(),
                            [](const pipes::Buffer& b) { return b.type == pipes::BufferType::ethernet_relay && b.is_scatter; });
  ASSERT_NE(relay, graph.buffers.end());
  relay->use_ethernet_fw_stream = true;
  auto blob = blob_of(graph);
  ASSERT_FALSE(blob.ok());
  EXPECT_EQ(blob.failure().diagnostics().front().code, "OV002");
  EXPECT_NE(pipes::messages(blob.failure()).find("use_ethernet_fw_stream"), std::string::npos) << pipes::messages(blob.failure());
}

TEST(Ethernet, MoreStreamsThanALinkHasAreRefused) {
  device::Cluster narrow = two().cluster();
  narrow.eth_core.link_streams.resize(1);
  auto blob = build_blob(two().graph, *two().device, narrow);
  ASSERT_FALSE(blob.ok());
  EXPECT_NE(pipes::messages(blob.failure()).find("streams over the link: 2 needed, 1 available; "), std::string::npos)
      << pipes::messages(blob.failure());
  EXPECT_EQ(blob.failure().diagnostics().front().code, "OV018");
}

TEST(Ethernet, RelaysHaveTheTilesThatPass) {
  PipeGraph graph = two().graph;
  for (pipes::Buffer& b : graph.buffers)
    if (b.type == pipes::BufferType::ethernet_relay) b.tile_size = 0;
  auto blob = blob_of(graph);
  ASSERT_FALSE(blob.ok());
  EXPECT_EQ(blob.failure().diagnostics().front().code, "OV002");
}

TEST(Ethernet, RelaysInACycleAreRefused) {
  PipeGraph graph = two().graph;
  auto link = std::find_if(graph.pipes.begin(), graph.pipes.end(), [](const pipes::Pipe& p) { return p.ethernet_pipe; });
  ASSERT_NE(link, graph.pipes.end());
  link->outputs.front() = link->inputs;
  auto blob = blob_of(graph);
  ASSERT_FALSE(blob.ok());
  EXPECT_EQ(blob.failure().diagnostics().front().code, "OV002");
  EXPECT_NE(pipes::messages(blob.failure()).find("cycle"), std::string::npos) << pipes::messages(blob.failure());
}

// Two pipes take a half each from every relay, and lead to the next one: 2^30 ways.
TEST(Ethernet, RelaysThatPartAgainAndAgainAreRefused) {
  constexpr int kRelays = 30;
  PipeGraph graph;
  auto add = [&](pipes::BufferType type, std::int64_t block, std::int64_t blocks) {
    pipes::Buffer& b = graph.buffers.emplace_back();
    b.type = type;
    b.op = type == pipes::BufferType::packer ? "a" : "b";
    b.operand = type == pipes::BufferType::packer ? pipes::kOutputOperand : 0;
    b.id = pipes::kFirstId + graph.buffers.size() * pipes::kIdStep;
    b.core = {static_cast<std::int32_t>(graph.buffers.size() / 8), static_cast<std::int32_t>(graph.buffers.size() % 8)};
    b.epoch_tiles = block * blocks;
    b.size_tiles = 2;
    b.is_scatter = blocks > 1;
    b.replicate = blocks;
    b.scatter_gather_num_tiles = block;
    b.tile_size = 2080;
  };
  auto lead = [&](pipes::Id from, pipes::Id to) {
    pipes::Pipe& p = graph.pipes.emplace_back();
    p.id = pipes::kFirstId + (100 + graph.pipes.size()) * pipes::kIdStep;
    p.inputs = {from};
    p.outputs = {{to}};
    p.mcast_core = {{}};
  };
  add(pipes::BufferType::packer, std::int64_t{1} << kRelays, 1);
  for (int i = kRelays - 1; i >= 0; --i) add(pipes::BufferType::relay, std::int64_t{1} << i, 2);
  add(pipes::BufferType::unpacker, 1, 1);
  lead(graph.buffers[0].id, graph.buffers[1].id);
  for (std::size_t i = 1; i <= kRelays; ++i)
    for (std::int64_t half : {0, 1})
      lead(graph.buffers[i].id + static_cast<pipes::Id>(half * graph.buffers[i].scatter_gather_num_tiles), graph.buffers[i + 1].id);
  auto blob = blob_of(graph);
  ASSERT_FALSE(blob.ok());
  EXPECT_NE(pipes::messages(blob.failure()).find("branch so often"), std::string::npos) << pipes::messages(blob.failure());
}

}  // namespace
}  // namespace buda::overlay
