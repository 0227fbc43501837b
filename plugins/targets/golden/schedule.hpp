// What a program asks for, as a list of what the device does.
#pragma once

#include "graph_plan.hpp"

#include <buda/netlist/program/program_vm.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <variant>
#include <vector>

namespace buda::golden {

struct ClearQueue {
  std::size_t queue = 0;
};
struct MoveReadPointer {
  std::size_t queue = 0;
  std::int32_t value = 0;
};
// Graphs that execute side by side.
struct ExecuteGraphs {
  std::vector<netlist::Execution> executions;
};
using Action = std::variant<ClearQueue, MoveReadPointer, ExecuteGraphs>;

// Graphs that feed each other run together: an execution waits until those of its group have come, or until something comes that it must
// not wait for.
class Schedule final : public netlist::ProgramEvents {
 public:
  // Both must outlive the schedule.
  Schedule(const netlist::Netlist& netlist, const Plans& plans) : netlist_(netlist), plans_(plans) {}

  Result<void> execute(const netlist::Execution& execution) override;
  Result<void> allocate(std::size_t queue) override;
  void read_pointer_moved(std::size_t queue, std::int32_t value) override;
  // At the end of a program: nothing waits any longer.
  void finish();
  // Forgets all that was asked for.
  void clear();

  std::deque<Action> actions;  // the device takes them from the front

 private:
  bool share_a_queue(const GraphPlan& a, const GraphPlan& b) const;
  void execute_group(std::size_t group);

  const netlist::Netlist& netlist_;
  const Plans& plans_;
  std::vector<netlist::Execution> pending_;  // waiting for others of their groups
  std::vector<MoveReadPointer> moved_;       // since the first of them
};

}  // namespace buda::golden
