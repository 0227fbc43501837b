// What a program asks for, as a list of what the device does.
#pragma once

#include <buda/netlist/program/program_vm.hpp>
#include <buda/runtime/program.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <variant>
#include <vector>

namespace buda::grid {

struct ClearQueue {
  std::size_t queue = 0;
};
struct MoveReadPointer {
  std::size_t queue = 0;
  std::int32_t value = 0;
};
// The graphs of a temporal epoch, side by side.
struct ExecuteEpoch {
  std::size_t epoch = 0;  // in runtime::Program::epochs
  std::vector<netlist::Execution> executions;
};
using Action = std::variant<ClearQueue, MoveReadPointer, ExecuteEpoch>;

class Schedule final : public netlist::ProgramEvents {
 public:
  explicit Schedule(const std::vector<runtime::EpochStreams>& epochs);

  // Executions of an epoch with several graphs are gathered until all of them are there. SM005 when another epoch comes in between.
  Result<void> execute(const netlist::Execution& execution) override;
  Result<void> allocate(std::size_t queue) override;
  void read_pointer_moved(std::size_t queue, std::int32_t value) override;
  // At the end of a program.
  Result<void> finish() const;
  void clear();

  std::deque<Action> actions;  // the device takes them from the front

 private:
  const std::vector<runtime::EpochStreams>& epochs_;
  std::vector<std::size_t> epoch_of_graph_;
  ExecuteEpoch pending_;
  std::vector<Action> moved_;  // since the first of them
};

}  // namespace buda::grid
