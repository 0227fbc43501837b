// SPDX-License-Identifier: Apache-2.0
// Other weights for a model than those that it was saved with: of a training, for example.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/tensor/named_tensors.hpp>

#include <cstddef>
#include <string>

namespace buda::compiler {

// Parameters of these names get these values, converted to their element type; names that begin with # are the trainer's own. Gives how
// many. IP008: a name that no parameter has, or another shape; none of them is replaced then.
Result<std::size_t> replace_parameters(graph::Graph& graph, const NamedTensors& values, const std::string& file);

}  // namespace buda::compiler
