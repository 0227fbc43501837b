// SPDX-License-Identifier: Apache-2.0
// Adds up what streams move.
#include <buda/overlay/traffic.hpp>

#include <buda/overlay/sent_messages.hpp>
#include <buda/pipes/noc/routes.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace buda::overlay {
namespace {

using device::NocCoord;
using pipes::NocAxis;

using pipes::NocPort;

struct Moved {
  std::uint64_t bytes = 0, before = 0;
};

constexpr std::size_t kTurns = 32;  // parts of the reading of an input

using Memory = std::tuple<std::int32_t, bool, std::int32_t, bool>;  // chip, of the host, channel, upper half

// Bytes over links and ports, and out of memory.
struct Ways {
  std::map<std::size_t, double> links;
  std::map<Memory, double> memory;

  void add(const Ways& other, double part = 1) {
    for (const auto& [link, bytes] : other.links) links[link] += part * bytes;
    for (const auto& [half, bytes] : other.memory) memory[half] += part * bytes;
  }
};

using Turns = std::array<Ways, kTurns>;

// What one input of an op moves.
struct EdgeWays {
  std::int32_t chip = 0;
  bool in_step = false;                 // whether a multicast keeps some of the cores in step
  Ways even;                            // all the time alike
  std::map<std::int32_t, Turns> turns;  // by cores that keep step
};

// By core, the first of those that multicasts keep in step with it: none of them gets its next tiles before all have taken the last ones.
std::vector<std::int32_t> cores_in_step(const Blob& blob) {
  std::vector<std::int32_t> first(blob.cores.size());
  std::iota(first.begin(), first.end(), 0);
  const auto root = [&](std::int32_t core) {
    while (first[static_cast<std::size_t>(core)] != core) core = first[static_cast<std::size_t>(core)];
    return core;
  };
  for (const Core& core : blob.cores)
    for (const Stream& s : core.streams) {
      if (s.read && s.read->before_epoch) continue;
      for (const Destination& d : s.destinations) {
        if (!d.is_multicast()) continue;
        const auto receivers = blob.cores_of(d);
        for (std::int32_t other : receivers) {
          const std::int32_t a = root(receivers.front()), b = root(other);
          first[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
        }
      }
    }
  for (std::size_t i = 0; i < first.size(); ++i) first[i] = root(static_cast<std::int32_t>(i));
  return first;
}

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
  // Returns the links and ports of the message.
  const std::vector<std::size_t>& load(std::uint64_t bytes, bool before) {
    std::sort(route_.begin(), route_.end());
    route_.erase(std::unique(route_.begin(), route_.end()), route_.end());
    for (std::size_t link : route_) {
      moved_[link].bytes += bytes;
      if (before) moved_[link].before += bytes;
    }
    return route_;
  }

  // While the epoch runs.
  double bytes(std::size_t link) const { return static_cast<double>(moved_[link].bytes - moved_[link].before); }

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
  Loads(const Blob& blob, const device::DeviceDescriptor& device) : blob_(blob), device_(device), in_step_(cores_in_step(blob)) {}

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
    for (const auto& [edge, ways] : edges_) out.edges.push_back(edge_load(edge.first, edge.second, ways));
    for (const auto& [key, load] : channels_) out.channels.push_back(load);
    for (const auto& [link, load] : ethernet_) out.ethernet.push_back({link, load.streams, load.bytes});
    for (const auto& [chips, load] : pcie_) out.pcie.push_back(load);
    return out;
  }

 private:
  struct Busiest {
    double link = 0, port = 0, memory = 0;
  };

  // Of what moves, with its part of what moves besides.
  Busiest busiest(const Ways& ways, const Ways* besides, double part) const {
    const std::size_t links = pipes::link_and_port_count(device_.noc) / 2;
    const auto with_besides = [&](const auto& other, const auto& key, double bytes) {
      const auto found = other.find(key);
      return found == other.end() ? bytes : bytes + part * found->second;
    };
    Busiest out;
    for (const auto& [number, bytes] : ways.links) {
      double& most = number < links ? out.link : out.port;
      most = std::max(most, besides == nullptr ? part * bytes : with_besides(besides->links, number, bytes));
    }
    for (const auto& [half, bytes] : ways.memory)
      out.memory = std::max(out.memory, besides == nullptr ? part * bytes : with_besides(besides->memory, half, bytes));
    return out;
  }

  // The busiest of each turn, added up. `beside`: what passes all the time, of which each turn has its part.
  WayBytes in_turn(const Turns& turns, const Ways& beside) const {
    constexpr double kPart = 1.0 / kTurns;
    // Nothing of a turn is below 0, so on ways that it has, too, this is not more than what passes there.
    const Busiest always = busiest(beside, nullptr, kPart);
    Busiest sum;
    for (const Ways& turn : turns) {
      const Busiest now = busiest(turn, &beside, kPart);
      sum.link += std::max(now.link, always.link);
      sum.port += std::max(now.port, always.port);
      sum.memory += std::max(now.memory, always.memory);
    }
    const auto whole = [](double bytes) { return static_cast<std::uint64_t>(std::llround(bytes)); };
    return {whole(sum.link), whole(sum.port), whole(sum.memory)};
  }

  // On the ways of one input, what other inputs and results move while the epoch runs.
  Ways of_others(std::int32_t chip, const Ways& own) const {
    Ways out;
    const ChipLinks& links = links_.at(chip);
    for (const auto& [link, bytes] : own.links) out.links[link] = links.bytes(link) - bytes;
    return out;
  }

  // Of the cores that keep step, those that wait longest. `sum`: all that passes over their ways.
  WayBytes slowest(const EdgeWays& ways, const Ways& sum) const {
    if (ways.turns.empty()) return in_turn({}, ways.even);
    WayBytes out;
    for (const auto& [core, turns] : ways.turns) {
      Ways beside = sum;
      for (const Ways& own : turns) beside.add(own, -1);
      const WayBytes those = in_turn(turns, beside);
      out = {std::max(out.link, those.link), std::max(out.port, those.port), std::max(out.memory, those.memory)};
    }
    return out;
  }

  EdgeLoad edge_load(const std::string& op, std::int32_t operand, const EdgeWays& ways) const {
    EdgeLoad out{op, operand, {}, {}};
    Turns all;
    Ways sum = ways.even;
    for (const auto& [core, turns] : ways.turns)
      for (std::size_t i = 0; i < kTurns; ++i) {
        all[i].add(turns[i]);
        sum.add(turns[i]);
      }
    out.first = ways.in_step ? in_turn(all, ways.even) : slowest(ways, sum);
    sum.add(of_others(ways.chip, sum));
    out.later = slowest(ways, sum);
    return out;
  }

  // Of the streams that bring tiles to an op's cores, also by way of others.
  EdgeWays* edge(const Core& core, const Stream* s) {
    const bool is_of_input =
        s != nullptr && (s->kind == StreamKind::input || s->kind == StreamKind::multicast || s->kind == StreamKind::relay);
    if (core.op.empty() || !is_of_input) return nullptr;
    EdgeWays& ways = edges_[{core.op, s->operand}];
    ways.chip = core.chip;
    return &ways;
  }

  static std::uint64_t bytes(const Stream& s) { return static_cast<std::uint64_t>(s.message_bytes); }

  void add_sent(const Core& core, const Stream& s) {
    const std::vector<std::uint64_t> messages = sent_messages(s);
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
        EdgeWays* ways = edge(to, blob_.find(s.destinations[d].first));
        for (std::size_t link : links.load(moved, false))
          if (ways != nullptr) ways->even.links[link] += static_cast<double>(moved);
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
    std::vector<std::size_t> order;  // buffers, by the blocks that are read one after the other
    for_each(s.read->blocks, [&](const ReadRun::Tuple& t) { order.push_back(static_cast<std::size_t>(t[0])); });
    std::vector<std::uint64_t> blocks(s.read->buffers.size(), 0);
    for (std::size_t buffer : order) ++blocks[buffer];
    const auto block = static_cast<std::uint64_t>(s.read->block_tiles);
    const std::uint64_t all = order.size() * block;
    const std::uint64_t passes = s.read->before_epoch || all == 0 ? 1 : static_cast<std::uint64_t>(s.messages()) / all;
    EdgeWays* ways = s.read->before_epoch ? nullptr : edge(core, &s);
    const auto turns = ways == nullptr ? std::vector<std::map<std::size_t, double>>(blocks.size()) : turns_of(order, blocks.size());
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const DramBuffer& d = blob_.dram[static_cast<std::size_t>(s.read->buffers[i].dram)];
      const std::uint64_t moved = blocks[i] * block * passes * bytes(s);
      (s.read->before_epoch ? channel(d).before : channel(d).read) += moved;
      count_half(d, moved);
      if (s.read->before_epoch && is_upper(d)) channel(d).upper_before += moved;
      const auto& route = connect(core.chip, s.noc_in, d.port, core.noc, {moved, s.read->before_epoch ? moved : 0});
      const double each = static_cast<double>(block * passes * bytes(s));
      const auto at = static_cast<std::int32_t>(&core - blob_.cores.data());
      const std::int32_t leader = in_step_[static_cast<std::size_t>(at)];
      if (ways != nullptr) ways->in_step = ways->in_step || leader != at;
      for (const auto& [turn, part] : turns[i]) {
        Ways& now = ways->turns[leader][turn];
        for (std::size_t link : route) now.links[link] += part * each;
        now.memory[{d.chip, d.host, d.channel, is_upper(d)}] += part * each;
      }
    }
  }

  // By buffer, how many of its blocks are read in each turn.
  static std::vector<std::map<std::size_t, double>> turns_of(const std::vector<std::size_t>& order, std::size_t buffers) {
    std::vector<std::map<std::size_t, double>> out(buffers);
    const double each = static_cast<double>(kTurns) / static_cast<double>(std::max<std::size_t>(order.size(), 1));
    for (std::size_t i = 0; i < order.size(); ++i) {
      const double begin = static_cast<double>(i) * each, end = static_cast<double>(i + 1) * each;
      for (auto turn = static_cast<std::size_t>(begin); turn < kTurns && static_cast<double>(turn) < end; ++turn) {
        const double part = std::min(end, static_cast<double>(turn + 1)) - std::max(begin, static_cast<double>(turn));
        if (part > 0) out[order[i]][turn] += part / each;
      }
    }
    return out;
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

  // Returns the links and ports between both, as long as nothing else is connected.
  const std::vector<std::size_t>& connect(std::int32_t chip, std::int32_t noc, NocCoord from, NocCoord to, Moved moved) {
    ChipLinks& links = links_of(chip);
    links.begin();
    links.add_route(noc, from, to);
    return links.load(moved.bytes, moved.before > 0);
  }

  const Blob& blob_;
  const device::DeviceDescriptor& device_;
  std::vector<std::int32_t> in_step_;
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
