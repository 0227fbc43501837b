// SPDX-License-Identifier: Apache-2.0
// What is in which place of L1 is known by address, and how long it is needed by who has still to take or send it: neither by the numbers
// and counts that are under test.
#include "unit/movers/replay.hpp"

#include "unit/movers/stream_orders.hpp"

#include <buda/base/text.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace buda::movers {
namespace {

using overlay::Blob;
using overlay::StreamRef;

template <std::size_t N>
struct List {
  explicit List(const std::vector<overlay::Run<N>>& runs) {
    overlay::for_each(runs, [&](const auto& t) { tuples.push_back(t); });
  }
  bool ended() const { return at == tuples.size(); }
  const std::array<std::int64_t, N>& now() const { return tuples[at]; }
  std::int64_t left() const { return now()[0] - done; }
  void moved(std::int64_t tiles) {
    done += tiles;
    if (left() > 0) return;
    ++at;
    done = 0;
  }
  std::vector<std::array<std::int64_t, N>> tuples;
  std::size_t at = 0;
  std::int64_t done = 0;
};

struct RingState {
  std::int64_t arrived = 0, freed = 0;
  std::int64_t announced = 0, taken = 0;      // by the kernel
  std::map<std::int64_t, std::int64_t> uses;  // by number: how often it is sent
  std::set<std::int64_t> placed;              // numbers that have come from senders
};

struct InState {
  explicit InState(const In& in) : take(in.takes), read(in.read) {}
  List<2> take;
  List<3> read;
  std::int64_t told = 0, groups = 0;
  bool copied = false;
};

struct OutState {
  OutState(const Out& out, bool sums) : list(out.sends) {
    if (sums && !list.ended()) lowest = list.now()[2];
  }
  List<5> list;
  std::int64_t lowest = 0;
};

// In L1, by its first byte.
struct Held {
  Tile tile;
  std::uint64_t bytes = 0;
  std::int64_t needed = 0;  // so many times
};

struct CoreState {
  std::vector<RingState> rings;
  std::vector<InState> ins;
  std::vector<OutState> outs;
  std::map<std::uint64_t, Held> l1;
  std::map<std::uint64_t, std::int64_t> words;
  std::map<std::uint64_t, std::pair<std::size_t, std::size_t>> writers;  // core and record
};

// A tile that is on its way.
struct Late {
  std::size_t core = 0;
  std::uint64_t address = 0;
  Held held;
};

class Replay {
 public:
  Replay(const Blob& blob, const Execution& execution, const Tables& tables, std::uint32_t seed, const Defects& defects)
      : blob_(blob),
        execution_(execution),
        tables_(tables),
        defects_(defects),
        orders_(stream_orders(blob, execution)),
        seeded_(seed != 0),
        random_(seed) {}

  std::string run() {
    start();
    do {
      moved_ = false;
      pass(!seeded_);
      if (!moved_) pass(true);
      if (!problem_.empty()) return problem_;
    } while (moved_ || !late_.empty());
    end();
    return problem_;
  }

 private:
  void fail(std::size_t core, const std::string& what) {
    if (problem_.empty()) problem_ = cat("core ", core, " (", tables_.cores[core].op, "): ", what);
  }

  void start() {
    for (std::size_t c = 0; c < tables_.cores.size(); ++c) {
      const CoreTables& core = tables_.cores[c];
      CoreState& state = cores_.emplace_back();
      state.rings.resize(core.rings.size());
      for (const In& in : core.ins) state.ins.emplace_back(in);
      for (const Out& out : core.outs) {
        state.outs.emplace_back(out, core.rings[out.ring].sums);
        for (const auto& t : state.outs.back().list.tuples)
          for (std::int64_t n = 0; n < t[0]; ++n) ++state.rings[out.ring].uses[t[2] + n];
      }
      by_node_[core.node] = c;
      for (const Ring& a : core.rings)
        for (const Ring& b : core.rings)
          if (a.stream != b.stream && a.address <= b.address && b.address < a.address + a.bytes()) fail(c, "rings overlap");
    }
  }

  void pass(bool all) {
    const auto skipped = [&] { return !all && random_() % 2 == 0; };
    std::vector<Late> late;
    late.swap(late_);
    for (std::size_t c = 0; c < cores_.size(); ++c) {
      for (std::size_t i = 0; i < cores_[c].ins.size(); ++i)
        if (!skipped()) visit_in(c, i);
      for (std::size_t r = 0; r < cores_[c].rings.size(); ++r)
        if (!skipped()) visit_kernel(c, r);
      for (std::size_t o = 0; o < cores_[c].outs.size(); ++o)
        if (!skipped()) visit_out(c, o);
      for (std::size_t r = 0; r < cores_[c].rings.size(); ++r)
        if (!skipped()) free_slots(c, r);
    }
    for (const Late& l : late) put(l.core, l.address, l.held);
  }

  void put(std::size_t c, std::uint64_t address, Held held) {
    moved_ = true;
    std::map<std::uint64_t, Held>& l1 = cores_[c].l1;
    auto at = l1.lower_bound(address);
    if (at != l1.begin() && std::prev(at)->first + std::prev(at)->second.bytes > address) --at;
    while (at != l1.end() && at->first < address + held.bytes) {
      if (at->second.needed > 0) return fail(c, cat("a tile that is still needed is overwritten at ", at->first));
      at = l1.erase(at);
    }
    l1[address] = std::move(held);
  }
  // The tile there, which is needed once less.
  std::optional<Tile> use(std::size_t c, std::uint64_t address, bool needed_less = true) {
    const auto found = cores_[c].l1.find(address);
    if (found == cores_[c].l1.end()) {
      fail(c, cat("at ", address, " there is no tile"));
      return std::nullopt;
    }
    if (needed_less) --found->second.needed;
    return found->second.tile;
  }
  std::uint64_t slot(const Ring& ring, std::int64_t number, std::int64_t slots) const {
    return ring.address + static_cast<std::uint64_t>((number % slots) * ring.message_bytes);
  }
  // How often a tile with this number is needed.
  std::int64_t needs(std::size_t c, std::size_t r, std::int64_t number) const {
    const auto found = cores_[c].rings[r].uses.find(number);
    std::int64_t out = found == cores_[c].rings[r].uses.end() ? 0 : found->second;
    if (tables_.cores[c].rings[r].kernel != Ring::Kernel::takes) return out;
    for (const In& in : tables_.cores[c].ins)
      if (in.ring == r) out += in.group == 0 ? 1 : std::max<std::int64_t>(in.times / tables_.cores[c].rings[r].copies, 1);
    return out;
  }
  Held held(std::size_t c, std::size_t r, std::int64_t number, const Tile& tile) const {
    return {tile, static_cast<std::uint64_t>(tables_.cores[c].rings[r].message_bytes), needs(c, r, number)};
  }

  void set_word(device::NocCoord node, std::uint64_t address, std::int64_t value, std::size_t by, std::size_t record) {
    const auto to = by_node_.find(node);
    if (to == by_node_.end()) return fail(by, "it writes to a core without tables");
    if (address >= tables_.cores[to->second].table) return fail(by, "it writes a word where there is none");
    const auto [writer, first] = cores_[to->second].writers.try_emplace(address, by, record);
    if (!first && writer->second != std::pair(by, record)) return fail(to->second, "two write the same word");
    cores_[to->second].words[address] = value;
    moved_ = true;
  }
  std::int64_t word(std::size_t c, std::uint64_t address) const {
    const auto found = cores_[c].words.find(address);
    return found == cores_[c].words.end() ? 0 : found->second;
  }

  void copy_group(std::size_t c, const In& in, const Ring& ring) {
    for (std::int64_t copy = 1; copy < ring.copies; ++copy)
      for (std::int64_t n = 0; n < in.group; ++n) {
        const auto tile = use(c, slot(ring, n, ring.slots), false);
        if (tile) put(c, ring.address + static_cast<std::uint64_t>((copy * in.group + n) * ring.message_bytes), held(c, in.ring, n, *tile));
      }
  }

  void visit_group(std::size_t c, const In& in, InState& state) {
    RingState& ring = cores_[c].rings[in.ring];
    const std::int64_t all = in.group * in.times, begun = state.groups * all;
    if (ring.taken == begun + (defects_.forgets_group ? in.group : all)) {
      ring.freed += in.group;
      ++state.groups;
      state.copied = false;
      moved_ = true;
      return;
    }
    const std::int64_t there = ring.arrived - ring.freed;
    if (there == 0) return;
    if (!state.copied && (there >= in.group || defects_.copies_early)) {
      copy_group(c, in, tables_.cores[c].rings[in.ring]);
      state.copied = true;
    }
    const std::int64_t until = begun + (there >= in.group ? all : there);
    moved_ |= until != ring.announced;
    ring.announced = until;
  }

  void read_sums(std::size_t c, const In& in, InState& state) {
    if (state.read.ended()) return;
    const Ring& ring = tables_.cores[c].rings[in.ring];
    const auto& [all, node, address] = state.read.now();
    const MemoryNode& from = tables_.cores[c].nodes[static_cast<std::size_t>(node)];
    for (std::int64_t left = std::min(state.read.left(), in.chunk), n = 0; n < left; ++n, ++state.told)
      put(c, slot(ring, state.told, ring.slots),
          {tile_in_memory(from.node, static_cast<std::uint64_t>(address + (state.read.done + n) * ring.message_bytes)),
           static_cast<std::uint64_t>(ring.message_bytes), 1});
    state.read.moved(std::min(state.read.left(), in.chunk));
  }
  // What the kernel adds to. False: it is not there yet.
  bool takes_sum(std::size_t c, std::size_t r) {
    const Ring& ring = tables_.cores[c].rings[r];
    const std::int64_t number = cores_[c].rings[r].arrived;
    for (std::size_t i = 0; i < tables_.cores[c].ins.size(); ++i)
      if (tables_.cores[c].ins[i].ring == r && !cores_[c].ins[i].read.ended()) return false;
    const auto sum = use(c, slot(ring, number, ring.slots), number < ring.slots);
    const auto& read = orders_.sums.at({static_cast<std::int32_t>(c), ring.stream});
    if (sum && number < ring.slots && *sum != read[static_cast<std::size_t>(number)]) fail(c, "the kernel adds to other sums");
    return sum.has_value();
  }

  void visit_in(std::size_t c, std::size_t i) {
    const CoreTables& core = tables_.cores[c];
    const In& in = core.ins[i];
    InState& state = cores_[c].ins[i];
    const Ring& ring = core.rings[in.ring];
    RingState& has = cores_[c].rings[in.ring];
    if (ring.sums) return read_sums(c, in, state);
    if (in.group != 0) {
      visit_group(c, in, state);
    } else if (ring.kernel == Ring::Kernel::takes) {
      has.freed = has.taken;
    }
    if (in.reads && !state.read.ended()) {
      const auto& [all, node, address] = state.read.now();
      const std::int64_t tiles =
          std::min({ring.slots - (has.arrived - has.freed), state.read.left(), in.chunk, ring.slots - has.arrived % ring.slots});
      const MemoryNode& from = core.nodes[static_cast<std::size_t>(node)];
      for (std::int64_t n = 0; n < tiles; ++n) {
        const Tile tile = tile_in_memory(from.node, static_cast<std::uint64_t>(address + (state.read.done + n) * ring.message_bytes));
        put(c, slot(ring, has.arrived + n, ring.slots), held(c, in.ring, has.arrived + n, tile));
      }
      has.arrived += std::max<std::int64_t>(tiles, 0);
      if (tiles > 0) state.read.moved(tiles);
    } else if (!in.reads && !state.take.ended()) {
      const std::uint64_t arrival = in.arrivals[static_cast<std::size_t>(state.take.now()[1])];
      const std::int64_t tiles = std::min(word(c, arrival) - has.arrived, state.take.left());
      if (tiles > 0) {
        has.arrived += tiles;
        state.take.moved(tiles);
        moved_ = true;
      }
    }
    if (in.group == 0 && ring.kernel == Ring::Kernel::takes) has.announced = has.arrived;
    if (has.freed == state.told || defects_.keeps_credits) return;
    for (const Word& credit : in.credits) set_word(credit.node, credit.address, has.freed, c, in.ring);
    state.told = has.freed;
  }

  void visit_kernel(std::size_t c, std::size_t r) {
    const Ring& ring = tables_.cores[c].rings[r];
    RingState& has = cores_[c].rings[r];
    const StreamRef ref{static_cast<std::int32_t>(c), ring.stream};
    for (std::int64_t burst = tiles_at_once(); burst > 0 && ring.kernel == Ring::Kernel::takes && has.taken < has.announced; --burst) {
      const auto tile = use(c, slot(ring, has.taken, ring.kernel_slots()));
      if (!tile) return;
      if (*tile != expected(c, r, has.taken))
        return fail(c, cat("tile ", has.taken, " that the kernel takes of stream ", ring.stream, " is another one"));
      ++has.taken;
      moved_ = true;
    }
    if (ring.kernel != Ring::Kernel::makes) return;
    const std::int64_t all = made(ref);
    for (std::int64_t burst = tiles_at_once(); burst > 0 && has.arrived < all && has.arrived - has.freed < ring.slots; --burst) {
      if (ring.sums && !takes_sum(c, r)) return;
      put(c, slot(ring, has.arrived, ring.slots), held(c, r, has.arrived, {ref.core, ref.stream, has.arrived}));
      ++has.arrived;
    }
  }
  // That a kernel takes or makes.
  std::int64_t tiles_at_once() { return seeded_ ? static_cast<std::int64_t>(1 + random_() % 3) : 64; }
  std::int64_t made(StreamRef ref) const { return static_cast<std::int64_t>(orders_.tiles.at(ref).size()); }
  Tile expected(std::size_t c, std::size_t r, std::int64_t number) const {
    const std::vector<Tile>& tiles = orders_.tiles.at({static_cast<std::int32_t>(c), tables_.cores[c].rings[r].stream});
    for (const In& in : tables_.cores[c].ins)
      if (in.ring == r && in.group != 0) number = number / (in.group * in.times) * in.group + number % in.group;
    return number < static_cast<std::int64_t>(tiles.size()) ? tiles[static_cast<std::size_t>(number)] : Tile{};
  }

  std::vector<std::size_t> receivers(std::size_t c, const Connection& to) {
    std::vector<std::size_t> out;
    for (std::int32_t y = to.first.y; y <= to.last.y; ++y)
      for (std::int32_t x = to.first.x; x <= to.last.x; ++x)
        if (const auto found = by_node_.find({x, y}); found != by_node_.end()) out.push_back(found->second);
    if (static_cast<std::int64_t>(out.size()) != to.receivers) fail(c, "it sends to other cores than it asks for room");
    return out;
  }

  std::int64_t send(std::size_t c, std::size_t o, const Out& out, std::int64_t number, std::int64_t tiles) {
    const auto& tuple = cores_[c].outs[o].list.now();
    const Connection& to = out.connections[static_cast<std::size_t>(tuple[1])];
    const Ring& ring = tables_.cores[c].rings[out.ring];
    const std::int64_t there = tuple[3] + cores_[c].outs[o].list.done;
    for (std::int64_t i = 0; i < to.receivers && !defects_.ignores_room; ++i)
      tiles = std::min(tiles, word(c, to.credits + static_cast<std::uint64_t>(4 * i)) + to.slots - there);
    tiles = std::min(tiles, to.slots - there % to.slots);
    if (tiles <= 0) return 0;
    const std::vector<std::size_t> all = receivers(c, to);
    for (std::size_t receiver : all) {
      const std::vector<Ring>& rings = tables_.cores[receiver].rings;
      const auto target = std::find_if(rings.begin(), rings.end(), [&](const Ring& r) { return r.address == to.address; });
      for (std::int64_t n = 0; n < tiles; ++n) {
        const auto tile = use(c, slot(ring, number + n, ring.slots), receiver == all.front());
        if (!tile) return 0;
        Held arrives{*tile, static_cast<std::uint64_t>(ring.message_bytes), 1};
        if (target == rings.end()) return fail(c, "it sends to a place that is no buffer"), 0;
        const auto index = static_cast<std::size_t>(target - rings.begin());
        if (!cores_[receiver].rings[index].placed.insert(there + n).second) return fail(c, cat("it sends number ", there + n, " again")), 0;
        arrives.needed = needs(receiver, index, there + n);
        const std::uint64_t address = to.address + static_cast<std::uint64_t>(((there + n) % to.slots) * ring.message_bytes);
        if (defects_.flag_before_data) {
          late_.push_back({receiver, address, arrives});
        } else {
          put(receiver, address, arrives);
        }
      }
      set_word(tables_.cores[receiver].node, to.arrival, there + tiles, c, 1000 + o);
    }
    return tiles;
  }

  void visit_out(std::size_t c, std::size_t o) {
    const Out& out = tables_.cores[c].outs[o];
    OutState& state = cores_[c].outs[o];
    if (state.list.ended()) return;
    const Ring& ring = tables_.cores[c].rings[out.ring];
    const auto tuple = state.list.now();
    const std::int64_t number = tuple[2] + state.list.done, there = cores_[c].rings[out.ring].arrived - number;
    if (there <= 0) return;
    std::int64_t tiles = std::min({there, state.list.left(), ring.slots - number % ring.slots});
    if (out.writes) {
      for (std::int64_t n = 0; n < tiles; ++n) {
        const auto tile = use(c, slot(ring, number + n, ring.slots));
        if (!tile) return;
        const std::int64_t step = out.rows.count > 0 ? out.rows.count * out.rows.pitch : ring.message_bytes;
        const std::uint64_t address = static_cast<std::uint64_t>(tuple[3] + (state.list.done + n) * step);
        written_[{tables_.cores[c].nodes[static_cast<std::size_t>(tuple[1])].node, address}] = *tile;
      }
    } else {
      tiles = send(c, o, out, number, tiles);
    }
    if (tiles == 0) return;
    moved_ = true;
    state.lowest = tiles == state.list.left() ? tuple[4] : std::min(number + tiles, tuple[4]);
    state.list.moved(tiles);
  }

  void free_slots(std::size_t c, std::size_t r) {
    RingState& has = cores_[c].rings[r];
    if (tables_.cores[c].rings[r].kernel == Ring::Kernel::takes) return;
    std::int64_t lowest = has.arrived, highest = 0;
    for (std::size_t o = 0; o < cores_[c].outs.size(); ++o)
      if (tables_.cores[c].outs[o].ring == r) {
        lowest = std::min(lowest, cores_[c].outs[o].lowest);
        highest = std::max(highest, cores_[c].outs[o].lowest);
      }
    if (defects_.frees_early) lowest = highest;
    moved_ |= lowest != has.freed;
    const Ring& ring = tables_.cores[c].rings[r];
    for (std::int64_t n = has.freed; n < lowest; ++n)
      if (const auto held = cores_[c].l1.find(slot(ring, n, ring.slots)); held != cores_[c].l1.end() && held->second.needed > 0)
        return fail(c, cat("number ", n, " of stream ", ring.stream, " is free before it is sent"));
    has.freed = lowest;
  }

  // Of an output that has not ended.
  std::string state_of(std::size_t c, const OutState& state) const {
    const auto index = static_cast<std::size_t>(&state - cores_[c].outs.data());
    const std::size_t r = tables_.cores[c].outs[index].ring;
    const auto& tuple = state.list.now();
    return cat("what stream ", tables_.cores[c].rings[r].stream, " sends waits for ever at number ", tuple[2] + state.list.done, " (",
               tuple[3] + state.list.done, " there): ", cores_[c].rings[r].arrived, " have come, ", cores_[c].rings[r].freed,
               " are free, of ", tables_.cores[c].rings[r].slots, " slots");
  }

  void end() {
    // Who sends knows more of what is missing.
    for (std::size_t c = 0; c < cores_.size(); ++c)
      for (const OutState& out : cores_[c].outs)
        if (!out.list.ended()) fail(c, state_of(c, out));
    for (std::size_t c = 0; c < cores_.size(); ++c) {
      const CoreTables& core = tables_.cores[c];
      for (std::size_t i = 0; i < core.ins.size(); ++i) {
        const In& in = core.ins[i];
        const RingState& has = cores_[c].rings[in.ring];
        if (!cores_[c].ins[i].read.ended() || !cores_[c].ins[i].take.ended())
          fail(c, cat("stream ", core.rings[in.ring].stream, " waits for ever for tiles"));
        if (has.arrived != made({static_cast<std::int32_t>(c), core.rings[in.ring].stream}))
          fail(c, "other tiles have come than the stream brings");
      }
      for (const Out& out : core.outs)
        for (const Connection& to : out.connections) check_credits(c, to);
      for (std::size_t r = 0; r < core.rings.size(); ++r) check_kernel(c, r);
      for (std::size_t r = 0; r < core.rings.size(); ++r)
        if (cores_[c].rings[r].freed != cores_[c].rings[r].arrived) fail(c, cat("of stream ", core.rings[r].stream, " not all is free"));
    }
    if (problem_.empty() && written_ != orders_.written) problem_ = "in memory there are other tiles than the streams write";
  }

  void check_credits(std::size_t c, const Connection& to) {
    for (std::size_t receiver : receivers(c, to))
      for (std::size_t r = 0; r < tables_.cores[receiver].rings.size(); ++r) {
        if (tables_.cores[receiver].rings[r].address != to.address) continue;
        bool told = false;
        for (std::int64_t i = 0; i < to.receivers; ++i) {
          const std::uint64_t address = to.credits + static_cast<std::uint64_t>(4 * i);
          const auto writer = cores_[c].writers.find(address);
          told |= writer != cores_[c].writers.end() && writer->second == std::pair(receiver, r) &&
                  word(c, address) == cores_[receiver].rings[r].arrived;
        }
        if (!told) fail(c, "a credit has not come back");
      }
  }
  // It has had all that it takes, and could have at once what it needs.
  void check_kernel(std::size_t c, std::size_t r) {
    const Ring& ring = tables_.cores[c].rings[r];
    if (ring.kernel != Ring::Kernel::takes) return;
    const overlay::Stream& stream = *blob_.find({static_cast<std::int32_t>(c), ring.stream});
    const auto needs = execution_.kernel_inputs.find({c, stream.operand});
    const bool known = needs != execution_.kernel_inputs.end();
    const std::int64_t takes = known ? needs->second.tiles : made({static_cast<std::int32_t>(c), ring.stream});
    if (cores_[c].rings[r].taken != takes)
      fail(c, cat("the kernel has taken ", cores_[c].rings[r].taken, " tiles of stream ", ring.stream, " instead of ", takes));
    if (known && ring.kernel_slots() < needs->second.at_once) fail(c, cat("stream ", ring.stream, " has too few slots for its kernel"));
  }

  const Blob& blob_;
  const Execution& execution_;
  const Tables& tables_;
  const Defects defects_;
  const StreamOrders orders_;
  bool seeded_;
  std::minstd_rand random_;
  std::vector<CoreState> cores_;
  std::map<device::NocCoord, std::size_t> by_node_;
  std::map<std::pair<device::NocCoord, std::uint64_t>, Tile> written_;
  std::vector<Late> late_;
  bool moved_ = true;
  std::string problem_;
};

}  // namespace

std::string wrong_with(const Blob& blob, const Execution& execution, const Tables& tables, std::uint32_t seed, const Defects& defects) {
  return Replay(blob, execution, tables, seed, defects).run();
}

}  // namespace buda::movers
