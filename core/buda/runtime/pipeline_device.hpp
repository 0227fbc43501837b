// SPDX-License-Identifier: Apache-2.0
// A device of a pipeline: a model and what runs it.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/io/host.hpp>
#include <buda/tensor/dtype.hpp>
#include <buda/tensor/named_tensors.hpp>
#include <buda/tensor/shape.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::runtime {

class Session;

struct TensorType {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
};

// `run` is called from one thread at a time, with a tensor for each input by name, in the types of `inputs`; it gives one for each output.
struct PipelineDevice {
  std::string name;
  std::vector<TensorType> inputs, outputs;
  std::function<Result<NamedTensors>(const NamedTensors&)> run;
};

// The model of a session, on whatever target it is open; the session must outlive the device. Every run is a batch of the model. Sessions of
// one pipeline run at the same time: they need hosts of their own, or one whose log, progress and sink may be called from several threads.
PipelineDevice pipeline_device(std::string name, Session& session);
// The host's processor, which evaluates a graph at tensor level with the reference meaning of its ops; the host gives the threads. An error
// where the graph is at device level, has a state (RT062), or has types that contradict each other.
Result<PipelineDevice> cpu_device(std::string name, graph::Graph graph, Host& host);

}  // namespace buda::runtime

#pragma GCC visibility pop
