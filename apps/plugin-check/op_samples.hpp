// SPDX-License-Identifier: Apache-2.0
// Graphs of one op, for trying rules on ops of which only the definition is known.
#pragma once

#include <buda/graph/graph.hpp>
#include <buda/ops/table/op.hpp>

#include <functional>
#include <string_view>

namespace buda::plugin_check {

// Makes graphs with one op of the name by trying shapes, element types and values for attributes without a standard, and calls `use` with
// each one whose types follow and which can be evaluated; until `use` says true, or there are no more.
void for_op_samples(std::string_view op, const std::function<bool(graph::Graph&)>& use);

}  // namespace buda::plugin_check
