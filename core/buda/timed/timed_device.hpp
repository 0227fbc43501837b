// SPDX-License-Identifier: Apache-2.0
// A chip that executes stream programs in simulated time. It moves tags of tiles; values are computed from those that have arrived.
#pragma once

#include <buda/timed/chip_clocks.hpp>
#include <buda/timed/cost_core.hpp>
#include <buda/timed/device.hpp>
#include <buda/timed/epoch_switch.hpp>
#include <buda/timed/epoch_times.hpp>
#include <buda/timed/execution.hpp>
#include <buda/timed/grouping.hpp>
#include <buda/timed/host_link.hpp>
#include <buda/timed/index_tiles.hpp>
#include <buda/timed/queue_table.hpp>
#include <buda/timed/values.hpp>

#include <buda/netlist/program/program_vm.hpp>
#include <buda/runtime/programs/schedule.hpp>
#include <buda/runtime/target.hpp>
#include <buda/sim/epoch/epoch_run.hpp>
#include <buda/sim/epoch/program_epochs.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace buda::timed {

// wide because it has the calls of runtime::Device, and the steps of a program share its state
class TimedDevice final : public runtime::Device {
 public:
  // The program has the stream programs of its epochs. The host must outlive the device.
  static Result<std::unique_ptr<TimedDevice>> make(const runtime::Program& program, const device::DeviceDescriptor& device,
                                                   const DeviceOptions& options, Host& host);

  Result<void> push(const std::string& queue, const Tensor& entries) override;
  Result<void> write(const std::string& queue, std::int64_t slot, const Tensor& entries) override;
  Result<Tensor> pop(const std::string& queue, std::int64_t entries) override;
  Result<std::int64_t> waiting(const std::string& queue) override;
  std::optional<std::int64_t> room(const std::string& queue) override;
  Result<Tensor> read(const std::string& queue, std::int64_t slot, std::int64_t entries) override;
  Result<void> start(const std::string& program, const runtime::Parameters& parameters) override;
  Result<runtime::Progress> advance(const runtime::Until& until) override;
  std::optional<perf::Clock> clock() const override { return perf::Clock{device_.cost.clock_ghz * 1e9}; }
  runtime::Telemetry telemetry() const override;
  bool has_values() const override { return values_ != nullptr; }
  bool record(perf::Sink& sink, perf::Level level) override;
  std::optional<perf::Summary> summary() const override;

 private:
  // An execution of an epoch.
  struct Running {
    std::vector<netlist::Execution> executions;
    Beginning beginning;
    EpochQueues queues;
    bool alone = true;  // the host has changed no queue since
    sim::EpochRun run;
  };

  TimedDevice(const runtime::Program& program, const device::DeviceDescriptor& device, const DeviceOptions& options, Host& host);
  Result<void> prepare();
  perf::SimTime now() const;
  std::int64_t entries_for_host(std::size_t queue) const;

  // What advance() stops for.
  struct Limit {
    std::optional<perf::SimTime> time;
    std::optional<std::size_t> queue;  // that holds so many entries
    std::int64_t waiting = 0;
  };
  bool is_reached(const Limit& limit) const;
  // How far the device has come: `idle` where there is more to do.
  Result<runtime::State> go_on(const Limit& limit, runtime::Progress& progress);
  Result<runtime::State> take_action(const Limit& limit);
  Result<bool> begin(const runtime::ExecuteGraphs& execute, const Limit& limit);
  Result<runtime::State> run_epoch(const Limit& limit, runtime::Progress& progress);
  Result<runtime::State> stopped(sim::RunState state, runtime::Progress& progress);
  Result<void> ended(const std::vector<netlist::Execution>& executions, const Beginning& beginning, EpochQueues& queues,
                     const Ending& ending);
  std::vector<runtime::Wait> waits() const;
  void follow();
  void end_transfer();
  void give_up();
  void tell(std::size_t epoch, const sim::RunRecord& record, sim::Ticks time);

  netlist::Netlist netlist_;
  std::vector<runtime::EpochStreams> epochs_;
  device::DeviceDescriptor device_;
  DeviceOptions options_;
  Host& host_;
  IndexTiles index_tiles_;
  CostCore cores_;
  std::optional<sim::ProgramEpochs> programs_;
  std::optional<netlist::ProgramVm> vm_;
  std::optional<QueueTable> queues_;
  std::unique_ptr<Values> values_;  // where they are computed
  TemporalEpochs grouping_{epochs_};
  runtime::Schedule schedule_{netlist_, grouping_};
  std::string program_;
  bool at_work_ = false;   // a program has not ended
  bool all_said_ = false;  // it asks for nothing more
  std::size_t begun_ = 0;  // executions
  std::optional<Running> running_;
  sim::Ticks now_ = 0;  // of the beginning of what is running; else of the last end
  ChipClocks clocks_;
  HostLink link_;
  std::map<std::size_t, std::int64_t> collected_;  // entries that the host has popped by itself, by queue
  EpochSwitch switch_;
  EpochTimes times_;
  std::optional<sim::EntityTable> entities_;  // while somebody listens
  perf::Level level_ = perf::Level::counters;
  bool warned_ = false;
};

}  // namespace buda::timed
