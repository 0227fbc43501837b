// SPDX-License-Identifier: Apache-2.0
// Numbers of inputs that a device does not carry.
#pragma once

#include <buda/diag/diagnostic.hpp>
#include <buda/runtime/ports.hpp>
#include <buda/tensor/named_tensors.hpp>

#include <vector>

namespace buda::runtime {

// RT028, a warning for each input that the device reads and that has a NaN, or an infinity in a format without any: the first such element.
// docs/internals/special-values.md says what becomes of it. Linear in the elements of these inputs.
std::vector<Diagnostic> special_inputs(const Ports& ports, const NamedTensors& inputs);

}  // namespace buda::runtime
