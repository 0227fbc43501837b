// SPDX-License-Identifier: Apache-2.0
// An epoch at work on the queues: what it finds in them, and how it moves their pointers.
#pragma once

#include <buda/timed/queue_table.hpp>

#include <buda/netlist/model/netlist.hpp>
#include <buda/netlist/program/program_vm.hpp>
#include <buda/sim/epoch/epoch_run.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace buda::timed {

class EpochQueues {
 public:
  // Moves the read pointers that the settings give.
  EpochQueues(const netlist::Netlist& netlist, const std::vector<netlist::Execution>& executions, QueueTable& queues);

  // What the epoch finds in the queues that it reads, and room in those that it writes; at most what it needs, so that equal beginnings are
  // equal.
  const sim::EntriesByQueue& entries() const { return entries_; }
  // Pushed entries let an execution go on by this many.
  std::int64_t readable_by(std::size_t queue, std::int64_t pushed);
  // Moves the pointers to where the epoch is by now; true where one has moved.
  bool follow(const sim::EpochRun& run, QueueTable& queues);
  // To where they are when it has ended.
  void end(QueueTable& queues);

 private:
  void open(const netlist::Graph& graph, const netlist::Execution& execution, std::size_t queue, QueueTable& queues);
  // One that reads or writes a queue.
  struct Moved {
    std::size_t queue = 0;
    bool writes = false;
    std::int64_t inputs = 0;
    std::int64_t step = 1;  // of the pointer, for each input
    std::int64_t done = 0;  // inputs after which the pointer is where it is
  };
  bool move(Moved& moved, std::int64_t inputs, QueueTable& queues);

  // Entries between the place where a queue is read and its write pointer, and how many of them an input takes.
  struct Reader {
    std::int64_t there = 0, step = 1, inputs = 0;
    std::int64_t readable() const;
  };

  sim::EntriesByQueue entries_;
  std::vector<Moved> moved_;
  std::map<std::size_t, Reader> readers_;
};

}  // namespace buda::timed
