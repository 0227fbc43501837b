// SPDX-License-Identifier: Apache-2.0
// State: an output whose value is an input of the next step, as the cache of a generative model. The two keep their names, and the value
// stays where it is made; a graph says it by a tag of the input:
//
//   past    = input : F32 [1, 8, 64, 32]      loopback=present
//   …
//   present = output(joined)
//
// In the first step the input is what the user gives, or the input node's value, or zeros; in each later one what the output was in the
// step before.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/graph/node_id.hpp>

#include <vector>

namespace buda::graph {

inline constexpr const char* kLoopback = "loopback";  // the tag; its value is the output's name

struct Loopback {
  NodeId input;
  NodeId output;
};

// By input, in the model's order. An error (GR028) tells an output that does not exist, and one whose type is not the input's.
Result<std::vector<Loopback>> loopbacks(const Graph& graph);

}  // namespace buda::graph
