// SPDX-License-Identifier: Apache-2.0
// The arguments of a model's method: its inputs.
#pragma once

#include "call.hpp"

#include <buda/plugin/model_source.hpp>

namespace buda::torchscript {

// A value for each parameter behind `self`; tensors are inputs of the graph. Archives have neither shapes nor element types of them, so
// that the options give them.
Result<std::vector<Value>> make_inputs(ImportState& state, const Function& method, const plugin::ImportOptions& options);

}  // namespace buda::torchscript
