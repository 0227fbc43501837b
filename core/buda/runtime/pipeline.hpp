// SPDX-License-Identifier: Apache-2.0
// Devices in order, each with what the one before it gives, and all at work at once.
//
//   BUDA_ASSIGN(auto host_part, runtime::cpu_device("cpu0", std::move(graph), host));
//   BUDA_ASSIGN(auto pipeline, runtime::Pipeline::make({host_part, runtime::pipeline_device("tt0", *first),
//                                                       runtime::pipeline_device("tt1", *second)}));
//   BUDA_ASSIGN(auto results, pipeline->run_inference(inputs));   // or:
//   BUDA_TRY(pipeline->push_to_inputs(tensors));                  // one thread
//   BUDA_TRY(pipeline->run_forward(0));                           // as many as come
//   BUDA_ASSIGN(NamedTensors result, pipeline->pop());            // another thread
//
// Each device has a thread of its own, so that several microbatches are in flight. Results come in the order of the inputs. When a device
// fails, what is ahead of the failure still arrives; then the failure does, with the name of the device, the number of the microbatch and
// the op, and nothing else is computed.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/runtime/pipeline_device.hpp>
#include <buda/runtime/timeout.hpp>
#include <buda/tensor/named_tensors.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::runtime {

struct PipelineOptions {
  // Microbatches that wait in front of a device, at least 1. More of them even out devices that now and then take longer.
  std::size_t entries = 4;
  // One thread does the work of all devices, microbatch by microbatch.
  bool sequential = false;
  // Hears what each device but the last has given, from that device's thread: its place from 0, and its outputs.
  std::function<void(std::size_t device, const NamedTensors& outputs)> handed_on;
};

struct PipelineCounts {
  std::int64_t pushed = 0;    // microbatches
  std::int64_t taken = 0;     // by the first device
  std::int64_t finished = 0;  // by the last
};

class Pipeline {
 public:
  // The outputs of a device are, in their order, the inputs of the next. RT060: there is no device, or two neighbours do not fit.
  static Result<std::unique_ptr<Pipeline>> make(std::vector<PipelineDevice> devices, PipelineOptions options = {});
  // Stops, as shutdown() does, without waiting for results to be popped.
  ~Pipeline();

  const std::vector<TensorType>& inputs() const;   // of the first device
  const std::vector<TensorType>& outputs() const;  // of the last

  // One microbatch, by name or in the order of inputs(). RT020 to RT022: names, shapes, types. RT050: there was no room in front of the
  // first device in time. What a device failed with.
  Result<void> push_to_inputs(const NamedTensors& tensors, Timeout timeout = {});
  Result<void> push_to_inputs(const std::vector<Tensor>& tensors, Timeout timeout = {});
  // The first microbatch that waits in front of the first device, which stays there. RT061: none does.
  Result<NamedTensors> get_first_inputs() const;
  // Admits so many more microbatches; 0: all, until stop(). Returns at once.
  Result<void> run_forward(std::int64_t input_count = 1);
  // The next result, by name. RT051: it did not come in time. What a device failed with, behind all results ahead of the failure.
  Result<NamedTensors> pop(Timeout timeout = {});
  // Pushes and admits the inputs, and gives a result for each of them, in order. With `cancelled` giving true no further input is
  // admitted, what is in flight is finished, and the results are fewer than the inputs.
  Result<std::vector<NamedTensors>> run_inference(const std::vector<NamedTensors>& inputs,
                                                  const std::function<bool()>& cancelled = nullptr);

  // Until all admitted microbatches are finished, or a device has failed. RT052: not in time; with run_forward(N) that can mean that fewer
  // than N microbatches were pushed.
  Result<void> sync(Timeout timeout = {});
  // Admits no more; what is in flight goes on, and what was pushed waits for the next run_forward.
  void stop();
  // stop(), and the end of all threads when what is in flight is finished. Results can still be popped.
  void shutdown();
  PipelineCounts counts() const;

 private:
  struct Parts;
  explicit Pipeline(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace buda::runtime

#pragma GCC visibility pop
