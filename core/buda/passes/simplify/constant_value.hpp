// SPDX-License-Identifier: Apache-2.0
// What a pass may know of a value before the model runs.
#pragma once

#include <buda/graph/graph.hpp>
#include <buda/tensor/fwd.hpp>

#include <optional>

#pragma GCC visibility push(default)

namespace buda::passes {

// The tensor of a parameter or constant; null for other values.
const Tensor* value_of(const graph::Graph& graph, const graph::Edge& edge);

// The number that all elements of a tensor are, if they are equal (and not NaN). Looks no further than the first that differs.
std::optional<double> uniform_element(const Tensor& tensor);
// The same for the tensor of a parameter or constant.
std::optional<double> uniform_value(const graph::Graph& graph, const graph::Edge& edge);

}  // namespace buda::passes

#pragma GCC visibility pop
