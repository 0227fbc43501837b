// SPDX-License-Identifier: Apache-2.0
// A device in front of another one: what is derived from this changes some calls and leaves the rest.
#pragma once

#include <buda/runtime/target.hpp>
#include <buda/tensor/tensor.hpp>

#include <memory>
#include <utility>

#pragma GCC visibility push(default)

namespace buda::runtime {

class ForwardingDevice : public Device {
 public:
  explicit ForwardingDevice(std::unique_ptr<Device> device) : device_(std::move(device)) {}

  Result<void> push(const std::string& queue, const Tensor& entries) override { return device_->push(queue, entries); }
  Result<void> write(const std::string& queue, std::int64_t slot, const Tensor& entries) override {
    return device_->write(queue, slot, entries);
  }
  Result<Tensor> pop(const std::string& queue, std::int64_t entries) override { return device_->pop(queue, entries); }
  Result<std::int64_t> waiting(const std::string& queue) override { return device_->waiting(queue); }
  std::optional<std::int64_t> room(const std::string& queue) override { return device_->room(queue); }
  Result<Tensor> read(const std::string& queue, std::int64_t slot, std::int64_t entries) override {
    return device_->read(queue, slot, entries);
  }
  Result<void> start(const std::string& program, const Parameters& parameters) override { return device_->start(program, parameters); }
  Result<Progress> advance(const Until& until) override { return device_->advance(until); }
  std::optional<perf::Clock> clock() const override { return device_->clock(); }
  bool has_values() const override { return device_->has_values(); }
  Telemetry telemetry() const override { return device_->telemetry(); }
  bool observe(Observer& observer) override { return device_->observe(observer); }
  bool record(perf::Sink& sink, perf::Level level) override { return device_->record(sink, level); }
  std::optional<perf::Summary> summary() const override { return device_->summary(); }

 protected:
  Device& device() { return *device_; }

 private:
  std::unique_ptr<Device> device_;
};

}  // namespace buda::runtime

#pragma GCC visibility pop
