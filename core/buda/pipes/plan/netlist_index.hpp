// SPDX-License-Identifier: Apache-2.0
// A netlist's ops and queues by name, and the ids of its queues' buffers, which are the same in every epoch.
#pragma once

#include <buda/netlist/model/index.hpp>
#include <buda/pipes/graph/pipe_graph.hpp>

#include <cstddef>
#include <map>
#include <string_view>
#include <vector>

namespace buda::pipes {

// The lowest and the highest number of a chip that the netlist names.
struct ChipRange {
  std::int32_t first = 0, last = 0;
};

// Refers to the netlist, which must outlive it and stay where it is.
class NetlistIndex {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  struct OpEntry {
    const netlist::Op* op = nullptr;
    const netlist::Graph* graph = nullptr;
  };

  explicit NetlistIndex(const netlist::Netlist& netlist);

  const netlist::Netlist& netlist() const { return names_.netlist(); }
  OpEntry op(std::string_view name) const;
  // Index in Netlist::queues, or kNone.
  std::size_t queue(std::string_view name) const;
  // The op that writes a queue, in whatever graph; null for queues written from outside.
  const netlist::Op* writer(const netlist::Queue& queue) const { return op(queue.input).op; }
  const std::vector<std::size_t>& queues_written_by(std::string_view op) const;

  // Id of buffer number `buffer` of a queue.
  Id queue_buffer(std::size_t queue, std::size_t buffer) const { return queue_ids_[queue] + buffer * kIdStep; }
  Id first_free_id() const { return free_; }
  ChipRange chips() const { return chips_; }

 private:
  netlist::Index names_;
  std::map<std::string_view, std::vector<std::size_t>> written_by_;
  std::vector<Id> queue_ids_;
  Id free_ = kFirstId;
  ChipRange chips_;
};

}  // namespace buda::pipes
