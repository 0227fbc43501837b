// A device that lives on the host: queues as ring buffers, graphs executed op by op.
#pragma once

#include "graph_plan.hpp"
#include "queue_memory.hpp"

#include <buda/netlist/program_vm.hpp>
#include <buda/runtime/target.hpp>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
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

class GoldenDevice final : public runtime::Device, private netlist::ProgramEvents {
 public:
  // The host must outlive the device.
  static Result<std::unique_ptr<GoldenDevice>> make(const runtime::Program& program, const DeviceOptions& options, Host& host);

  Result<void> push(const std::string& queue, const Tensor& entries) override;
  Result<void> write(const std::string& queue, std::int64_t slot, const Tensor& entries) override;
  Result<void> run(const std::string& program, const std::map<std::string, std::int64_t>& parameters) override;
  Result<Tensor> pop(const std::string& queue, std::int64_t entries) override;
  Result<std::int64_t> waiting(const std::string& queue) override;
  Result<Tensor> read(const std::string& queue, std::int64_t slot, std::int64_t entries) override;
  runtime::Telemetry telemetry() const override;
  bool observe(runtime::Observer& observer) override {
    observer_ = &observer;
    return true;
  }

 private:
  GoldenDevice(netlist::Netlist netlist, const DeviceOptions& options, Host& host);
  Result<void> prepare();
  Result<void> link(std::size_t queue);

  // One epoch at work: where each queue is read and written, and what the ops have made of the present input.
  struct Epoch;

  // Graphs that feed each other run together: an execution waits until those of its group have come, or until something comes that it
  // must not wait for.
  Result<void> execute(const netlist::Execution& execution) override;
  Result<void> allocate(std::size_t queue) override;
  void read_pointer_moved(std::size_t queue, std::int32_t value) override;
  Result<void> run_pending();
  Result<void> run_group(const std::vector<netlist::Execution>& executions);
  void tell_execution(const Epoch& epoch) const;

  Result<void> begin(Epoch& epoch, const std::set<std::size_t>& written);
  Result<void> open_reader(Epoch& epoch, std::size_t queue, const netlist::ResolvedSetting* setting, bool fed_here);
  void start_input(Epoch& epoch);
  Result<void> run_op(Epoch& epoch, std::size_t index, std::int64_t input);
  // What an input's edge brings, before its manipulations, and what these and in_df make of it (of matrix t of it).
  Result<ValuePtr> fetch(Epoch& epoch, const OpPlan& op, std::size_t index, std::int64_t input);
  ValuePtr delivered(const EdgePlan& edge, const ValuePtr& value, std::optional<std::int64_t> t) const;
  std::variant<Value, std::string> compute(const OpPlan& op, const std::vector<ValuePtr>& inputs, const ValuePtr& previous) const;
  Result<void> store_output(Epoch& epoch, const OpPlan& op, const ValuePtr& value, std::int64_t input);
  bool popped_along(const Epoch& epoch, std::size_t queue) const;
  ValuePtr gradient_start(const Epoch& epoch, const OpPlan& op) const;
  Result<void> end(Epoch& epoch);
  void check_numbers(const OpPlan& op, const Value& value);

  Result<QueueMemory*> find(const std::string& queue);
  Diagnostic epoch_error(const Epoch& epoch, const char* code, const std::string& queue, const std::string& message) const;

  netlist::Netlist netlist_;
  DeviceOptions options_;
  Host& host_;
  runtime::Observer* observer_ = nullptr;
  std::optional<netlist::ProgramVm> vm_;
  Plans plans_;
  std::vector<netlist::Execution> pending_;                  // waiting for others of their groups
  std::vector<std::pair<std::size_t, std::int32_t>> moved_;  // read pointers, since the first of them
  std::vector<QueueMemory> queues_;
  std::map<std::string, std::size_t> queue_index_;
  // Outputs of ops that other graphs read, one per input, from the last execution of their graph.
  std::map<std::string, std::vector<ValuePtr>> exports_;
  std::map<std::string, NumberCounts> numbers_;  // by op, with check_nan
  double epochs_ = 0, ops_ = 0, inputs_ = 0, tiles_moved_ = 0, flops_ = 0;
};

}  // namespace buda::golden
