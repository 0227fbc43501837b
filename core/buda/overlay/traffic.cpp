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

// The links of one chip. A node has two outgoing ones in each network, to its right or left and down or up.
class ChipLinks {
 public:
  explicit ChipLinks(device::NocSize size) : size_(size), bytes_(static_cast<std::size_t>(size.x) * static_cast<std::size_t>(size.y) * 4) {}

  // Begins a message, or one multicast: a link counts once until the next begins.
  void begin() { route_.clear(); }
  // The links from one node to another. O(hops).
  void add_route(std::int32_t noc, NocCoord at, NocCoord to) {
    if (!size_.contains(at) || !size_.contains(to)) return;
    pipes::for_each_hop(noc, at, to, size_,
                        [&](NocAxis axis, NocCoord node) { route_.push_back(pipes::link_number(noc, axis, node, size_)); });
  }
  void load(std::uint64_t bytes) {
    std::sort(route_.begin(), route_.end());
    route_.erase(std::unique(route_.begin(), route_.end()), route_.end());
    for (std::size_t link : route_) bytes_[link] += bytes;
  }

  void list(std::int32_t chip, std::vector<LinkLoad>& out) const {
    for (std::int32_t noc : {0, 1})
      for (std::int32_t x = 0; x < size_.x; ++x)
        for (std::int32_t y = 0; y < size_.y; ++y)
          for (NocAxis axis : {NocAxis::y, NocAxis::x})
            if (const std::uint64_t n = bytes_[pipes::link_number(noc, axis, {x, y}, size_)]; n > 0)
              out.push_back({chip, noc, {x, y}, pipes::neighbour(noc, axis, {x, y}, size_), n});
  }

 private:
  device::NocSize size_;
  std::vector<std::uint64_t> bytes_;
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
    for (const auto& [chip, links] : links_) links.list(chip, out.links);
    const auto rank = [](const LinkLoad& l) { return std::tuple(~l.bytes, l.chip, l.noc, l.from, l.to); };
    std::sort(out.links.begin(), out.links.end(), [&](const LinkLoad& a, const LinkLoad& b) { return rank(a) < rank(b); });
    for (const auto& [key, load] : channels_) out.channels.push_back(load);
    for (const auto& [link, load] : ethernet_) out.ethernet.push_back({link, load.streams, load.bytes});
    for (const auto& [chips, load] : pcie_) out.pcie.push_back(load);
    return out;
  }

 private:
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
        links.load(moved);
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
    connect(core.chip, s.noc_out, core.noc, s.pcie->port, moved);
    connect(to.chip, 0, s.pcie->port, to.noc, moved);
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
      connect(core.chip, s.noc_in, d.port, core.noc, moved);
    }
  }

  void add_written(const Core& core, const Stream& s) {
    const DramBuffer& d = blob_.dram[static_cast<std::size_t>(s.write->dram)];
    const std::uint64_t moved = static_cast<std::uint64_t>(s.write->after_epoch ? s.write->chunk_tiles : s.messages()) * bytes(s);
    (s.write->after_epoch ? channel(d).after : channel(d).written) += moved;
    count_half(d, moved);
    connect(core.chip, s.noc_out, core.noc, d.port, moved);
  }

  void count_half(const DramBuffer& d, std::uint64_t moved) {
    if (!d.host && device_.dram.bank_bytes > kDramHalf && d.address >= kDramHalf) channel(d).upper += moved;
  }

  ChannelLoad& channel(const DramBuffer& d) {
    ChannelLoad& c = channels_[{d.chip, d.host, d.channel}];
    c.chip = d.chip;
    c.host = d.host;
    c.channel = d.channel;
    return c;
  }

  ChipLinks& links_of(std::int32_t chip) { return links_.try_emplace(chip, device_.noc).first->second; }

  void connect(std::int32_t chip, std::int32_t noc, NocCoord from, NocCoord to, std::uint64_t n) {
    ChipLinks& links = links_of(chip);
    links.begin();
    links.add_route(noc, from, to);
    links.load(n);
  }

  const Blob& blob_;
  const device::DeviceDescriptor& device_;
  std::map<std::int32_t, ChipLinks> links_;  // by chip
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
