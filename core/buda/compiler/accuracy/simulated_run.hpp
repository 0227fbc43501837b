// SPDX-License-Identifier: Apache-2.0
// How long a compiled model takes on the device, in simulated time.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/runtime/model.hpp>
#include <buda/tensor/named_tensors.hpp>

#include <cstdint>

namespace buda::compiler {

// Cycles from the first push to the last pop, the host taking zero time; 0 for a model that the host runs as a whole. Stream programs
// are made on the way: a failure of theirs is the result's.
Result<std::int64_t> simulated_cycles(runtime::Model model, const device::DeviceDescriptor& device, const NamedTensors& inputs, Host& host);

}  // namespace buda::compiler
