// SPDX-License-Identifier: Apache-2.0
// Small models that need no decomposition, for policies and targets.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/graph.hpp>

#include <vector>

namespace buda::plugin_check {

// Tensor level: one product; a perceptron; a value with several readers; an op too large for few cores; more ops than a chip has cores.
Result<std::vector<graph::Graph>> sample_models();

}  // namespace buda::plugin_check
