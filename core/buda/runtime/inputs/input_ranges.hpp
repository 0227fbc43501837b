// SPDX-License-Identifier: Apache-2.0
// Inputs whose elements were promised to be in a range when the model was compiled, and elements outside of it.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/runtime/ports.hpp>
#include <buda/tensor/named_tensors.hpp>

namespace buda::runtime {

// RT026 where an element of `given` is outside of the range of this input, if it has one; NaN and infinities are outside of any.
Result<void> check_input_range(const Port& input, const Tensor& given);

// RT026 for each input of which `inputs` has an element outside of its range.
Result<void> check_input_ranges(const Ports& ports, const NamedTensors& inputs);

}  // namespace buda::runtime
