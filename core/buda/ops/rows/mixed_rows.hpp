// SPDX-License-Identifier: Apache-2.0
// Whether the rows of a model, along the first axis of its inputs, depend on each other.
//
// A session cuts inputs that have more rows than the model was compiled for into batches. That gives what the model means only where row i
// of each output depends on row i of the inputs alone, and in the same way for all i. Here the first axis is followed through a graph at
// tensor level, from the inputs to the outputs (row_flow.hpp), by a rule for each op (row_rules.hpp). What a rule cannot tell counts as a
// dependence, but for a batch of one row, where only ops that work along the axis of the rows do.
//
// A graph of which inputs that are cut do not have the same number of rows never runs in batches, so nothing is said about it; nor about
// one with states, whose batches are steps that follow each other.
#pragma once

#include <buda/graph/fwd.hpp>
#include <buda/graph/node_id.hpp>

#include <vector>

namespace buda::ops {

struct MixedRows {
  graph::NodeId output;
  graph::NodeId mixer;  // the first op on the way that mixes rows; the output itself where its first axis does not have the rows
};

// The outputs whose rows depend on each other. Types must be known. O((n + e) log n), and linear in constants that meet rows.
std::vector<MixedRows> mixed_rows(const graph::Graph& graph);

// Tags these outputs (graph/mixed_rows.hpp).
void mark_mixed_rows(graph::Graph& graph);

}  // namespace buda::ops
