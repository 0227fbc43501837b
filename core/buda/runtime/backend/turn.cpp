// SPDX-License-Identifier: Apache-2.0
// Evaluation of host graphs, and transfers between host and device.
#include <buda/runtime/backend/turn.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/runtime/backend/backend_timeouts.hpp>
#include <buda/runtime/inputs/port_values.hpp>
#include <buda/runtime/session.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace buda::runtime {
namespace {

// The segments of a turn in order.
class TurnRunner {
 public:
  TurnRunner(Backend& backend, const TurnOf& of, HostValues& on_host, Host& host, Timeout timeout)
      : backend_(backend),
        of_(of),
        on_host_(on_host),
        host_(host),
        timeout_(timeout),
        cancels_(on_host.cancels()),
        batches_(static_cast<std::size_t>(of.loaded.batches_per_turn)) {}

  Result<void> run() {
    std::size_t device_segment = 0;
    for (const auto& segment : of_.model.plan.segments) {
      BUDA_TRY(check_cancelled());
      if (segment.kind == host_plan::SegmentKind::device) {
        BUDA_TRY(on_device(segment, device_segment++));
      } else {
        for (NamedTensors& values : batches_) BUDA_TRY(on_host(*of_.model.host_graphs.at(segment.file), values));
      }
    }
    BUDA_TRY(check_cancelled());
    for (const StatePort& state : of_.loaded.ports.states)
      if (state.input.queue == nullptr) on_host_.set(*state.input.tensor, next_states_.at(state.output.tensor->name));
    return success();
  }

 private:
  Result<void> check_cancelled() const {
    if (on_host_.cancels() == cancels_) return success();
    return input_error("RT057", {}, cat("a turn of model '", of_.loaded.name, "' was cancelled"));
  }

  // Of an input of the model that is not there yet, the next batch; a state stays.
  Result<Tensor> value(const std::string& name, NamedTensors& values) {
    if (auto it = values.find(name); it != values.end()) return it->second;
    BUDA_ASSIGN(const Port* input, of_.loaded.input(name));
    on_host_.set_computing(false);
    auto batch = on_host_.get(*input->tensor, !of_.loaded.ports.is_state(name), timeout_);
    on_host_.set_computing(true);
    BUDA_TRY(check_cancelled());
    if (!batch) return host_timed_out("input", *input);
    return values.emplace(name, std::move(*batch)).first->second;
  }

  Result<void> on_host(const graph::Graph& graph, NamedTensors& values) {
    NamedTensors inputs;
    for (auto id : graph.inputs()) {
      BUDA_ASSIGN(inputs[graph.node(id).name()], value(graph.node(id).name(), values));
    }
    ops::EvaluateOptions options;
    options.threads = host_.threads;
    BUDA_ASSIGN(auto results, ops::evaluate_graph(graph, inputs, options));
    const auto& outputs = of_.loaded.ports.outputs;
    for (auto& [name, tensor] : results) {
      auto output =
          std::find_if(outputs.begin(), outputs.end(), [&n = name](const Port& o) { return o.queue == nullptr && o.tensor->name == n; });
      if (output == outputs.end()) {
        values.insert_or_assign(name, std::move(tensor));
      } else if (of_.loaded.ports.gives_state(name)) {
        next_states_.insert_or_assign(name, std::move(tensor));
      } else {
        on_host_.put(*output->tensor, std::move(tensor));
      }
    }
    return success();
  }

  Result<void> on_device(const host_plan::Segment& segment, std::size_t number) {
    auto passes = [&](const Port& port, const std::vector<host_plan::PlanTensor>& passing) {
      return port.segment == number &&
             std::any_of(passing.begin(), passing.end(), [&](const host_plan::PlanTensor& t) { return &t == port.tensor; });
    };
    for (NamedTensors& values : batches_)
      for (const Port& port : of_.loaded.ports.pushed) {
        if (!passes(port, segment.inputs)) continue;
        BUDA_ASSIGN(Tensor batch, value(port.tensor->name, values));
        BUDA_TRY(backend_.push(port, batch, timeout_));
      }
    for (const std::string& program : segment.programs) BUDA_TRY(backend_.start(program, {{kLoopCount, 1}}));
    BUDA_TRY(backend_.wait(timeout_));
    for (NamedTensors& values : batches_)
      for (const Port& port : of_.loaded.ports.popped) {
        if (!passes(port, segment.outputs)) continue;
        BUDA_ASSIGN(Tensor batch, backend_.pop(port, timeout_));
        values.insert_or_assign(port.tensor->name, std::move(batch));
      }
    // States that the device computes for a segment of the host.
    for (const Port& port : of_.loaded.ports.popped) {
      if (port.segment != number || !of_.loaded.ports.gives_state(port.tensor->name)) continue;
      BUDA_ASSIGN(Tensor entries, backend_.pop_entries(port.queue->name, port.queued[0], timeout_));
      BUDA_ASSIGN(next_states_[port.tensor->name], value_of(port, entries));
    }
    return success();
  }

  Backend& backend_;
  const TurnOf& of_;
  HostValues& on_host_;
  Host& host_;
  Timeout timeout_;
  const std::uint64_t cancels_;
  std::vector<NamedTensors> batches_;  // what is between segments, by name
  NamedTensors next_states_;           // of the host, by output
};

}  // namespace

Result<void> run_turn(Backend& backend, const TurnOf& of, HostValues& on_host, Host& host, Timeout timeout) {
  return TurnRunner(backend, of, on_host, host, timeout).run();
}

}  // namespace buda::runtime
