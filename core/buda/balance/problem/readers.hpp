// SPDX-License-Identifier: Apache-2.0
// What its readers decide about a tensor: whether it holds rows or tiles, and how many of its slices are needed at once.
#pragma once

#include <buda/balance/problem/problem.hpp>
#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>

namespace buda::balance {

// Sets SourceSpec::flat and row_numbers. BL043: a reader of rows and one of tiles cannot read the same; all findings.
Result<void> set_layouts(const graph::Graph& graph, Problem& problem);

// Sets OpSpec::depth. BL008: a reader's manipulations cannot be applied slice by slice; all findings.
Result<void> set_depths(const graph::Graph& graph, Problem& problem);

}  // namespace buda::balance
