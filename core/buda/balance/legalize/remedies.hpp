// What would make ops fit that have no legal model. Every hint is tried on the graph before it is given.
#pragma once

#include <buda/balance/models/op_model.hpp>
#include <buda/io/host.hpp>

#include <string>
#include <vector>

namespace buda::balance {

// A hint for each of `ops`, which have no legal model: the nearest change under which they have one, with the option to give. Ops that the
// same change helps share it: the first of them has the hint, those of the others are empty.
std::vector<std::string> remedies(const graph::Graph& graph, const Problem& problem, const std::vector<OpId>& ops,
                                  const ModelOptions& options, Host& host);

}  // namespace buda::balance
