// SPDX-License-Identifier: Apache-2.0
// Descent: one pipe or one port of DRAM is changed at a time, as long as the sum over links, and over what nodes give and take, of
// (load / highest load)^4 gets smaller. The power leaves little but the busy links; with a higher one, epochs that have several of them
// take longer on target `grid`. What is read before an epoch and what moves while it runs are at different times, and balanced by
// themselves.
#include <buda/pipes/build/balance_networks.hpp>

#include <buda/pipes/noc/routes.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace buda::pipes {
namespace {

using device::NocCoord;

constexpr int kMaxRounds = 8;
// Transfers are moved off links that carry at least this part of the busiest link's load.
constexpr double kBusy = 0.3;
// A change must make its part of the sum smaller by this part.
constexpr double kMinGain = 1e-6;

// One end of a transfer: a worker, or the port of a buffer in DRAM.
struct End {
  NocCoord at;
  std::optional<std::size_t> queued;  // number of a QueuedBuffer
};

struct Leg {
  End from, to;
  double bytes = 0;
};

// The bytes of a transfer on one link.
struct LinkBytes {
  std::size_t link = 0;
  double bytes = 0;
};
using Way = std::vector<LinkBytes>;  // each link once

// What a pipe sends by one network that is open.
struct OpenTransfer {
  std::size_t pipe = 0;
  std::int32_t Pipe::*network = nullptr;
  std::vector<Leg> legs;
  Way way = {};  // by its network and the ports of now
};

struct QueuedBuffer {
  std::size_t buffer = 0;
  std::vector<std::pair<std::size_t, std::size_t>> legs;  // number of a transfer, and of its leg
  bool is_open = false;                                   // whether its port is not fixed
};

// The links of both networks, and the ports of nodes, by number; the two networks have none in common.
class Links {
 public:
  explicit Links(device::NocSize size) : size_(size), bytes_(link_and_port_count(size), 0) {}

  std::size_t count() const { return bytes_.size(); }
  double operator[](std::size_t link) const { return bytes_[link]; }
  // visit(number of a link); what a core sends to itself, as one of the receivers of a multicast, passes its ports.
  template <class Visit>
  void on_way(std::int32_t noc, NocCoord from, NocCoord to, Visit visit) const {
    if (!size_.contains(from) || !size_.contains(to)) return;
    visit(port_number(noc, NocPort::output, from, size_));
    for_each_hop(noc, from, to, size_, [&](NocAxis axis, NocCoord node) { visit(link_number(noc, axis, node, size_)); });
    visit(port_number(noc, NocPort::input, to, size_));
  }
  void add(const Way& way, double sign) {
    for (const LinkBytes& l : way) bytes_[l.link] += sign * l.bytes;
  }
  double most() const { return *std::max_element(bytes_.begin(), bytes_.end()); }

 private:
  device::NocSize size_;
  std::vector<double> bytes_;
};

// Whether its inputs and outputs alone say what it sends.
bool sends_alone(const Pipe& pipe) {
  return !pipe.inputs.empty() && !pipe.ethernet_pipe && !pipe.ethernet_chan && !pipe.mmio_downstream && pipe.dram_num_forks == 1 &&
         !pipe.mcast_core.empty();
}
bool is_in_worker(const Buffer& b) { return b.core.row != kNoCore && !b.is_queue() && !b.ethernet_chan; }
bool is_in_dram(const Buffer& b) {
  return (b.type == BufferType::dram_io || b.type == BufferType::dram_prolog) && !b.is_padding && b.dram_io_flag_is_remote == 0;
}

bool is_read_before(const Buffer& b) { return b.type == BufferType::dram_prolog; }

// Runs of a pipe in the epoch, by one of its sources.
double runs_in_epoch(const Buffer& b) {
  if (is_read_before(b)) return 1;
  const std::int64_t tiles = b.epoch_tiles * (b.is_scatter ? std::max<std::int64_t>(b.replicate, 1) : 1);
  const std::int64_t entry = b.is_queue() && b.tiles_per_input > 0 ? b.tiles_per_input : b.window_tiles();
  return std::max(static_cast<double>(tiles) / static_cast<double>(std::max<std::int64_t>(entry, 1)), 1.0);
}

// Both networks of one chip, either before an epoch or while it runs.
class Networks {
 public:
  Networks(const NetlistIndex& index, const device::DeviceDescriptor& device, std::int32_t chip, bool before, const BufferIndex& buffers,
           PipeGraph& graph)
      : index_(index),
        device_(device),
        chip_(chip),
        before_(before),
        buffers_(buffers),
        graph_(graph),
        links_(device.noc),
        sums_(links_.count(), 0) {
    for (std::size_t p = 0; p < graph.pipes.size(); ++p) add(p);
    for (OpenTransfer& t : transfers_) {
      t.way = way_by(t, graph_.pipes[t.pipe].*t.network);
      links_.add(t.way, 1);
    }
  }

  void balance() {
    if (transfers_.empty() || links_.most() <= 0) return;
    scale_ = 1 / links_.most();
    for (int round = 0; round < kMaxRounds; ++round) {
      bool changed = false;
      busy_ = kBusy * links_.most();
      for (OpenTransfer& t : transfers_) changed = take_other_network(t) || changed;
      for (QueuedBuffer& q : queued_) changed = take_other_port(q) || changed;
      if (!changed) break;
    }
  }

 private:
  std::optional<End> end_of(const Buffer& b) {
    if (b.chip != chip_) return std::nullopt;
    if (is_in_worker(b)) return End{device_.noc_of_worker(b.core), std::nullopt};
    if (!is_in_dram(b)) return std::nullopt;
    const auto number = static_cast<std::size_t>(&b - graph_.buffers.data());
    const auto [known, fresh] = queued_numbers_.try_emplace(number, queued_.size());
    if (fresh) {
      const std::size_t queue = index_.queue(b.op);
      const bool asked_for = queue != NetlistIndex::kNone &&
                             !(index_.netlist().queues[queue].read_ports.empty() && index_.netlist().queues[queue].write_ports.empty());
      queued_.push_back({number, {}, !asked_for});
    }
    return End{{}, known->second};
  }

  // Bytes that a pipe takes from each of its sources.
  std::map<const Buffer*, double> sent_bytes(const Pipe& pipe) const {
    std::map<Id, std::int64_t> blocks;
    for (Id block : pipe.inputs) ++blocks[base_id(block)];
    std::map<const Buffer*, double> out;
    for (const auto& [id, count] : blocks)
      if (const Buffer* b = buffers_.find(id); b != nullptr && !b->is_padding)
        out[b] = runs_in_epoch(*b) * static_cast<double>(count * pipe.repeats() * b->scatter_gather_num_tiles) * b->tile_size;
    return out;
  }

  void add(std::size_t number) {
    const Pipe& pipe = graph_.pipes[number];
    if (!sends_alone(pipe)) return;
    std::vector<std::pair<End, double>> sources;
    bool from_dram = false;
    double sum = 0;
    const std::map<const Buffer*, double> sent = sent_bytes(pipe);
    if (std::any_of(sent.begin(), sent.end(), [&](const auto& s) { return is_read_before(*s.first) != before_; })) return;
    for (const auto& [b, bytes] : sent) {
      const auto end = end_of(*b);
      if (!end) return;
      from_dram = from_dram || end->queued;
      sum += bytes;
      sources.emplace_back(*end, bytes / static_cast<double>(pipe.outputs.size()));
    }
    OpenTransfer transfer{number, nullptr, {}};
    for (std::size_t g = 0; g < pipe.outputs.size(); ++g) {
      const Buffer* to = buffers_.find(pipe.outputs[g].front());
      auto end = to == nullptr ? std::nullopt : end_of(*to);
      if (!end) return;
      const bool is_multicast = pipe.outputs[g].size() > 1;
      if (is_multicast) {
        end->at = device_.noc_of_worker(pipe.mcast_core[std::min(g, pipe.mcast_core.size() - 1)].core);
        pass_on(pipe, g, end->at, sum / static_cast<double>(pipe.outputs.size()));
      }
      for (const auto& [source, bytes] : sources)
        if (bytes > 0) transfer.legs.push_back({source, *end, bytes});
      transfer.network = is_multicast || from_dram ? &Pipe::incoming_noc : &Pipe::outgoing_noc;
    }
    for (std::size_t leg = 0; leg < transfer.legs.size(); ++leg)
      for (const End* end : {&transfer.legs[leg].from, &transfer.legs[leg].to})
        if (end->queued) queued_[*end->queued].legs.emplace_back(transfers_.size(), leg);
    transfers_.push_back(std::move(transfer));
  }

  // A message to several cores loads each link of its tree once, and so the port of the core that sends it.
  void pass_on(const Pipe& pipe, std::size_t group, NocCoord from, double bytes) {
    std::set<std::size_t> tree;
    for (Id id : pipe.outputs[group])
      if (const Buffer* b = buffers_.find(id); b != nullptr && is_in_worker(*b))
        links_.on_way(pipe.outgoing_noc, from, device_.noc_of_worker(b->core), [&](std::size_t link) { tree.insert(link); });
    Way way;
    for (std::size_t link : tree) way.push_back({link, bytes});
    links_.add(way, 1);
  }

  NocCoord position(const End& end) const {
    if (!end.queued) return end.at;
    const Buffer& b = graph_.buffers[queued_[*end.queued].buffer];
    return device_.dram.channels[static_cast<std::size_t>(b.dram_chan)].ports[static_cast<std::size_t>(b.dram_sub_chan)];
  }
  void pass(std::int32_t noc, const Leg& leg) {
    links_.on_way(noc, position(leg.from), position(leg.to), [&](std::size_t link) {
      if (sums_[link] == 0) passed_.push_back(link);
      sums_[link] += leg.bytes;
    });
  }
  // The links that pass() has added to since the last call.
  Way take_way() {
    Way out;
    for (std::size_t link : passed_) out.push_back({link, std::exchange(sums_[link], 0)});
    passed_.clear();
    return out;
  }
  Way way_by(const OpenTransfer& t, std::int32_t noc) {
    for (const Leg& leg : t.legs) pass(noc, leg);
    return take_way();
  }
  Way way_of(const QueuedBuffer& q) {
    for (const auto& [transfer, leg] : q.legs) {
      const OpenTransfer& t = transfers_[transfer];
      pass(graph_.pipes[t.pipe].*t.network, t.legs[leg]);
    }
    return take_way();
  }

  bool is_busy(const OpenTransfer& t) const {
    return std::any_of(t.way.begin(), t.way.end(), [&](const LinkBytes& l) { return links_[l.link] >= busy_; });
  }

  double cost_of(double load) const {
    const double x = load * scale_, x2 = x * x;
    return x2 * x2;
  }
  // By how much the sum grows with a way that is added.
  double added(const Way& way) const {
    double out = 0;
    for (const LinkBytes& l : way) out += cost_of(links_[l.link] + l.bytes) - cost_of(links_[l.link]);
    return out;
  }
  static bool is_better(double now, double before) { return now < before * (1 - kMinGain); }

  void set_network(const OpenTransfer& t, std::int32_t noc) {
    Pipe& pipe = graph_.pipes[t.pipe];
    pipe.*t.network = noc;
    const Buffer* to = buffers_.find(pipe.outputs.front().front());
    if (to != nullptr && to->is_queue()) pipe.incoming_noc = pipe.outgoing_noc = noc;
  }

  bool take_other_network(OpenTransfer& t) {
    if (!is_busy(t)) return false;
    const std::int32_t other = 1 - graph_.pipes[t.pipe].*t.network;
    Way way = way_by(t, other);
    links_.add(t.way, -1);
    const bool out = is_better(added(way), added(t.way));
    if (out) {
      set_network(t, other);
      t.way = std::move(way);
    }
    links_.add(t.way, 1);
    return out;
  }

  // The only transfer that passes the ports of a buffer; null if there are several.
  OpenTransfer* only_transfer(const QueuedBuffer& q) {
    const std::size_t first = q.legs.front().first;
    const bool alone = std::all_of(q.legs.begin(), q.legs.end(), [&](const auto& l) { return l.first == first; });
    return alone ? &transfers_[first] : nullptr;
  }

  // Another port, and another network with it where one transfer alone passes it: often neither alone is better.
  bool take_other_port(const QueuedBuffer& q) {
    Buffer& b = graph_.buffers[q.buffer];
    const auto ports = static_cast<std::int32_t>(device_.dram.channels[static_cast<std::size_t>(b.dram_chan)].ports.size());
    if (!q.is_open || ports < 2 || std::none_of(q.legs.begin(), q.legs.end(), [&](const auto& l) { return is_busy(transfers_[l.first]); }))
      return false;
    OpenTransfer* alone = only_transfer(q);
    const std::int32_t port_before = b.dram_sub_chan, noc_before = alone == nullptr ? 0 : graph_.pipes[alone->pipe].*alone->network;
    const auto way_now = [&](std::int32_t noc) { return alone == nullptr ? way_of(q) : way_by(*alone, noc); };
    Way way = way_now(noc_before);
    links_.add(way, -1);
    double least = added(way);
    std::int32_t best_port = port_before, best_noc = noc_before;
    for (std::int32_t noc : {noc_before, 1 - noc_before}) {
      if (alone == nullptr && noc != noc_before) break;
      for (std::int32_t port = 0; port < ports; ++port) {
        if (port == port_before && noc == noc_before) continue;
        b.dram_sub_chan = port;
        Way other = way_now(noc);
        const double cost = added(other);
        if (!is_better(cost, least)) continue;
        least = cost;
        best_port = port;
        best_noc = noc;
        way = std::move(other);
      }
    }
    b.dram_sub_chan = best_port;
    links_.add(way, 1);
    if (best_port == port_before && best_noc == noc_before) return false;
    if (alone != nullptr) set_network(*alone, best_noc);
    for (const auto& [transfer, leg] : q.legs) {
      OpenTransfer& t = transfers_[transfer];
      t.way = way_by(t, graph_.pipes[t.pipe].*t.network);
    }
    return true;
  }

  const NetlistIndex& index_;
  const device::DeviceDescriptor& device_;
  std::int32_t chip_;
  bool before_;
  const BufferIndex& buffers_;
  PipeGraph& graph_;
  Links links_;
  std::vector<OpenTransfer> transfers_;
  std::vector<QueuedBuffer> queued_;
  std::map<std::size_t, std::size_t> queued_numbers_;  // by number of the buffer
  double scale_ = 1;                                   // 1 / the highest load at first
  double busy_ = 0;                                    // bytes
  std::vector<double> sums_;                           // by link, of the transfer whose way is being found
  std::vector<std::size_t> passed_;
};

}  // namespace

void balance_networks(const NetlistIndex& index, const device::DeviceDescriptor& device, PipeGraph& graph) {
  if (device.noc.x < 1 || device.noc.y < 1) return;
  std::set<std::int32_t> chips;
  for (const Buffer& b : graph.buffers) chips.insert(b.chip);
  const BufferIndex buffers(graph.buffers);
  for (std::int32_t chip : chips)
    for (const bool before : {true, false}) Networks(index, device, chip, before, buffers, graph).balance();
}

}  // namespace buda::pipes
