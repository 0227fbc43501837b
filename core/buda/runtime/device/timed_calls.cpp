// SPDX-License-Identifier: Apache-2.0
// A device in front of another one, with a look at the clock before and after each call.
#include <buda/runtime/device/timed_calls.hpp>

#include <buda/runtime/device/forwarding_device.hpp>
#include <buda/tensor/tensor.hpp>

#include <type_traits>
#include <utility>

namespace buda::runtime {
namespace {

std::int64_t entries_of(const Tensor& tensor) { return tensor.shape().rank() == 0 ? 1 : tensor.shape()[0]; }

class TimedDevice final : public ForwardingDevice {
 public:
  TimedDevice(std::unique_ptr<Device> device, std::vector<TimedCall>& calls) : ForwardingDevice(std::move(device)), calls_(calls) {}

  Result<void> push(const std::string& queue, const Tensor& entries) override {
    return timed("push", queue, entries_of(entries), [&] { return ForwardingDevice::push(queue, entries); });
  }
  Result<void> write(const std::string& queue, std::int64_t slot, const Tensor& entries) override {
    return timed("write", queue, entries_of(entries), [&] { return ForwardingDevice::write(queue, slot, entries); });
  }
  Result<Tensor> pop(const std::string& queue, std::int64_t entries) override {
    return timed("pop", queue, entries, [&] { return ForwardingDevice::pop(queue, entries); });
  }
  Result<Tensor> read(const std::string& queue, std::int64_t slot, std::int64_t entries) override {
    return timed("read", queue, entries, [&] { return ForwardingDevice::read(queue, slot, entries); });
  }
  Result<void> start(const std::string& program, const Parameters& parameters) override {
    program_ = program;
    return timed("start", program, 0, [&] { return ForwardingDevice::start(program, parameters); });
  }
  Result<Progress> advance(const Until& until) override {
    auto progress = timed("advance", program_, 0, [&] { return ForwardingDevice::advance(until); });
    if (progress) now_ = progress->now;
    return progress;
  }

 private:
  template <class Call>
  std::invoke_result_t<Call> timed(const char* name, const std::string& what, std::int64_t entries, const Call& device_call) {
    TimedCall call{.name = name, .what = what, .entries = entries, .begin = TimedCall::Clock::now(), .end = {}, .device_time = now_};
    auto out = device_call();
    call.end = TimedCall::Clock::now();
    calls_.push_back(std::move(call));
    return out;
  }

  std::vector<TimedCall>& calls_;
  std::string program_;
  perf::SimTime now_;
};

class TimedTarget final : public Target {
 public:
  TimedTarget(Target& target, std::vector<TimedCall>& calls) : target_(target), calls_(calls) {}
  Result<std::unique_ptr<Device>> open(const Program& program, const device::DeviceDescriptor& descriptor, Host& host) override {
    TimedCall call{.name = "open", .what = descriptor.name, .entries = 0, .begin = TimedCall::Clock::now(), .end = {}, .device_time = {}};
    BUDA_ASSIGN(auto device, target_.open(program, descriptor, host));
    call.end = TimedCall::Clock::now();
    calls_.push_back(std::move(call));
    return std::unique_ptr<Device>(new TimedDevice(std::move(device), calls_));
  }
  Needs needs() const override { return target_.needs(); }
  const device::DeviceDescriptor* describe() const override { return target_.describe(); }

 private:
  Target& target_;
  std::vector<TimedCall>& calls_;
};

}  // namespace

std::unique_ptr<Target> with_timed_calls(Target& target, std::vector<TimedCall>& calls) {
  return std::make_unique<TimedTarget>(target, calls);
}

}  // namespace buda::runtime
