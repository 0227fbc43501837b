// SPDX-License-Identifier: Apache-2.0
// The device: queues by name, and the program at work. Internal to the module.
#pragma once

#include <buda/arith/graph_plan.hpp>
#include <buda/chip/device.hpp>
#include <buda/chip/epoch.hpp>
#include <buda/chip/queues.hpp>
#include <buda/netlist/program/program_vm.hpp>
#include <buda/runtime/programs/schedule.hpp>
#include <buda/timed/execution.hpp>
#include <buda/timed/grouping.hpp>
#include <buda/timed/queue_table.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace buda::chip {

class ChipDevice final : public runtime::Device {
 public:
  ChipDevice(const runtime::Program& program, const device::DeviceDescriptor& device, kernels::KernelSet kernels, std::unique_ptr<Bus> bus,
             const DeviceOptions& options, Firmware firmware);
  Result<void> prepare();

  Result<void> push(const std::string& queue, const Tensor& entries) override;
  Result<void> write(const std::string& queue, std::int64_t slot, const Tensor& entries) override;
  Result<Tensor> pop(const std::string& queue, std::int64_t entries) override;
  Result<std::int64_t> waiting(const std::string& queue) override;
  Result<Tensor> read(const std::string& queue, std::int64_t slot, std::int64_t entries) override;
  Result<void> start(const std::string& program, const runtime::Parameters& parameters) override;
  Result<runtime::Progress> advance(const runtime::Until& until) override;
  runtime::Telemetry telemetry() const override;

 private:
  Result<runtime::State> go_on(const runtime::Until& until, runtime::Progress& progress);
  Result<bool> execute(const runtime::ExecuteGraphs& execute, runtime::Progress& progress);
  Result<void> load_op(const arith::OpPlan& op, std::size_t epoch, const movers::Execution& execution);
  movers::Execution execution_of(const std::vector<netlist::Execution>& executions, const timed::QueueTable& before) const;
  Result<void> begin_sums(const std::vector<netlist::Execution>& executions, movers::Execution& execution);
  Result<void> check_passed(const timed::EpochQueues& moved, std::int64_t inputs, std::size_t epoch) const;
  std::vector<runtime::Wait> waits(const timed::EpochQueues& queues, std::int64_t inputs, std::size_t epoch) const;
  void give_up();

  netlist::Netlist netlist_;
  std::vector<runtime::EpochStreams> epochs_;
  device::DeviceDescriptor device_;
  DeviceOptions options_;
  kernels::KernelSet kernels_;
  std::unique_ptr<Bus> bus_;
  ChipQueues memory_;
  ChipCores cores_;
  arith::Plans plans_;
  std::map<std::string, OpPrograms> ops_;  // that do not depend on what is in queues, or were loaded last
  std::optional<netlist::ProgramVm> vm_;
  timed::QueueTable queues_;
  timed::TemporalEpochs grouping_{epochs_};
  runtime::Schedule schedule_{netlist_, grouping_};
  bool at_work_ = false, all_said_ = false;
  double executed_ = 0;
};

}  // namespace buda::chip
