// Adds up what streams move.
#include <buda/overlay/traffic.hpp>

#include <buda/pipes/noc/routes.hpp>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace buda::overlay {
namespace {

using device::NocCoord;
using pipes::NocAxis;

using pipes::NocPort;

struct Moved {
  std::uint64_t bytes = 0, before = 0;
};

// What one input of an op moves over each link and port.
using EdgeWays = std::map<std::size_t, std::uint64_t>;

// The links of one chip, then the ports of its nodes, by pipes::link_number and port_number.
class ChipLinks {
 public:
  explicit ChipLinks(device::NocSize size) : size_(size), moved_(pipes::link_and_port_count(size)) {}

  // Begins a message, or one multicast: a link counts once until the next begins.
  void begin() { route_.clear(); }
  // The links from one node to another, and the ports at both ends. O(hops).
  void add_route(std::int32_t noc, NocCoord at, NocCoord to) {
    if (!size_.contains(at) || !size_.contains(to)) return;
    route_.push_back(pipes::port_number(noc, NocPort::output, at, size_));
    pipes::for_each_hop(noc, at, to, size_,
                        [&](NocAxis axis, NocCoord node) { route_.push_back(pipes::link_number(noc, axis, node, size_)); });
    route_.push_back(pipes::port_number(noc, NocPort::input, to, size_));
  }
  // `edge`: of what it also counts for; null where that does not matter.
  void load(std::uint64_t bytes, bool before, EdgeWays* edge) {
    std::sort(route_.begin(), route_.end());
    route_.erase(std::unique(route_.begin(), route_.end()), route_.end());
    for (std::size_t link : route_) {
      moved_[link].bytes += bytes;
      if (before) moved_[link].before += bytes;
      if (edge != nullptr) (*edge)[link] += bytes;
    }
  }

  void list(std::int32_t chip, Traffic& out) const {
    for (std::int32_t noc : {0, 1})
      for (std::int32_t x = 0; x < size_.x; ++x)
        for (std::int32_t y = 0; y < size_.y; ++y) {
          const NocCoord node{x, y};
          for (NocAxis axis : {NocAxis::y, NocAxis::x})
            if (const Moved& m = moved_[pipes::link_number(noc, axis, node, size_)]; m.bytes > 0)
              out.links.push_back({chip, noc, node, pipes::neighbour(noc, axis, node, size_), m.bytes, m.before});
          for (NocPort port : {NocPort::output, NocPort::input})
            if (const Moved& m = moved_[pipes::port_number(noc, port, node, size_)]; m.bytes > 0)
              out.ports.push_back({chip, noc, node, port == NocPort::input, m.bytes, m.before});
        }
  }

 private:
  device::NocSize size_;
  std::vector<Moved> moved_;
  std::vector<std::size_t> route_;
};

class Loads {
 public:
  Loads(const Blob& blob, const device::DeviceDescriptor& device) : blob_(blob), device_(device) {}

  void add(const Core& core, const Stream& s) {
    if (!s.destinations.empty()) add_sent(core, s);
    if (s.read) add_read(core, s);
    if (s.write) add_written(core, s);
  }

  Traffic traffic() const {
    Traffic out;
    for (const auto& [chip, links] : links_) links.list(chip, out);
    const auto rank = [](const LinkLoad& l) { return std::tuple(~l.bytes, l.chip, l.noc, l.from, l.to); };
    std::sort(out.links.begin(), out.links.end(), [&](const LinkLoad& a, const LinkLoad& b) { return rank(a) < rank(b); });
    for (const auto& [edge, ways] : edges_) out.edges.push_back(busiest_of(edge.first, edge.second, ways));
    for (const auto& [key, load] : channels_) out.channels.push_back(load);
    for (const auto& [link, load] : ethernet_) out.ethernet.push_back({link, load.streams, load.bytes});
    for (const auto& [chips, load] : pcie_) out.pcie.push_back(load);
    return out;
  }

 private:
  EdgeLoad busiest_of(const std::string& op, std::int32_t operand, const EdgeWays& ways) const {
    const std::size_t links = pipes::link_and_port_count(device_.noc) / 2;
    EdgeLoad out{op, operand, 0, 0};
    for (const auto& [number, bytes] : ways) (number < links ? out.link : out.port) = std::max(number < links ? out.link : out.port, bytes);
    return out;
  }

  // Of the streams that bring tiles to an op's cores, also by way of others.
  EdgeWays* edge(const Core& core, const Stream* s) {
    const bool is_of_input =
        s != nullptr && (s->kind == StreamKind::input || s->kind == StreamKind::multicast || s->kind == StreamKind::relay);
    return core.op.empty() || !is_of_input ? nullptr : &edges_[{core.op, s->operand}];
  }

  static std::uint64_t bytes(const Stream& s) { return static_cast<std::uint64_t>(s.message_bytes); }

  void add_sent(const Core& core, const Stream& s) {
    std::vector<std::uint64_t> messages(s.destinations.size(), 0);
    for_each(s.phases, [&](const PhaseRun::Tuple& t) {
      const Phase p = to_phase(t);
      if (static_cast<std::size_t>(p.destination) < messages.size())
        messages[static_cast<std::size_t>(p.destination)] += static_cast<std::uint64_t>(p.messages * s.iterations);
    });
    for (std::size_t d = 0; d < s.destinations.size(); ++d) {
      const std::uint64_t moved = messages[d] * bytes(s);
      const Core& to = blob_.cores[static_cast<std::size_t>(s.destinations[d].first.core)];
      if (s.pcie) {
        add_pcie(core, s, to, moved);
      } else if (to.chip != core.chip) {
        EthernetLoad& sum = ethernet_[{core.chip, core.ethernet.value_or(-1), to.chip, to.ethernet.value_or(-1)}];
        ++sum.streams;
        sum.bytes += moved;
      } else {
        ChipLinks& links = links_of(core.chip);
        links.begin();
        for (std::int32_t c : blob_.cores_of(s.destinations[d]))
          links.add_route(s.noc_out, core.noc, blob_.cores[static_cast<std::size_t>(c)].noc);
        links.load(moved, false, edge(to, blob_.find(s.destinations[d].first)));
      }
    }
  }

  // To the port, and from that of the other chip to the core there.
  void add_pcie(const Core& core, const Stream& s, const Core& to, std::uint64_t moved) {
    PcieLoad& load = pcie_[{core.chip, to.chip}];
    load.chip = core.chip;
    load.to_chip = to.chip;
    ++load.streams;
    load.bytes += moved;
    connect(core.chip, s.noc_out, core.noc, s.pcie->port, {moved, 0});
    connect(to.chip, 0, s.pcie->port, to.noc, {moved, 0});
  }

  void add_read(const Core& core, const Stream& s) {
    std::vector<std::uint64_t> tiles(s.read->buffers.size(), 0);
    std::uint64_t all = 0;
    for_each(s.read->blocks, [&](const ReadRun::Tuple& t) {
      tiles[static_cast<std::size_t>(t[0])] += static_cast<std::uint64_t>(s.read->block_tiles);
      all += static_cast<std::uint64_t>(s.read->block_tiles);
    });
    const std::uint64_t passes = s.read->before_epoch || all == 0 ? 1 : static_cast<std::uint64_t>(s.messages()) / all;
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      const DramBuffer& d = blob_.dram[static_cast<std::size_t>(s.read->buffers[i].dram)];
      const std::uint64_t moved = tiles[i] * passes * bytes(s);
      (s.read->before_epoch ? channel(d).before : channel(d).read) += moved;
      count_half(d, moved);
      if (s.read->before_epoch && is_upper(d)) channel(d).upper_before += moved;
      connect(core.chip, s.noc_in, d.port, core.noc, {moved, s.read->before_epoch ? moved : 0},
              s.read->before_epoch ? nullptr : edge(core, &s));
    }
  }

  void add_written(const Core& core, const Stream& s) {
    const DramBuffer& d = blob_.dram[static_cast<std::size_t>(s.write->dram)];
    const std::uint64_t moved = static_cast<std::uint64_t>(s.write->after_epoch ? s.write->chunk_tiles : s.messages()) * bytes(s);
    (s.write->after_epoch ? channel(d).after : channel(d).written) += moved;
    count_half(d, moved);
    connect(core.chip, s.noc_out, core.noc, d.port, {moved, 0});
  }

  void count_half(const DramBuffer& d, std::uint64_t moved) {
    if (is_upper(d)) channel(d).upper += moved;
  }
  bool is_upper(const DramBuffer& d) const { return !d.host && device_.dram.bank_bytes > kDramHalf && d.address >= kDramHalf; }

  ChannelLoad& channel(const DramBuffer& d) {
    ChannelLoad& c = channels_[{d.chip, d.host, d.channel}];
    c.chip = d.chip;
    c.host = d.host;
    c.channel = d.channel;
    return c;
  }

  ChipLinks& links_of(std::int32_t chip) { return links_.try_emplace(chip, device_.noc).first->second; }

  void connect(std::int32_t chip, std::int32_t noc, NocCoord from, NocCoord to, Moved moved, EdgeWays* edge = nullptr) {
    ChipLinks& links = links_of(chip);
    links.begin();
    links.add_route(noc, from, to);
    links.load(moved.bytes, moved.before > 0, edge);
  }

  const Blob& blob_;
  const device::DeviceDescriptor& device_;
  std::map<std::int32_t, ChipLinks> links_;                         // by chip
  std::map<std::pair<std::string, std::int32_t>, EdgeWays> edges_;  // by op and operand
  std::map<std::tuple<std::int32_t, bool, std::int32_t>, ChannelLoad> channels_;
  std::map<device::EthLink, EthernetLoad> ethernet_;
  std::map<std::pair<std::int32_t, std::int32_t>, PcieLoad> pcie_;  // by both chips
};

}  // namespace

Traffic traffic_of(const Blob& blob, const device::DeviceDescriptor& device) {
  Loads loads(blob, device);
  for (const Core& core : blob.cores)
    for (const Stream& s : core.streams) loads.add(core, s);
  return loads.traffic();
}

}  // namespace buda::overlay
