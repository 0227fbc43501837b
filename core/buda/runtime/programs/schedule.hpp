// SPDX-License-Identifier: Apache-2.0
// What a program asks for, as a list of what a device does. Targets differ only in which graphs run side by side.
//
//   Schedule schedule(netlist, grouping);
//   while (*vm.step(schedule)) …             // and then schedule.finish()
//   for (; !schedule.actions.empty(); schedule.actions.pop_front()) …
#pragma once

#include <buda/diag/result.hpp>
#include <buda/netlist/program/program_vm.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <variant>
#include <vector>

namespace buda::runtime {

struct ClearQueue {
  std::size_t queue = 0;  // in Netlist::queues
};
// Of a queue's header; never of a ram.
struct MoveReadPointer {
  std::size_t queue = 0;
  std::int32_t value = 0;
};
// Graphs that execute side by side.
struct ExecuteGraphs {
  std::vector<netlist::Execution> executions;
};
using Action = std::variant<ClearQueue, MoveReadPointer, ExecuteGraphs>;

// Which graphs run side by side. Graphs are numbers in Netlist::graphs.
class Grouping {
 public:
  virtual ~Grouping() = default;
  virtual std::size_t group_of(std::size_t graph) const = 0;
  virtual std::size_t graphs_in(std::size_t group) const = 0;
  // Whether the execution of a graph that waits for others of its group must be over before `next` may execute, which is of another group.
  virtual bool has_to_precede(std::size_t waiting, std::size_t next) const = 0;
  // A group is to execute without some of its graphs: an error where that cannot be.
  virtual Result<void> may_execute_in_part(std::size_t group) const = 0;
};

// Graphs of a group are gathered: an execution waits until those of its group have come, or until something comes that it must not wait
// for.
class Schedule final : public netlist::ProgramEvents {
 public:
  // Both must outlive the schedule.
  Schedule(const netlist::Netlist& netlist, const Grouping& grouping) : netlist_(netlist), grouping_(grouping) {}

  Result<void> execute(const netlist::Execution& execution) override;
  Result<void> allocate(std::size_t queue) override;
  void read_pointer_moved(std::size_t queue, std::int32_t value) override;
  // At the end of a program: nothing waits any longer.
  Result<void> finish();
  // Forgets all that was asked for.
  void clear();

  std::deque<Action> actions;  // the device takes them from the front

 private:
  void execute_group(std::size_t group);

  const netlist::Netlist& netlist_;
  const Grouping& grouping_;
  std::vector<netlist::Execution> pending_;  // waiting for others of their groups
  std::vector<MoveReadPointer> moved_;       // since the first of them
};

}  // namespace buda::runtime
