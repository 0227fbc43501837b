// SPDX-License-Identifier: Apache-2.0
// Inputs whose value was fixed when the model was imported, and values that are given for them nevertheless.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/runtime/ports.hpp>
#include <buda/tensor/named_tensors.hpp>

namespace buda::runtime {

// RT025 where `given` is another value than the fixed one of this input, if it has one.
Result<void> check_fixed_input(const Port& input, const Tensor& given);

// RT025 for each input of which `inputs` has another value than the fixed one; the same value is accepted, also for each of several
// batches.
Result<void> check_fixed_inputs(const Ports& ports, const NamedTensors& inputs);

}  // namespace buda::runtime
