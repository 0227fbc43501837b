// SPDX-License-Identifier: Apache-2.0
// Sessions and graphs as devices.
#include <buda/runtime/pipeline_device.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/tags/loopback.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/ops/whole_graph/infer.hpp>
#include <buda/runtime/session.hpp>

#include <utility>

namespace buda::runtime {
namespace {

std::vector<TensorType> types_of_ports(const std::vector<Port>& ports) {
  std::vector<TensorType> out;
  for (const Port& port : ports) out.push_back({port.tensor->name, port.dtype, port.shape});
  return out;
}

}  // namespace

PipelineDevice pipeline_device(std::string name, Session& session) {
  PipelineDevice device{std::move(name), {}, types_of_ports(session.ports().outputs), nullptr};
  for (const TensorType& input : types_of_ports(session.ports().inputs))
    if (!session.ports().is_state(input.name)) device.inputs.push_back(input);
  std::erase_if(device.outputs, [&](const TensorType& output) { return session.ports().gives_state(output.name); });
  device.run = [&session](const NamedTensors& inputs) { return session.run(inputs); };
  return device;
}

Result<PipelineDevice> cpu_device(std::string name, graph::Graph graph, Host& host) {
  BUDA_TRY(ops::infer_types(graph));
  BUDA_TRY(ops::check(graph));
  BUDA_ASSIGN(auto states, graph::loopbacks(graph));
  if (graph.level != graph::Level::tensor || !states.empty())
    return input_error("RT062", {},
                       cat("device '", name, "': graph '", graph.name, "' ", states.empty() ? "is at device level" : "has a state",
                           "; the host's processor evaluates graphs at tensor level without one"));
  PipelineDevice device{std::move(name), {}, {}, nullptr};
  for (auto id : graph.inputs()) {
    const graph::Node& node = graph.node(id);
    device.inputs.push_back({node.name(), node.outputs[0].dtype, node.outputs[0].shape});
  }
  for (auto id : graph.outputs()) {
    const graph::Node& node = graph.node(id);
    const graph::ValueType& type = *graph.type(node.inputs()[0].source);
    device.outputs.push_back({node.name(), type.dtype, type.shape});
  }
  auto shared = std::make_shared<const graph::Graph>(std::move(graph));
  device.run = [shared, threads = host.threads](const NamedTensors& inputs) {
    ops::EvaluateOptions options;
    options.threads = threads;
    return ops::evaluate_graph(*shared, inputs, options);
  };
  return device;
}

}  // namespace buda::runtime
