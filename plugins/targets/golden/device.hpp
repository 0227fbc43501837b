// A device that lives on the host: queues as ring buffers, graphs executed op by op.
#pragma once

#include "epoch.hpp"
#include "graph_plan.hpp"
#include "queue_memory.hpp"
#include "schedule.hpp"

#include <buda/netlist/program/program_vm.hpp>
#include <buda/runtime/target.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace buda::golden {

struct DeviceOptions {
  Mode mode = Mode::exact;
  bool check_nan = false;  // count NaN, infinities and saturated numbers by op, and report the first that each makes
  // Numbers of manipulated inputs of an op that are laid out at once: more are worked on t by t where the op allows it.
  std::int64_t most_numbers = std::int64_t{1} << 27;
};

struct NumberCounts {
  std::size_t nan = 0, infinite = 0;
  std::size_t saturated = 0;  // at the limit of their format
};

class GoldenDevice final : public runtime::Device {
 public:
  // The host must outlive the device.
  static Result<std::unique_ptr<GoldenDevice>> make(const runtime::Program& program, const DeviceOptions& options, Host& host);

  Result<void> push(const std::string& queue, const Tensor& entries) override;
  Result<void> write(const std::string& queue, std::int64_t slot, const Tensor& entries) override;
  Result<Tensor> pop(const std::string& queue, std::int64_t entries) override;
  Result<std::int64_t> waiting(const std::string& queue) override;
  Result<Tensor> read(const std::string& queue, std::int64_t slot, std::int64_t entries) override;
  Result<void> start(const std::string& program, const runtime::Parameters& parameters) override;
  Result<runtime::Progress> advance(const runtime::Until& until) override;
  runtime::Telemetry telemetry() const override;
  bool observe(runtime::Observer& observer) override {
    observer_ = &observer;
    return true;
  }

 private:
  GoldenDevice(netlist::Netlist netlist, const DeviceOptions& options, Host& host);
  Result<void> prepare();
  Result<void> link(std::size_t queue);

  // Going on with the program (device.cpp).
  enum class Step : std::uint8_t { done, more, waits };
  Result<runtime::State> go_on(const runtime::Until& until);
  Result<Step> take_action();
  void give_up();

  // Graphs that run together (group.cpp). What cannot go on adds to waits_.
  Result<Group> open_group(const ExecuteGraphs& action);
  Result<Step> advance_group(Group& group);
  Result<bool> run_input(Group& group);
  bool is_ready(const Group& group, const Epoch& epoch, std::size_t index);
  bool has_entry(const Epoch& epoch, std::size_t queue, std::int64_t input) const;
  void wait_for_entry(const Epoch& epoch, std::size_t queue, std::int64_t input);
  bool has_room(const Epoch& epoch, const OpPlan& op);
  void add_wait(runtime::Wait wait);
  void end_input(Group& group);
  Result<void> end(Group& group);

  // One graph (epoch.cpp).
  void tell_execution(const Epoch& epoch) const;
  Result<void> open_reader(Epoch& epoch, std::size_t queue);
  void begin(Epoch& epoch);
  Result<void> run_op(Epoch& epoch, std::size_t index, std::int64_t input);
  // What an input's edge brings, before its manipulations, and what these and in_df make of it (of matrix t of it).
  Result<ValuePtr> fetch(Epoch& epoch, const OpPlan& op, std::size_t index, std::int64_t input);
  ValuePtr delivered(const EdgePlan& edge, const ValuePtr& value, std::optional<std::int64_t> t) const;
  std::variant<Value, std::string> compute(const OpPlan& op, const std::vector<ValuePtr>& inputs, const ValuePtr& previous) const;
  Result<void> store_output(Epoch& epoch, const OpPlan& op, const ValuePtr& value, std::int64_t input);
  ValuePtr gradient_start(const Epoch& epoch, const OpPlan& op) const;
  void check_numbers(const OpPlan& op, const Value& value);

  Result<QueueMemory*> find(const std::string& queue);
  Diagnostic epoch_error(const Epoch& epoch, const char* code, const std::string& queue, const std::string& message) const;

  netlist::Netlist netlist_;
  DeviceOptions options_;
  Host& host_;
  runtime::Observer* observer_ = nullptr;
  std::optional<netlist::ProgramVm> vm_;
  Plans plans_;
  Schedule schedule_{netlist_, plans_};
  bool at_work_ = false;              // a program has not ended
  std::optional<Group> group_;        // of the schedule's first action
  std::vector<runtime::Wait> waits_;  // of the last step
  std::vector<QueueMemory> queues_;
  std::map<std::string, std::size_t> queue_index_;
  // Outputs of ops that other graphs read, one per input, from the last execution of their graph.
  std::map<std::string, std::vector<ValuePtr>> exports_;
  std::map<std::string, NumberCounts> numbers_;  // by op, with check_nan
  double epochs_ = 0, ops_ = 0, inputs_ = 0, tiles_moved_ = 0, flops_ = 0;
};

}  // namespace buda::golden
