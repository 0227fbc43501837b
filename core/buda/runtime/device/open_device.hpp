// SPDX-License-Identifier: Apache-2.0
// From a model to a device that holds it.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/runtime/model.hpp>
#include <buda/runtime/target.hpp>

#include <memory>

namespace buda::runtime {

// Loads the model's program into a device of the target. IM010 to IM013: the model's image was made for another one.
Result<std::shared_ptr<Device>> open_device(Model& model, Target& target, const device::DeviceDescriptor& descriptor, Host& host);

// Writes the model's parameters into their rams and queues; the model no longer has them then.
Result<void> push_parameters(Model& model, Device& device, Host& host);

}  // namespace buda::runtime
