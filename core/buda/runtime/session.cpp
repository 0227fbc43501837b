// Push, run, pop.
#include <buda/runtime/session.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/image/device_match.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/runtime/model_ports.hpp>
#include <buda/runtime/open_device.hpp>
#include <buda/runtime/port_values.hpp>
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

// Everything that can be checked without a device.
Result<std::unique_ptr<Session>> Session::prepare(Model model, Host& host) {
  std::unique_ptr<Session> session(new Session(std::move(model), host));
  BUDA_ASSIGN(session->ports_, ports_of(session->model_));
  BUDA_TRY(session->check_host_graphs());
  if (session->model_.uses_device()) BUDA_TRY(session->find_programs());
  return session;
}

Result<std::unique_ptr<Session>> Session::open(Model model, Target& target, const device::DeviceDescriptor& descriptor, Host& host) {
  if (model.device) BUDA_TRY(image::check_same_device(*model.device, descriptor, model.path));
  BUDA_ASSIGN(auto session, prepare(std::move(model), host));
  if (!session->model_.uses_device()) return session;
  BUDA_ASSIGN(session->device_, open_device(session->model_, target, descriptor, host));
  BUDA_TRY(push_parameters(session->model_, *session->device_, host));
  return session;
}

Result<std::unique_ptr<Session>> Session::open_on(Model model, std::shared_ptr<Device> device, Host& host) {
  BUDA_ASSIGN(auto session, prepare(std::move(model), host));
  if (!session->model_.uses_device()) return session;
  session->device_ = std::move(device);
  BUDA_TRY(push_parameters(session->model_, *session->device_, host));
  return session;
}

// What a graph takes must be there when its turn comes, in the type that it takes; at the end all outputs must be.
Result<void> Session::check_host_graphs() const {
  Failure failure;
  const host_plan::HostPlan& plan = model_.plan;
  std::map<std::string, std::string> there;  // types by name
  std::set<std::string> outputs, given;
  auto type_text = [](const host_plan::PlanTensor& t) { return cat(t.dtype, ' ', Shape(t.shape).text()); };
  for (const auto& t : plan.inputs) there.emplace(t.name, type_text(t));
  for (const auto& t : plan.outputs) (t.queue.empty() ? outputs : given).insert(t.name);
  for (const auto& segment : plan.segments) {
    for (const auto& t : segment.inputs)
      if (auto it = there.find(t.name); it == there.end() || it->second != type_text(t))
        failure.add(input_error("RT016", {},
                                cat("the device takes '", t.name, "' (", type_text(t), "), which ",
                                    it == there.end() ? "no earlier segment provides" : cat("is ", it->second, " there"))));
    for (const auto& t : segment.outputs) there.emplace(t.name, type_text(t));
    if (segment.kind != host_plan::SegmentKind::host) continue;
    auto found = model_.host_graphs.find(segment.file);
    if (found == model_.host_graphs.end()) return internal_error(cat("the graph '", segment.file, "' was not loaded"));
    const graph::Graph& graph = *found->second;
    for (auto id : graph.inputs()) {
      const graph::Node& n = graph.node(id);
      auto it = there.find(n.name());
      const std::string wanted = cat(dtype_name(n.outputs[0].dtype), ' ', n.outputs[0].shape.text());
      if (it != there.end() && it->second == wanted) continue;
      failure.add(input_error("RT016", {segment.file},
                              cat("the graph takes '", n.name(), "' (", wanted, "), which ",
                                  it == there.end() ? "no earlier segment provides" : cat("is ", it->second, " there"))));
    }
    for (auto id : graph.outputs()) {
      const graph::Node& n = graph.node(id);
      const graph::ValueType& type = *graph.type(n.inputs()[0].source);
      if (outputs.contains(n.name())) {
        given.insert(n.name());
      } else {
        there.emplace(n.name(), cat(dtype_name(type.dtype), ' ', type.shape.text()));
      }
    }
  }
  for (const auto& name : outputs)
    if (!given.contains(name)) failure.add(input_error("RT016", {}, cat("no segment of the plan provides output '", name, "'")));
  if (!failure.empty()) return failure;
  return success();
}

Result<void> Session::find_programs() {
  const auto& netlist = model_.program.netlist;
  for (const auto& segment : model_.plan.segments) {
    if (segment.kind != host_plan::SegmentKind::device) continue;
    std::vector<RunProgram>& programs = programs_.emplace_back();
    for (const auto& name : segment.programs) {
      auto program = std::find_if(netlist.programs.begin(), netlist.programs.end(), [&](const auto& p) { return p.name == name; });
      if (program == netlist.programs.end())
        return input_error("RT015", {netlist.file}, cat("the plan runs program '", name, "', which the netlist does not have"));
      RunProgram run{name, false};
      for (const auto& instruction : program->instructions) {
        const auto* param = std::get_if<netlist::instruction::Param>(&instruction.what);
        if (param == nullptr) continue;
        for (const auto& p : param->names) {
          if (p != kLoopCount)
            return input_error("RT015", {netlist.file},
                               cat("program '", name, "' has the parameter '", p, "'; a model's programs may have ", kLoopCount, " only"));
          run.loops = true;
        }
      }
      programs.push_back(std::move(run));
    }
    if (programs.empty()) return input_error("RT015", {netlist.file}, "the plan names no programs: nothing runs");
  }
  // Several programs of a segment hand their results on through queues of one batch's size; from segment to segment the host does.
  for (const auto& segment : model_.plan.segments) per_turn_ = std::max(per_turn_, segment.batches);
  const bool loop = std::all_of(programs_.begin(), programs_.end(), [](const auto& all) { return all.size() == 1 && all.front().loops; });
  most_at_once_ = loop ? std::max<std::int64_t>(ports_.room, 1) : 1;
  if (most_at_once_ < per_turn_)
    return input_error(
        "RT015", {netlist.file},
        cat("an iteration of the programs' loop processes ", per_turn_, " batches; the model's queues hold ", most_at_once_));
  most_at_once_ = most_at_once_ / per_turn_ * per_turn_;
  return success();
}

Result<NamedTensors> Session::run(const NamedTensors& inputs) {
  BUDA_ASSIGN(NamedTensors out, step(inputs));
  BUDA_ASSIGN(NamedTensors after, states());
  out.merge(after);
  return out;
}

Result<NamedTensors> Session::step(const NamedTensors& inputs) {
  BUDA_ASSIGN(batches_, plan_batches(ports_, inputs));
  NamedTensors given;
  for (const auto& port : ports_.inputs) {
    if (!ports_.must_be_given(port.tensor->name)) continue;
    BUDA_ASSIGN(auto tensor, with_dtype(port, inputs.at(port.tensor->name)));
    given.emplace(port.tensor->name, std::move(tensor));
  }
  BUDA_TRY(enter_states(inputs));
  std::vector<std::vector<Tensor>> outputs(ports_.outputs.size());
  for (std::int64_t done = 0; done < batches_.count;) {
    host_.progress("running", static_cast<std::size_t>(done), static_cast<std::size_t>(batches_.count));
    const std::int64_t now = std::min(most_at_once_, batches_.count - done);
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
        if (ports_.gives_state(ports_.outputs[i].tensor->name)) continue;
        auto it = batch.outputs.find(ports_.outputs[i].tensor->name);
        if (it == batch.outputs.end()) return internal_error(cat("output '", ports_.outputs[i].tensor->name, "' was not computed"));
        outputs[i].push_back(std::move(it->second));
      }
    // Where the host computes states, `now` is 1.
    for (const StatePort& state : ports_.states)
      if (state.input.queue == nullptr)
        host_states_.insert_or_assign(state.input.tensor->name, batches.front().outputs.at(state.output.tensor->name));
    done += now;
  }
  NamedTensors out;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].empty()) continue;
    if (batches_.rows == 0) {
      out.emplace(ports_.outputs[i].tensor->name, std::move(outputs[i].front()));
    } else {
      BUDA_ASSIGN(auto whole, joined(outputs[i], batches_.rows));
      out.emplace(ports_.outputs[i].tensor->name, std::move(whole));
    }
  }
  return out;
}

// Before the first step, and where the user gives another value than what there is.
Result<void> Session::enter_states(const NamedTensors& inputs) {
  for (const StatePort& state : ports_.states) {
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
  for (const StatePort& state : ports_.states) {
    const host_plan::PlanTensor& t = *state.output.tensor;
    if (state.input.queue == nullptr) {
      out.emplace(t.name, host_states_.at(state.input.tensor->name));
    } else if (!out.contains(t.name)) {
      BUDA_ASSIGN(Tensor entries, device_->read(t.queue, 0, ports_.microbatch));
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
  BUDA_TRY(run_programs(segment, ceil_div(static_cast<std::int64_t>(batches.size()), per_turn_)));
  return pop(segment, batches);
}

// The last turn is filled up with batches of zeros.
Result<void> Session::push(std::size_t segment, const std::vector<Batch>& batches) {
  const std::int64_t idle = align_up(static_cast<std::int64_t>(batches.size()), per_turn_) - static_cast<std::int64_t>(batches.size());
  for (const Port& port : ports_.pushed) {
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
  for (const auto& program : programs_[segment]) {
    Parameters parameters;
    if (program.loops) parameters[kLoopCount] = turns;
    BUDA_TRY(device_->run(program.name, parameters));
  }
  return success();
}

Result<void> Session::pop(std::size_t segment, std::vector<Batch>& batches) {
  const auto count = static_cast<std::int64_t>(batches.size());
  for (const Port& port : ports_.popped) {
    if (port.segment != segment) continue;
    auto popped = device_->pop(port.queue->name, align_up(count, per_turn_) * ports_.microbatch);
    if (!popped) return in_context(cat("output '", port.tensor->name, "'"), std::move(popped).failure());
    const bool of_model = std::any_of(ports_.outputs.begin(), ports_.outputs.end(), [&](const Port& o) { return o.tensor == port.tensor; });
    for (std::int64_t b = 0; b < count; ++b) {
      BUDA_ASSIGN(auto entries, rows_of(*popped, b * ports_.microbatch, ports_.microbatch));
      BUDA_ASSIGN(auto tensor, value_of(port, entries));
      Batch& batch = batches[static_cast<std::size_t>(b)];
      (of_model ? batch.outputs : batch.values).insert_or_assign(port.tensor->name, std::move(tensor));
    }
  }
  return success();
}

}  // namespace buda::runtime
