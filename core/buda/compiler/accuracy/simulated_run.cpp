// SPDX-License-Identifier: Apache-2.0
// The device of simulated time as a target of its own, as target `grid` is by default.
#include <buda/compiler/accuracy/simulated_run.hpp>

#include <buda/runtime/session.hpp>
#include <buda/runtime/target.hpp>
#include <buda/tensor/tensor.hpp>
#include <buda/timed/device.hpp>

#include <utility>

namespace buda::compiler {
namespace {

class SimulatedTarget final : public runtime::Target {
 public:
  Result<std::unique_ptr<runtime::Device>> open(const runtime::Program& program, const device::DeviceDescriptor& device,
                                                Host& host) override {
    timed::DeviceOptions options;
    options.check_tiles = false;
    options.switch_cycles.reset();
    return timed::make_device(program, device, options, host);
  }
  runtime::Needs needs() const override { return {.streams = true}; }
};

}  // namespace

Result<std::int64_t> simulated_cycles(runtime::Model model, const device::DeviceDescriptor& device, const NamedTensors& inputs,
                                      Host& host) {
  SimulatedTarget target;
  BUDA_ASSIGN(const auto session, runtime::Session::open(std::move(model), target, device, host));
  BUDA_TRY(session->run(inputs));
  const runtime::Telemetry told = session->telemetry();
  const auto cycles = told.find("cycles");
  return cycles == told.end() ? std::int64_t{0} : static_cast<std::int64_t>(cycles->second);
}

}  // namespace buda::compiler
