// SPDX-License-Identifier: Apache-2.0
// Reads blob files of our form and checks what their users rely on.
#include <buda/overlay/blob/blob_file.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>
#include <buda/io/json.hpp>
#include <buda/overlay/blob/blob_records.hpp>

#include <algorithm>
#include <array>

namespace buda::overlay {
namespace {

constexpr std::int64_t kMaxFileTiles = std::int64_t{1} << 40;
constexpr std::int64_t kMaxFilePhases = std::int64_t{1} << 22;  // of one stream
constexpr std::int64_t kMaxBlockTiles = std::int64_t{1} << 24;
constexpr std::int64_t kMaxMessageBytes = std::int64_t{1} << 24;
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 40;  // of a buffer, and of its address

class Checker {
 public:
  Checker(const Blob& blob, schema::Reader& reader) : blob_(blob), reader_(reader) {}

  void run(const io::Node& top) {
    for (std::size_t i = 0; i < blob_.dram.size(); ++i) check_dram(blob_.dram[i], top.find("dram")->items()[i]);
    const io::Node& cores = *top.find("cores");
    for (std::size_t i = 0; i < blob_.cores.size(); ++i) {
      core_ = i;
      const io::Node& streams = *cores.items()[i].find("streams");
      const Core& c = blob_.cores[i];
      if (i > 0) {
        const Core& before = blob_.cores[i - 1];
        auto position = [](const Core& core) {
          return core.ethernet ? std::tuple(1, core.chip, *core.ethernet, 0) : std::tuple(0, core.chip, core.core.row, core.core.col);
        };
        if (position(before) >= position(c))
          error("BB003", cores.items()[i],
                "cores are sorted: workers by chip, row and column, then ethernet cores by chip and channel, each once");
      }
      for (std::size_t s = 0; s < c.streams.size(); ++s) {
        if (s > 0 && c.streams[s - 1].number >= c.streams[s].number)
          error("BB003", streams.items()[s], "streams of a core are sorted by number, each once");
        check(c.streams[s], streams.items()[s]);
      }
    }
  }

 private:
  void error(const char* code, const io::Node& node, std::string message) { reader_.error(io::node_error(code, node, std::move(message))); }

  static const io::Node& part(const io::Node& node, const char* key) {
    const io::Node* found = node.find(key);
    return found != nullptr ? *found : node;
  }

  void check_dram(const DramBuffer& d, const io::Node& node) {
    const bool counted = d.slots >= 0 && d.slots <= kMaxFileTiles && d.entry_tiles >= 0 && d.entry_tiles <= kMaxFileTiles;
    if (!counted || d.tile_bytes < 0 || d.tile_bytes > kMaxMessageBytes)
      error("BB004", node, "slots, tiles and bytes of a buffer in DRAM are at least 0, and none is larger than a chip");
  }

  void check(const Stream& s, const io::Node& node) {
    if (s.number < 0 || s.message_bytes < 1 || s.message_bytes > kMaxMessageBytes || s.iterations < 1 || s.iterations > kMaxFileTiles)
      error("BB004", node, "a stream's number is at least 0, its messages and iterations at least 1");
    if (s.bytes > kMaxBytes || s.address > kMaxBytes || s.bytes < static_cast<std::uint64_t>(std::max(s.message_bytes, 1)))
      error("BB004", part(node, "bytes"),
            cat("a buffer of ", s.bytes, " bytes holds no message of ", s.message_bytes, " bytes, or lies in no memory"));
    check_windows(s, node);
    check_supply(s, node);
    for (std::size_t i = 0; i < s.sources.size(); ++i) check_source(s, s.sources[i], part(node, "from").items()[i]);
    for (std::size_t i = 0; i < s.destinations.size(); ++i) check_destination(s, s.destinations[i], part(node, "to").items()[i]);
    if (s.read) check_read(*s.read, part(node, "read"));
    if (s.write && bad_dram(s.write->dram)) error("BB005", part(node, "write"), cat("there is no DRAM buffer ", s.write->dram));
    check_pcie(s, node);
    check_phases(s, part(node, "phases"));
  }

  void check_windows(const Stream& s, const io::Node& node) {
    auto counts = [](std::int64_t n) { return n >= 1 && n <= kMaxFileTiles; };
    const bool from_kernel = s.kind == StreamKind::output || s.kind == StreamKind::fork || s.kind == StreamKind::intermediate;
    if (!s.scattered || !from_kernel) return;
    if (!counts(s.window_tiles) || !counts(s.ids_per_pass) || !counts(s.passes))
      return error("BB004", node, "a scattered output needs window_tiles, ids_per_pass and passes of at least 1");
    const auto tiles = checked_product<std::int64_t>(std::array{s.window_tiles, s.passes, s.iterations});
    if (!tiles || *tiles > kMaxFileTiles)
      error("BB004", node, "windows, passes and iterations of a scattered output are more tiles than a chip makes");
  }

  // Only kernels give what neither another stream nor a memory gives.
  void check_supply(const Stream& s, const io::Node& node) {
    const bool forks = s.fork_of >= 0, receives = !s.sources.empty();
    const Stream* owner = forks ? blob_.cores[core_].find(s.fork_of) : &s;
    if (owner == nullptr) return error("BB005", part(node, "fork_of"), cat("the core has no stream ", s.fork_of));
    const bool gives = s.kind != StreamKind::input && s.kind != StreamKind::output && s.kind != StreamKind::intermediate;
    const bool has = owner->kind != StreamKind::input && owner->kind != StreamKind::intermediate && owner->fork_of < 0;
    if (forks && (!gives || receives || s.read || !has || !owner->sources.empty()))
      return error("BB005", part(node, "fork_of"), cat("stream ", s.fork_of, " has no buffer with which this one could send"));
    if (s.kind == StreamKind::intermediate && (receives || s.sends())) error("BB004", node, "an intermediate neither receives nor sends");
    if (s.kind == StreamKind::fork && !forks) return error("BB004", node, "a fork needs fork_of");
    if (receives && s.read) return error("BB004", part(node, "read"), "a stream either receives or reads");
    const bool from_kernel = s.kind == StreamKind::output || s.kind == StreamKind::fork || s.kind == StreamKind::intermediate;
    if (!from_kernel && !receives && !owner->read && !s.phases.empty())
      error("BB004", node, cat("nothing gives the tiles of this ", stream_kind_name(s.kind), ": it needs `from` or `read`"));
  }

  void check_source(const Stream& s, const StreamRef& from, const io::Node& node) {
    const Stream* source = blob_.find(from);
    if (source == nullptr) return error("BB005", node, cat("core ", from.core, " has no stream ", from.stream));
    const bool sends_here = std::any_of(source->destinations.begin(), source->destinations.end(), [&](const Destination& d) {
      const auto cores = blob_.cores_of(d);
      return d.first.stream == s.number && std::find(cores.begin(), cores.end(), static_cast<std::int32_t>(core_)) != cores.end();
    });
    if (!sends_here) error("BB006", node, cat("stream ", from.stream, " of core ", from.core, " does not send to this one"));
  }

  void check_destination(const Stream& s, const Destination& d, const io::Node& node) {
    auto cores = blob_.cores_of(d);
    if (cores.empty()) return error("BB005", node, cat("there are no cores ", d.first.core, " to ", d.last_core));
    StreamRef self{static_cast<std::int32_t>(core_), s.number};
    for (std::int32_t c : cores) {
      const Stream* r = blob_.find({c, d.first.stream});
      if (r == nullptr) return error("BB005", node, cat("core ", c, " has no stream ", d.first.stream));
      if (std::find(r->sources.begin(), r->sources.end(), self) == r->sources.end())
        return error("BB006", node, cat("stream ", d.first.stream, " of core ", c, " does not list this stream as its source"));
    }
  }

  // Between chips, only ethernet cores reach each other without it.
  void check_pcie(const Stream& s, const io::Node& node) {
    const Core& here = blob_.cores[core_];
    for (const Destination& d : s.destinations) {
      const bool known = d.first.core >= 0 && static_cast<std::size_t>(d.first.core) < blob_.cores.size();
      if (!known) continue;
      const Core& there = blob_.cores[static_cast<std::size_t>(d.first.core)];
      if (s.pcie.has_value() != (here.chip != there.chip && !(here.ethernet && there.ethernet)))
        return error("BB007", part(node, s.pcie ? "pcie" : "to"),
                     s.pcie ? "over PCIe a stream sends to another chip" : "between chips, streams of workers send over PCIe");
    }
    if (!s.pcie) return;
    const Stream* r = s.destinations.size() == 1 ? blob_.find(s.destinations.front().first) : nullptr;
    const std::int64_t bytes = r == nullptr ? 0 : r->message_bytes;
    const bool fits = r != nullptr && !s.destinations.front().is_multicast() && r->sources.size() == 1 && bytes >= 1 &&
                      bytes == s.message_bytes && s.pcie->chunk_tiles >= 1 && s.pcie->chunk_tiles <= kMaxFileTiles / (1 << 20) &&
                      r->bytes > 0 && r->bytes % static_cast<std::uint64_t>(s.pcie->chunk_tiles * bytes) == 0;
    if (!fits)
      error("BB007", part(node, "pcie"),
            "over PCIe a stream has one receiver, which has no other sender and room for a whole number of chunks of its tiles");
  }

  bool bad_dram(std::int32_t index) const { return index < 0 || static_cast<std::size_t>(index) >= blob_.dram.size(); }

  void check_read(const DramRead& r, const io::Node& node) {
    for (const ReadBuffer& b : r.buffers)
      if (bad_dram(b.dram)) error("BB005", part(node, "buffers"), cat("there is no DRAM buffer ", b.dram));
    if (r.buffers.empty() || r.blocks.empty()) error("BB004", node, "what a stream reads is at least one block of at least one buffer");
    if (r.lookup && (blob_.cores[core_].find(r.lookup->stream) == nullptr || r.lookup->numbers_per_tile < 1 || r.lookup->row_tiles < 1 ||
                     r.lookup->row_tiles > kMaxFileTiles))
      error("BB005", part(node, "lookup"), cat("it needs a stream of this core, not ", r.lookup->stream, ", and counts above 0"));
    if (r.block_tiles < 1 || r.chunk_tiles < 1 || r.block_tiles > kMaxBlockTiles || r.chunk_tiles > kMaxBlockTiles)
      error("BB004", node, cat("block_tiles and chunk_tiles are between 1 and ", kMaxBlockTiles));
    std::int64_t buffers = static_cast<std::int64_t>(r.buffers.size()), all = 0;
    for (std::size_t i = 0; i < r.blocks.size(); ++i) {
      const ReadRun& run = r.blocks[i];
      all += run.count;
      auto last = run.at(run.count - 1);
      for (const auto& t : {run.first, last})
        if (t[0] < 0 || t[0] >= buffers || t[1] < 0 || t[1] > kMaxFileTiles || all > kMaxFilePhases)
          return error("BB002", part(node, "blocks").items()[i], "a block is of one of `buffers` and begins at tile 0 or later");
    }
  }

  void check_phases(const Stream& s, const io::Node& node) {
    std::int64_t before = -1, all = 0, messages = 0;
    auto sources = std::max<std::int64_t>(1, static_cast<std::int64_t>(s.sources.size()));
    auto destinations = std::max<std::int64_t>(1, static_cast<std::int64_t>(s.destinations.size()));
    for (std::size_t i = 0; i < s.phases.size(); ++i) {
      const PhaseRun& run = s.phases[i];
      all += run.count;
      Phase first = to_phase(run.first), last = to_phase(run.at(run.count - 1));
      bool rises = first.id > before && (run.count == 1 || run.step[0] > 0) && last.id <= kMaxFileTiles;
      bool inside = true;
      for (const Phase& p : {first, last})
        inside = inside && p.messages >= 1 && p.messages <= kMaxFileTiles && p.source >= 0 && p.source < sources && p.destination >= 0 &&
                 p.destination < destinations && p.offset >= 0 && p.offset <= kMaxFileTiles;
      if (!rises || !inside || all > kMaxFilePhases)
        return error(
            "BB002", node.items()[i],
            rises ? "a phase has at least one message, and a source and a destination that the stream has" : "ids of phases must increase");
      before = last.id;
      const std::int64_t most = std::max(first.messages, last.messages);
      const auto more = checked_product<std::int64_t>(std::array{most, run.count, s.iterations});
      if (!more || *more > kMaxFileTiles || (messages += *more) > kMaxFileTiles)
        return error("BB002", node.items()[i], "the phases have more messages than a chip moves");
    }
  }

  const Blob& blob_;
  schema::Reader& reader_;
  std::size_t core_ = 0;
};

}  // namespace

Result<Blob> parse_blob(std::string_view text, const std::string& file) {
  BUDA_ASSIGN(io::Node top, io::parse_json(text, file));
  schema::Reader reader;
  Blob blob;
  schema::Codec<Blob>::read(top, blob, reader);
  if (!reader.failed()) Checker(blob, reader).run(top);
  if (reader.failed()) return std::move(reader).failure();
  return blob;
}

}  // namespace buda::overlay
