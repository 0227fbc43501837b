// SPDX-License-Identifier: Apache-2.0
// Running a graph file, without a device.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/io/bytes.hpp>
#include <buda/io/host.hpp>
#include <buda/runtime/reference/graph_run.hpp>

#include <functional>
#include <string>
#include <vector>

namespace buda::runner {

struct EvaluatedGraph {
  runtime::GraphRun run;
  std::vector<std::string> outputs;  // in the graph's order
};

// The tensors of the graph's inputs, which have these names.
using ReadInputs = std::function<Result<NamedTensors>(const graph::Graph& graph, std::vector<std::string> names)>;

// `path` is for messages.
Result<EvaluatedGraph> evaluate_graph(const io::Bytes& bytes, const std::string& path, runtime::Arithmetic arithmetic,
                                      const ReadInputs& read_inputs, Host& host);

// In the order in which the graph has them.
std::vector<std::string> names_of_outputs(const graph::Graph& graph);

}  // namespace buda::runner
