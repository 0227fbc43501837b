// SPDX-License-Identifier: Apache-2.0
// Files, names and the first batch.
#include <buda/compiler/accuracy/calibration.hpp>

#include <buda/base/text.hpp>
#include <buda/ops/whole_graph/infer.hpp>
#include <buda/runtime/batches.hpp>
#include <buda/runtime/reference/graph_run.hpp>
#include <buda/tensor/tensor.hpp>
#include <buda/tensor/tensor_file.hpp>

#include <vector>

namespace buda::compiler {
namespace {

std::vector<std::string> names_of(const graph::Graph& graph, const std::vector<graph::NodeId>& ids) {
  std::vector<std::string> out;
  for (const graph::NodeId id : ids) out.push_back(graph.node(id).name());
  return out;
}

Result<NamedTensors> read_for(const std::string& path, const std::vector<std::string>& names, Host& host) {
  BUDA_ASSIGN(NamedTensors tensors, read_tensors(host.fs(), path));
  // An .npy file has no names.
  if (path.ends_with(".npy") && names.size() == 1 && tensors.size() == 1) {
    const Tensor only = tensors.begin()->second;
    return NamedTensors{{names[0], only}};
  }
  return tensors;
}

// Inputs that are outputs of the step before begin with zeros, unless they are given.
Result<NamedTensors> first_batch(graph::Graph graph, const NamedTensors& inputs) {
  BUDA_TRY(ops::infer_types(graph));
  NamedTensors out;
  for (const graph::NodeId id : graph.inputs()) {
    const graph::Node& n = graph.node(id);
    const graph::ValueType& type = n.outputs[0];
    const auto given = inputs.find(n.name());
    if (given == inputs.end()) {
      BUDA_ASSIGN(Tensor zeros, Tensor::zeros(type.dtype, type.shape));
      out.emplace(n.name(), std::move(zeros));
      continue;
    }
    Tensor tensor = given->second.cast(type.dtype);
    if (tensor.shape() != type.shape) {
      BUDA_ASSIGN(tensor, runtime::rows_of(tensor, 0, type.shape[0]));
    }
    out.emplace(n.name(), std::move(tensor));
  }
  return out;
}

}  // namespace

Result<Calibration> calibration(const graph::Graph& graph, const OptimizerOptions& options, Host& host) {
  Calibration out;
  BUDA_ASSIGN(out.inputs, read_for(options.calibrate, names_of(graph, graph.inputs()), host));
  auto run = runtime::run_graph(graph, out.inputs, host);
  if (!run) {
    for (Diagnostic& d : run.failure().diagnostics())
      if (d.loc.file.empty()) d.loc.file = options.calibrate;
    return std::move(run).failure();
  }
  out.reference = std::move(run->outputs);
  BUDA_ASSIGN(out.batch, first_batch(graph, out.inputs));
  out.expected = out.reference;
  if (options.expect.empty()) return out;
  const std::vector<std::string> outputs = names_of(graph, graph.outputs());
  BUDA_ASSIGN(out.expected, read_for(options.expect, outputs, host));
  if (out.expected.empty()) return input_error("OZ021", {options.expect}, "holds no tensor: nothing would be compared");
  for (const auto& [name, tensor] : out.expected) {
    if (out.reference.contains(name)) continue;
    return input_error("OZ021", {options.expect},
                       cat("tensor '", name, "' is not an output of the model; its outputs are ", join(outputs, ", ")));
  }
  return out;
}

}  // namespace buda::compiler
