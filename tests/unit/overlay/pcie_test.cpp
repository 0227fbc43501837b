// SPDX-License-Identifier: Apache-2.0
// Stream programs of what leads from chip to chip over PCIe.
#include <buda/overlay/blob/blob_file.hpp>
#include <buda/overlay/build.hpp>
#include <buda/overlay/reports/report.hpp>

#include "unit/overlay/promised.hpp"
#include "unit/pipes/interchip/ring.hpp"

#include <algorithm>
#include <functional>

namespace buda::overlay {
namespace {

using pipes::Built;
using pipes::PipeGraph;

const Built& ring() {
  static const Built built(pipes::ring_of_chips(), "grayskull");
  return built;
}

const Blob& programs() {
  static const Blob blob = [] {
    auto made = build_blob(ring().graph, *ring().device, ring().cluster());
    EXPECT_TRUE(made.ok()) << ring().problem << (made ? "" : pipes::messages(made.failure()));
    return made ? *made : Blob{};
  }();
  return blob;
}

// A connection over PCIe, and its ends.
struct Link {
  const Core *from, *to;
  const Stream *sender, *receiver;
};

std::vector<Link> links_to(const Blob& blob, const std::string& op) {
  std::vector<Link> out;
  for (const Core& core : blob.cores)
    for (const Stream& s : core.streams) {
      if (!s.pcie) continue;
      const StreamRef to = s.destinations.front().first;
      const Core& there = blob.cores[static_cast<std::size_t>(to.core)];
      if (there.op == op) out.push_back({&core, &there, &s, blob.find(to)});
    }
  return out;
}

// The window of the chip after is at 0x80000000, that of the chip before at 0x40000000; in there, each place of the NoC has a MiB.
TEST(Pcie, SendersWriteWhereTheReceiversBufferIs) {
  std::size_t all = 0;
  for (const char* op : {"g", "m", "t", "h"})
    for (const Link& link : links_to(programs(), op)) {
      ++all;
      const bool after = link.to->chip == (link.from->chip + 1) % 3;
      const auto place = static_cast<std::uint64_t>(link.to->noc.y * 13 + link.to->noc.x);
      EXPECT_EQ(link.sender->pcie->address, (after ? 0x80000000u : 0x40000000u) + place * 0x100000 + link.receiver->address) << op;
      EXPECT_EQ(link.sender->pcie->port, ring().device->pcie) << op;
      const auto chunk = static_cast<std::uint64_t>(link.sender->pcie->chunk_tiles * 2080);
      EXPECT_EQ(link.receiver->bytes % chunk, 0u) << op;
      EXPECT_GE(link.receiver->bytes, 2 * chunk) << op << ": writing and taking overlap";
    }
  EXPECT_EQ(all, 4u + 2 + 2 + 4);
}

TEST(Pcie, WhoWritesAndWhoReads) {
  for (const Link& link : links_to(programs(), "g")) {
    EXPECT_EQ(link.receiver->kind, StreamKind::input);
    EXPECT_EQ(link.sender->kind, StreamKind::relay) << "f is handed out in blocks, for m takes them so";
  }
  for (const Link& link : links_to(programs(), "m")) EXPECT_EQ(link.receiver->kind, StreamKind::multicast);
  for (const Link& link : links_to(programs(), "h"))
    EXPECT_NE(link.sender->kind, StreamKind::relay) << "g gives its whole buffers, in order";
  auto turns = links_to(programs(), "t");
  ASSERT_EQ(turns.size(), 2u);
  EXPECT_FALSE(turns[0].from == turns[1].from) << "turns leave by several cores";
}

TEST(Pcie, BytesAreCountedByNeighbour) {
  Report report = make_report(programs(), *ring().device);
  ASSERT_EQ(report.pcie.size(), 2u);
  EXPECT_EQ(report.pcie[0].chip, 0);
  EXPECT_EQ(report.pcie[0].to_chip, 1);
  EXPECT_EQ(report.pcie[0].streams, 8);
  EXPECT_EQ(report.pcie[0].bytes, 4u * 3 * 16 * 2080) << "16 tiles to each of three ops, four inputs";
  EXPECT_EQ(report.pcie[1].chip, 1);
  EXPECT_EQ(report.pcie[1].bytes, 4u * 16 * 2080);
  EXPECT_TRUE(report.ethernet.empty());
  EXPECT_NE(report_text(report, programs(), *ring().device).find("chip 1 -> chip 2"), std::string::npos);
  EXPECT_NE(report_json(report, programs()).find("\"pcie\": ["), std::string::npos);
}

// Padding joins on the chip where it is taken, so the input needs a relay in front of it.
TEST(Pcie, PaddingInTurnsOfItsOwn) {
  using pipes::op_text, pipes::queue_text;
  Built b(
      cat("devices: {arch: [grayskull]}\nqueues:\n",
          queue_text("q", "HOST", "grid_size: [2, 1], t: 6, mblock: [1, 1], ublock: [2, 2]", 2, 0x20000000),
          pipes::on_chip(1,
                         queue_text("out", "n", "grid_size: [1, 2], t: 2, mblock: [2, 2], ublock: [2, 2], ublock_order: c", 2, 0x30000000)),
          "graphs:\n  a:\n    target_device: 0\n    input_count: 3\n",
          op_text("f", "nop", "q", 1, "grid_loc: [0, 0], grid_size: [2, 1]",
                  "t: 6, mblock: [1, 1], ublock: [2, 2], ublock_order: r, buf_size_mb: 2"),
          "  b:\n    target_device: 1\n    input_count: 3\n",
          op_text("n", "nop", "f", 1, "grid_loc: [2, 0], grid_size: [1, 2]",
                  "t: 2, mblock: [2, 2], ublock: [2, 2], ublock_order: c, buf_size_mb: 2",
                  "input_0_tms: [hstack: 3], input_0_pad: {rt: 0, ct: 2, pad_value: 1.5}"),
          "programs:\n  - p:\n    - execute: {graph_name: a, queue_settings: {}}\n    - execute: {graph_name: b, queue_settings: {}}\n"),
      "grayskull");
  ASSERT_TRUE(b.ok()) << b.problem;
  EXPECT_EQ(b.check(), "");
  auto blob = build_blob(b.graph, *b.device, b.cluster());
  ASSERT_TRUE(blob.ok()) << pipes::messages(blob.failure());
  int relays = 0;
  for (const Link& link : links_to(*blob, "n")) {
    EXPECT_EQ(link.receiver->sources.size(), 1u);
    relays += link.receiver->kind == StreamKind::relay ? 1 : 0;
  }
  EXPECT_GE(relays, 1);
  EXPECT_EQ(difference(promised(b.graph), replay(*blob)), "");
}

std::string refusal(const std::function<void(PipeGraph&, pipes::Pipe&)>& damage, const device::Cluster& cluster = ring().cluster()) {
  PipeGraph graph = ring().graph;
  auto crossing = std::find_if(graph.pipes.begin(), graph.pipes.end(), [](const pipes::Pipe& p) { return p.mmio_downstream.has_value(); });
  damage(graph, *crossing);
  auto blob = build_blob(graph, *ring().device, cluster);
  return blob ? "" : blob.failure().diagnostics().front().code;
}

TEST(Pcie, WhatCannotBe) {
  EXPECT_EQ(refusal([](auto&, auto&) {}), "");
  EXPECT_EQ(refusal([](auto&, pipes::Pipe& p) { p.mmio_downstream.reset(); }), "OV002") << "another chip without a way";
  EXPECT_EQ(refusal([](PipeGraph& g, auto&) { g.pipes.front().mmio_downstream = 1; }), "OV002") << "from a queue";
  EXPECT_EQ(refusal([](auto&, auto&) {}, {}), "OV003") << "nothing known of the ring";
}

// Damage to the file.
std::string read_error(const std::function<void(Blob&, Stream&, Stream&)>& damage) {
  Blob blob = programs();
  for (Core& core : blob.cores)
    for (Stream& s : core.streams)
      if (s.pcie) {
        const StreamRef to = s.destinations.front().first;
        Core& there = blob.cores[static_cast<std::size_t>(to.core)];
        damage(blob, s, *std::find_if(there.streams.begin(), there.streams.end(), [&](const Stream& r) { return r.number == to.stream; }));
        auto back = parse_blob(blob_text(blob), "blob.json");
        return back ? "" : back.failure().diagnostics().front().code;
      }
  return "nothing goes over PCIe";
}

TEST(Pcie, FilesWithConnectionsThatCannotBe) {
  EXPECT_EQ(read_error([](auto&, auto&, auto&) {}), "");
  EXPECT_EQ(read_error([](auto&, Stream& s, auto&) { s.pcie.reset(); }), "BB007");
  EXPECT_EQ(read_error([](auto&, Stream& s, auto&) { s.pcie->chunk_tiles = 0; }), "BB007");
  EXPECT_EQ(read_error([](auto&, auto&, Stream& r) { r.bytes += 1; }), "BB007");
  EXPECT_EQ(read_error([](auto&, Stream& s, Stream& r) { s.message_bytes = r.message_bytes = 0; }), "BB004");
  EXPECT_EQ(read_error([](auto&, auto&, Stream& r) { r.sources.push_back(r.sources.front()); }), "BB007");
  EXPECT_EQ(read_error([](Blob& b, auto&, auto&) {
              for (Core& c : b.cores) c.chip = 0;
            }),
            "BB007")
      << "all on one chip";
}

}  // namespace
}  // namespace buda::overlay
