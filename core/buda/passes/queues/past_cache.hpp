// SPDX-License-Identifier: Apache-2.0
// Generative models: outputs that are inputs of the next step (graph/loopback.hpp), as the keys and values of attention.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/graph/node_id.hpp>
#include <buda/graph/tags/loopback.hpp>

#include <vector>

namespace buda::passes {

// Makes an input the output's value in the next step. Where the output is the longer one along one axis (a cache that grows), it is cut to
// its last part, so that the oldest entries leave the window:
//
//   past    = input : F32 [1, 8, 63, 64]           past = input : F32 [1, 8, 63, 64]  loopback=present
//   joined  = concatenate(past, new) dim=2         joined = concatenate(past, new) dim=2
//   present = output(joined)                       present.window = slice(joined) dims=[2] starts=[1] stops=[64] steps=[1]
//                                                  present = output(present.window)
//
// The result tells whether it was cut. PA070: other types than these, and an input that is a loopback already. At device level
// nothing is cut.
Result<bool> loop_back(graph::Graph& graph, graph::NodeId input, graph::NodeId output);

// Pairs that look like a cache, by input in the model's order; none has an input or output in common with another, or with a loopback that
// there is. An output belongs to an input that can be looped back to it when
//   - it is the only input that reaches the output through a concatenation and movements of data, or
//   - their names are the same but for past, past_key_values, past_key_value and present, present_key_values, present_key_value.
// O(n + e).
std::vector<graph::Loopback> find_past_caches(const graph::Graph& graph);

}  // namespace buda::passes
