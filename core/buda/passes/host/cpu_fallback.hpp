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

// Gives these ops the tag of the host (graph/placement.hpp); passes then leave them as they are. A node that does not exist is a warning
// (PA061), an op that does not exist a usage error (PA062).
Result<void> mark_for_host(graph::Graph& graph, const NamedForHost& named, Host& host);

}  // namespace buda::passes
