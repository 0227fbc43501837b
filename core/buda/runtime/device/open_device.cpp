// SPDX-License-Identifier: Apache-2.0
// Check, complete, load, fill.
#include <buda/runtime/device/open_device.hpp>

#include <buda/image/device_match.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <utility>

namespace buda::runtime {

Result<std::shared_ptr<Device>> open_device(Model& model, Target& target, const device::DeviceDescriptor& descriptor, Host& host) {
  if (model.device) BUDA_TRY(image::check_same_device(*model.device, descriptor, model.path));
  BUDA_TRY(complete_program(model.program, target.needs(), model.products, descriptor, host));
  BUDA_ASSIGN(std::shared_ptr<Device> device, target.open(model.program, descriptor, host));
  return device;
}

Result<void> push_parameters(Model& model, Device& device, Host& host) {
  const auto& queues = model.program.netlist.queues;
  std::size_t done = 0;
  for (const auto& [name, tensor] : model.parameters) {
    host.progress("loading parameters", done++, model.parameters.size());
    auto queue = std::find_if(queues.begin(), queues.end(), [&n = name](const auto& q) { return q.name == n; });
    if (queue == queues.end()) return internal_error("a parameter's queue is gone");
    // The first value of a state: the ports have it.
    if (!queue->from_outside()) continue;
    BUDA_TRY(queue->kind == netlist::QueueKind::ram ? device.write(name, 0, tensor) : device.push(name, tensor));
  }
  model.parameters.clear();
  return success();
}

}  // namespace buda::runtime
