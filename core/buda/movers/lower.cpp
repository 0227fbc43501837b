// SPDX-License-Identifier: Apache-2.0
// Rings first, then the words that cores write to each other, then what comes and what leaves.
#include <buda/movers/lower.hpp>

#include <buda/base/text.hpp>
#include <buda/movers/pieces.hpp>
#include <buda/movers/place.hpp>
#include <buda/movers/positions.hpp>
#include <buda/movers/rows.hpp>

#include <movers/tables.h>

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

namespace buda::movers {
namespace {

using overlay::Blob;
using overlay::Stream;
using overlay::StreamKind;
using overlay::StreamRef;

// Of a gradient: read before the epoch, and written after it.
bool is_sums(const Stream& s) { return s.kind == StreamKind::intermediate && s.read && s.write; }
bool is_ring(const Stream& s) { return s.fork_of < 0 && (s.kind != StreamKind::intermediate || is_sums(s)); }

std::int64_t arriving(const Stream& s) {
  if (!s.read || !s.read->before_epoch) return s.messages();
  return overlay::count_of(s.read->blocks) * s.read->block_tiles;
}

// Why movers cannot do a stream's work yet, or nothing.
std::optional<std::string> missing(const Blob& blob, const Stream& s) {
  if (s.kind == StreamKind::store && s.fork_of < 0 && (!s.read || arriving(s) * s.message_bytes > static_cast<std::int64_t>(s.bytes)))
    return "data that are sent in every pass and are not all in L1";
  if (s.kind == StreamKind::intermediate && s.read.has_value() != s.write.has_value()) return "sums that are read or written, but not both";
  if (is_sums(s) && static_cast<std::int64_t>(s.bytes) != arriving(s) * s.message_bytes) return "sums of which parts are read";
  if (s.pcie || (s.sources.size() == 1 && blob.sender_over_pcie(s) != nullptr)) return "tiles that go to another chip over PCIe";
  if (s.read && s.read->lookup) return "rows of a table that indices select";
  if (s.write && s.write->rows && (s.kind != StreamKind::output || s.scattered)) return "rows of numbers that no kernel writes";
  if (s.write && s.write->after_epoch && !is_sums(s)) return "an output that is written after the epoch";
  if (s.read)
    for (const overlay::ReadBuffer& b : s.read->buffers)
      if (blob.dram[static_cast<std::size_t>(b.dram)].padding) return "tiles of padding";
  return std::nullopt;
}

// Words of 16 bytes for arrivals, since a flag may be multicast; the credits come after them.
std::uint64_t arrival_address(std::size_t number) { return mover::kTables + mover::kHeaderBytes + 16 * number; }

std::uint64_t tile_address(const overlay::DramBuffer& d, std::int64_t slot, std::int64_t tile) {
  constexpr std::uint64_t kQueueHeaderBytes = 32;
  return d.address + kQueueHeaderBytes + static_cast<std::uint64_t>(slot * d.entry_tiles + tile) * static_cast<std::uint64_t>(d.tile_bytes);
}

// Addresses of a queue stay below the same bits above the 32nd.
std::int64_t node_of(const overlay::DramBuffer& d, std::vector<MemoryNode>& nodes) {
  const MemoryNode node{d.port, static_cast<std::uint32_t>(d.address >> 32)};
  const auto found = std::find(nodes.begin(), nodes.end(), node);
  if (found != nodes.end()) return found - nodes.begin();
  nodes.push_back(node);
  return static_cast<std::int64_t>(nodes.size()) - 1;
}

class Lowering {
 public:
  Lowering(const Blob& blob, const Execution& execution) : blob_(blob), execution_(execution), positions_(blob) {}

  Result<Tables> run() {
    out_.cores.resize(blob_.cores.size());
    BUDA_TRY(check());
    for (std::size_t c = 0; c < blob_.cores.size(); ++c) add_rings(c);
    place_larger();
    for (std::size_t c = 0; c < blob_.cores.size(); ++c)
      for (const Stream& s : blob_.cores[c].streams) BUDA_TRY(connect({static_cast<std::int32_t>(c), s.number}, s));
    place_words();
    for (std::size_t c = 0; c < blob_.cores.size(); ++c) {
      for (const Stream& s : blob_.cores[c].streams) BUDA_TRY(add_in(c, s));
      for (const Ring& ring : out_.cores[c].rings)
        for (const Stream& s : blob_.cores[c].streams)
          if (s.number == ring.stream || s.fork_of == ring.stream) BUDA_TRY(add_out(c, s));
    }
    if (!failure_.empty()) return std::move(failure_);
    return std::move(out_);
  }

 private:
  Diagnostic refused(const char* code, std::size_t core, std::string message) const {
    Diagnostic d = input_error(code, {}, std::move(message));
    d.node = blob_.cores[core].op;
    return d;
  }
  std::string where(std::size_t core, std::int32_t stream) const {
    const overlay::Core& c = blob_.cores[core];
    return cat(c.op.empty() ? cat("the core at ") : cat("op '", c.op, "', core "), c.core.row, '-', c.core.col, ", stream ", stream);
  }

  Result<void> check() {
    Failure failure;
    for (std::size_t c = 0; c < blob_.cores.size(); ++c) {
      const overlay::Core& core = blob_.cores[c];
      if (core.chip != blob_.cores.front().chip || core.ethernet) {
        Diagnostic d = refused("MV001", c,
                               core.ethernet ? "movers do not work on Ethernet cores yet, which the epoch uses"
                                             : "movers do not connect several chips yet, which the epoch uses");
        d.hint = "--target tensix runs kernels on several chips";
        return d;
      }
      for (const Stream& s : core.streams) {
        const auto why = missing(blob_, s);
        if (why) failure.add(refused("MV001", c, cat(where(c, s.number), ": movers do not do this yet: ", *why)));
        if (why) break;
      }
    }
    if (!failure.empty()) return failure;
    return success();
  }

  const KernelInput* kernel_input(std::size_t core, const Stream& s) const {
    if (s.kind != StreamKind::input) return nullptr;
    const auto found = execution_.kernel_inputs.find({core, s.operand});
    return found == execution_.kernel_inputs.end() ? nullptr : &found->second;
  }

  struct Group {
    std::int64_t tiles = 0, times = 0;  // 0: there is none
  };

  void add_rings(std::size_t c) {
    CoreTables& core = out_.cores[c];
    core.node = blob_.cores[c].noc;
    core.op = blob_.cores[c].op;
    for (const Stream& s : blob_.cores[c].streams) {
      if (!is_ring(s)) continue;
      const Ring::Kernel kernel = s.kind == StreamKind::input                  ? Ring::Kernel::takes
                                  : s.kind == StreamKind::output || is_sums(s) ? Ring::Kernel::makes
                                                                               : Ring::Kernel::none;
      Ring ring{s.number, s.address, s.message_bytes, static_cast<std::int64_t>(s.bytes) / std::max(s.message_bytes, 1), kernel};
      ring.sums = is_sums(s);
      if (s.write && s.write->rows) {
        ring.message_bytes = static_cast<std::int32_t>(kernel_rows(execution_, c, s).message_bytes);
        ring.slots = std::max<std::int64_t>(static_cast<std::int64_t>(s.bytes) / ring.message_bytes, 1);
        if (ring.bytes() > s.bytes) larger_.insert(core.op);
      }
      if (const KernelInput* needs = kernel_input(c, s)) {
        const Group group = group_of(c, s, *needs, ring.slots);
        groups_[{static_cast<std::int32_t>(c), s.number}] = group;
        if (group.tiles > 0) {
          ring.slots = group.tiles;
          ring.copies = copies_of(group, needs->at_once);
          if (ring.kernel_slots() < needs->at_once)
            failure_.add(refused("MV002", c,
                                 cat(where(c, s.number), ": its kernel has ", needs->at_once, " tiles of input ", s.operand,
                                     " in L1 at the same time, and takes only ", ring.kernel_slots())));
        } else {
          ring.slots = std::max(ring.slots, needs->at_once);
        }
        if (ring.bytes() > s.bytes) larger_.insert(core.op);
      }
      ring_of_[{static_cast<std::int32_t>(c), s.number}] = core.rings.size();
      core.rings.push_back(ring);
    }
  }

  // Tiles of which fewer come than the kernel takes stay: those read before the epoch for all inputs, others for the input that they are
  // of.
  Group group_of(std::size_t c, const Stream& s, const KernelInput& needs, std::int64_t slots) {
    const std::int64_t all = arriving(s);
    if (needs.tiles == all) return {};
    const bool stays = s.read && s.read->before_epoch;
    const std::int64_t tiles = stays ? all : all / std::max<std::int64_t>(execution_.inputs, 1);
    if (tiles > 0 && tiles <= slots && needs.tiles % all == 0 && tiles * (all / tiles) == all) return {tiles, needs.tiles / all};
    failure_.add(refused("MV002", c,
                         cat(where(c, s.number), ": its kernel takes ", needs.tiles, " tiles of input ", s.operand, ", and ", all,
                             " arrive, of which ", slots, " have room")));
    return {};
  }

  // As often as the kernel needs it together, and so that it begins anew where the last one ends.
  static std::int64_t copies_of(const Group& group, std::int64_t at_once) {
    std::int64_t copies = std::max<std::int64_t>((at_once + group.tiles - 1) / group.tiles, 1);
    while (copies < group.times && group.times % copies != 0) ++copies;
    return copies;
  }

  // Where a ring is larger than the blob's, all of its op's cores get other places.
  void place_larger() {
    for (const std::string& op : larger_) {
      std::vector<CoreTables*> cores;
      for (CoreTables& core : out_.cores)
        if (core.op == op) cores.push_back(&core);
      const auto missing = place_rings(cores, FreeSpace(mover::kTables + mover::kSmallTableBytes, execution_.l1_end));
      if (!missing) continue;
      Diagnostic d = does_not_fit(
          "MV002", op, "l1", missing->wanted, missing->free,
          cat("op '", op, "': its buffers have to have ", missing->wanted, " bytes of L1 at the same time, and there are ", missing->free),
          "leave out target.ttsim.chip: op by op, the op has the L1 to itself");
      failure_.add(std::move(d));
    }
  }

  // A sender's connections get words at both ends.
  struct End {
    StreamRef sender;
    std::size_t destination = 0;
    std::vector<std::int32_t> cores;
    std::size_t arrival = 0, credit = 0;  // numbers of words
  };

  Result<void> connect(StreamRef ref, const Stream& s) {
    for (std::size_t d = 0; d < s.destinations.size(); ++d) {
      End end{ref, d, blob_.cores_of(s.destinations[d]), 0, 0};
      for (std::int32_t core : end.cores) end.arrival = std::max(end.arrival, arrivals_[core]);
      for (std::int32_t core : end.cores) arrivals_[core] = end.arrival + 1;
      end.credit = credits_[ref.core];
      credits_[ref.core] += end.cores.size();
      if (const auto place = ring_of_.find({end.cores.empty() ? -1 : end.cores.front(), s.destinations[d].first.stream});
          place == ring_of_.end())
        return internal_error(cat("stream ", s.number, " sends to a stream without a buffer"));
      ends_of_[ref].push_back(ends_.size());
      ends_.push_back(std::move(end));
    }
    return success();
  }

  std::uint64_t credit_address(std::int32_t core, std::size_t number) const {
    const auto found = arrivals_.find(core);
    return arrival_address(found == arrivals_.end() ? 0 : found->second) + 4 * number;
  }
  void place_words() {
    for (std::size_t c = 0; c < out_.cores.size(); ++c) {
      const auto core = static_cast<std::int32_t>(c);
      const auto found = credits_.find(core);
      out_.cores[c].table = (credit_address(core, found == credits_.end() ? 0 : found->second) + 15) / 16 * 16;
    }
  }

  Ring& ring(StreamRef ref) { return out_.cores[static_cast<std::size_t>(ref.core)].rings[ring_of_.at(ref)]; }

  Result<void> add_in(std::size_t c, const Stream& s) {
    const StreamRef ref{static_cast<std::int32_t>(c), s.number};
    if (!is_ring(s) || (s.sources.empty() && !s.read)) return success();
    CoreTables& core = out_.cores[c];
    In in;
    in.ring = ring_of_.at(ref);
    in.network = s.noc_in;
    if (const auto group = groups_.find(ref); group != groups_.end()) {
      in.group = group->second.tiles;
      in.times = group->second.times;
    }
    if (s.read) {
      in.reads = true;
      in.chunk = std::max<std::int64_t>(s.read->chunk_tiles, 1);
      in.read = reads_of(s, arriving(s), core.nodes);
      core.ins.push_back(std::move(in));
      return success();
    }
    for (StreamRef source : s.sources) {
      const End* end = end_between(source, ref);
      if (end == nullptr) return internal_error(cat("stream ", s.number, " receives from a stream that does not send to it"));
      const auto place = std::find(end->cores.begin(), end->cores.end(), ref.core);
      in.arrivals.push_back(arrival_address(end->arrival));
      in.credits.push_back({blob_.cores[static_cast<std::size_t>(source.core)].noc,
                            credit_address(source.core, end->credit + static_cast<std::size_t>(place - end->cores.begin()))});
    }
    overlay::Run<2>::Tuple last{0, -1};
    for (const auto& [iteration, phase] : all_phases(s)) {
      if (phase.source != last[1]) {
        if (last[0] > 0) overlay::append(in.takes, last);
        last = {0, phase.source};
      }
      last[0] += phase.messages;
    }
    if (last[0] > 0) overlay::append(in.takes, last);
    core.ins.push_back(std::move(in));
    return success();
  }

  const End* end_between(StreamRef sender, StreamRef receiver) const {
    const auto found = ends_of_.find(sender);
    if (found == ends_of_.end()) return nullptr;
    const Stream& s = *blob_.find(sender);
    for (std::size_t e : found->second) {
      const End& end = ends_[e];
      if (s.destinations[end.destination].first.stream == receiver.stream &&
          std::find(end.cores.begin(), end.cores.end(), receiver.core) != end.cores.end())
        return &end;
    }
    return nullptr;
  }

  std::vector<ReadRun> reads_of(const Stream& s, std::int64_t all, std::vector<MemoryNode>& nodes) const {
    ReadPieces pieces(s.message_bytes);
    std::int64_t number = 0;
    for (std::int64_t pass = 0; number < all; ++pass)
      overlay::for_each(s.read->blocks, [&](const overlay::ReadRun::Tuple& block) {
        if (number >= all) return;
        const auto& buffer = s.read->buffers[static_cast<std::size_t>(block[0])];
        const overlay::DramBuffer& d = blob_.dram[static_cast<std::size_t>(buffer.dram)];
        const QueueStart start = start_of(d);
        const std::int64_t slot = (start.read_slot + pass * start.read_step) % std::max<std::int64_t>(d.slots, 1);
        const std::int64_t tiles = std::min(s.read->block_tiles, all - number);
        pieces.add(tiles, node_of(d, nodes), tile_address(d, slot, block[1]));
        number += tiles;
      });
    return pieces.runs();
  }

  QueueStart start_of(const overlay::DramBuffer& d) const {
    const auto found = execution_.queues.find(d.queue);
    if (found != execution_.queues.end()) return found->second;
    return d.ram ? QueueStart{0, 0, 0, 0} : QueueStart{};
  }

  Result<void> add_out(std::size_t c, const Stream& s) {
    if (s.destinations.empty() && !s.write) return success();
    const StreamRef ref{static_cast<std::int32_t>(c), s.number};
    const StreamRef owner{ref.core, s.fork_of >= 0 ? s.fork_of : s.number};
    CoreTables& core = out_.cores[c];
    Out out;
    out.ring = ring_of_.at(owner);
    out.network = s.noc_out;
    out.writes = s.write.has_value();
    if (s.write && s.write->rows) {
      const overlay::DramBuffer& d = blob_.dram[static_cast<std::size_t>(s.write->dram)];
      auto rows = row_writes(s, kernel_rows(execution_, c, s), d, start_of(d), node_of(d, core.nodes));
      if (!rows) return internal_error(cat("stream ", s.number, " writes rows that the messages of its kernel do not have"));
      out.rows = rows->rows;
      out.sends = std::move(rows->sends);
      core.outs.push_back(std::move(out));
      return success();
    }
    SendPieces pieces(s.message_bytes, out.writes);
    std::optional<std::vector<std::int64_t>> places;
    if (!s.write) {
      places = positions_.of(ref);
      if (!places) return internal_error(cat("the receivers of stream ", s.number, " have the tiles in different orders"));
      for (std::size_t e : ends_of_.at(ref)) out.connections.push_back(connection(ends_[e], s));
    }
    const std::int64_t slots = ring(owner).slots;
    // Of sums, those of the last input.
    std::int64_t number = is_sums(s) ? (execution_.inputs - 1) * slots : 0, written = 0;
    std::size_t n = 0;
    // What a store has is the same in each pass.
    const std::int64_t stored = blob_.find(owner)->kind == StreamKind::store ? arriving(*blob_.find(owner)) : 0;
    for (const auto& [iteration, phase] : all_phases(s)) {
      std::int64_t from = number;
      if (s.scattered && s.ids_per_pass > 0 && stored == 0) {
        const std::int64_t window = (iteration * s.passes + phase.id / s.ids_per_pass) * s.window_tiles;
        from = window + ((phase.offset - window) % slots + slots) % slots;
      }
      number += phase.messages;
      if (s.write) {
        add_writes(pieces, *s.write, from, phase.messages, written, core.nodes);
        written += phase.messages;
        continue;
      }
      const std::int64_t place = (*places)[n++];
      if (stored == 0) pieces.add(phase.messages, phase.destination, from, static_cast<std::uint64_t>(place));
      if (stored != 0 && s.scattered) from = phase.offset;
      for (std::int64_t sent = 0, tiles = 0; stored != 0 && sent < phase.messages; sent += tiles) {
        tiles = std::min(phase.messages - sent, stored - (from + sent) % stored);
        pieces.add(tiles, phase.destination, (from + sent) % stored, static_cast<std::uint64_t>(place + sent));
      }
    }
    if (s.scattered && s.ids_per_pass > 0) number = s.iterations * s.passes * s.window_tiles;
    if (stored != 0) number = stored;
    out.sends = pieces.runs(number);
    core.outs.push_back(std::move(out));
    return success();
  }

  // Entry by entry.
  void add_writes(SendPieces& pieces, const overlay::DramWrite& write, std::int64_t from, std::int64_t tiles, std::int64_t written,
                  std::vector<MemoryNode>& nodes) const {
    const overlay::DramBuffer& d = blob_.dram[static_cast<std::size_t>(write.dram)];
    const QueueStart start = start_of(d);
    const std::int64_t entry_tiles = std::max<std::int64_t>(d.entry_tiles, 1), slots = std::max<std::int64_t>(d.slots, 1);
    while (tiles > 0) {
      const std::int64_t entry = written / entry_tiles, tile = written % entry_tiles, part = std::min(tiles, entry_tiles - tile);
      const std::int64_t slot = (start.write_slot + entry * start.write_step) % slots;
      pieces.add(part, node_of(d, nodes), from, tile_address(d, slot, tile));
      from += part;
      written += part;
      tiles -= part;
    }
  }

  Connection connection(const End& end, const Stream& s) {
    const std::int32_t stream = s.destinations[end.destination].first.stream;
    const Ring& there = ring({end.cores.front(), stream});
    for (std::int32_t core : end.cores)
      if (const Ring& other = ring({core, stream}); other.address != there.address || other.slots != there.slots)
        failure_.add(
            refused("MV002", static_cast<std::size_t>(core),
                    cat(where(static_cast<std::size_t>(core), stream), ": others that get the same tiles have another buffer for them")));
    Connection out;
    out.first = blob_.cores[static_cast<std::size_t>(end.cores.front())].noc;
    out.last = blob_.cores[static_cast<std::size_t>(end.cores.back())].noc;
    out.receivers = static_cast<std::int64_t>(end.cores.size());
    out.address = there.address;
    out.slots = there.slots;
    out.arrival = arrival_address(end.arrival);
    out.credits = credit_address(end.sender.core, end.credit);
    return out;
  }

  const Blob& blob_;
  const Execution& execution_;
  const Positions positions_;
  Tables out_;
  Failure failure_;
  std::map<StreamRef, std::size_t> ring_of_;  // index in CoreTables::rings
  std::map<StreamRef, Group> groups_;
  std::set<std::string> larger_;  // ops with rings that the blob has too small
  std::vector<End> ends_;
  std::map<StreamRef, std::vector<std::size_t>> ends_of_;
  std::map<std::int32_t, std::size_t> arrivals_, credits_;  // words that a core has, by core
};

}  // namespace

Result<Tables> lower(const Blob& blob, const Execution& execution) { return Lowering(blob, execution).run(); }

}  // namespace buda::movers
