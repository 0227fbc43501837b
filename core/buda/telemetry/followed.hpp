// SPDX-License-Identifier: Apache-2.0
// A target whose devices tell of themselves while they run.
//
//   telemetry::FollowedTarget followed(target, start, "telemetry.json");
//   … Session::open(model, followed, device, host) …
//   BUDA_TRY(followed.end());
#pragma once

#include <buda/runtime/target.hpp>
#include <buda/telemetry/publisher.hpp>

#include <memory>
#include <string>
#include <utility>

namespace buda::telemetry {

// All else is as of `target`, which outlives this; this outlives its devices.
class FollowedTarget final : public runtime::Target {
 public:
  // `start`: the run as far as the device does not say it: process, version, target, model.
  FollowedTarget(runtime::Target& target, Telemetry start, std::string path)
      : target_(target), start_(std::move(start)), path_(std::move(path)) {}

  Result<std::unique_ptr<runtime::Device>> open(const runtime::Program& program, const device::DeviceDescriptor& descriptor,
                                                Host& host) override;
  runtime::Needs needs() const override { return target_.needs(); }
  const device::DeviceDescriptor* describe() const override { return target_.describe(); }

  // Of the last device: writes its last state.
  Result<void> end() { return publisher_ ? publisher_->end() : success(); }

 private:
  runtime::Target& target_;
  Telemetry start_;
  std::string path_;
  std::shared_ptr<Publisher> publisher_;
};

}  // namespace buda::telemetry
