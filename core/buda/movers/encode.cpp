// SPDX-License-Identifier: Apache-2.0
// Words.
#include <buda/movers/encode.hpp>

#include <buda/base/text.hpp>
#include <buda/movers/loops.hpp>

#include <movers/tables.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

namespace buda::movers {
namespace {

using device::NocCoord;

// Of requests that are multicast: to all of a rectangle, on a reserved path, to the sender too if it is one of them.
constexpr std::uint32_t kMulticast = 0x20, kReservesPath = 0x100, kAlsoSender = 0x20000;

std::uint32_t u32(std::int64_t v) { return static_cast<std::uint32_t>(v); }
std::uint32_t address(std::uint64_t v) { return static_cast<std::uint32_t>(v); }

class Encoder {
 public:
  Encoder(const CoreTables& core, device::NocSize noc, const Entries& entries) : core_(core), noc_(noc), entries_(entries) {
    words_.resize((core.table - mover::kTables) / 4);
  }

  std::vector<std::uint32_t> run() {
    mover::MoverHeader header{};
    header.nodes[0] = node(core_.node, 0);
    header.nodes[1] = node(core_.node, 1);
    header.staged = reserve(4, 16);
    header.ring_count = u32(static_cast<std::int64_t>(core_.rings.size()));
    header.rings = reserve_records<mover::RingRecord>(core_.rings.size());
    header.in_count = u32(static_cast<std::int64_t>(core_.ins.size()));
    header.ins = reserve_records<mover::InRecord>(core_.ins.size());
    header.out_count = u32(static_cast<std::int64_t>(core_.outs.size()));
    header.outs = reserve_records<mover::OutRecord>(core_.outs.size());
    header.computes = entries_ ? 1 : 0;
    for (std::size_t i = 0; entries_ && i < 3; ++i) header.entries[i] = (*entries_)[i];
    for (std::size_t i = 0; i < core_.rings.size(); ++i) put(header.rings + i * sizeof(mover::RingRecord), ring_record(i, header));
    for (std::size_t i = 0; i < core_.ins.size(); ++i) put(header.ins + i * sizeof(mover::InRecord), in_record(core_.ins[i], header.rings));
    for (std::size_t i = 0; i < core_.outs.size(); ++i)
      put(header.outs + i * sizeof(mover::OutRecord), out_record(core_.outs[i], header.rings));
    put(mover::kTables, header);
    return std::move(words_);
  }

 private:
  std::uint32_t reserve(std::size_t words, std::size_t alignment = 4) {
    while (words_.size() % (alignment / 4) != 0) words_.push_back(0);
    const std::size_t at = words_.size();
    words_.resize(at + words);
    return mover::kTables + static_cast<std::uint32_t>(at) * 4;
  }
  template <class Record>
  std::uint32_t reserve_records(std::size_t count) {
    return reserve(count * sizeof(Record) / 4);
  }
  template <class Record>
  void put(std::size_t at, const Record& record) {
    std::memcpy(words_.data() + (at - mover::kTables) / 4, &record, sizeof record);
  }

  // In the coordinates of a network; the second one counts from the other corner.
  NocCoord seen(NocCoord n, std::int32_t network) const { return network == 0 ? n : NocCoord{noc_.x - 1 - n.x, noc_.y - 1 - n.y}; }
  std::uint32_t node(NocCoord n, std::int32_t network) const {
    const NocCoord at = seen(n, network);
    return (u32(at.x) | u32(at.y) << 6) << 4;
  }
  std::uint32_t memory_node(std::int64_t index, std::int32_t network) const {
    const MemoryNode& n = core_.nodes[static_cast<std::size_t>(index)];
    return node(n.node, network) | n.upper;
  }

  mover::RingRecord ring_record(std::size_t i, const mover::MoverHeader& header) const {
    const Ring& ring = core_.rings[i];
    mover::RingRecord out{};
    out.address = address(ring.address);
    out.message = u32(ring.message_bytes);
    out.slots = u32(ring.slots);
    out.stream = ring.kernel == Ring::Kernel::none ? 0 : 0xffb40000u + 0x1000u * u32(ring.kernel_stream());
    out.from_kernel = ring.kernel == Ring::Kernel::makes ? 1 : 0;
    out.sums = ring.sums ? 1 : 0;
    for (std::size_t o = 0; o < core_.outs.size(); ++o)
      if (core_.outs[o].ring == i && ++out.out_count == 1)
        out.first_out = header.outs + static_cast<std::uint32_t>(o * sizeof(mover::OutRecord));
    return out;
  }

  // `encode` makes the words of a tuple. Its second number is an index of something that has another word there: where these words do not
  // lie in equal distances, a run is none of words.
  template <std::size_t N, class Encode>
  mover::ListRecord list(const std::vector<overlay::Run<N>>& runs, std::size_t width, Encode encode) {
    std::vector<WordRun> of_words;
    for (const overlay::Run<N>& run : runs) {
      const WordTuple first = encode(run.first);
      WordTuple step{};
      if (run.count > 1) step = difference(encode(run.at(1)), first);
      bool is_run = true;
      for (std::int64_t i = 2; run.step[1] != 0 && is_run && i < run.count; ++i)
        is_run = difference(encode(run.at(i)), encode(run.at(i - 1))) == step;
      if (is_run) {
        of_words.push_back({u32(run.count), first, step});
      } else {
        for (std::int64_t i = 0; i < run.count; ++i) of_words.push_back({1, encode(run.at(i)), {}});
      }
    }
    Listing listing = listing_of(of_words, width);
    mover::ListRecord out{};
    out.entries = listing.entries;
    out.loops = reserve_records<mover::LoopRecord>(listing.depth);
    // Streams that fork send in the same order.
    const auto [place, is_new] = lists_.emplace(std::move(listing.words), 0);
    if (is_new) {
      place->second = reserve(place->first.size());
      std::copy(place->first.begin(), place->first.end(), words_.end() - static_cast<std::ptrdiff_t>(place->first.size()));
    }
    out.next = place->second;
    return out;
  }
  static WordTuple difference(const WordTuple& a, const WordTuple& b) {
    WordTuple out;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = a[i] - b[i];
    return out;
  }

  mover::InRecord in_record(const In& in, std::uint32_t rings) {
    mover::InRecord out{};
    out.ring = rings + static_cast<std::uint32_t>(in.ring * sizeof(mover::RingRecord));
    out.reads = in.reads ? 1 : 0;
    out.network = u32(in.network);
    out.chunk = u32(in.chunk);
    out.group = u32(in.group);
    out.times = u32(in.times);
    out.copies = u32(core_.rings[in.ring].copies);
    out.credit_count = u32(static_cast<std::int64_t>(in.credits.size()));
    out.credits = reserve(2 * in.credits.size());
    for (std::size_t i = 0; i < in.credits.size(); ++i)
      put(out.credits + i * sizeof(mover::Credit), mover::Credit{node(in.credits[i].node, in.network), address(in.credits[i].address)});
    out.list = in.reads ? list(in.read, 3,
                               [&](const ReadRun::Tuple& t) {
                                 return WordTuple{u32(t[0]), memory_node(t[1], in.network), u32(t[2])};
                               })
                        : list(in.takes, 2, [&](const TakeRun::Tuple& t) {
                            return WordTuple{u32(t[0]), address(in.arrivals[static_cast<std::size_t>(t[1])])};
                          });
    return out;
  }

  mover::Connection connection(const Connection& c, std::int32_t network) const {
    mover::Connection out{};
    out.nodes = node(c.first, network);
    if (c.receivers > 1) {
      const NocCoord a = seen(network == 0 ? c.first : c.last, network), b = seen(network == 0 ? c.last : c.first, network);
      out.nodes = ((u32(b.x) | u32(b.y) << 6) | (u32(a.x) | u32(a.y) << 6) << 12) << 4;
      out.control = kMulticast | kReservesPath | kAlsoSender;
    }
    out.address = address(c.address);
    out.slots = u32(c.slots);
    out.arrived = address(c.arrival);
    out.credits = address(c.credits);
    out.receivers = u32(c.receivers);
    return out;
  }

  mover::OutRecord out_record(const Out& o, std::uint32_t rings) {
    mover::OutRecord out{};
    out.ring = rings + static_cast<std::uint32_t>(o.ring * sizeof(mover::RingRecord));
    out.writes = o.writes ? 1 : 0;
    out.network = u32(o.network);
    out.rows = u32(o.rows.count);
    out.row_bytes = u32(o.rows.bytes);
    out.pitch = u32(o.rows.pitch);
    if (core_.rings[o.ring].sums && !o.sends.empty()) out.lowest = u32(o.sends.front().first[2]);
    out.connections = reserve_records<mover::Connection>(o.connections.size());
    for (std::size_t i = 0; i < o.connections.size(); ++i)
      put(out.connections + i * sizeof(mover::Connection), connection(o.connections[i], o.network));
    out.list = list(o.sends, 5, [&](const SendRun::Tuple& t) {
      const std::uint32_t to = o.writes ? memory_node(t[1], o.network) : u32(t[1]);
      return WordTuple{u32(t[0]), to, u32(t[2]), u32(t[3]), u32(t[4])};
    });
    return out;
  }

  const CoreTables& core_;
  device::NocSize noc_;
  const Entries& entries_;
  std::vector<std::uint32_t> words_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> lists_;  // where each is
};

}  // namespace

Result<std::string> encode(const CoreTables& core, device::NocSize noc, const Entries& entries) {
  std::uint64_t end = mover::kTables + mover::kTableBytes;
  for (const Ring& ring : core.rings)
    if (ring.address >= mover::kTables) end = std::min(end, ring.address);
  const std::uint64_t room = end - mover::kTables;
  std::vector<std::uint32_t> words;
  if (core.table <= end) words = Encoder(core, noc, entries).run();
  const std::uint64_t bytes = words.empty() ? core.table - mover::kTables : words.size() * 4;
  if (bytes > room)
    return does_not_fit("MV003", core.op, "mover tables", bytes, room,
                        cat("the tables of a core of op '", core.op, "' need ", bytes, " bytes of L1, and there are ", room),
                        "--target tensix runs kernels op by op, without tables");
  return std::string(reinterpret_cast<const char*>(words.data()), words.size() * 4);
}

}  // namespace buda::movers
