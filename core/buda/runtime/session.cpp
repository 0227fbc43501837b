// Push, run, pop.
#include <buda/runtime/session.hpp>

#include <buda/base/text.hpp>
#include <buda/ops/device_layout.hpp>

#include <algorithm>

namespace buda::runtime {
namespace {

Failure in_context(const std::string& what, Failure failure) {
  for (auto& d : failure.diagnostics()) d.message = cat(what, ": ", d.message);
  return failure;
}

}  // namespace

Result<std::unique_ptr<Session>> Session::open(Model model, Target& target, const device::DeviceDescriptor& descriptor, Host& host) {
  std::unique_ptr<Session> session(new Session(std::move(model), host));
  BUDA_ASSIGN(session->ports_, bind_ports(session->model_.plan, session->model_.program.netlist, session->model_.parameters));
  BUDA_TRY(session->find_programs());
  BUDA_ASSIGN(session->device_, target.open(session->model_.program, descriptor, host));
  BUDA_TRY(session->push_parameters());
  return session;
}

Result<void> Session::find_programs() {
  const auto& netlist = model_.program.netlist;
  for (const auto& segment : model_.plan.segments) {
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
      programs_.push_back(std::move(run));
    }
  }
  if (programs_.empty()) return input_error("RT015", {netlist.file}, "the plan names no programs: nothing runs");
  // Several programs hand their results on through queues of one batch's size.
  most_at_once_ = programs_.size() == 1 && programs_.front().loops ? std::max<std::int64_t>(ports_.room, 1) : 1;
  return success();
}

Result<void> Session::push_parameters() {
  const auto& queues = model_.program.netlist.queues;
  std::size_t done = 0;
  for (const auto& [name, tensor] : model_.parameters) {
    host_.progress("loading parameters", done++, model_.parameters.size());
    auto queue = std::find_if(queues.begin(), queues.end(), [&n = name](const auto& q) { return q.name == n; });
    if (queue == queues.end()) return internal_error("a parameter's queue is gone");
    BUDA_TRY(queue->kind == netlist::QueueKind::ram ? device_->write(name, 0, tensor) : device_->push(name, tensor));
  }
  // The device has them now.
  model_.parameters.clear();
  return success();
}

Result<NamedTensors> Session::run(const NamedTensors& inputs) {
  BUDA_ASSIGN(batches_, plan_batches(ports_, inputs));
  std::vector<Tensor> given;
  for (const auto& port : ports_.inputs) {
    BUDA_ASSIGN(auto tensor, with_dtype(port, inputs.at(port.tensor->name)));
    given.push_back(std::move(tensor));
  }
  std::vector<std::vector<Tensor>> outputs(ports_.outputs.size());
  for (std::int64_t done = 0; done < batches_.count;) {
    host_.progress("running", static_cast<std::size_t>(done), static_cast<std::size_t>(batches_.count));
    const std::int64_t now = std::min(most_at_once_, batches_.count - done);
    BUDA_TRY(push(given, done, now));
    BUDA_TRY(run_programs(now));
    BUDA_TRY(pop(now, outputs));
    done += now;
  }
  NamedTensors out;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (batches_.rows == 0) {
      out.emplace(ports_.outputs[i].tensor->name, std::move(outputs[i].front()));
    } else {
      BUDA_ASSIGN(auto whole, joined(outputs[i], batches_.rows));
      out.emplace(ports_.outputs[i].tensor->name, std::move(whole));
    }
  }
  return out;
}

Result<void> Session::push(const std::vector<Tensor>& inputs, std::int64_t first, std::int64_t batches) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Port& port = ports_.inputs[i];
    std::vector<Tensor> queued;
    for (std::int64_t b = first; b < first + batches; ++b) {
      Tensor batch = inputs[i];
      if (batches_.rows != 0) {
        BUDA_ASSIGN(batch, rows_of(inputs[i], b * batches_.batch, batches_.batch));
      }
      BUDA_ASSIGN(auto tensor, netlist::apply_transforms(batch, port.tensor->transforms));
      queued.push_back(std::move(tensor));
    }
    BUDA_ASSIGN(auto entries, joined(queued));
    if (auto pushed = device_->push(port.queue->name, entries); !pushed)
      return in_context(cat("input '", port.tensor->name, "'"), std::move(pushed).failure());
  }
  return success();
}

Result<void> Session::run_programs(std::int64_t batches) {
  for (const auto& program : programs_) {
    std::map<std::string, std::int64_t> parameters;
    if (program.loops) parameters[kLoopCount] = batches;
    BUDA_TRY(device_->run(program.name, parameters));
  }
  return success();
}

Result<void> Session::pop(std::int64_t batches, std::vector<std::vector<Tensor>>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Port& port = ports_.outputs[i];
    auto popped = device_->pop(port.queue->name, batches * ports_.microbatch);
    if (!popped) return in_context(cat("output '", port.tensor->name, "'"), std::move(popped).failure());
    for (std::int64_t b = 0; b < batches; ++b) {
      BUDA_ASSIGN(auto entries, rows_of(*popped, b * ports_.microbatch, ports_.microbatch));
      BUDA_ASSIGN(auto tensor, netlist::apply_transforms(entries, port.tensor->transforms));
      outputs[i].push_back(ops::in_model_type(tensor, port.dtype));
    }
  }
  return success();
}

}  // namespace buda::runtime
