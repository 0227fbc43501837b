// SPDX-License-Identifier: Apache-2.0
// Records the values of inputs that were fixed while importing (graph/fixed_value.hpp).
#pragma once

#include <buda/graph/fwd.hpp>
#include <buda/tensor/named_tensors.hpp>

namespace buda::compiler {

// `values` by name in the model. A name that is not an input of the graph, as that of a number of a TorchScript program, is passed over:
// who gives it at run time is told that there is no such input.
void mark_fixed_values(graph::Graph& graph, const NamedTensors& values);

}  // namespace buda::compiler
