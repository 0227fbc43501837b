// Writes blob files in the form of TT-Buda's pipegen2: a block of parameters for every phase of every stream.
//
// Phases are sorted by id, as its reader wants them. A phase's parameters are all written out, for its reader takes none over from the
// phase before.
#include <buda/overlay/blob_file.hpp>

#include <buda/base/text.hpp>
#include <buda/overlay/blob_yaml_rows.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace buda::overlay {
namespace {

// Offsets of a read list may be a loop: this bit, how often more, and how many entries are repeated; then what is added each time.
constexpr std::uint64_t kLoopBit = std::uint64_t{1} << 63;

class Entry {
 public:
  Entry(std::string& out, std::string_view indent) : out_(out), indent_(indent) {}
  template <class T>
  Entry& add(std::string_view key, const T& value) {
    out_ += indent_;
    out_ += key;
    out_ += ": ";
    detail::append(out_, value);
    out_ += '\n';
    return *this;
  }
  Entry& hex(std::string_view key, std::uint64_t value) { return add(key, hex_text(value)); }

 private:
  std::string& out_;
  std::string_view indent_;
};

class YamlWriter {
 public:
  YamlWriter(const Blob& blob, const pipes::PipeGraph& graph, const device::DeviceDescriptor& device, std::uint32_t epoch,
             io::OutputFile& out)
      : blob_(blob), buffers_(graph.buffers), device_(device), first_id_(static_cast<std::uint64_t>(epoch) << 32), out_(out) {
    for (const pipes::Buffer& b : graph.buffers)
      if (b.buffer_space_shared) sharers_.emplace(*b.buffer_space_shared, b.operand);
    find_lone_senders();
    find_row_numbers();
  }

  Result<void> run() {
    BUDA_TRY(dram_part());
    BUDA_TRY(phase_part());
    return out_.write("global_info_blob:\n");
  }

 private:
  std::string name(StreamRef r) const {
    const Core& c = blob_.cores[static_cast<std::size_t>(r.core)];
    return cat("chip_", c.chip, "__y_", c.noc.y, "__x_", c.noc.x, "__stream_id_", r.stream);
  }

  bool other_chip(std::int32_t a, std::int32_t b) const {
    return blob_.cores[static_cast<std::size_t>(a)].chip != blob_.cores[static_cast<std::size_t>(b)].chip;
  }

  std::uint64_t noc_address(device::NocCoord port, std::uint64_t address) const {
    auto place = static_cast<std::uint64_t>(port.y) << 6 | static_cast<std::uint64_t>(port.x);
    return (place << device_.noc_address_bits) | address;
  }
  std::uint64_t noc_address(const DramBuffer& d) const { return noc_address(d.port, d.address); }

  // The ends of a connection over PCIe shake hands with nobody there.
  bool receives(const Stream& s) const { return !s.sources.empty() && blob_.sender_over_pcie(s) == nullptr; }
  static bool sends(const Stream& s) { return s.sends() && !s.pcie; }

  const DramBuffer& dram(std::int32_t i) const { return blob_.dram[static_cast<std::size_t>(i)]; }

  static std::int64_t entries(const DramBuffer& d) { return d.entry_tiles * std::max<std::int64_t>(d.slots, 1); }

  // What the firmware has to know of a read that brings rows instead of tiles.
  std::optional<RowReading> rows_of(const Stream& s) const {
    const pipes::Buffer* source = s.read ? buffers_.find(dram(s.read->buffers.front().dram).id) : nullptr;
    return source != nullptr ? row_reading(*s.read, *source, buffers_.find(s.buffer)) : std::nullopt;
  }

  void offsets(const DramRead& r, const std::optional<RowReading>& rows, Entry& e) const {
    std::string list;
    std::size_t n = 0;
    auto put = [&](std::uint64_t v) {
      list += list.empty() ? "" : ", ";
      list += hex_text(v);
    };
    if (rows) {
      // Of a table the numbers that arrive say which rows; the list only has to be there.
      if (rows->looks_up) put(noc_address(dram(r.buffers.front().dram)));
      for (std::uint64_t block : rows->blocks) put(block);
      e.add("dram_scatter_offsets", cat('[', list, ']')).add("dram_scatter_offsets_full_size", rows->block_count);
      return;
    }
    for (const ReadRun& run : r.blocks) {
      const DramBuffer& first = dram(r.buffers[static_cast<std::size_t>(run.first[0])].dram);
      auto tile = static_cast<std::int64_t>(first.tile_bytes);
      n += static_cast<std::size_t>(run.count);
      if (run.count > 3 && run.step[0] == 0 && run.step[1] >= 0) {
        put(noc_address(first) + static_cast<std::uint64_t>(run.first[1] * tile));
        put(kLoopBit | static_cast<std::uint64_t>(run.count - 1) << 32 | 1);
        put(static_cast<std::uint64_t>(run.step[1] * tile));
        continue;
      }
      for (std::int64_t i = 0; i < run.count; ++i) {
        auto at = run.at(i);
        put(noc_address(dram(r.buffers[static_cast<std::size_t>(at[0])].dram)) + static_cast<std::uint64_t>(at[1] * tile));
      }
    }
    e.add("dram_scatter_offsets", cat('[', list, ']'));
    e.add("dram_scatter_offsets_full_size", n);
  }

  void buffer_size(const DramBuffer& d, Entry& e) const {
    e.add("dram_buf_size_bytes", entries(d) * d.tile_bytes);
    e.add("dram_buf_size_q_slots", d.slots);
    e.add("dram_buf_size_tiles", entries(d));
  }

  void read_entries(const Stream& s, std::string& text) const {
    const DramRead& r = *s.read;
    const std::optional<RowReading> rows = rows_of(s);
    std::vector<std::int64_t> tiles(r.buffers.size(), 0);
    for_each(r.blocks, [&](const ReadRun::Tuple& t) { tiles[static_cast<std::size_t>(t[0])] += r.block_tiles; });
    if (rows && rows->looks_up) tiles.front() = rows->rows_per_pass;
    for (std::size_t i = 0; i < r.buffers.size(); ++i) {
      const DramBuffer& d = dram(r.buffers[i].dram);
      text += cat("    ", i, ":\n");
      Entry e(text, "      ");
      e.hex("dram_buf_noc_addr", noc_address(d)).add("dram_buf_read_chunk_size_tiles", r.chunk_tiles);
      buffer_size(d, e);
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
      if (i == 0) offsets(r, rows, e);
      e.add("msg_size", s.message_bytes).add("num_msgs", tiles[i]);
      e.add("reader_index", r.buffers[i].reader).add("total_readers", r.buffers[i].readers);
    }
  }

  void write_entry(const Stream& s, std::string& text) const {
    const DramBuffer& d = dram(s.write->dram);
    text += "    0:\n";
    Entry e(text, "      ");
    e.hex("dram_buf_noc_addr", noc_address(d));
    buffer_size(d, e);
    e.add("dram_buf_write_chunk_size_tiles", s.write->chunk_tiles);
    if (s.write->rows) e.add("dram_buf_write_row_chunk_size_bytes", s.write->rows->row_bytes / std::max(s.write->rows->tiles_across, 1));
    if (!s.write->after_epoch) e.add("dram_io", true);
    e.add("dram_output", true);
    if (d.ram) e.add("dram_ram", true);
    e.add("msg_size", s.message_bytes).add("num_msgs", s.messages());
  }

  // Of either end of a connection over PCIe: to both it is a queue in L1 of the receiver. `sender`: of the receiver.
  void pcie_entry(const Stream& s, const Stream* sender, std::string& text) const {
    const PcieWrite& w = sender != nullptr ? *sender->pcie : *s.pcie;
    const StreamRef to = sender != nullptr ? sender->destinations.front().first : s.destinations.front().first;
    const std::int64_t tiles = static_cast<std::int64_t>(blob_.find(to)->bytes) / s.message_bytes;
    text += "    0:\n";
    Entry e(text, "      ");
    e.hex("dram_buf_noc_addr", noc_address(w.port, w.address));
    e.add(sender != nullptr ? "dram_buf_read_chunk_size_tiles" : "dram_buf_write_chunk_size_tiles", w.chunk_tiles);
    e.add("dram_buf_size_bytes", tiles * s.message_bytes).add("dram_buf_size_q_slots", tiles / w.chunk_tiles);
    e.add("dram_buf_size_tiles", tiles).add(sender != nullptr ? "dram_input" : "dram_output", true).add("dram_streaming", true);
    if (sender == nullptr) e.add("dram_streaming_dest", name(to));
    e.add("msg_size", s.message_bytes).add("num_msgs", s.messages() / s.iterations);
    if (sender != nullptr) e.add("reader_index", 0).add("total_readers", 1);
  }

  Result<void> dram_part() {
    std::string text = "dram_blob:\n";
    for (std::size_t c = 0; c < blob_.cores.size(); ++c)
      for (const Stream& s : blob_.cores[c].streams) {
        const Stream* sender = blob_.sender_over_pcie(s);
        if (!s.read && !s.write && !s.pcie && sender == nullptr) continue;
        text += cat("  ", name({static_cast<std::int32_t>(c), s.number}), ":\n");
        if (s.pcie || sender != nullptr) {
          pcie_entry(s, sender, text);
        } else if (s.read) {
          read_entries(s, text);
        } else {
          write_entry(s, text);
        }
        BUDA_TRY(flush(text, 1 << 20));
      }
    return flush(text, 0);
  }

  Result<void> flush(std::string& text, std::size_t most) {
    if (text.size() <= most) return success();
    BUDA_TRY(out_.write(text));
    text.clear();
    return success();
  }

  // A stream that sends in one phase only has no next phase that would tell its receivers that it is through, so blobgen appends an empty
  // one at both ends.
  bool sends_once(const Core& core, const Stream& s) const { return sends(s) && s.phase_count() == 1 && !firmware_sends(core, s); }

  void find_lone_senders() {
    for (const Core& c : blob_.cores)
      for (const Stream& s : c.streams) {
        if (!sends_once(c, s)) continue;
        for (std::int32_t core : blob_.cores_of(s.destinations.front()))
          sent_once_.emplace(core, s.destinations.front().first.stream, s.phases.front().first[0]);
      }
  }

  // Streams whose tiles the firmware takes: they say which rows of a table it reads.
  void find_row_numbers() {
    for (std::size_t c = 0; c < blob_.cores.size(); ++c)
      for (const Stream& s : blob_.cores[c].streams)
        if (s.read && s.read->lookup) row_numbers_.insert({static_cast<std::int32_t>(c), s.read->lookup->stream});
  }

  // A phase of a stream, with what the one after it changes.
  struct Item {
    std::int64_t id = 0;
    std::int32_t core = 0;
    const Stream* stream = nullptr;
    Phase phase;
    bool last = false, source_changes = false, destination_changes = false;
    bool goes_on = false;  // the pass that the phase before it began

    // Which pass of an iteration a scattered output's phase belongs to.
    std::int64_t pass() const { return stream->ids_per_pass > 0 ? id / stream->ids_per_pass : 0; }
  };

  std::vector<Item> items() const {
    std::vector<Item> out;
    for (std::size_t c = 0; c < blob_.cores.size(); ++c)
      for (const Stream& s : blob_.cores[c].streams) {
        std::size_t first = out.size();
        for_each(s.phases, [&](const PhaseRun::Tuple& t) {
          out.push_back({t[0], static_cast<std::int32_t>(c), &s, to_phase(t), false, false, false, false});
        });
        const Stream* reader = reader_of(blob_.cores[c], s);
        for (std::size_t i = first; i < out.size(); ++i) {
          out[i].last = i + 1 == out.size();
          out[i].goes_on = i > first && out[i].pass() == out[i - 1].pass();
          out[i].source_changes = reader != nullptr ? begins_anew(*reader)
                                                    : out[i].last || (receives(s) && out[i + 1].id != out[i].id) ||
                                                          (!receives(s) && s.kind != StreamKind::input);
          out[i].destination_changes =
              out[i].last || out[i + 1].phase.destination != out[i].phase.destination || boundary(s, out[i + 1].phase);
        }
      }
    std::stable_sort(out.begin(), out.end(), [](const Item& a, const Item& b) { return a.id < b.id; });
    return out;
  }

  // Whether an iteration ends elsewhere in the stream's buffer than it began.
  static bool moves_pointers(const Stream& s) {
    return s.bytes == 0 || s.messages() / s.iterations * s.message_bytes % static_cast<std::int64_t>(s.bytes) != 0;
  }

  // Streams that pass on what one of them has read keep in step with that one.
  static const Stream* reader_of(const Core& core, const Stream& s) {
    const bool passes_on = s.kind == StreamKind::multicast || s.kind == StreamKind::relay;
    const Stream* owner = passes_on && s.fork_of >= 0 ? core.find(s.fork_of) : &s;
    return owner != nullptr && owner->read ? owner : nullptr;
  }

  // What is read while the epoch runs goes on from phase to phase without a pause, if every iteration is alike.
  bool begins_anew(const Stream& s) const {
    const bool kept =
        s.read->before_epoch || (s.kind != StreamKind::input && s.messages() / s.iterations > device_.streams.max_tiles_per_phase);
    return kept || moves_pointers(s);
  }

  // Whether a sender's phase begins a phase of its receiver, so that they have to shake hands.
  bool boundary(const Stream& s, const Phase& p) const {
    if (!sends(s)) return true;
    const Stream* r = blob_.find(s.destinations[static_cast<std::size_t>(p.destination)].first);
    if (r == nullptr) return true;
    for (const PhaseRun& run : r->phases) {
      std::int64_t distance = p.id - run.first[0];
      if (distance == 0 || (run.count > 1 && distance > 0 && distance % run.step[0] == 0 && distance / run.step[0] < run.count))
        return true;
    }
    return false;
  }

  Result<void> phase_part() {
    std::string text;
    std::int64_t current = -1;
    for (const Item& item : items()) {
      if (item.id != current) text += cat("phase_", first_id_ + static_cast<std::uint64_t>(item.id), ":\n");
      current = item.id;
      text += cat("  ", name({item.core, item.stream->number}), ":\n");
      Entry e(text, "    ");
      phase(item, e);
      BUDA_TRY(flush(text, 1 << 20));
    }
    return flush(text, 0);
  }

  void phase(const Item& item, Entry& e) const {
    const Stream& s = *item.stream;
    const Core& core = blob_.cores[static_cast<std::size_t>(item.core)];
    e.add("phase_id", first_id_ + static_cast<std::uint64_t>(item.id));
    auto tile = static_cast<std::uint64_t>(s.message_bytes);
    e.hex("buf_addr", s.address + static_cast<std::uint64_t>(item.phase.offset) * tile);
    e.add("buf_size", s.scattered ? static_cast<std::uint64_t>(item.phase.messages) * tile : s.bytes);
    const bool from_blocks = s.scattered || is_scattered_store(s);
    if (from_blocks) e.hex("buf_base_addr", s.address).add("buf_full_size_bytes", s.bytes);
    if (s.buffer != 0 && !from_blocks) e.add("buf_id", s.buffer);
    if (s.pipe != 0) e.add("pipe_id", s.pipe);
    e.add("data_auto_send", true).add("incoming_data_noc", s.noc_in).add("remote_src_update_noc", 1 - s.noc_in);
    for (const TileHeaders& h : core.headers)
      if (h.tile_bytes == s.message_bytes) e.hex("msg_info_buf_addr", h.address);
    e.add("msg_size", s.message_bytes).add("num_msgs", item.phase.messages);
    e.add("num_iters_in_epoch", s.iterations);
    e.add("num_unroll_iter", is_scatter_pack(s) ? std::max<std::int64_t>(s.passes, 1) : 1);
    e.add("unroll_iter", is_scatter_pack(s) ? item.pass() : 0);
    e.add("next_phase_src_change", item.source_changes).add("next_phase_dest_change", item.destination_changes);
    e.add("phase_auto_advance", true).add("phase_auto_config", !item.last);
    receiving(item, e);
    sending(item, e);
    if (s.read || s.write) dram_keys(item, e);
    if (const Stream* sender = blob_.sender_over_pcie(s); s.pcie || sender != nullptr) pcie_keys(s, sender, e);
    index(core, s, e);
    if (s.firmware) firmware(core, s, e);
    kernel(core, s, e);
    if (is_scatter_pack(s))
      e.add("is_scatter_pack", true).add("padding_scatter_order_size", 1).add("resend", item.goes_on).add("num_scatter_inner_loop", 1);
  }

  // The kernel's firmware hands these out block by block; the other outputs are rings.
  static bool is_scatter_pack(const Stream& s) { return s.scattered && (s.kind == StreamKind::output || s.kind == StreamKind::fork); }

  bool is_scattered_store(const Stream& s) const {
    if (s.kind != StreamKind::store) return false;
    const pipes::Buffer* b = buffers_.find(s.buffer);
    return b != nullptr && b->is_scatter;
  }

  // What the firmware of an ethernet core carries over the link it takes like a kernel's input, and hands out there like an output.
  bool firmware_sends(const Core& core, const Stream& s) const {
    return s.firmware && s.sends() && blob_.cores[static_cast<std::size_t>(s.destinations.front().first.core)].chip != core.chip;
  }
  bool firmware_receives(const Core& core, const Stream& s) const { return s.firmware && !firmware_sends(core, s); }

  // Streams of the kernel are numbered without gaps: what it reads, then its intermediates; what it writes, then its intermediates.
  void index(const Core& core, const Stream& s, Entry& e) const {
    auto is_input = [&](const Stream& o) { return o.kind == StreamKind::input || firmware_sends(core, o); };
    auto is_output = [&](const Stream& o) { return o.kind == StreamKind::output || firmware_receives(core, o); };
    const bool both = s.kind == StreamKind::intermediate;
    std::int32_t inputs = 0, outputs = 0, intermediates = 0;
    for (const Stream& other : core.streams) {
      const bool before = other.number < s.number;
      inputs += is_input(other) && (before || both);
      outputs += is_output(other) && (before || both);
      intermediates += other.kind == StreamKind::intermediate && before;
    }
    if (both || is_input(s)) e.add("input_index", inputs + (both ? intermediates : 0));
    if (both || is_output(s)) e.add("output_index", outputs + (both ? intermediates : 0));
  }

  void receiving(const Item& item, Entry& e) const {
    const Stream& s = *item.stream;
    bool kernel = s.kind == StreamKind::input || s.kind == StreamKind::intermediate;
    if (kernel) {
      const bool row_numbers = row_numbers_.contains({item.core, s.number});
      if (device_.features.stream_tile_clearing && !row_numbers && !rows_of(s)) {
        e.add("local_receiver", true).add("local_receiver_tile_clearing", true);
      } else {
        e.add("receiver_endpoint", true);
      }
      if (row_numbers) e.add("ncrisc_clear", true);
      e.add("buf_space_available_ack_thr", !receives(s) && s.kind == StreamKind::input ? 0 : threshold(s));
    }
    if (sent_once_.count({item.core, s.number, item.id}) != 0) e.add("follow_by_receiver_dummy_phase", true);
    const bool by_firmware = firmware_receives(blob_.cores[static_cast<std::size_t>(item.core)], s);
    if (!receives(s) || by_firmware) e.add("source_endpoint", true);
    if (!receives(s)) return;
    StreamRef from = s.sources[static_cast<std::size_t>(item.phase.source)];
    if (!by_firmware) e.add("remote_source", true);
    e.add("src", name(from)).add("data_buf_no_flow_ctrl", false);
    if (other_chip(item.core, from.core)) e.add("eth_receiver", true);
    const Stream* sender = blob_.find(from);
    if (sender == nullptr || sender->kind != StreamKind::multicast) return;
    auto cores = blob_.cores_of(sender->destinations.front());
    auto index = std::find(cores.begin(), cores.end(), item.core) - cores.begin();
    if (sender->destinations.front().is_multicast()) e.add("remote_src_is_mcast", true).add("src_dest_index", index);
  }

  // How much room has to be free before the sender hears of it: more, the more blocks the buffer holds.
  std::int64_t threshold(const Stream& s) const {
    const pipes::Buffer* b = buffers_.find(s.buffer);
    if (b == nullptr || b->scatter_gather_num_tiles < 1) return 2;
    const std::int64_t blocks = b->size_tiles / b->scatter_gather_num_tiles;
    return blocks == 0 ? 0 : blocks < 3 ? 1 : blocks < 6 ? 2 : 3;
  }

  void sending(const Item& item, Entry& e) const {
    const Stream& s = *item.stream;
    const Core& core = blob_.cores[static_cast<std::size_t>(item.core)];
    if (sends_once(core, s)) e.add("follow_by_sender_dummy_phase", true);
    if (!sends(s)) {
      if ((s.write || s.pcie) && s.kind != StreamKind::intermediate)
        e.add("receiver_endpoint", true).add("remote_receiver", false).add("outgoing_data_noc", s.noc_out).add("vc", s.vc);
      return;
    }
    const Destination& d = s.destinations[static_cast<std::size_t>(item.phase.destination)];
    std::string dest = name(d.first);
    if (d.is_multicast()) dest += cat(",", name({d.last_core, d.first.stream}));
    e.add(firmware_sends(core, s) ? "receiver_endpoint" : "remote_receiver", true);
    e.add("dest", cat('[', dest, ']')).add("dest_data_buf_no_flow_ctrl", false);
    e.add("outgoing_data_noc", s.noc_out).add("vc", s.vc);
    if (other_chip(item.core, d.first.core)) e.add("eth_sender", true);
    if (d.is_multicast()) e.add("linked", true).add("num_mcast_dests", blob_.cores_of(d).size());
  }

  void pcie_keys(const Stream& s, const Stream* sender, Entry& e) const {
    const PcieWrite& w = sender != nullptr ? *sender->pcie : *s.pcie;
    e.hex("dram_buf_noc_addr", noc_address(w.port, w.address)).add("dram_streaming", true);
    if (sender == nullptr) {
      const bool packed = s.kind == StreamKind::output || s.kind == StreamKind::fork;
      e.add("dram_output", true).add("dram_output_no_push", packed).add("dram_writes_with_cmd_buf", true);
      if (!packed) e.add("legacy_pack", true);
      return;
    }
    e.add("dram_input", true).add("num_scatter_inner_loop", 1).add("pipe_scatter_output_loop_count", 1);
    e.add("ptrs_not_zero", moves_pointers(s)).add("resend", false);
    if (s.kind == StreamKind::input) e.add("dram_input_no_push", true);
  }

  void dram_keys(const Item& item, Entry& e) const {
    const Stream& s = *item.stream;
    const DramBuffer& d = dram(s.read ? s.read->buffers.front().dram : s.write->dram);
    e.hex("dram_buf_noc_addr", noc_address(d));
    bool streamed = s.read ? !s.read->before_epoch : !s.write->after_epoch;
    e.add("dram_io", streamed);
    if (d.ram) e.add("dram_ram", true);
    if (s.read) e.add("dram_input", true);
    if (s.write) e.add("dram_output", true);
    if (s.kind == StreamKind::intermediate) {
      e.add("outgoing_data_noc", s.noc_out).add("vc", s.vc);
      return;
    }
    if (s.read) {
      const std::optional<RowReading> rows = rows_of(s);
      e.add("num_scatter_inner_loop", rows && rows->looks_up ? rows->columns : 1).add("pipe_scatter_output_loop_count", 1);
      e.add("ptrs_not_zero", moves_pointers(s));
      e.add("resend", s.read->before_epoch);
      if (streamed && s.kind == StreamKind::input && !row_numbers_.contains({item.core, s.number})) e.add("dram_input_no_push", true);
      if (rows) row_keys(s, *rows, e);
    }
    if (s.write) {
      const bool packed = (s.kind == StreamKind::output || s.kind == StreamKind::fork) && !s.scattered && !s.write->rows;
      e.add("dram_output_no_push", streamed && packed)
          .add("dram_writes_with_cmd_buf", s.write->rows.has_value() || dram(s.write->dram).host);
      if (s.write->rows) written_rows(*s.write->rows, e);
    }
  }

  void row_keys(const Stream& s, const RowReading& rows, Entry& e) const {
    e.add("c_dim_size", rows.columns);
    e.add("dram_embeddings_row_shift", rows.row_bytes).add("dram_embeddings_row_tiles", rows.tiles_per_chunk);
    if (rows.looks_up) {
      const RowLookup& lookup = *s.read->lookup;
      e.add("scatter_list_stream_id", lookup.stream).add("scatter_list_indicies_per_tile", lookup.numbers_per_tile);
      e.add("scatter_list_indicies_per_input", rows.rows_per_pass);
      return;
    }
    const pipes::Buffer& source = *buffers_.find(dram(s.read->buffers.front().dram).id);
    e.add("hw_tilize", true).add("c_dim_loop_num_rows", rows.rows_per_column).add("tilize_row_col_offset", rows.first_byte);
    e.add("tile_dim_r", source.untilized.tile_rows).add("tile_dim_c", source.untilized.tile_cols);
  }

  // All cores that write the same rows take turns; a core's place among them follows from where its first row begins.
  void written_rows(const RowWrite& w, Entry& e) const {
    const std::int64_t row_of_cores = w.pitch * w.rows;
    const std::int64_t across = w.pitch / w.row_bytes, down = w.plane_pitch / row_of_cores;
    e.add("moves_raw_data", true).add("batch_dim_size", w.planes).add("r_dim_size", w.rows / w.tile_rows);
    e.add("c_dim_size", w.tiles_across);
    e.add("zr_dim_size", 1).add("zc_dim_size", 1).add("tile_dim_r", w.tile_rows).add("tile_dim_c", w.tile_cols);
    e.add("skip_col_bytes", w.pitch).add("skip_col_tile_row_bytes", w.pitch * w.tile_rows).add("skip_col_row_bytes", w.plane_pitch);
    e.add("skip_col_zrow_bytes", row_of_cores).add("skip_zcol_bytes", w.row_bytes);
    e.add("stride", w.offset / row_of_cores * across + w.offset % w.pitch / w.row_bytes).add("total_strides", across * down);
    e.add("stride_offset_size_bytes", w.offset);
  }

  // What it hands out at once has to come out even, in the buffer as in what passes.
  void firmware(const Core& core, const Stream& s, Entry& e) const {
    e.add("use_ethernet_fw_stream", true);
    if (!firmware_receives(core, s)) return;
    std::int64_t block = static_cast<std::int64_t>(s.bytes) / s.message_bytes;
    for_each(s.phases, [&](const PhaseRun::Tuple& t) { block = std::gcd(block, to_phase(t).messages); });
    if (const pipes::Buffer* b = buffers_.find(s.buffer)) block = std::gcd(block, b->scatter_gather_num_tiles);
    e.add("num_msgs_in_block", block);
  }

  // Forks send the buffer of an output once more. Lists name the forks, and where blocks are handed out, the output names itself first.
  void forks(const Core& core, const Stream& s, Entry& e) const {
    const std::int32_t owner = s.fork_of >= 0 ? s.fork_of : s.number;
    std::vector<std::int32_t> streams;
    if (s.kind == StreamKind::output && s.scattered) streams.push_back(owner);
    for (const Stream& f : core.streams)
      if (f.fork_of == owner) streams.push_back(f.number);
    e.add("fork_stream_ids", list_text(streams)).add("num_fork_streams", streams.size() - (is_scatter_pack(s) ? 1 : 0));
  }

  // An ethernet core's firmware copies nothing: what came to the input is the output, and it tells both of each other.
  void shared_space(const Core& core, const Stream& s, Entry& e) const {
    auto owner_of = [&](const Stream& output) {
      const pipes::Buffer* b = buffers_.find(output.buffer);
      return b != nullptr ? b->buffer_space_shared.value_or(0) : 0;
    };
    if (!core.ethernet || s.buffer == 0) return;
    for (const Stream& other : core.streams) {
      const bool shared = s.kind == StreamKind::input ? other.kind == StreamKind::output && owner_of(other) == s.buffer
                                                      : other.kind == StreamKind::input && other.buffer == owner_of(s);
      if (shared) e.add("space_shared_with_stream", other.number);
    }
  }

  void kernel(const Core& core, const Stream& s, Entry& e) const {
    switch (s.kind) {
      case StreamKind::input:
        e.add("overlay_blob_extra_size", 0);
        shared_space(core, s, e);
        return;
      case StreamKind::intermediate:
        e.add("legacy_pack", true).add("intermediate", true).add("reg_update_vc", 3).add("num_fork_streams", 0);
        if (auto sharer = sharers_.find(s.buffer); sharer != sharers_.end()) e.add("space_shared_with_operand", sharer->second);
        break;
      case StreamKind::output:
      case StreamKind::fork:
      case StreamKind::store:
        if (s.kind != StreamKind::store && !s.scattered) e.add("legacy_pack", true);
        forks(core, s, e);
        shared_space(core, s, e);
        break;
      case StreamKind::multicast:
      case StreamKind::relay:
        if (s.fork_of >= 0 || std::any_of(core.streams.begin(), core.streams.end(), [&](const Stream& f) { return f.fork_of == s.number; }))
          forks(core, s, e);
        return;
      default:
        return;
    }
    const pipes::Buffer* b = buffers_.find(s.buffer);
    if (b == nullptr) return;
    if ((s.scattered || is_scattered_store(s)) && b->scatter_gather_num_tiles > 0) {
      std::int64_t window = std::max<std::int64_t>(1, b->window_tiles());
      std::int64_t whole = static_cast<std::int64_t>(s.bytes) / std::max(1, s.message_bytes);
      e.add("num_mblock_buffering", std::max<std::int64_t>(1, whole / window)).add("num_msgs_in_block", window);
    }
    if (s.kind != StreamKind::store)
      e.add("mblock_k", b->mblock_k)
          .add("mblock_m", b->mblock_m)
          .add("mblock_n", b->mblock_n)
          .add("ublock_ct", b->ublock_ct)
          .add("ublock_rt", b->ublock_rt);
  }

  const Blob& blob_;
  pipes::BufferIndex buffers_;
  std::map<pipes::Id, std::int32_t> sharers_;                                 // of a buffer's space: the operand of the other
  std::set<std::tuple<std::int32_t, std::int32_t, std::int64_t>> sent_once_;  // core, stream and phase that get all that a stream sends
  std::set<StreamRef> row_numbers_;
  const device::DeviceDescriptor& device_;
  std::uint64_t first_id_;
  io::OutputFile& out_;
};

}  // namespace

Result<void> write_blob_yaml(const Blob& blob, const pipes::PipeGraph& graph, const device::DeviceDescriptor& device, std::uint32_t epoch,
                             io::OutputFile& out) {
  return YamlWriter(blob, graph, device, epoch, out).run();
}

}  // namespace buda::overlay
