// SPDX-License-Identifier: Apache-2.0
// Values that depend on no row: whether they are the same for all rows that they meet.
#pragma once

#include <buda/ops/rows/row_flow.hpp>
#include <buda/tensor/tensor.hpp>

#include <optional>

namespace buda::ops {

// The value of an edge that is computed from constants alone; nothing where it depends on an input, or cannot be computed.
std::optional<Tensor> constant_value(const graph::Graph& graph, graph::ValueRef value);

// Whether the free input number `input` is the same for all rows along `axis`, which has rows as `like` tells: where it has one place
// there, or equal parts. What depends on an input that is not cut into rows, as a state, counts as the same.
bool same_for_all_rows(const RowCall& call, std::size_t input, std::size_t axis, const RowFlow& like);

}  // namespace buda::ops
