// SPDX-License-Identifier: Apache-2.0
// First values of parameters for a training from the beginning.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/graph.hpp>

#include <cstdint>
#include <vector>

namespace buda::autograd {

// Weights of products and convolutions are drawn from -1/sqrt(n) to 1/sqrt(n), n being the number of inputs that each result adds up, as
// PyTorch's layers begin; what is added to results becomes 0; others, such as the scales of a normalisation, stay.
Result<void> initialize(graph::Graph& graph, const std::vector<graph::NodeId>& parameters, std::uint64_t seed);

}  // namespace buda::autograd
