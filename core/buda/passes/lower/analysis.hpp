// SPDX-License-Identifier: Apache-2.0
// What is found out about a tensor graph before its nodes are lowered, one function per question.
#pragma once

#include <buda/graph/graph.hpp>
#include <buda/passes/layout/rearrangement.hpp>
#include <buda/passes/lower/axes.hpp>

#include <map>
#include <set>
#include <vector>

namespace buda::passes {

// Inputs and outputs of which one is the other's value in the next step (graph/loopback.hpp). They stay on the device, so both have the
// same layout: the host transforms neither, and the padding is zero, as the host writes it in the first step.
Result<std::set<graph::NodeId>> state_nodes(const graph::Graph& graph);

// By id: whether an op may read the padding below the rows of a node's results. Ops that add up or compare along r, or make another axis of
// it, do so; nodes whose users do, directly or through other ops, must keep it finite. O(n + e).
//
// Padding to the right of the columns is always kept finite: block floating-point formats share an exponent among neighbours in a row, so
// that an infinity there would destroy the data beside it.
std::vector<char> row_padding_readers(const graph::Graph& graph, const std::set<graph::NodeId>& state);

// Of a training step, the states that are made in another order of their elements than the model's (pass layout-states), by input and by
// output: what the host does with the one on its way in and with the other on its way out. On the device both are as the output is made.
std::map<graph::NodeId, Rearrangement> state_orders(const graph::Graph& graph);

// Inputs that the model uses in one other order of their elements only, and that order: the host, which pads and tiles them in any case,
// transposes them as well. What manipulations of edges do for nothing is left to the device, but for reshapes.
std::map<graph::NodeId, Rearrangement> host_views(const graph::Graph& graph, const std::set<graph::NodeId>& state, Batch batch);

// Whether the model uses an input as numbers of rows of tables alone, so few that the device looks them up (op embedding).
bool only_looks_up(const graph::Graph& graph, graph::NodeId input, Batch batch);

}  // namespace buda::passes
