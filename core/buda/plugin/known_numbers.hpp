// SPDX-License-Identifier: Apache-2.0
// What a decomposition may know of the numbers of a value before the model runs: from constants, element types, what inputs are promised to
// hold (--value-range), and ops that make them.
#pragma once

#include <buda/graph/fwd.hpp>
#include <buda/graph/node.hpp>

#include <cstdint>

#pragma GCC visibility push(default)

namespace buda::plugin {

// Whether no number of the value is below 0, whatever the model reads.
bool is_never_negative(const graph::Graph& graph, const graph::Edge& value);

// Whether all numbers of the value are whole and none is larger than `size` without its sign: integers, moved or converted perhaps.
bool are_small_integers(const graph::Graph& graph, const graph::Edge& value, std::int64_t size);

}  // namespace buda::plugin

#pragma GCC visibility pop
