// SPDX-License-Identifier: Apache-2.0
// A device with time is listened to; of one without, executions of graphs are counted.
#include <buda/telemetry/followed.hpp>

#include <buda/perf/event.hpp>
#include <buda/runtime/device/forwarding_device.hpp>
#include <buda/runtime/observer.hpp>
#include <buda/telemetry/sensors.hpp>

namespace buda::telemetry {
namespace {

// Passes on to another observer what it hears.
class Executions final : public runtime::Observer {
 public:
  explicit Executions(Publisher& publisher) : publisher_(publisher) {}
  void pass_on_to(runtime::Observer& next) { next_ = &next; }

  bool wants(const netlist::Op& op) const override { return next_ != nullptr && next_->wants(op); }
  void made(const netlist::Graph& graph, const netlist::Op& op, std::int64_t input, const Tensor& value) override {
    if (next_ != nullptr) next_->made(graph, op, input, value);
  }
  void executes(const netlist::Graph& graph, const netlist::Execution& execution,
                const std::map<std::string, runtime::QueuePointers>& queues) override {
    publisher_.executes(graph.name);
    if (next_ != nullptr) next_->executes(graph, execution, queues);
  }
  void allocated(const netlist::Queue& queue) override {
    if (next_ != nullptr) next_->allocated(queue);
  }
  void moved(const netlist::Queue& queue, std::int64_t read) override {
    if (next_ != nullptr) next_->moved(queue, read);
  }

 private:
  Publisher& publisher_;
  runtime::Observer* next_ = nullptr;
};

class FollowedDevice final : public runtime::ForwardingDevice {
 public:
  FollowedDevice(std::unique_ptr<runtime::Device> followed, std::shared_ptr<Publisher> publisher)
      : ForwardingDevice(std::move(followed)), publisher_(std::move(publisher)), executions_(*publisher_) {
    timed_ = device().record(*publisher_, perf::Level::counters);
    if (!timed_) static_cast<void>(device().observe(executions_));
  }

  bool observe(runtime::Observer& observer) override {
    if (timed_) return device().observe(observer);
    executions_.pass_on_to(observer);
    return device().observe(executions_);
  }
  bool record(perf::Sink& sink, perf::Level level) override {
    if (!timed_) return false;
    publisher_->pass_on_to(&sink);
    return device().record(*publisher_, level);
  }

 private:
  std::shared_ptr<Publisher> publisher_;
  Executions executions_;
  bool timed_ = false;
};

}  // namespace

Result<std::unique_ptr<runtime::Device>> FollowedTarget::open(const runtime::Program& program, const device::DeviceDescriptor& descriptor,
                                                              Host& host) {
  BUDA_ASSIGN(auto device, target_.open(program, descriptor, host));
  Telemetry start = idle_device(descriptor);
  start.process = start_.process;
  start.version = start_.version;
  start.target = start_.target;
  start.model = start_.model;
  BUDA_ASSIGN(publisher_, Publisher::begin(std::move(start), descriptor, path_, host));
  return std::unique_ptr<runtime::Device>(new FollowedDevice(std::move(device), publisher_));
}

}  // namespace buda::telemetry
