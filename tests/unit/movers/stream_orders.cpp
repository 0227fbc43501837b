// SPDX-License-Identifier: Apache-2.0
// Between a sender and a receiver tiles keep their order: a receiver takes from each of its sources what that one has sent to it, and its
// phases say from which one how many.
#include "unit/movers/stream_orders.hpp"

#include <algorithm>
#include <deque>
#include <limits>

namespace buda::movers {
namespace {

using overlay::Blob;
using overlay::Phase;
using overlay::Stream;
using overlay::StreamRef;

class Orders {
 public:
  Orders(const Blob& blob, const Execution& execution) : blob_(blob), execution_(execution) {}

  StreamOrders run() {
    for (std::size_t c = 0; c < blob_.cores.size(); ++c)
      for (const Stream& s : blob_.cores[c].streams) {
        const StreamRef ref{static_cast<std::int32_t>(c), s.number};
        if (s.kind == overlay::StreamKind::intermediate) {
          if (s.read && s.write) sum(ref, s);
          continue;
        }
        const std::vector<Tile>& held = of(owner(ref, s));
        if (s.write) write(ref, s, held);
      }
    return std::move(out_);
  }

 private:
  static StreamRef owner(StreamRef ref, const Stream& s) { return s.fork_of >= 0 ? StreamRef{ref.core, s.fork_of} : ref; }

  template <class Visit>
  static void phases(const Stream& s, Visit visit) {
    for (std::int64_t i = 0; i < s.iterations; ++i)
      overlay::for_each(s.phases, [&](const overlay::PhaseRun::Tuple& t) { visit(i, overlay::to_phase(t)); });
  }

  QueueStart start(const overlay::DramBuffer& d) const {
    const auto found = execution_.queues.find(d.queue);
    if (found != execution_.queues.end()) return found->second;
    return d.ram ? QueueStart{0, 0, 0, 0} : QueueStart{};
  }
  static std::uint64_t address(const overlay::DramBuffer& d, std::int64_t slot, std::int64_t tile) {
    return d.address + 32 + static_cast<std::uint64_t>(((slot % std::max<std::int64_t>(d.slots, 1)) * d.entry_tiles + tile) * d.tile_bytes);
  }

  // What is in the buffer of a stream, first to last.
  const std::vector<Tile>& of(StreamRef ref) {
    const auto known = out_.tiles.find(ref);
    if (known != out_.tiles.end()) return known->second;
    const Stream& s = *blob_.find(ref);
    std::vector<Tile> tiles;
    if (s.read) {
      const std::int64_t all = s.read->before_epoch ? overlay::count_of(s.read->blocks) * s.read->block_tiles : s.messages();
      for (std::int64_t pass = 0; static_cast<std::int64_t>(tiles.size()) < all; ++pass)
        overlay::for_each(s.read->blocks, [&](const overlay::ReadRun::Tuple& block) {
          const overlay::DramBuffer& d = blob_.dram[static_cast<std::size_t>(s.read->buffers[static_cast<std::size_t>(block[0])].dram)];
          const QueueStart at = start(d);
          for (std::int64_t t = 0; t < s.read->block_tiles && static_cast<std::int64_t>(tiles.size()) < all; ++t)
            tiles.push_back(tile_in_memory(d.port, address(d, at.read_slot + pass * at.read_step, block[1] + t)));
        });
    } else if (!s.sources.empty()) {
      std::vector<std::deque<Tile>> from;
      for (StreamRef source : s.sources) from.push_back(sent(source, ref));
      phases(s, [&](std::int64_t, const Phase& p) {
        std::deque<Tile>& queue = from[static_cast<std::size_t>(p.source)];
        for (std::int64_t n = 0; n < p.messages && !queue.empty(); ++n) {
          tiles.push_back(queue.front());
          queue.pop_front();
        }
      });
    } else {
      std::int64_t all = 0;
      for (const Stream& other : blob_.cores[static_cast<std::size_t>(ref.core)].streams)
        if (other.number == s.number || other.fork_of == s.number) {
          const bool windows = other.scattered && other.ids_per_pass > 0;
          all = std::max(all, windows ? other.iterations * other.passes * other.window_tiles : other.messages());
        }
      if (s.write && s.write->rows) all /= message_tiles(ref, s);
      for (std::int64_t n = 0; n < all; ++n) tiles.emplace_back(ref.core, ref.stream, n);
    }
    return out_.tiles[ref] = std::move(tiles);
  }

  static std::int64_t stored(const Stream& s) { return overlay::count_of(s.read->blocks) * s.read->block_tiles; }

  // Calls visit(phase, number in the buffer) tile by tile.
  template <class Visit>
  void leave(StreamRef ref, const Stream& s, Visit visit) {
    const Stream& holder = *blob_.find(owner(ref, s));
    const std::int64_t slots = static_cast<std::int64_t>(holder.bytes) / std::max(holder.message_bytes, 1);
    std::int64_t next = 0;
    phases(s, [&](std::int64_t iteration, const Phase& p) {
      if (s.scattered && s.ids_per_pass > 0) {
        // The window's tiles are in slots one after the other, from where the window before has ended.
        const std::int64_t window = (iteration * s.passes + p.id / s.ids_per_pass) * s.window_tiles;
        next = window;
        while (next % slots != p.offset % slots) ++next;
      } else if (holder.kind == overlay::StreamKind::store && s.scattered) {
        next = p.offset;
      }
      // A store has the same tiles in each pass.
      const std::int64_t all = holder.kind == overlay::StreamKind::store ? stored(holder) : std::numeric_limits<std::int64_t>::max();
      for (std::int64_t n = 0; n < p.messages; ++n) visit(p, next++ % all);
    });
  }

  // The kernel makes as many for each input, and what it makes of the last one is written.
  void sum(StreamRef ref, const Stream& s) {
    out_.sums[ref] = of(ref);
    const std::int64_t each = s.messages();
    std::vector<Tile> made;
    for (std::int64_t n = 0; n < each * execution_.inputs; ++n) made.emplace_back(ref.core, ref.stream, n);
    write(ref, s, {made.end() - each, made.end()});
    out_.tiles[ref] = std::move(made);
  }

  std::deque<Tile> sent(StreamRef sender, StreamRef receiver) {
    const Stream& s = *blob_.find(sender);
    const std::vector<Tile>& held = of(owner(sender, s));
    std::deque<Tile> out;
    leave(sender, s, [&](const Phase& p, std::int64_t number) {
      const overlay::Destination& d = s.destinations[static_cast<std::size_t>(p.destination)];
      if (d.first.stream != receiver.stream) return;
      for (std::int32_t core : blob_.cores_of(d))
        if (core == receiver.core) out.push_back(held[static_cast<std::size_t>(number)]);
    });
    return out;
  }

  std::int64_t message_tiles(StreamRef ref, const Stream& s) const {
    const auto known = execution_.kernel_rows.find(static_cast<std::size_t>(ref.core));
    return known == execution_.kernel_rows.end() ? s.write->rows->tiles_across : known->second.tiles;
  }

  // By its first row.
  void write_rows(StreamRef ref, const Stream& s, const std::vector<Tile>& held) {
    const overlay::DramBuffer& d = blob_.dram[static_cast<std::size_t>(s.write->dram)];
    const overlay::RowWrite& w = *s.write->rows;
    const QueueStart at = start(d);
    std::int64_t row = 0;  // of this core's, all matrices of all entries below each other
    for (const Tile& message : held) {
      const std::int64_t entry = row / (w.rows * w.planes),
                         slot = (at.write_slot + entry * at.write_step) % std::max<std::int64_t>(d.slots, 1);
      const std::int64_t place = w.offset + (slot * w.planes + row / w.rows % w.planes) * w.plane_pitch + row % w.rows * w.pitch;
      out_.written[{d.port, d.address + 32 + static_cast<std::uint64_t>(place)}] = message;
      row += message_tiles(ref, s) / w.tiles_across * w.tile_rows;
    }
  }

  void write(StreamRef ref, const Stream& s, const std::vector<Tile>& held) {
    if (s.write->rows) return write_rows(ref, s, held);
    const overlay::DramBuffer& d = blob_.dram[static_cast<std::size_t>(s.write->dram)];
    const QueueStart at = start(d);
    std::int64_t written = 0;
    leave(ref, s, [&](const Phase&, std::int64_t number) {
      const std::int64_t entry = written / d.entry_tiles, tile = written % d.entry_tiles;
      ++written;
      out_.written[{d.port, address(d, at.write_slot + entry * at.write_step, tile)}] = held[static_cast<std::size_t>(number)];
    });
  }

  const Blob& blob_;
  const Execution& execution_;
  StreamOrders out_;
};

}  // namespace

StreamOrders stream_orders(const Blob& blob, const Execution& execution) { return Orders(blob, execution).run(); }

}  // namespace buda::movers
