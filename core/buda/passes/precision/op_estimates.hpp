// SPDX-License-Identifier: Apache-2.0
// Rules: the estimate of an op's result by those of its inputs.
#pragma once

#include <buda/graph/graph.hpp>
#include <buda/passes/precision/estimate.hpp>

#include <optional>
#include <span>

namespace buda::passes {

// Without the rounding of the result. Nothing for ops without a rule, and where a result has no bound.
std::optional<Estimate> estimate_of_op(const graph::Graph& graph, const graph::Node& n, std::span<const Estimate> in);

}  // namespace buda::passes
