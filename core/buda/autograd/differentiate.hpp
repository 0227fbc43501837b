// SPDX-License-Identifier: Apache-2.0
// Reverse-mode differentiation of a graph at tensor level: nodes that compute gradients are added to it.
//
// The nodes from a wanted value to a seed are walked backwards. Each has a rule (rules/) that gives gradients of its inputs from those of
// its results; those of a value with several uses are added, and what was broadcast is summed again. Values that are not floating-point
// numbers end the way. The gradient of node N is called grad.N.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/graph/node_id.hpp>

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace buda::autograd {

// A value from which gradients come, and its own: a value of the same shape and type.
struct Seed {
  graph::ValueRef value;
  graph::ValueRef gradient;
};

// Replaces those of these nodes for which a decomposition is known.
using DecomposeNodes = std::function<Result<void>(graph::Graph&, const std::set<graph::NodeId>&)>;

// A rule from elsewhere, in place of ours: the gradients of the node's inputs, an invalid one where there is none, from those of its
// results.
struct OutsideRule {
  std::string from;  // for messages
  std::function<Result<std::vector<graph::ValueRef>>(graph::GraphEditor&, graph::NodeId, const std::vector<graph::ValueRef>& incoming)>
      rule;
};
using OutsideRules = std::map<std::string, OutsideRule, std::less<>>;  // by op

// Replaces the ops between the wanted values and the outputs that have no formula, until all have one or no decomposition serves them.
Result<void> decompose_for_gradients(graph::Graph& graph, std::span<const graph::ValueRef> wanted, const DecomposeNodes& decompose,
                                     const OutsideRules& outside = {});

// The gradients of `wanted`, in their order; an invalid one where no seed depends on the value. The graph's types must be known. AG001: an
// op on the way has no rule; all such ops are told, with their way to the seed. AG002: an op that has no gradient, and why. AG003: a rule
// cannot serve this node. AG004: the rule of a plugin gives something that is not a gradient of an input.
Result<std::vector<graph::ValueRef>> differentiate(graph::Graph& graph, std::span<const Seed> seeds,
                                                   std::span<const graph::ValueRef> wanted, const OutsideRules& outside = {});

}  // namespace buda::autograd
