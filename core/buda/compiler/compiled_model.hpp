// SPDX-License-Identifier: Apache-2.0
// From what the balancer hands on to a model that can be run.
#pragma once

#include <buda/compiler/place.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/runtime/model.hpp>

#include <string>

namespace buda::compiler {

// The host plan with the tensors that it names, and the host's graphs by the file names in the plan. Without stream programs.
Result<runtime::Model> compiled_model(Placed placed, const device::DeviceDescriptor& device, const std::string& name);

}  // namespace buda::compiler
