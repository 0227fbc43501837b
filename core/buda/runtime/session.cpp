// SPDX-License-Identifier: Apache-2.0
// Push, run, pop.
#include <buda/runtime/session.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/host_plan/phase_parameters.hpp>
#include <buda/image/device_match.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/runtime/device/open_device.hpp>
#include <buda/runtime/inputs/port_values.hpp>
#include <buda/runtime/inputs/special_inputs.hpp>
#include <buda/runtime/inputs/state.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <set>

namespace buda::runtime {
namespace {

Failure in_context(const std::string& what, Failure failure) {
  for (auto& d : failure.diagnostics()) d.message = cat(what, ": ", d.message);
  return failure;
}

}  // namespace

Result<std::unique_ptr<Session>> Session::open(Model model, Target& target, const device::DeviceDescriptor& descriptor, Host& host) {
  if (model.device) BUDA_TRY(image::check_same_device(*model.device, descriptor, model.path));
  BUDA_ASSIGN(ModelRuns runs, runs_of(model));
  std::shared_ptr<Device> device;
  if (model.uses_device()) {
    BUDA_ASSIGN(device, open_device(model, target, descriptor, host));
    BUDA_TRY(push_parameters(model, *device, host));
  }
  return std::unique_ptr<Session>(new Session(std::move(model), std::move(runs), std::move(device), host));
}

Result<std::unique_ptr<Session>> Session::open_on(Model model, std::shared_ptr<Device> device, Host& host) {
  BUDA_ASSIGN(ModelRuns runs, runs_of(model));
  if (!model.uses_device()) device = nullptr;
  if (device) BUDA_TRY(push_parameters(model, *device, host));
  return std::unique_ptr<Session>(new Session(std::move(model), std::move(runs), std::move(device), host));
}

Result<NamedTensors> Session::run(const NamedTensors& inputs) {
  BUDA_ASSIGN(NamedTensors out, step(inputs));
  BUDA_ASSIGN(NamedTensors after, states());
  out.merge(after);
  return out;
}

Result<NamedTensors> Session::step(const NamedTensors& inputs) { return run_batches(inputs, true); }

Result<NamedTensors> Session::evaluate(const NamedTensors& inputs) {
  if (!has_phases()) return internal_error("only a training step in programs is evaluated without a change of states");
  return run_batches(inputs, false);
}

Result<NamedTensors> Session::run_batches(const NamedTensors& inputs, bool learns) {
  BUDA_ASSIGN(batches_, plan_batches(runs_.ports, inputs));
  if (has_phases() && learns) BUDA_TRY(check_turns());
  NamedTensors given, numbers;
  for (const auto& port : runs_.ports.inputs) {
    if (!runs_.ports.must_be_given(port.tensor->name)) continue;
    BUDA_ASSIGN(auto tensor, with_dtype(port, inputs.at(port.tensor->name)));
    (port.is_of_step ? numbers : given).emplace(port.tensor->name, std::move(tensor));
  }
  for (const Diagnostic& d : special_inputs(runs_.ports, given))
    if (told_special_.insert(d.node).second) host_.report(d);
  BUDA_TRY(enter_states(inputs));
  sums_.clear();
  std::vector<std::vector<Tensor>> outputs(runs_.ports.outputs.size());
  for (std::int64_t done = 0; done < batches_.count;) {
    host_.progress("running", static_cast<std::size_t>(done), static_cast<std::size_t>(batches_.count));
    const std::int64_t now = std::min(runs_.max_at_once, batches_.count - done);
    BUDA_TRY(run_batches_at(done, now, given, outputs));
    done += now;
  }
  if (has_phases() && learns) BUDA_TRY(run_optimizer(numbers));
  NamedTensors out;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].empty()) continue;
    if (batches_.rows == 0) {
      out.emplace(runs_.ports.outputs[i].tensor->name, std::move(outputs[i].front()));
    } else {
      BUDA_ASSIGN(auto whole, joined(outputs[i], batches_.rows));
      out.emplace(runs_.ports.outputs[i].tensor->name, std::move(whole));
    }
  }
  return out;
}

// All segments but the optimizer's.
Result<void> Session::run_batches_at(std::int64_t first, std::int64_t count, const NamedTensors& given,
                                     std::vector<std::vector<Tensor>>& outputs) {
  std::vector<Batch> batches;
  for (std::int64_t b = first; b < first + count; ++b) {
    BUDA_ASSIGN(auto batch, first_values(given, b));
    batches.push_back(std::move(batch));
  }
  BUDA_TRY(run_segments(Part::forward, batches, first == 0));
  BUDA_TRY(run_segments(Part::backward, batches, first == 0));
  for (Batch& batch : batches)
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (runs_.ports.gives_state(runs_.ports.outputs[i].tensor->name)) continue;
      auto it = batch.outputs.find(runs_.ports.outputs[i].tensor->name);
      if (it == batch.outputs.end()) return internal_error(cat("output '", runs_.ports.outputs[i].tensor->name, "' was not computed"));
      outputs[i].push_back(std::move(it->second));
    }
  // Where the host computes states, `count` is 1.
  for (const StatePort& state : runs_.ports.states)
    if (state.input.queue == nullptr && !has_phases())
      host_states_.insert_or_assign(state.input.tensor->name, batches.front().outputs.at(state.output.tensor->name));
  return success();
}

Result<void> Session::run_segments(Part part, std::vector<Batch>& batches, bool is_first) {
  std::size_t device_segment = 0;
  Part at = Part::forward;
  for (const auto& segment : model_.plan.segments) {
    if (segment.kind == host_plan::SegmentKind::device && segment.phase == host_plan::SegmentPhase::backward) at = Part::backward;
    if (at != part) {
      if (segment.kind == host_plan::SegmentKind::device) ++device_segment;
      continue;
    }
    if (segment.kind != host_plan::SegmentKind::device && segment.phase == host_plan::SegmentPhase::optimizer) {
      for (const Batch& batch : batches) add_up(*model_.host_graphs.at(segment.file), batch);
    } else if (segment.kind != host_plan::SegmentKind::device) {
      for (Batch& batch : batches) BUDA_TRY(run_on_host(*model_.host_graphs.at(segment.file), batch));
    } else if (const std::size_t number = device_segment++; number != runs_.optimizer) {
      BUDA_TRY(run_on_device(number, batches, is_first));
    }
  }
  return success();
}

Result<NamedTensors> Session::forward(const NamedTensors& inputs) {
  if (!runs_.optimizer || runs_.per_turn != 1)
    return input_error(
        "RT095", {},
        cat("the model '", plan().model, "' does not run phase by phase: ",
            runs_.optimizer ? "its programs take several batches at a time (--microbatch)" : "it has no phases on the device"));
  if (static_cast<std::int64_t>(waiting_.size()) >= runs_.max_at_once) {
    Diagnostic d = input_error("RT094", {}, cat(waiting_.size(), " batches wait between forward and backward, and queues hold no more"));
    d.hint = "compile the step with a larger --queue-entries, or run backward before";
    return d;
  }
  BUDA_ASSIGN(batches_, plan_batches(runs_.ports, inputs));
  if (batches_.count != 1 || batches_.padded() != 0)
    return input_error("RT094", {}, cat("forward takes one batch at a time: ", batches_.text()));
  BUDA_TRY(enter_states(inputs));
  std::vector<Batch> batch(1);
  batch.front().values = host_states_;
  for (const auto& port : runs_.ports.inputs) {
    if (!runs_.ports.must_be_given(port.tensor->name) || port.is_of_step) continue;
    BUDA_ASSIGN(auto tensor, with_dtype(port, inputs.at(port.tensor->name)));
    batch.front().values.insert_or_assign(port.tensor->name, std::move(tensor));
  }
  BUDA_TRY(run_segments(Part::forward, batch, true));
  NamedTensors out;
  out.swap(batch.front().outputs);
  waiting_.push_back(std::move(batch.front()));
  return out;
}

Result<NamedTensors> Session::backward(const NamedTensors& gradients, bool begins) {
  if (waiting_.empty()) return input_error("RT094", {}, "no batch waits for backward: run forward before");
  for (const auto& port : runs_.ports.inputs) {
    const auto given = gradients.find(port.tensor->name);
    if (given == gradients.end()) continue;
    if (given->second.shape() != port.shape)
      return input_error("RT094", {},
                         cat("'", port.tensor->name, "' is ", given->second.describe(), ", and the model takes ", port.shape.text()));
    BUDA_ASSIGN(auto tensor, with_dtype(port, given->second));
    waiting_.front().values.insert_or_assign(port.tensor->name, std::move(tensor));
  }
  std::vector<Batch> batch;
  batch.push_back(std::move(waiting_.front()));
  waiting_.pop_front();
  if (begins) sums_.clear();
  BUDA_TRY(run_segments(Part::backward, batch, begins));
  return std::move(batch.front().outputs);
}

Result<void> Session::optimize(const NamedTensors& numbers) {
  NamedTensors given;
  for (const auto& port : runs_.ports.inputs) {
    if (!port.is_of_step) continue;
    BUDA_ASSIGN(auto tensor, with_dtype(port, numbers.at(port.tensor->name)));
    given.emplace(port.tensor->name, std::move(tensor));
  }
  return run_optimizer(given);
}

// What the optimizer's graph takes of a batch.
void Session::add_up(const graph::Graph& optimizer, const Batch& batch) {
  for (graph::NodeId id : optimizer.inputs()) {
    const std::string& name = optimizer.node(id).name();
    const auto value = batch.values.find(name);
    if (value == batch.values.end() || host_states_.contains(name)) continue;
    auto [sum, is_new] = sums_.emplace(name, value->second.cast(DType::f32));
    if (is_new) continue;
    std::vector<float> total = sum->second.to_f32();
    const std::vector<float> more = value->second.to_f32();
    for (std::size_t i = 0; i < total.size(); ++i) total[i] += more[i];
    sum->second = Tensor(value->second.shape(), std::move(total));
  }
}

Result<void> Session::run_optimizer(const NamedTensors& numbers) {
  for (const Port& port : runs_.ports.pushed) {
    if (!port.is_of_step) continue;
    BUDA_ASSIGN(auto entries, entries_of(port, numbers.at(port.tensor->name)));
    if (auto pushed = device_->push(port.queue->name, entries); !pushed)
      return in_context(cat("input '", port.tensor->name, "'"), std::move(pushed).failure());
  }
  if (runs_.optimizer) {
    BUDA_TRY(run_programs(*runs_.optimizer, 1, false));
    slot_ = 1 - slot_;
  }
  for (const auto& segment : model_.plan.segments) {
    if (segment.kind != host_plan::SegmentKind::host || segment.phase != host_plan::SegmentPhase::optimizer) continue;
    const graph::Graph& graph = *model_.host_graphs.at(segment.file);
    Batch step;
    step.values = host_states_;
    for (const auto& [name, value] : numbers) step.values.emplace(name, value);
    for (const auto& [name, sum] : sums_) step.values.emplace(name, sum.cast(graph.node(graph.find(name)).outputs[0].dtype));
    BUDA_TRY(run_on_host(graph, step));
    for (const StatePort& state : runs_.ports.states)
      host_states_.insert_or_assign(state.input.tensor->name, step.outputs.at(state.output.tensor->name));
  }
  return success();
}

// Batches of zeros, which fill up a turn, would have gradients.
Result<void> Session::check_turns() const {
  if (batches_.count % runs_.per_turn == 0) return success();
  return input_error("RT092", {},
                     cat("a step of ", batches_.count, batches_.count == 1 ? " batch" : " batches", ", and the programs take ",
                         runs_.per_turn, " at a time (--microbatch): give a multiple of ", runs_.per_turn));
}

// Before the first step, and where the user gives another value than what there is.
Result<void> Session::enter_states(const NamedTensors& inputs) {
  for (const StatePort& state : runs_.ports.states) {
    const host_plan::PlanTensor& t = *state.input.tensor;
    if (has_states_ && !inputs.contains(t.name)) continue;
    BUDA_ASSIGN(Tensor value, first_state(state, inputs, host_));
    if (state.input.queue == nullptr) {
      host_states_.insert_or_assign(t.name, std::move(value));
      continue;
    }
    BUDA_ASSIGN(Tensor entries, entries_of(state.input, value));
    // The program has a pointer of its own to what it will read next, so that nothing can be popped from before it.
    const bool is_written = has_states_ || state.input.queue->kind == netlist::QueueKind::ram;
    if (auto done = is_written ? device_->write(t.queue, slot_, entries) : device_->push(t.queue, entries); !done)
      return in_context(cat("input '", t.name, "'"), std::move(done).failure());
  }
  has_states_ = true;
  return success();
}

// By output.
Result<NamedTensors> Session::states() {
  NamedTensors out;
  if (!has_states_) return out;
  for (const StatePort& state : runs_.ports.states) {
    const host_plan::PlanTensor& t = *state.output.tensor;
    if (state.input.queue == nullptr) {
      out.emplace(t.name, host_states_.at(state.input.tensor->name));
    } else if (!out.contains(t.name)) {
      BUDA_ASSIGN(Tensor entries, device_->read(t.queue, slot_, runs_.ports.microbatch));
      BUDA_ASSIGN(Tensor value, value_of(state.output, entries));
      out.emplace(t.name, std::move(value));
    }
  }
  return out;
}

Result<Session::Batch> Session::first_values(const NamedTensors& inputs, std::int64_t number) const {
  Batch batch;
  batch.values = host_states_;
  for (const auto& [name, whole] : inputs) {
    Tensor rows = whole;
    if (batches_.rows != 0) {
      BUDA_ASSIGN(rows, rows_of(whole, number * batches_.batch, batches_.batch));
    }
    batch.values.emplace(name, std::move(rows));
  }
  return batch;
}

Result<void> Session::run_on_host(const graph::Graph& graph, Batch& batch) {
  NamedTensors inputs;
  for (auto id : graph.inputs()) inputs.emplace(graph.node(id).name(), batch.values.at(graph.node(id).name()));
  ops::EvaluateOptions options;
  options.threads = host_.threads;
  BUDA_ASSIGN(auto results, ops::evaluate_graph(graph, inputs, options));
  const auto& outputs = model_.plan.outputs;
  for (auto& [name, tensor] : results) {
    bool of_model = std::any_of(outputs.begin(), outputs.end(), [&n = name](const auto& t) { return t.queue.empty() && t.name == n; });
    (of_model ? batch.outputs : batch.values).insert_or_assign(name, std::move(tensor));
  }
  return success();
}

Result<void> Session::run_on_device(std::size_t segment, std::vector<Batch>& batches, bool is_first) {
  BUDA_TRY(push(segment, batches));
  BUDA_TRY(run_programs(segment, ceil_div(static_cast<std::int64_t>(batches.size()), runs_.per_turn), is_first));
  return pop(segment, batches);
}

// The last turn is filled up with batches of zeros.
Result<void> Session::push(std::size_t segment, const std::vector<Batch>& batches) {
  const std::int64_t idle = align_up(static_cast<std::int64_t>(batches.size()), runs_.per_turn) - static_cast<std::int64_t>(batches.size());
  for (const Port& port : runs_.ports.pushed) {
    if (port.segment != segment || port.is_of_step) continue;
    std::vector<Tensor> queued;
    for (const Batch& batch : batches) {
      BUDA_ASSIGN(auto tensor, entries_of(port, batch.values.at(port.tensor->name)));
      queued.push_back(std::move(tensor));
    }
    for (std::int64_t i = 0; i < idle; ++i) {
      BUDA_ASSIGN(auto zeros, Tensor::zeros(queued.front().dtype(), queued.front().shape()));
      queued.push_back(std::move(zeros));
    }
    BUDA_ASSIGN(auto entries, joined(queued));
    if (auto pushed = device_->push(port.queue->name, entries); !pushed)
      return in_context(cat("input '", port.tensor->name, "'"), std::move(pushed).failure());
  }
  return success();
}

// Those of a step's first batches begin its sums.
Result<void> Session::run_programs(std::size_t segment, std::int64_t turns, bool is_first) {
  const std::map<std::string, std::int64_t> all = {{kLoopCount, turns},
                                                   {host_plan::kStateSlot, slot_},
                                                   {host_plan::kNextStateSlot, 1 - slot_},
                                                   {host_plan::kZeroGradients, is_first ? 1 : 0}};
  for (const auto& program : runs_.programs[segment]) {
    Parameters parameters;
    for (const std::string& name : program.parameters) parameters[name] = all.at(name);
    BUDA_TRY(device_->run(program.name, parameters));
  }
  return success();
}

Result<void> Session::pop(std::size_t segment, std::vector<Batch>& batches) {
  const auto count = static_cast<std::int64_t>(batches.size());
  for (const Port& port : runs_.ports.popped) {
    if (port.segment != segment) continue;
    auto popped = device_->pop(port.queue->name, align_up(count, runs_.per_turn) * runs_.ports.microbatch);
    if (!popped) return in_context(cat("output '", port.tensor->name, "'"), std::move(popped).failure());
    const bool of_model =
        std::any_of(runs_.ports.outputs.begin(), runs_.ports.outputs.end(), [&](const Port& o) { return o.tensor == port.tensor; });
    for (std::int64_t b = 0; b < count; ++b) {
      BUDA_ASSIGN(auto entries, rows_of(*popped, b * runs_.ports.microbatch, runs_.ports.microbatch));
      BUDA_ASSIGN(auto tensor, value_of(port, entries));
      Batch& batch = batches[static_cast<std::size_t>(b)];
      (of_model ? batch.outputs : batch.values).insert_or_assign(port.tensor->name, std::move(tensor));
    }
  }
  return success();
}

}  // namespace buda::runtime
