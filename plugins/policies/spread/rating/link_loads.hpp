// SPDX-License-Identifier: Apache-2.0
// What the ops of an epoch put on the links of the networks, as far as it is known while they are placed: before queues have channels, and
// before later ops read a result.
#pragma once

#include <buda/balance/policy/neighbours.hpp>
#include <buda/balance/policy/placement.hpp>
#include <buda/cost/pipeline.hpp>
#include <buda/device/descriptor.hpp>
#include "queue_times.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

namespace buda::balance {

// What an op takes in and gives to queues, wherever it and its producers stand. Bytes of one input of the epoch.
struct Intake {
  // From a core of the producer, counted row by row, to one of the op's cores, by its row and column in the op.
  struct Message {
    std::int32_t from = 0;
    GridCoord to;
    double bytes = 0;
  };
  // How an operand comes from an op of the same epoch: all messages take one network. To a core that passes them on it is the nearer one,
  // by the first cores of both ops.
  struct Route {
    std::vector<Message> messages;
    std::int32_t noc = kNearerNoc;
    cost::PipelineInput input = {};  // but for the producer's number
  };
  struct Edge {
    OpId producer;
    const Route* route;  // of an IntakeBook
  };
  static constexpr std::int32_t kNearerNoc = -1;
  // From a core of the op along its row or column to others.
  struct Multicast {
    GridCoord from, last;
    double bytes = 0;
    std::int32_t noc = 0;
  };
  // Between queues and each core of the op that takes tiles: all of them, the first of each row, or the last of each column.
  struct Queued {
    netlist::MulticastAxis axis = netlist::MulticastAxis::core;
    std::int32_t channel = kAllChannels;  // that is read, in equal parts where it is not known; or kWritten
    double bytes = 0;                     // of each core
  };
  static constexpr std::int32_t kAllChannels = -1, kWritten = -2;
  std::vector<Edge> edges;
  std::vector<Queued> queued;  // one for each axis and channel
  std::vector<Multicast> multicasts;
};

// Bytes that all cores of an op read of operand `input` if it comes from a queue; of what is loaded before the epoch, an input's share.
double queue_bytes(const Placement& placement, const netlist::Op& blocked, const OpModel& model, std::size_t input);

// The buffers that a queue for operand `input` of such an op has: those of the op that writes it (`producer`), or, without one, those that
// the op itself asks for.
std::int64_t queue_buffers(const Placement& placement, OpId op, const OpModel& model, std::size_t input, const OpModel* producer);
// Cycles per input of a bank of DRAM, a half of a large channel, that moves so many bytes.
double channel_cycles(double bytes, const device::DeviceDescriptor& device);

// The edge between ops of the same epoch.
EdgeKey key_of(const Placement& placement, OpId op, const OpModel& model, std::size_t input, const OpModel& producer);

// Intakes, of which the messages are worked out once.
class IntakeBook {
 public:
  explicit IntakeBook(const Placement& placement) : placement_(placement) {}

  // The producers of the op must be placed; users from number `end` of the schedule on take its result from a queue. Edges without routes
  // are left out.
  Intake intake(OpId op, const OpModel& model, std::size_t end);
  // Operand `input` alone, from an op of the same epoch with that model.
  const std::optional<Intake::Route>& route(OpId op, const OpModel& model, std::size_t input, const OpModel& producer);

 private:
  const Placement& placement_;
  std::unordered_map<EdgeKey, std::optional<Intake::Route>, EdgeKeyHash> routes_;
};

// The links of a chip and the ports by which its nodes send and receive, by number, and the bytes that pass them.
class ChipLinks {
 public:
  explicit ChipLinks(const device::DeviceDescriptor& device);

  std::size_t count() const { return nodes() * 8; }
  // Bytes per cycle of a link, and what the other network takes over.
  double rate() const { return rate_; }
  // Adds the bytes of an op that stands at `place` to the links that they pass. `standing(op)`: a producer's PlacedOp.
  using Standing = std::function<const PlacedOp&(OpId)>;
  void add(const Intake& intake, const OpModel& model, const Place& place, const Standing& standing, double factor,
           std::vector<double>& bytes) const;

 private:
  // What pipes::for_each_hop() visits, all at once: links of a row, and of a column, have numbers that follow one another.
  void go(std::int32_t noc, device::NocCoord from, device::NocCoord to, double amount, std::vector<double>& bytes) const {
    double* const rows = bytes.data() + static_cast<std::size_t>(2 * noc) * nodes();
    double* const columns = rows + nodes();
    add_run(rows + (noc == 0 ? from.y : to.y) * size_.x, size_.x, noc == 0, from.x, to.x, amount);
    add_run(columns + (noc == 0 ? to.x : from.x) * size_.y, size_.y, noc == 0, from.y, to.y, amount);
    if (from == to) return;
    give(noc, from, amount, bytes);
    take(noc, to, amount, bytes);
  }
  // By the ports of a node, which follow the links.
  void give(std::int32_t noc, device::NocCoord node, double amount, std::vector<double>& bytes) const {
    bytes[(4 + 2 * static_cast<std::size_t>(noc)) * nodes() + number(node)] += amount;
  }
  void take(std::int32_t noc, device::NocCoord node, double amount, std::vector<double>& bytes) const {
    bytes[(5 + 2 * static_cast<std::size_t>(noc)) * nodes() + number(node)] += amount;
  }
  // Links from `from` to `to` of a ring of `length`, along growing places or the other way.
  static void add_run(double* ring, std::int32_t length, bool grows, std::int32_t from, std::int32_t to, double amount) {
    if (from == to) return;
    const std::int32_t begin = grows ? from : (to + 1) % length, end = grows ? to : from + 1;
    const auto add = [&](std::int32_t first, std::int32_t last) {
      for (std::int32_t i = first; i < last; ++i) ring[i] += amount;
    };
    if (begin < end) return add(begin, end);
    add(begin, length);
    add(0, end);
  }
  std::int32_t nearer(device::NocCoord from, device::NocCoord to) const { return nearer_[number(from) * nodes() + number(to)]; }
  std::size_t number(device::NocCoord c) const {
    return static_cast<std::size_t>(c.y) * static_cast<std::size_t>(size_.x) + static_cast<std::size_t>(c.x);
  }
  std::size_t nodes() const { return static_cast<std::size_t>(size_.x) * static_cast<std::size_t>(size_.y); }

  const device::DeviceDescriptor& device_;
  device::NocSize size_;
  double rate_;
  // The links that the bytes of an op pass from or to the buffers of a queue, and how many on each for each that a core takes or gives.
  struct Share {
    std::uint16_t link;
    float part;
  };
  const std::vector<Share>& queue_ways(GridShape grid, const Place& place, const Intake::Queued& queued) const;
  // Adds one byte of a core. The port of a channel depends on the op's first core.
  void add_way(device::NocCoord first, device::NocCoord core, std::int32_t channel, std::vector<double>& bytes) const;
  // By grid, place, axis and channel, worked out when first asked for.
  mutable std::unordered_map<std::uint64_t, std::vector<Share>> queue_ways_;

  std::vector<std::uint8_t> nearer_;  // which network is nearer, from each node to each other
};

// What counts between two ops: the buffers between them and the turns that their streams take, or only the bytes that pass. Placers that
// heed buffers avoid what is slow for certain; those that do not have more models to choose from, and the search mends what was slow.
enum class PairCost : std::uint8_t { buffers, transfers };

// How fast inputs can pass between two ops that stand side by side, with nothing else in the epoch: what the edge puts on the busiest link,
// and what the buffers between them allow. A column of cores, for example, is fed through the links of that column unless its producer has
// as many rows; a producer whose buffer holds one result waits until it is taken.
class PairLinks {
 public:
  PairLinks(const Placement& placement, const ChipLinks& links, IntakeBook& intakes, PairCost cost)
      : placement_(placement), links_(links), intakes_(intakes), cost_(cost) {}

  // Cycles per input.
  double cycles(OpId op, const OpModel& model, std::size_t input, const OpModel& producer);

 private:
  double interval(const Intake::Edge& edge, OpId op, const OpModel& model, const OpModel& producer) const;
  double least_cycles(const Intake::Edge& edge, const OpModel& model, const OpModel& producer) const;

  const Placement& placement_;
  const ChipLinks& links_;
  IntakeBook& intakes_;
  PairCost cost_;
  std::unordered_map<EdgeKey, double, EdgeKeyHash> cycles_;
};

// What placers and ratings have in common.
struct LinkModel {
  explicit LinkModel(const Placement& placement, PairCost cost = PairCost::buffers)
      : links(placement.space().device()), intakes(placement), pairs(placement, links, intakes, cost), times(placement) {}
  ChipLinks links;
  IntakeBook intakes;
  PairLinks pairs;
  QueueTimes times;
};

// The links of the present epoch, as ops are placed and taken back.
class LinkLoads {
 public:
  LinkLoads(const Placement& placement, LinkModel& model);

  // Cycles per input of the busiest link if the op stood there as well.
  double busiest_with(const Intake& intake, const OpModel& model, const Place& place) const;
  // Of those that stand.
  double busiest() const;
  // Takes up what stands in the present epoch, which ends before number `end` of the schedule.
  void follow(std::size_t end);

 private:
  const Placement& placement_;
  LinkModel& model_;
  std::vector<double> bytes_;  // by link
  struct Stood {
    OpId op;
    PlacedOp placed;
  };
  std::vector<Stood> stood_;
};

}  // namespace buda::balance
