// A chip that executes stream programs in simulated time. It moves tags of tiles, not their values.
#pragma once

#include "cost_core.hpp"
#include "epoch_times.hpp"
#include "queue_pointers.hpp"
#include "schedule.hpp"

#include <buda/netlist/program/program_vm.hpp>
#include <buda/runtime/target.hpp>
#include <buda/sim/epoch_run.hpp>
#include <buda/sim/program_epochs.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace buda::grid {

struct GridOptions {
  bool check_tiles = true;              // values: tags
  std::map<std::string, double> scale;  // of kernels' times, by op
};

class GridDevice final : public runtime::Device {
 public:
  // The program has the stream programs of its epochs. The host must outlive the device.
  static Result<std::unique_ptr<GridDevice>> make(const runtime::Program& program, const device::DeviceDescriptor& device,
                                                  const GridOptions& options, Host& host);

  Result<void> push(const std::string& queue, const Tensor& entries) override;
  Result<void> write(const std::string& queue, std::int64_t slot, const Tensor& entries) override;
  Result<Tensor> pop(const std::string& queue, std::int64_t entries) override;
  Result<std::int64_t> waiting(const std::string& queue) override;
  Result<Tensor> read(const std::string& queue, std::int64_t slot, std::int64_t entries) override;
  Result<void> start(const std::string& program, const runtime::Parameters& parameters) override;
  Result<runtime::Progress> advance(const runtime::Until& until) override;
  std::optional<perf::Clock> clock() const override { return perf::Clock{device_.cost.clock_ghz * 1e9}; }
  runtime::Telemetry telemetry() const override;
  std::optional<perf::Summary> summary() const override;

 private:
  // An execution of an epoch.
  struct Running {
    std::size_t epoch = 0;
    std::vector<netlist::Execution> executions;
    sim::EntriesByQueue entries;
    bool as_begun = true;  // the host has changed no queue since
    sim::EpochRun run;
  };

  GridDevice(const runtime::Program& program, const device::DeviceDescriptor& device, const GridOptions& options, Host& host);
  Result<void> prepare();
  Result<QueuePointers*> find(const std::string& queue);

  Result<runtime::State> go_on(const runtime::Until& until, runtime::Progress& progress);
  Result<runtime::State> take_action(const runtime::Until& until, runtime::Progress& progress);
  Result<bool> begin(const ExecuteEpoch& epoch, const runtime::Until& until);
  sim::EntriesByQueue entries_for(const ExecuteEpoch& epoch);
  void end(std::size_t epoch, const std::vector<netlist::Execution>& executions, sim::Ticks time);
  std::vector<runtime::Wait> waits_of(const Running& running) const;
  void give_up();

  netlist::Netlist netlist_;
  std::vector<runtime::EpochStreams> epochs_;
  device::DeviceDescriptor device_;
  GridOptions options_;
  Host& host_;
  CostCore cores_;
  std::optional<sim::ProgramEpochs> programs_;
  std::optional<netlist::ProgramVm> vm_;
  std::vector<QueuePointers> queues_;  // as in the netlist
  std::map<std::string, std::size_t> queue_index_;
  std::map<std::string, std::vector<std::size_t>> written_by_;  // queues, by op
  Schedule schedule_;
  bool at_work_ = false;  // a program has not ended
  std::optional<Running> running_;
  perf::SimTime now_;  // of the beginning of what is running
  EpochTimes times_;
  bool warned_ = false;
};

}  // namespace buda::grid
