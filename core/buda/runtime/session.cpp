// Push, run, pop.
#include <buda/runtime/session.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/image/device_match.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/runtime/open_device.hpp>
#include <buda/runtime/port_values.hpp>
#include <buda/runtime/special_inputs.hpp>
#include <buda/runtime/state.hpp>
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

Result<NamedTensors> Session::step(const NamedTensors& inputs) {
  BUDA_ASSIGN(batches_, plan_batches(runs_.ports, inputs));
  NamedTensors given;
  for (const auto& port : runs_.ports.inputs) {
    if (!runs_.ports.must_be_given(port.tensor->name)) continue;
    BUDA_ASSIGN(auto tensor, with_dtype(port, inputs.at(port.tensor->name)));
    given.emplace(port.tensor->name, std::move(tensor));
  }
  for (const Diagnostic& d : special_inputs(runs_.ports, given))
    if (told_special_.insert(d.node).second) host_.report(d);
  BUDA_TRY(enter_states(inputs));
  std::vector<std::vector<Tensor>> outputs(runs_.ports.outputs.size());
  for (std::int64_t done = 0; done < batches_.count;) {
    host_.progress("running", static_cast<std::size_t>(done), static_cast<std::size_t>(batches_.count));
    const std::int64_t now = std::min(runs_.max_at_once, batches_.count - done);
    std::vector<Batch> batches;
    for (std::int64_t b = done; b < done + now; ++b) {
      BUDA_ASSIGN(auto batch, first_values(given, b));
      batches.push_back(std::move(batch));
    }
    std::size_t device_segment = 0;
    for (const auto& segment : model_.plan.segments) {
      if (segment.kind == host_plan::SegmentKind::device) {
        BUDA_TRY(run_on_device(device_segment++, batches));
      } else {
        for (Batch& batch : batches) BUDA_TRY(run_on_host(*model_.host_graphs.at(segment.file), batch));
      }
    }
    for (Batch& batch : batches)
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (runs_.ports.gives_state(runs_.ports.outputs[i].tensor->name)) continue;
        auto it = batch.outputs.find(runs_.ports.outputs[i].tensor->name);
        if (it == batch.outputs.end()) return internal_error(cat("output '", runs_.ports.outputs[i].tensor->name, "' was not computed"));
        outputs[i].push_back(std::move(it->second));
      }
    // Where the host computes states, `now` is 1.
    for (const StatePort& state : runs_.ports.states)
      if (state.input.queue == nullptr)
        host_states_.insert_or_assign(state.input.tensor->name, batches.front().outputs.at(state.output.tensor->name));
    done += now;
  }
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
    if (auto done = has_states_ ? device_->write(t.queue, 0, entries) : device_->push(t.queue, entries); !done)
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
      BUDA_ASSIGN(Tensor entries, device_->read(t.queue, 0, runs_.ports.microbatch));
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

Result<void> Session::run_on_device(std::size_t segment, std::vector<Batch>& batches) {
  BUDA_TRY(push(segment, batches));
  BUDA_TRY(run_programs(segment, ceil_div(static_cast<std::int64_t>(batches.size()), runs_.per_turn)));
  return pop(segment, batches);
}

// The last turn is filled up with batches of zeros.
Result<void> Session::push(std::size_t segment, const std::vector<Batch>& batches) {
  const std::int64_t idle = align_up(static_cast<std::int64_t>(batches.size()), runs_.per_turn) - static_cast<std::int64_t>(batches.size());
  for (const Port& port : runs_.ports.pushed) {
    if (port.segment != segment) continue;
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

Result<void> Session::run_programs(std::size_t segment, std::int64_t turns) {
  for (const auto& program : runs_.programs[segment]) {
    Parameters parameters;
    if (program.loops) parameters[kLoopCount] = turns;
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
