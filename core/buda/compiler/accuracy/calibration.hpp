// SPDX-License-Identifier: Apache-2.0
// What accuracy is measured on: inputs of the user's, and the outputs that are expected of them.
#pragma once

#include <buda/compiler/optimizer_options.hpp>
#include <buda/diag/result.hpp>
#include <buda/graph/graph.hpp>
#include <buda/io/host.hpp>
#include <buda/tensor/named_tensors.hpp>

namespace buda::compiler {

struct Calibration {
  NamedTensors inputs;     // of any number of batches
  NamedTensors batch;      // the first one, in the types and shapes of the graph's inputs
  NamedTensors expected;   // the user's; otherwise `reference`
  NamedTensors reference;  // of the model in fp32
};

// Reads the files that the options name, and evaluates the graph, which is at tensor level. The one tensor of a file is that of the only
// input or output, whatever its name.
Result<Calibration> calibration(const graph::Graph& graph, const OptimizerOptions& options, Host& host);

}  // namespace buda::compiler
