// SPDX-License-Identifier: Apache-2.0
// The section dram_blob.
#include <buda/overlay/blob/yaml_entry.hpp>
#include <buda/overlay/blob/yaml_source.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <vector>

namespace buda::overlay {
namespace {

// Offsets of a read list may be a loop: this bit, how often more, and how many entries are repeated; then what is added each time.
constexpr std::uint64_t kLoopBit = std::uint64_t{1} << 63;

std::int64_t slot_tiles(const DramBuffer& d) { return d.entry_tiles * std::max<std::int64_t>(d.slots, 1); }

void add_size(const DramBuffer& d, YamlEntry& e) {
  e.add("dram_buf_size_bytes", slot_tiles(d) * d.tile_bytes);
  e.add("dram_buf_size_q_slots", d.slots);
  e.add("dram_buf_size_tiles", slot_tiles(d));
}

void add_offsets(const YamlSource& y, const DramRead& r, const std::optional<RowReading>& rows, YamlEntry& e) {
  std::string list;
  std::size_t n = 0;
  auto put = [&](std::uint64_t v) {
    list += list.empty() ? "" : ", ";
    list += hex_text(v);
  };
  if (rows) {
    // For a table, the numbers that arrive determine the rows; the list only has to be there.
    if (rows->looks_up) put(y.noc_address(y.dram(r.buffers.front().dram)));
    for (std::uint64_t block : rows->blocks) put(block);
    e.add("dram_scatter_offsets", cat('[', list, ']')).add("dram_scatter_offsets_full_size", rows->block_count);
    return;
  }
  for (const ReadRun& run : r.blocks) {
    const DramBuffer& first = y.dram(r.buffers[static_cast<std::size_t>(run.first[0])].dram);
    auto tile = static_cast<std::int64_t>(first.tile_bytes);
    n += static_cast<std::size_t>(run.count);
    if (run.count > 3 && run.step[0] == 0 && run.step[1] >= 0) {
      put(y.noc_address(first) + static_cast<std::uint64_t>(run.first[1] * tile));
      put(kLoopBit | static_cast<std::uint64_t>(run.count - 1) << 32 | 1);
      put(static_cast<std::uint64_t>(run.step[1] * tile));
      continue;
    }
    for (std::int64_t i = 0; i < run.count; ++i) {
      auto at = run.at(i);
      put(y.noc_address(y.dram(r.buffers[static_cast<std::size_t>(at[0])].dram)) + static_cast<std::uint64_t>(at[1] * tile));
    }
  }
  e.add("dram_scatter_offsets", cat('[', list, ']'));
  e.add("dram_scatter_offsets_full_size", n);
}

void read_entries(const YamlSource& y, const Stream& s, std::string& text) {
  const DramRead& r = *s.read;
  const std::optional<RowReading> rows = y.rows_of(s);
  std::vector<std::int64_t> tiles(r.buffers.size(), 0);
  for_each(r.blocks, [&](const ReadRun::Tuple& t) { tiles[static_cast<std::size_t>(t[0])] += r.block_tiles; });
  if (rows && rows->looks_up) tiles.front() = rows->rows_per_pass;
  for (std::size_t i = 0; i < r.buffers.size(); ++i) {
    const DramBuffer& d = y.dram(r.buffers[i].dram);
    text += cat("    ", i, ":\n");
    YamlEntry e(text, "      ");
    e.hex("dram_buf_noc_addr", y.noc_address(d)).add("dram_buf_read_chunk_size_tiles", r.chunk_tiles);
    add_size(d, e);
    if (s.write) e.add("dram_buf_write_chunk_size_tiles", s.write->chunk_tiles);
    e.add("dram_input", true).add("dram_io", !r.before_epoch);
    if (s.write) e.add("dram_output", true);
    if (d.padding) e.add("dram_padding", true);
    if (d.ram) e.add("dram_ram", true);
    if (s.kind == StreamKind::intermediate) {  // a ram that the kernel adds to: read and written as a whole
      e.add("msg_size", s.message_bytes).add("num_msgs", s.messages());
      continue;
    }
    e.add("dram_scatter_chunk_size_tiles", r.block_tiles);
    if (i == 0) add_offsets(y, r, rows, e);
    e.add("msg_size", s.message_bytes).add("num_msgs", tiles[i]);
    e.add("reader_index", r.buffers[i].reader).add("total_readers", r.buffers[i].readers);
  }
}

void write_entry(const YamlSource& y, const Stream& s, std::string& text) {
  const DramBuffer& d = y.dram(s.write->dram);
  text += "    0:\n";
  YamlEntry e(text, "      ");
  e.hex("dram_buf_noc_addr", y.noc_address(d));
  add_size(d, e);
  e.add("dram_buf_write_chunk_size_tiles", s.write->chunk_tiles);
  if (s.write->rows) e.add("dram_buf_write_row_chunk_size_bytes", s.write->rows->row_bytes / std::max(s.write->rows->tiles_across, 1));
  if (!s.write->after_epoch) e.add("dram_io", true);
  e.add("dram_output", true);
  if (d.ram) e.add("dram_ram", true);
  e.add("msg_size", s.message_bytes).add("num_msgs", s.messages());
}

// Of either end of a connection over PCIe: to both it is a queue in L1 of the receiver. `sender`: of the receiver.
void pcie_entry(const YamlSource& y, const Stream& s, const Stream* sender, std::string& text) {
  const PcieWrite& w = sender != nullptr ? *sender->pcie : *s.pcie;
  const StreamRef to = sender != nullptr ? sender->destinations.front().first : s.destinations.front().first;
  const std::int64_t tiles = static_cast<std::int64_t>(y.blob.find(to)->bytes) / s.message_bytes;
  text += "    0:\n";
  YamlEntry e(text, "      ");
  e.hex("dram_buf_noc_addr", y.noc_address(w.port, w.address));
  e.add(sender != nullptr ? "dram_buf_read_chunk_size_tiles" : "dram_buf_write_chunk_size_tiles", w.chunk_tiles);
  e.add("dram_buf_size_bytes", tiles * s.message_bytes).add("dram_buf_size_q_slots", tiles / w.chunk_tiles);
  e.add("dram_buf_size_tiles", tiles).add(sender != nullptr ? "dram_input" : "dram_output", true).add("dram_streaming", true);
  if (sender == nullptr) e.add("dram_streaming_dest", y.name(to));
  e.add("msg_size", s.message_bytes).add("num_msgs", s.messages() / s.iterations);
  if (sender != nullptr) e.add("reader_index", 0).add("total_readers", 1);
}

}  // namespace

Result<void> write_yaml_dram(const YamlSource& y, io::OutputFile& out) {
  std::string text = "dram_blob:\n";
  for (std::size_t c = 0; c < y.blob.cores.size(); ++c)
    for (const Stream& s : y.blob.cores[c].streams) {
      const Stream* sender = y.blob.sender_over_pcie(s);
      if (!s.read && !s.write && !s.pcie && sender == nullptr) continue;
      text += cat("  ", y.name({static_cast<std::int32_t>(c), s.number}), ":\n");
      if (s.pcie || sender != nullptr) {
        pcie_entry(y, s, sender, text);
      } else if (s.read) {
        read_entries(y, s, text);
      } else {
        write_entry(y, s, text);
      }
      BUDA_TRY(flush_text(text, 1 << 20, out));
    }
  return flush_text(text, 0, out);
}

}  // namespace buda::overlay
