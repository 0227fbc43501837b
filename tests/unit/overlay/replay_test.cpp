// SPDX-License-Identifier: Apache-2.0
// Stream programs of random netlists and of TT-Buda's own pipegen files, replayed against what the pipes promise.
#include <buda/overlay/blob/blob_file.hpp>
#include <buda/overlay/build.hpp>
#include <buda/overlay/reports/report.hpp>
#include <buda/pipes/format/pipegen_file.hpp>

#include "unit/overlay/promised.hpp"
#include "unit/pipes/built.hpp"
#include "unit/pipes/check/random_netlists.hpp"
#include "unit/pipes/interchip/turns.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace buda::overlay {
namespace {

// What is wrong with the stream programs of a graph, or nothing. `refused`: they do not fit, or are not supported.
std::string replayed(const pipes::PipeGraph& graph, const device::DeviceDescriptor& device, const device::Cluster& cluster,
                     std::string* refused = nullptr) {
  auto blob = build_blob(graph, device, cluster);
  if (!blob) {
    const Diagnostic& d = blob.failure().diagnostics().front();
    if (refused == nullptr || (d.fault != Fault::fit && d.code != "OV001")) return pipes::messages(blob.failure());
    *refused = d.message;
    return "";
  }
  auto back = parse_blob(blob_text(*blob), "blob.json");
  if (!back) return pipes::messages(back.failure());
  if (!(*back == *blob)) return "the file reads back as another blob";
  return difference(promised(graph), replay(*back));
}

// Replays `wanted` random netlists of so many chips; why some of them are refused.
std::vector<std::string> refused_of(int wanted, std::uint64_t seed, int chips, const std::string& device,
                                    std::optional<std::size_t> link_streams = {}, const std::string& arch = "wormhole_b0") {
  Rng rng(seed);
  int built = 0;
  std::vector<std::string> refused;
  for (int round = 0; built < wanted && round < 4 * wanted; ++round) {
    std::string text = pipes::random_netlist(rng, chips, arch);
    pipes::Built b(text, device, link_streams);
    if (!b.ok()) continue;
    ++built;
    std::string why;
    EXPECT_EQ(replayed(b.graph, *b.device, b.cluster(), &why), "") << text;
    if (!why.empty()) refused.push_back(why);
  }
  EXPECT_EQ(built, wanted);
  return refused;
}

TEST(Replay, RandomNetlists) {
  const int wanted = pipes::netlists_wanted(400);
  auto refused = refused_of(wanted, 77, 1, "wormhole_b0");
  RecordProperty("refused", static_cast<int>(refused.size()));
  EXPECT_LT(refused.size(), static_cast<std::size_t>(std::max(20, wanted / 20))) << testing::PrintToString(refused);
}

TEST(Replay, RandomNetlistsOverEthernet) {
  const int wanted = pipes::netlists_wanted(200);
  auto refused = refused_of(wanted, 11, 2, "n300");
  RecordProperty("refused", static_cast<int>(refused.size()));
  EXPECT_LT(refused.size(), static_cast<std::size_t>(std::max(10, wanted / 20))) << testing::PrintToString(refused);
}

TEST(Replay, RandomNetlistsThatShareLinks) {
  auto refused = refused_of(200, 12, 2, "n300", 5);
  EXPECT_LT(refused.size(), 10u) << testing::PrintToString(refused);
}

// TT-Buda's net2pipe can be told to let the firmware of ethernet cores carry tiles over the links.
TEST(Replay, FirmwareCarriesOverTheLinks) {
  Rng rng(13);
  int built = 0, carried = 0;
  for (int round = 0; built < 60 && round < 240; ++round) {
    std::string text = pipes::random_netlist(rng, 2);
    pipes::Built b(text, "n300");
    if (!b.ok()) continue;
    ++built;
    for (pipes::Buffer& buffer : b.graph.buffers)
      if (buffer.type == pipes::BufferType::ethernet_relay) buffer.use_ethernet_fw_stream = true;
    std::string why;
    EXPECT_EQ(replayed(b.graph, *b.device, b.cluster(), &why), "") << text;
    auto blob = build_blob(b.graph, *b.device, b.cluster());
    if (!blob) continue;
    const auto& links = b.cluster().eth_core.link_streams;
    for (const Core& core : blob->cores)
      for (const Stream& s : core.streams) {
        EXPECT_EQ(s.firmware, s.kind == StreamKind::relay && core.ethernet.has_value());
        if (!s.firmware) continue;
        ++carried;
        EXPECT_EQ(std::find(links.begin(), links.end(), s.number), links.end()) << "takes a stream that reaches over the link";
      }
  }
  EXPECT_GT(carried, 60);
}

TEST(Replay, RandomNetlistsOverPcie) {
  const int wanted = pipes::netlists_wanted(200);
  auto refused = refused_of(wanted, 13, 2, "grayskull", {}, "grayskull");
  EXPECT_LT(refused.size(), static_cast<std::size_t>(std::max(10, wanted / 20))) << testing::PrintToString(refused);
}

// What random netlists seldom have: receivers that take turns, with and without padding in turns of its own, wherever they are.
TEST(Replay, Turns) {
  for (const pipes::TurnsAt& at : pipes::everywhere())
    for (const pipes::Turns& turns : all_turns(at)) {
      pipes::Built b = built_at(at, turns);
      ASSERT_TRUE(b.ok()) << b.problem << in_turns(turns);
      EXPECT_EQ(replayed(b.graph, *b.device, b.cluster()), "") << at.device << '\n' << in_turns(turns);
    }
}

// A file may have padding before the first turn that takes tiles; netlist2pipe makes none.
TEST(Replay, PaddingBeforeTheFirstTurn) {
  int moved = 0;
  for (const pipes::TurnsAt& at : pipes::everywhere())
    for (const pipes::Turns& turns : all_turns(at)) {
      pipes::Built b = built_at(at, turns);
      ASSERT_TRUE(b.ok()) << b.problem;
      for (pipes::Pipe& p : b.graph.pipes)
        if (!p.output_padding.empty() && p.output_padding.back() != 0) {
          ++moved;
          std::rotate(p.outputs.begin(), p.outputs.end() - 1, p.outputs.end());
          std::rotate(p.mcast_core.begin(), p.mcast_core.end() - 1, p.mcast_core.end());
          std::rotate(p.output_padding.begin(), p.output_padding.end() - 1, p.output_padding.end());
        }
      EXPECT_EQ(replayed(b.graph, *b.device, b.cluster()), "") << at.device << '\n' << in_turns(turns);
    }
  EXPECT_GT(moved, 30);
}

TEST(Replay, ARingOfChips) {
  pipes::Built b(pipes::ring_of_chips(), "grayskull");
  ASSERT_TRUE(b.ok()) << b.problem;
  EXPECT_EQ(replayed(b.graph, *b.device, b.cluster()), "");
}

// What random netlists do not have.
std::string problem_of(const std::string& text) {
  pipes::Built b(text);
  return b.ok() ? replayed(b.graph, *b.device, b.cluster()) : b.problem;
}

TEST(Replay, RowsForATilizer) {
  using pipes::op_text, pipes::queue_text;
  for (const char* order : {"r", "c"}) {
    auto shape = [&](int m, int n) { return cat("t: 2, mblock: [", m, ", ", n, "], ublock: [1, 2], ublock_order: ", order); };
    EXPECT_EQ(problem_of(pipes::netlist_text(
                  queue_text("rows", "HOST", cat("grid_size: [1, 1], ", shape(4, 4), ", layout: flat"), 1, 0x20000000) +
                      queue_text("out", "op", cat("grid_size: [2, 2], ", shape(2, 2)), 4, 0x30000000),
                  op_text("op", "tilizer", "rows", 1, "grid_loc: [0, 0], grid_size: [2, 2]", shape(2, 2) + ", buf_size_mb: 2"), 3)),
              "");
  }
}

// The rows of one chip for tilizers of another: each core has its own way, for its pieces are known by their place in the list.
TEST(Replay, RowsFromAnotherChip) {
  using pipes::op_text, pipes::queue_text;
  for (const auto& [order, wide] : {std::pair{"r", 2}, std::pair{"c", 2}, std::pair{"r", 8}}) {
    auto shape = [o = order, w = wide](int m, int n) {
      return cat("t: 2, mblock: [", m, ", ", n, "], ublock: [1, ", w, "], ublock_order: ", o);
    };
    std::string text = cat("devices: {arch: [wormhole_b0]}\nqueues:\n",
                           queue_text("rows", "HOST", cat("grid_size: [1, 1], ", shape(4, 4), ", layout: flat"), 1, 0x20000000),
                           pipes::on_chip(1, queue_text("out", "op", cat("grid_size: [2, 2], ", shape(2, 2)), 4, 0x30000000)),
                           "graphs:\n  b:\n    target_device: 1\n    input_count: 3\n",
                           op_text("op", "tilizer", "rows", 1, "grid_loc: [0, 0], grid_size: [2, 2]", shape(2, 2) + ", buf_size_mb: 2"),
                           "programs:\n  - p:\n    - execute: {graph_name: b, queue_settings: {}}\n");
    pipes::Built b(text, "n300");
    ASSERT_TRUE(b.ok()) << b.problem;
    EXPECT_EQ(b.check(), "");
    EXPECT_EQ(replayed(b.graph, *b.device, b.cluster()), "") << text;
    auto blob = build_blob(b.graph, *b.device, b.cluster());
    ASSERT_TRUE(blob.ok());
    int readers = 0;
    for (const Core& core : blob->cores)
      for (const Stream& s : core.streams)
        if (s.read) {
          ++readers;
          EXPECT_EQ(core.chip, 0);
          EXPECT_EQ(s.kind, StreamKind::relay);
          EXPECT_EQ(s.read->chunk_tiles % 32, 0) << "whole tiles";
        }
    EXPECT_EQ(readers, 4);
  }
}

TEST(Replay, RowsOfATable) {
  using pipes::queue_text;
  std::string numbers = queue_text("numbers", "HOST", "grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [1, 1]", 1, 0x30000000);
  numbers.replace(numbers.find("Float16_b"), 9, "RawUInt32");
  pipes::Built b(pipes::netlist_text(
      queue_text("table", "HOST", "grid_size: [1, 1], t: 1, mblock: [3, 4], ublock: [1, 2], layout: flat", 1, 0x20000000,
                 "type: ram, entries: 1") +
          numbers + queue_text("out", "look", "grid_size: [1, 2], t: 1, mblock: [2, 2], ublock: [1, 2]", 2, 0x40000000),
      "    look: {type: embedding, grid_loc: [0, 0], grid_size: [1, 2], inputs: [table, numbers], t: 1, mblock: [2, 2], ublock: [1, 2], "
      "ublock_order: r, buf_size_mb: 2, in_df: [Float16_b, RawUInt32], out_df: Float16_b, intermed_df: Float16_b, acc_df: Float16_b, "
      "math_fidelity: HiFi3, untilize_output: false, attributes: {num_indices: 64}}\n",
      2, "table: {prologue: false, epilogue: false, zero: false, rd_ptr_global: 0, wr_ptr_global: 0}"));
  ASSERT_TRUE(b.ok()) << b.problem;
  EXPECT_EQ(replayed(b.graph, *b.device, b.cluster()), "");
  auto blob = build_blob(b.graph, *b.device, {});
  ASSERT_TRUE(blob.ok());
  int lookups = 0;
  for (const Core& core : blob->cores)
    for (const Stream& s : core.streams)
      if (s.read && s.read->lookup) {
        ++lookups;
        EXPECT_EQ(s.read->lookup->row_tiles, 4);
        EXPECT_EQ(s.read->lookup->numbers_per_tile, 1024);
        const Stream* list = core.find(s.read->lookup->stream);
        ASSERT_NE(list, nullptr);
        EXPECT_EQ(list->operand, 1);
      }
  EXPECT_EQ(lookups, 2);
}

TEST(Replay, PaddingInTurnsOfItsOwn) {
  using pipes::op_text, pipes::queue_text;
  for (int pad_rows : {0, 2}) {
    std::string shape = cat("t: 2, mblock: [", (4 + pad_rows) / 2, ", 2], ublock: [2, 2], ublock_order: c");
    EXPECT_EQ(problem_of(pipes::netlist_text(
                  queue_text("q", "HOST", "grid_size: [2, 1], t: 6, mblock: [1, 1], ublock: [2, 2]", 2, 0x20000000) +
                      queue_text("out", "n", "grid_size: [1, 2], " + shape, 2, 0x30000000),
                  op_text("f", "nop", "q", 1, "grid_loc: [0, 0], grid_size: [2, 1]",
                          "t: 6, mblock: [1, 1], ublock: [2, 2], ublock_order: r, buf_size_mb: 2") +
                      op_text("n", "nop", "f", 1, "grid_loc: [2, 0], grid_size: [1, 2]", shape + ", buf_size_mb: 2",
                              cat("input_0_tms: [hstack: 3], input_0_pad: {rt: ", pad_rows, ", ct: 2, pad_value: 1.5}")),
                  3)),
              "");
  }
}

// Bytes that an epoch reads from DRAM, and streams that read.
struct Reads {
  std::uint64_t bytes = 0;
  int streams = 0;
  friend bool operator==(const Reads&, const Reads&) = default;
};

Reads reads_of(const pipes::Built& b) {
  Reads out;
  auto blob = build_blob(b.graph, *b.device, b.cluster());
  EXPECT_TRUE(blob.ok()) << pipes::messages(blob.failure());
  if (!blob) return out;
  for (const ChannelLoad& c : make_report(*blob, *b.device, b.cluster().eth_core).channels) out.bytes += c.read;
  for (const Core& core : blob->cores)
    for (const Stream& s : core.streams) out.streams += s.read.has_value();
  return out;
}

// Two ops that read the same queue, with and without sharing what is read, and what follows them.
pipes::Built readers_of_one_queue(bool shared, const std::string& then, const std::string& more = "") {
  using pipes::op_text, pipes::queue_text;
  const std::string shape = "t: 1, mblock: [2, 2], ublock: [1, 1]", block = shape + ", ublock_order: r, buf_size_mb: 2";
  const std::string asks = cat(shared ? "forked_dram_inputs: [x: a]" : "", shared && !more.empty() ? ", " : "", more);
  return pipes::Built(
      pipes::netlist_text(queue_text("x", "HOST", "grid_size: [1, 2], t: 1, mblock: [2, 1], ublock: [1, 1]", 2, 0x20000000) +
                              queue_text("one", then.empty() ? "a" : "c", "grid_size: [1, 1], " + shape, 1, 0x30000000) +
                              (then.empty() ? queue_text("two", "b", "grid_size: [1, 1], " + shape, 1, 0x40000000) : std::string()),
                          op_text("a", "nop", "x", 1, "grid_loc: [0, 0], grid_size: [1, 1]", block, more) +
                              op_text("b", "nop", "x", 1, "grid_loc: [1, 0], grid_size: [1, 1]", block, asks) +
                              (then.empty() ? std::string() : op_text("c", "add", then, 2, "grid_loc: [2, 0], grid_size: [1, 1]", block)),
                          2));
}

TEST(Replay, SharedReads) {
  const pipes::Built shared = readers_of_one_queue(true, ""), apart = readers_of_one_queue(false, "");
  ASSERT_TRUE(shared.ok() && apart.ok()) << shared.problem << apart.problem;
  for (const pipes::Built* b : {&shared, &apart}) EXPECT_EQ(replayed(b->graph, *b->device, b->cluster()), "");
  const std::uint64_t once = 2u * 4 * 2080;
  EXPECT_EQ(reads_of(apart), (Reads{2 * once, 2}));
  EXPECT_EQ(reads_of(shared), (Reads{once, 1}));
}

// Ops that share two inputs might take them in another order each, and one would wait for what the other has no room for: one is shared.
TEST(Replay, OneInputOfTwoOpsIsShared) {
  using pipes::op_text, pipes::queue_text;
  const std::string shape = "t: 1, mblock: [2, 2], ublock: [1, 1]", attributes = "attributes: {m_k: 2, u_kt: 1}";
  auto matmul = [&](const std::string& name, int row, const std::string& more) {
    return op_text(name, "matmul", "x, w", 2, cat("grid_loc: [", row, ", 0], grid_size: [1, 2]"),
                   shape + ", ublock_order: r, buf_size_mb: 2", attributes + more);
  };
  pipes::Built b(pipes::netlist_text(queue_text("x", "HOST", "grid_size: [1, 1], " + shape, 1, 0x20000000) +
                                         queue_text("w", "HOST", "grid_size: [1, 1], t: 1, mblock: [2, 4], ublock: [1, 1]", 1, 0x21000000) +
                                         queue_text("one", "a", "grid_size: [1, 2], " + shape, 2, 0x30000000) +
                                         queue_text("two", "b", "grid_size: [1, 2], " + shape, 2, 0x34000000),
                                     matmul("a", 0, "") + matmul("b", 1, ", forked_dram_inputs: [x: a, w: a]"), 2));
  ASSERT_TRUE(b.ok()) << b.problem;
  EXPECT_EQ(replayed(b.graph, *b.device, b.cluster()), "");
  auto blob = build_blob(b.graph, *b.device, b.cluster());
  ASSERT_TRUE(blob.ok());
  std::map<std::string, int> readers;
  for (const Core& core : blob->cores)
    for (const Stream& s : core.streams)
      if (s.read) ++readers[blob->dram[static_cast<std::size_t>(s.read->buffers.front().dram)].queue];
  EXPECT_EQ(readers["x"] + readers["w"], 1 + 4) << "x by one multicast for both, w by each core";
  EXPECT_EQ(readers["x"], 1);
}

// Where ops meet again, one might wait for what the other has not read yet: each reads for itself.
TEST(Replay, ReadsAreNotSharedByOpsThatMeetAgain) {
  const pipes::Built b = readers_of_one_queue(true, "a, b");
  ASSERT_TRUE(b.ok()) << b.problem;
  EXPECT_EQ(replayed(b.graph, *b.device, b.cluster()), "");
  EXPECT_EQ(reads_of(b).streams, 2);
  auto blob = build_blob(b.graph, *b.device, b.cluster());
  ASSERT_TRUE(blob.ok());
  std::set<std::int32_t> readers;
  for (const Core& core : blob->cores)
    for (const Stream& s : core.streams)
      if (s.read) {
        EXPECT_EQ(s.read->buffers.front().readers, 2) << "they free slots together";
        readers.insert(s.read->buffers.front().reader);
      }
  EXPECT_EQ(readers, (std::set<std::int32_t>{0, 1}));
}

// What fits without sharing fits with it.
TEST(Replay, SharedReadsThatDoNotFitAreMadeApart) {
  int fit = 0, together = 0, apart = 0;
  for (int tiles = 560; tiles < 660; tiles += 1) {
    const std::string room = cat("input_buf_min_size_tiles: [", tiles, "]");
    const pipes::Built b = readers_of_one_queue(true, "", room), own = readers_of_one_queue(false, "", room);
    ASSERT_TRUE(b.ok() && own.ok()) << b.problem << own.problem;
    std::string refused;
    EXPECT_EQ(replayed(own.graph, *own.device, own.cluster(), &refused), "");
    if (!refused.empty()) break;
    ++fit;
    EXPECT_EQ(replayed(b.graph, *b.device, b.cluster()), "") << tiles;
    (reads_of(b).streams == 1 ? together : apart) += 1;
  }
  EXPECT_GT(together, 0);
  EXPECT_GT(apart, 0) << "of " << fit;
}

// Matmuls whose left operand goes to a row of cores each: a core sends so many multicasts, and the rest read for themselves.
TEST(Replay, SharedReadsOfMulticasts) {
  using pipes::op_text, pipes::queue_text;
  const std::string shape = "t: 1, mblock: [2, 2], ublock: [1, 1]";
  std::string queues = queue_text("x", "HOST", "grid_size: [1, 1], " + shape, 1, 0x20000000) +
                       queue_text("w", "HOST", "grid_size: [1, 1], t: 1, mblock: [2, 4], ublock: [1, 1]", 1, 0x21000000),
              ops;
  const int count = 6;
  for (int i = 0; i < count; ++i) {
    queues += queue_text(cat("out", i), cat("m", i), "grid_size: [1, 2], " + shape, 2, 0x30000000u + 0x4000000u * static_cast<unsigned>(i));
    ops += op_text(cat("m", i), "matmul", "x, w", 2, cat("grid_loc: [", i, ", 0], grid_size: [1, 2]"),
                   shape + ", ublock_order: r, buf_size_mb: 2",
                   cat("attributes: {m_k: 2, u_kt: 1}", i > 0 ? ", forked_dram_inputs: [x: m0]" : ""));
  }
  pipes::Built b(pipes::netlist_text(queues, ops, 2));
  ASSERT_TRUE(b.ok()) << b.problem;
  EXPECT_EQ(replayed(b.graph, *b.device, b.cluster()), "");
  auto blob = build_blob(b.graph, *b.device, b.cluster());
  ASSERT_TRUE(blob.ok());
  const std::int32_t most = b.device->streams.multicast_per_core;
  int reading = 0, sending_on = 0;
  for (const Core& core : blob->cores)
    for (const Stream& s : core.streams) {
      if (s.kind != StreamKind::multicast) continue;
      (s.read ? reading : sending_on) += 1;
      if (s.read) continue;
      const Stream* reader = core.find(s.fork_of);
      ASSERT_TRUE(reader != nullptr && reader->read);
      EXPECT_EQ(s.address, reader->address);
      EXPECT_EQ(s.bytes, reader->bytes);
      EXPECT_EQ(s.phases, reader->phases);
    }
  EXPECT_EQ(sending_on, most - 1);
  EXPECT_EQ(reading, count - (most - 1));
}

// All pipes of random netlists that bring the same are made to share.
TEST(Replay, RandomSharedReads) {
  Rng rng(21);
  int built = 0, shared = 0;
  const int wanted = pipes::netlists_wanted(200);
  for (int round = 0; built < wanted && round < 4 * wanted; ++round) {
    const int chips = 1 + round % 2;
    std::string text = pipes::random_netlist(rng, chips);
    pipes::Built b(text, chips == 1 ? "wormhole_b0" : "n300");
    if (!b.ok()) continue;
    ++built;
    std::map<std::pair<std::vector<Id>, std::int64_t>, std::vector<pipes::Pipe*>> groups;
    for (pipes::Pipe& p : b.graph.pipes)
      if (p.reads_dram()) groups[{p.inputs, p.periodic_repeat}].push_back(&p);
    for (auto& [key, pipes] : groups)
      for (std::size_t i = 0; i < pipes.size(); ++i) {
        pipes[i]->dram_num_forks = static_cast<std::int32_t>(pipes.size());
        pipes[i]->dram_fork_index = static_cast<std::int32_t>(i);
      }
    std::string why;
    EXPECT_EQ(replayed(b.graph, *b.device, b.cluster(), &why), "") << text;
    auto blob = build_blob(b.graph, *b.device, b.cluster());
    if (!blob) continue;
    for (const Core& core : blob->cores)
      for (const Stream& s : core.streams) shared += (s.kind == StreamKind::multicast || s.kind == StreamKind::relay) && s.fork_of >= 0;
  }
  EXPECT_GT(shared, 5);
}

// Pipegen files that TT-Buda's net2pipe wrote, when they are there.
TEST(Replay, OriginalPipegenFiles) {
  namespace fs = std::filesystem;
  const char* named = std::getenv("BUDA_SHARED_DIR");
  const char* source = std::getenv("BUDA_SOURCE_DIR");
  fs::path shared = named != nullptr ? fs::path(named) : fs::path(source != nullptr ? source : ".") / ".." / "shared";
  fs::path folder = shared / "corpus" / "original-outputs";
  std::error_code ec;
  std::vector<fs::path> files;
  for (fs::recursive_directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec))
    if (it->path().filename() == "pipegen.yaml") files.push_back(it->path());
  if (files.empty()) GTEST_SKIP() << "no " << folder;
  std::sort(files.begin(), files.end());
  std::size_t done = 0;
  for (const fs::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    auto graph = pipes::parse_pipegen(text.str(), file.filename().string());
    ASSERT_TRUE(graph.ok()) << file << pipes::messages(graph.failure());
    std::string arch = file.lexically_relative(folder).begin()->string(), refused;
    const auto& device = pipes::shipped(arch);
    EXPECT_EQ(replayed(graph->graph, device, pipes::shipped_cluster(device), &refused), "") << file;
    EXPECT_EQ(refused, "") << file;
    ++done;
  }
  EXPECT_GT(done, 0u);
}

}  // namespace
}  // namespace buda::overlay
