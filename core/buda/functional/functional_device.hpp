// SPDX-License-Identifier: Apache-2.0
// The device: queues by name, and the program at work.
#pragma once

#include <buda/functional/group_runner.hpp>
#include <buda/functional/grouping.hpp>
#include <buda/functional/machine.hpp>

#include <buda/netlist/program/program_vm.hpp>
#include <buda/runtime/target.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace buda::functional {

class FunctionalDevice final : public runtime::Device {
 public:
  // The host must outlive the device.
  static Result<std::unique_ptr<FunctionalDevice>> make(const runtime::Program& program, const DeviceOptions& options, Host& host);

  Result<void> push(const std::string& queue, const Tensor& entries) override;
  Result<void> write(const std::string& queue, std::int64_t slot, const Tensor& entries) override;
  Result<Tensor> pop(const std::string& queue, std::int64_t entries) override;
  Result<std::int64_t> waiting(const std::string& queue) override;
  Result<Tensor> read(const std::string& queue, std::int64_t slot, std::int64_t entries) override;
  Result<void> start(const std::string& program, const runtime::Parameters& parameters) override;
  Result<runtime::Progress> advance(const runtime::Until& until) override;
  runtime::Telemetry telemetry() const override;
  bool observe(runtime::Observer& observer) override {
    m_.observer = &observer;
    return true;
  }

 private:
  FunctionalDevice(netlist::Netlist netlist, const DeviceOptions& options, Host& host);
  Result<void> prepare();
  Result<void> link(std::size_t queue);

  Result<runtime::State> go_on(const runtime::Until& until);
  Result<GroupRunner::Step> take_action();
  void give_up();
  Result<QueueMemory*> find(const std::string& queue);

  Machine m_;
  std::optional<netlist::ProgramVm> vm_;
  FeedingGraphs grouping_{m_.netlist, m_.plans};
  runtime::Schedule schedule_{m_.netlist, grouping_};
  GroupRunner groups_{m_};
  bool at_work_ = false;        // a program has not ended
  std::optional<Group> group_;  // of the schedule's first action
  std::map<std::string, std::size_t> queue_index_;
};

}  // namespace buda::functional
