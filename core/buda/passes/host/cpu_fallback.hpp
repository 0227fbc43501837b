// SPDX-License-Identifier: Apache-2.0
// The user's part of cpu-fallback: ops that go to the host because he says so.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/io/host.hpp>

#include <string>
#include <vector>

namespace buda::passes {

// `ops` are words for ops of tensor level (op_words.hpp): "softmax", "nn.softmax", "Conv". `nodes` are names of nodes, or of nodes of the
// model from which they come.
struct NamedForHost {
  std::vector<std::string> ops;
  std::vector<std::string> nodes;
};

// Gives these ops the tag of the host (graph/placement.hpp); passes then leave them as they are. An op that does not exist is a usage error
// (PA062). Gives the names of nodes that the graph does not have yet.
Result<std::vector<std::string>> mark_for_host(graph::Graph& graph, const NamedForHost& named);

// Once all decompositions are done: gives ops of these names the tag of the host, and movements that alone use what they give. A name may
// also be one that lowering gives a part of a movement (`y.picked` of a reshape `y`). One that still does not exist is a warning (PA061).
void mark_made_for_host(graph::Graph& graph, const std::vector<std::string>& nodes, Host& host);

}  // namespace buda::passes
