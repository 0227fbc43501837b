// SPDX-License-Identifier: Apache-2.0
// Blobs in the form of TT-Buda's pipegen2: what its blobgen takes for granted about the parameters of streams.
#include <buda/overlay/blob/blob_file.hpp>
#include <buda/overlay/build.hpp>

#include "unit/pipes/built.hpp"
#include "unit/pipes/check/random_netlists.hpp"
#include "unit/pipes/interchip/ring.hpp"
#include "unit/pipes/interchip/two_chips.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <sstream>

namespace buda::overlay {
namespace {

using pipes::Built;
using pipes::netlist_text;
using pipes::op_text;
using pipes::queue_text;

class TextFile : public io::OutputFile {
 public:
  Result<void> write(std::string_view data) override {
    text += data;
    return success();
  }
  Result<void> commit() override { return success(); }
  std::string text;
};

using Parameters = std::map<std::string, std::string>;

struct Written {
  std::map<std::string, std::map<std::uint64_t, Parameters>> streams;  // by name and phase
  std::map<std::string, Parameters> dram;                              // by name, of the stream's first buffer

  static std::int64_t number(const Parameters& p, const std::string& key) {
    auto it = p.find(key);
    return it == p.end() ? -1 : std::stoll(it->second, nullptr, 0);
  }
  const Parameters& first(const std::string& name) const { return streams.at(name).begin()->second; }
};

// The phases of a blob's text; `problem` when there is no blob.
Written written(const Built& b, std::string& problem) {
  Written out;
  auto blob = build_blob(b.graph, *b.device, b.cluster());
  if (!blob) {
    problem = pipes::messages(blob.failure());
    return out;
  }
  TextFile file;
  EXPECT_TRUE(write_blob_yaml(*blob, b.graph, *b.device, 0, file).ok());
  std::istringstream lines(file.text);
  std::string line, stream;
  std::uint64_t phase = 0;
  bool in_phase = false;
  while (std::getline(lines, line)) {
    auto depth = line.find_first_not_of(' ');
    auto colon = line.find(':');
    std::string key = line.substr(depth, colon - depth);
    if (depth == 0) {
      in_phase = key.rfind("phase_", 0) == 0;
      if (in_phase) phase = std::stoull(key.substr(6));
    } else if (depth == 2) {
      stream = key;
    } else if (in_phase) {
      EXPECT_TRUE(out.streams[stream][phase].emplace(key, line.substr(colon + 2)).second) << stream << " says " << key << " twice";
    } else if (depth == 6) {
      out.dram[stream].emplace(key, line.substr(colon + 2));
    }
  }
  return out;
}

std::string core_of(const std::string& stream) { return stream.substr(0, stream.find("__stream")); }

// The stream, or the first and last stream of a multicast.
std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> out;
  for (std::size_t at = list.find("chip_"); at != std::string::npos; at = list.find("chip_", at + 1))
    out.push_back(list.substr(at, list.find_first_of(",]", at) - at));
  return out;
}

// The kernel's streams have numbers without gaps, no two the same.
void expect_indices(const Written& w, const std::string& key) {
  std::map<std::string, std::set<std::int64_t>> used;
  for (const auto& [name, phases] : w.streams) {
    std::int64_t index = Written::number(phases.begin()->second, key);
    if (index < 0) continue;
    EXPECT_TRUE(used[core_of(name)].insert(index).second) << name << ' ' << key << ' ' << index;
  }
  for (const auto& [core, indices] : used) EXPECT_EQ(*indices.rbegin() + 1, static_cast<std::int64_t>(indices.size())) << core;
}

void expect_sound(const Written& w) {
  expect_indices(w, "input_index");
  expect_indices(w, "output_index");
  for (const auto& [name, phases] : w.streams) {
    const Parameters& first = phases.begin()->second;
    // Blocks are handed out by the firmware, everything else by the packer itself.
    EXPECT_FALSE(first.count("is_scatter_pack") != 0 && first.count("legacy_pack") != 0) << name;
    EXPECT_EQ(first.count("is_scatter_pack"), first.count("padding_scatter_order_size")) << name;
    if (first.count("is_scatter_pack") != 0) {
      EXPECT_EQ(first.at("resend"), "false") << name;
    }
    // What the firmware of an ethernet core carries over the link: the overlay brings it to one stream, and takes it from another.
    const bool carried = first.count("use_ethernet_fw_stream") != 0, away = first.count("eth_sender") != 0;
    if (carried) {
      EXPECT_EQ(first.count("input_index"), away ? 1u : 0u) << name;
      EXPECT_EQ(first.count("output_index"), away ? 0u : 1u) << name;
      EXPECT_EQ(first.count("receiver_endpoint"), away ? 1u : 0u) << name;
      EXPECT_EQ(first.count("source_endpoint"), away ? 0u : 1u) << name;
      EXPECT_EQ(first.count("num_msgs_in_block"), away ? 0u : 1u) << name;
      for (const auto& [id, p] : phases)
        if (!away) {
          EXPECT_EQ(Written::number(p, "num_msgs") % Written::number(p, "num_msgs_in_block"), 0) << name;
          EXPECT_EQ(Written::number(p, "buf_size") / Written::number(p, "msg_size") % Written::number(p, "num_msgs_in_block"), 0) << name;
        }
    }
    // Both ends of a connection that has one phase get an empty one after it.
    const bool alone = phases.size() == 1 && first.count("dest") != 0 && !(carried && away);
    EXPECT_EQ(alone, first.count("follow_by_sender_dummy_phase") != 0) << name;
    if (!alone) continue;
    for (const std::string& to : names_in(first.at("dest"))) {
      ASSERT_EQ(w.streams.count(to), 1u) << name << " sends to " << to;
      auto there = w.streams.at(to).find(phases.begin()->first);
      ASSERT_NE(there, w.streams.at(to).end()) << to;
      EXPECT_EQ(there->second.count("follow_by_receiver_dummy_phase"), 1u) << to;
    }
  }
}

// The blobs of what was built, which has to succeed.
Written sound_blobs(const Built& b) {
  std::string refused = b.problem;
  Written w = b.ok() ? written(b, refused) : Written{};
  [&] { ASSERT_EQ(refused, ""); }();
  expect_sound(w);
  return w;
}

TEST(BlobYaml, ParametersAgree) {
  Rng rng(5);
  int done = 0;
  for (int round = 0; done < 150 && round < 600; ++round) {
    const int chips = round % 3 == 2 ? 2 : 1;
    const std::string device = round % 6 == 5 ? "grayskull" : chips == 2 ? "n300" : round % 3 == 1 ? "grayskull" : "wormhole_b0";
    std::string text = pipes::random_netlist(rng, chips, chips == 2 && device == "grayskull" ? device : "wormhole_b0");
    Built b(text, device);
    if (!b.ok()) continue;
    for (pipes::Buffer& buffer : b.graph.buffers)
      if (round % 2 == 0 && buffer.type == pipes::BufferType::ethernet_relay) buffer.use_ethernet_fw_stream = true;
    std::string refused;
    Written w = written(b, refused);
    if (!refused.empty()) continue;
    expect_sound(w);
    if (testing::Test::HasFailure()) FAIL() << text;
    ++done;
  }
  EXPECT_EQ(done, 150);
}

// Rows of an output without tiles: 2x3 cores, each 2 ts of 4x2 tiles of 32x32 datums of 2 bytes.
TEST(BlobYaml, RowsOfSeveralCores) {
  const std::string part = "t: 2, mblock: [2, 2], ublock: [2, 1], ublock_order: r";
  std::string op = op_text("a", "nop", "x", 1, "grid_loc: [0, 0], grid_size: [2, 3]", part, "buf_size_mb: 2");
  const std::string tiled = "untilize_output: false";
  op.replace(op.find(tiled), tiled.size(), "untilize_output: true");
  Built b(netlist_text(queue_text("x", "HOST", "grid_size: [2, 3], " + part, 6, 0x10000000) +
                           queue_text("y", "a", "grid_size: [1, 1], t: 2, mblock: [4, 6], ublock: [2, 1], ublock_order: r", 1, 0x20000000),
                       op, 2));
  const Written w = sound_blobs(b);
  if (HasFatalFailure()) return;
  const std::int64_t row = 6 * 32 * 2, rows_of_core = 4 * 32;
  std::set<std::int64_t> turns;
  for (const auto& [name, phases] : w.streams) {
    const Parameters& p = phases.begin()->second;
    if (p.count("moves_raw_data") == 0) continue;
    std::int64_t turn = Written::number(p, "stride");
    turns.insert(turn);
    EXPECT_EQ(Written::number(p, "total_strides"), 6);
    EXPECT_EQ(Written::number(w.dram.at(name), "dram_buf_write_row_chunk_size_bytes"), 32 * 2) << "a row of a tile";
    EXPECT_EQ(Written::number(w.dram.at(name), "dram_buf_write_chunk_size_tiles") % 4, 0) << "a row of blocks";
    EXPECT_EQ(Written::number(p, "skip_col_bytes"), row);
    EXPECT_EQ(Written::number(p, "skip_col_tile_row_bytes"), 32 * row);
    EXPECT_EQ(Written::number(p, "skip_zcol_bytes"), row / 3);
    EXPECT_EQ(Written::number(p, "skip_col_zrow_bytes"), rows_of_core * row) << "from a row of cores to the next";
    EXPECT_EQ(Written::number(p, "skip_col_row_bytes"), 2 * rows_of_core * row) << "from a t to the next";
    EXPECT_EQ(Written::number(p, "stride_offset_size_bytes"), turn / 3 * rows_of_core * row + turn % 3 * (row / 3));
  }
  EXPECT_EQ(turns, (std::set<std::int64_t>{0, 1, 2, 3, 4, 5}));
}

// A matmul that accumulates in the memory of its output: the intermediate buffer says whose memory it is.
TEST(BlobYaml, IntermediatesNameTheirPartner) {
  const std::string shape = "grid_size: [1, 1], t: 1, mblock: [2, 2], ublock: [1, 1], ublock_order: r";
  Built b(netlist_text(queue_text("x", "HOST", shape, 1, 0x10000000) + queue_text("w", "HOST", shape, 1, 0x11000000) +
                           queue_text("y", "mm", shape, 1, 0x20000000),
                       op_text("mm", "matmul", "x, w", 2, "grid_loc: [0, 0], grid_size: [1, 1]",
                               "t: 1, mblock: [2, 2], ublock: [1, 1], ublock_order: r", "buf_size_mb: 2, attributes: {m_k: 2, u_kt: 1}"),
                       1));
  const Written w = sound_blobs(b);
  if (HasFatalFailure()) return;
  const Parameters& kept = w.first("chip_0__y_1__x_1__stream_id_32");
  EXPECT_EQ(Written::number(kept, "space_shared_with_operand"), pipes::kOutputOperand);
  EXPECT_EQ(Written::number(kept, "input_index"), 2);
  EXPECT_EQ(Written::number(kept, "output_index"), 1);
}

std::vector<std::uint64_t> numbers_in(const std::string& list) {
  std::vector<std::uint64_t> out;
  for (std::size_t at = list.find("0x"); at != std::string::npos; at = list.find("0x", at + 1))
    out.push_back(std::stoull(list.substr(at), nullptr, 16));
  return out;
}

// Goes through a list of rows as the firmware does, which knows the place in the list and the row only: bytes of each piece in an entry.
std::vector<std::int64_t> pieces_of(const Parameters& p, const Parameters& dram, std::int64_t count) {
  const std::vector<std::uint64_t> list = numbers_in(dram.at("dram_scatter_offsets"));
  const std::int64_t columns = Written::number(p, "c_dim_size"), loop = Written::number(p, "c_dim_loop_num_rows");
  const std::int64_t block = Written::number(dram, "dram_scatter_chunk_size_tiles") * Written::number(dram, "msg_size");
  std::int64_t at = 0, repeated = 0, column = 0;
  std::vector<std::int64_t> out;
  while (static_cast<std::int64_t>(out.size()) < count) {
    auto row = static_cast<std::int64_t>(list.at(static_cast<std::size_t>(at++)));
    std::int64_t step = 1;
    if (repeated > 0) {
      step = row - static_cast<std::int64_t>(list.at(static_cast<std::size_t>(at - 2)));
      row += repeated * step;
    }
    out.push_back(row * Written::number(p, "dram_embeddings_row_shift") + column * block + Written::number(p, "tilize_row_col_offset"));
    const std::int64_t before = repeated;
    const std::uint64_t next = at < static_cast<std::int64_t>(list.size()) ? list[static_cast<std::size_t>(at)] : 0;
    const bool progression = (next & 0x80000000) != 0;
    if (progression && repeated < static_cast<std::int64_t>(next & 0x7fffffff)) {
      ++repeated;
      --at;
    } else if (progression) {
      repeated = 0;
      ++at;
    }
    if ((row + step) % loop == 0) {
      column = (column + 1) % columns;
      if (column != 0) at -= progression ? loop - before + 1 : loop;
    }
    if (at == static_cast<std::int64_t>(list.size())) at = 0;
  }
  return out;
}

// A tilizer's rows: the firmware finds the pieces that the stream programs have.
TEST(BlobYaml, RowsForATilizer) {
  struct Case {
    const char *queue, *op;
    int buffers, cores;
  };
  for (const Case& c :
       {Case{"grid_size: [1, 1], t: 2, mblock: [4, 4], ublock: [1, 2]", "grid_size: [2, 2], t: 2, mblock: [2, 2], ublock: [1, 2]", 1, 4},
        Case{"grid_size: [2, 2], t: 1, mblock: [2, 3], ublock: [1, 2]", "grid_size: [2, 2], t: 1, mblock: [2, 3], ublock: [1, 2]", 4, 4},
        Case{"grid_size: [1, 1], t: 3, mblock: [8, 1], ublock: [1, 8]", "grid_size: [2, 1], t: 3, mblock: [4, 1], ublock: [1, 8]", 1, 2},
        Case{"grid_size: [1, 1], t: 1, mblock: [1, 4], ublock: [1, 4]", "grid_size: [1, 4], t: 1, mblock: [1, 1], ublock: [1, 4]", 1, 4}})
    for (const char* order : {"r", "c"}) {
      const std::string place(c.op), ordered = cat(", ublock_order: ", order);
      Built b(netlist_text(queue_text("rows", "HOST", cat(c.queue, ordered, ", layout: flat"), c.buffers, 0x20000000) +
                               queue_text("out", "op", place + ordered, c.cores, 0x30000000),
                           op_text("op", "tilizer", "rows", 1, cat("grid_loc: [0, 0], ", place.substr(0, place.find(", t:"))),
                                   place.substr(place.find("t:")) + ordered + ", buf_size_mb: 2"),
                           3));
      const Written w = sound_blobs(b);
      if (HasFatalFailure()) return;
      auto blob = build_blob(b.graph, *b.device, b.cluster());
      ASSERT_TRUE(blob.ok());
      int readers = 0;
      for (const Core& core : blob->cores)
        for (const Stream& s : core.streams) {
          if (!s.read) continue;
          ++readers;
          const std::string name = cat("chip_0__y_", core.noc.y, "__x_", core.noc.x, "__stream_id_", s.number);
          const Parameters& p = w.first(name);
          EXPECT_EQ(p.at("hw_tilize"), "true");
          EXPECT_EQ(p.count("receiver_endpoint"), 1u) << "the kernel clears rows as tiles";
          EXPECT_EQ(s.read->chunk_tiles % 32, 0) << "whole tiles";
          std::vector<std::int64_t> wanted;
          const auto bytes = std::int64_t{s.message_bytes};
          for_each(s.read->blocks, [&](const ReadRun::Tuple& t) { wanted.push_back(t[1] * bytes); });
          EXPECT_EQ(pieces_of(p, w.dram.at(name), static_cast<std::int64_t>(wanted.size())), wanted) << c.queue << ordered;
          // What the kernel waits for: tiles of 32 rows.
          EXPECT_EQ(Written::number(p, "dram_embeddings_row_tiles") * 32 * 32 * 2, s.read->chunk_tiles * bytes);
          EXPECT_EQ(Written::number(w.dram.at(name), "dram_scatter_offsets_full_size") * Written::number(p, "c_dim_size"),
                    static_cast<std::int64_t>(wanted.size()));
        }
      EXPECT_EQ(readers, c.cores);
    }
}

// Over PCIe: the sender writes to a queue in L1 of the receiver, which reads it; neither shakes hands with the other.
TEST(BlobYaml, OverPcie) {
  Built b(pipes::ring_of_chips(), "grayskull");
  const Written w = sound_blobs(b);
  if (HasFatalFailure()) return;
  int links = 0;
  for (const auto& [name, out] : w.dram) {
    if (out.count("dram_streaming_dest") == 0) continue;
    ++links;
    const std::string& to = out.at("dram_streaming_dest");
    ASSERT_EQ(w.dram.count(to), 1u) << to;
    const Parameters &in = w.dram.at(to), &sender = w.first(name), &receiver = w.first(to);
    EXPECT_EQ(out.at("dram_output"), "true");
    EXPECT_EQ(in.at("dram_input"), "true");
    for (const char* key : {"dram_buf_noc_addr", "dram_streaming", "dram_buf_size_q_slots", "dram_buf_size_tiles", "num_msgs"})
      EXPECT_EQ(out.at(key), in.at(key)) << name << ' ' << key;
    EXPECT_EQ(out.at("dram_buf_write_chunk_size_tiles"), in.at("dram_buf_read_chunk_size_tiles"));
    const std::int64_t chunk = Written::number(in, "dram_buf_read_chunk_size_tiles");
    EXPECT_EQ(Written::number(in, "dram_buf_size_q_slots") * chunk, Written::number(in, "dram_buf_size_tiles"));
    EXPECT_EQ(Written::number(in, "dram_buf_size_bytes"), Written::number(receiver, "buf_size"));
    for (const auto& stream : {name, to})
      for (const auto& [id, p] : w.streams.at(stream)) {
        EXPECT_EQ(Written::number(p, "num_msgs") % chunk, 0) << stream;
        EXPECT_EQ(p.at("dram_buf_noc_addr"), in.at("dram_buf_noc_addr")) << stream;
      }
    EXPECT_EQ(Written::number(sender, "dram_buf_noc_addr") >> 32, 4 << 6) << "PCIe is at 0-4";
    EXPECT_EQ(sender.at("receiver_endpoint"), "true");
    EXPECT_EQ(receiver.at("source_endpoint"), "true");
    EXPECT_EQ(sender.count("dest") + sender.count("eth_sender") + receiver.count("src") + receiver.count("eth_receiver"), 0u);
  }
  EXPECT_EQ(links, 4 + 2 + 2 + 4);
}

// A table's rows: the stream names the one with the numbers, whose tiles the firmware takes.
TEST(BlobYaml, RowsOfATable) {
  std::string numbers = queue_text("numbers", "HOST", "grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [1, 1]", 1, 0x30000000);
  numbers.replace(numbers.find("Float16_b"), 9, "RawUInt32");
  Built b(netlist_text(
      queue_text("table", "HOST", "grid_size: [1, 1], t: 1, mblock: [3, 1], ublock: [1, 4], layout: flat", 1, 0x20000000,
                 "type: ram, entries: 1") +
          numbers + queue_text("out", "look", "grid_size: [1, 1], t: 1, mblock: [4, 1], ublock: [1, 4]", 1, 0x40000000),
      "    look: {type: embedding, grid_loc: [0, 0], grid_size: [1, 1], inputs: [table, numbers], t: 1, mblock: [4, 1], ublock: [1, 4], "
      "ublock_order: r, buf_size_mb: 2, in_df: [Float16_b, RawUInt32], out_df: Float16_b, intermed_df: Float16_b, acc_df: Float16_b, "
      "math_fidelity: HiFi3, untilize_output: false, attributes: {num_indices: 128}}\n",
      2, "table: {prologue: false, epilogue: false, zero: false, rd_ptr_global: 0, wr_ptr_global: 0}"));
  const Written w = sound_blobs(b);
  if (HasFatalFailure()) return;
  const std::string core = "chip_0__y_1__x_1__stream_id_";
  const Parameters &table = w.first(core + "4"), &list = w.first(core + "5");
  EXPECT_EQ(Written::number(table, "scatter_list_stream_id"), 5);
  EXPECT_EQ(Written::number(table, "scatter_list_indicies_per_input"), 128);
  EXPECT_EQ(Written::number(table, "scatter_list_indicies_per_tile"), 1024);
  EXPECT_EQ(Written::number(table, "dram_embeddings_row_shift"), 4 * 32 * 2);
  EXPECT_EQ(table.count("hw_tilize"), 0u);
  EXPECT_EQ(table.at("dram_input_no_push"), "true");
  EXPECT_EQ(list.at("ncrisc_clear"), "true");
  EXPECT_EQ(list.count("dram_input_no_push"), 0u);
  for (const Parameters& p : {table, list}) EXPECT_EQ(p.at("receiver_endpoint"), "true");
}

// What one stream has read others send on: the firmware tells all of them of what has come, and goes by the first.
TEST(BlobYaml, SharedReadsHaveForks) {
  const std::string shape = "t: 1, mblock: [2, 2], ublock: [1, 1]", block = shape + ", ublock_order: r, buf_size_mb: 2";
  std::string queues = queue_text("x", "HOST", "grid_size: [1, 1], " + shape, 1, 0x20000000), ops;
  for (int i = 0; i < 3; ++i) {
    queues += queue_text(cat("q", i), cat("op", i), "grid_size: [1, 1], " + shape, 1, 0x30000000u + 0x1000000u * static_cast<unsigned>(i));
    ops += op_text(cat("op", i), "nop", "x", 1, cat("grid_loc: [0, ", i, "], grid_size: [1, 1]"), block,
                   i == 0 ? "" : "forked_dram_inputs: [x: op0]");
  }
  Built b(netlist_text(queues, ops, 3));
  const Written w = sound_blobs(b);
  if (HasFatalFailure()) return;
  const std::string core = "chip_0__y_1__x_1__stream_id_";
  const Parameters& reader = w.first(core + "40");
  EXPECT_EQ(Written::number(w.dram.at(core + "40"), "total_readers"), 1);
  for (const char* stream : {"40", "41", "42"}) {
    const Parameters& p = w.first(core + stream);
    EXPECT_EQ(p.at("fork_stream_ids"), "[41, 42]") << stream;
    EXPECT_EQ(Written::number(p, "num_fork_streams"), 2);
    EXPECT_EQ(p.count("source_endpoint"), 1u);
    for (const char* key : {"buf_addr", "buf_size", "num_msgs", "next_phase_src_change"}) EXPECT_EQ(p.at(key), reader.at(key)) << key;
    EXPECT_EQ(w.dram.count(core + stream), stream == std::string("40") ? 1u : 0u);
  }
}

// The firmware copies by knowing which streams share their space: the input, and all that send the output.
TEST(BlobYaml, CopiesOnEthernetCoresShareTheirSpace) {
  Built b(pipes::two_chips(), "n300", 2);
  const Written w = sound_blobs(b);
  if (HasFatalFailure()) return;
  int sharing = 0;
  for (const auto& [name, phases] : w.streams) {
    const Parameters& p = phases.begin()->second;
    auto partner = p.find("space_shared_with_stream");
    if (partner == p.end()) continue;
    ++sharing;
    const std::string other = core_of(name) + "__stream_id_" + partner->second;
    const Parameters& q = w.first(other);
    EXPECT_EQ(q.at("space_shared_with_stream"), name.substr(name.rfind('_') + 1));
    EXPECT_EQ(p.at("buf_addr"), q.at("buf_addr"));
    EXPECT_NE(p.count("input_index"), q.count("input_index")) << name;
  }
  EXPECT_EQ(sharing, 2);
}

}  // namespace
}  // namespace buda::overlay
