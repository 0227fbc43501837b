// Running a graph file, without a device.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/bytes.hpp>
#include <buda/io/host.hpp>
#include <buda/runtime/graph_run.hpp>

#include <functional>
#include <string>
#include <vector>

namespace buda::runner {

struct EvaluatedGraph {
  runtime::GraphRun run;
  std::vector<std::string> outputs;  // in the graph's order
};

// `read_inputs` gives the tensors of the inputs of these names. `path` is for messages.
Result<EvaluatedGraph> evaluate_graph(const io::Bytes& bytes, const std::string& path, runtime::Arithmetic arithmetic,
                                      const std::function<Result<NamedTensors>(std::vector<std::string> names)>& read_inputs, Host& host);

}  // namespace buda::runner
