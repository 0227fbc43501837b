// SPDX-License-Identifier: Apache-2.0
// What would make ops fit that have no legal model. Every hint is tried on the graph before it is given.
#pragma once

#include <buda/balance/models/op_model.hpp>
#include <buda/io/host.hpp>

#include <functional>
#include <string>
#include <vector>

namespace buda::balance {

// Whether a graph is placed with these options.
using GraphTrial = std::function<bool(const graph::Graph& graph, const ModelOptions& options)>;

// A hint for each of `ops`, which have no legal model: the nearest change under which they have one, with the option to give. Ops that the
// same change helps share it: the first of them has the hint, those of the others are empty. `ops` are all of these ops: a change that
// helps all of them is told only if `placed` says that the graph then fits.
std::vector<std::string> remedies(const graph::Graph& graph, const Problem& problem, const std::vector<OpId>& ops,
                                  const ModelOptions& options, const GraphTrial& placed, Host& host);

}  // namespace buda::balance
