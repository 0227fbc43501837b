// SPDX-License-Identifier: Apache-2.0
// When executions begin on several chips. Each chip executes its epochs in the order of the program, and waits for another one only where a
// queue has nothing to read yet, or no room.
#pragma once

#include <buda/timed/queue_table.hpp>

#include <buda/netlist/model/netlist.hpp>
#include <buda/netlist/program/program_vm.hpp>
#include <buda/sim/time/time.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace buda::timed {

// Executions are told in the order of the program, whatever their times. What an execution reads is there when the one that writes it has
// ended, and room when the one that reads it has. Of one chip all executions follow each other.
class ChipClocks {
 public:
  // The netlist outlives it.
  explicit ChipClocks(const netlist::Netlist& netlist);

  // Executions that run together, and the chips that have cores with their programs: what passes between chips takes some, too.
  struct Together {
    const std::vector<netlist::Execution>& executions;
    std::set<std::int32_t> chips;
  };
  // When they can begin, by what has been told.
  sim::Ticks earliest(const Together& together, const QueueTable& queues) const;
  // They end then; the queues are as they have left them.
  void ended(const Together& together, sim::Ticks end, const QueueTable& queues);
  // The program moves the read pointer of a queue.
  void moved(std::size_t queue, const QueueTable& queues);
  // The program allocates a queue. Its memory may have been that of another one; whatever uses either has a program on the memory's chip.
  void cleared(std::size_t queue);
  // All chips go on from a time.
  void set(sim::Ticks time);
  // When the last execution ends that has been told.
  sim::Ticks latest() const { return latest_; }

 private:
  struct Uses {
    std::set<std::size_t> read, written;  // queues
  };
  // Entries that have been written and freed, and when.
  struct History {
    sim::Ticks written = 0, read = 0;  // ends of the last executions that did
    std::int64_t in = 0, out = 0, pointer = 0;
    std::deque<std::pair<std::int64_t, sim::Ticks>> freed;  // `out`, and since when
  };
  sim::Ticks when_room(std::size_t queue, std::int64_t inputs, const QueueTable& queues) const;

  const netlist::Netlist& netlist_;
  std::vector<Uses> uses_;                   // by graph
  std::map<std::int32_t, sim::Ticks> free_;  // by chip
  std::vector<History> history_;             // by queue
  sim::Ticks latest_ = 0;
};

}  // namespace buda::timed
