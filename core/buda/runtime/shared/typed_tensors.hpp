// SPDX-License-Identifier: Apache-2.0
// Tensors that a program gives, against the types that are wanted.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/runtime/pipeline_device.hpp>

#include <string>
#include <vector>

namespace buda::runtime {

// "'x' F32 [2, 3], 'y' I64 [2]"
std::string types_text(const std::vector<TensorType>& types);

// All of `types`, converted to their element types. RT020 to RT022: names, shapes, types.
Result<NamedTensors> typed_tensors(const std::vector<TensorType>& types, const NamedTensors& given);

}  // namespace buda::runtime
