// SPDX-License-Identifier: Apache-2.0
// A part of a graph as a graph of its own.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>

#include <string>
#include <vector>

namespace buda::graph {

// What computes the values `to` from the values `from`. A value is written NODE, or NODE:PORT for a further result of the node; `to` may
// name outputs of the graph too. No `to`: all outputs; no `from`: all inputs.
//
// The values of `from` become inputs called like their nodes, the graph's own inputs stay where they are still needed, and the values of
// `to` become outputs, in the order given. Nodes keep their names, types, origins and places; parameters come along and are shared.
//
// Errors: GC001 a value that does not exist, with a spelling hint; GC002 a value of `from` without a type; GC003 one that no value of `to`
// depends on; GC004 a value twice. O((n + e) log n).
Result<Graph> cut(const Graph& graph, const std::vector<std::string>& from, const std::vector<std::string>& to);

}  // namespace buda::graph
