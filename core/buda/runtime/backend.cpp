// SPDX-License-Identifier: Apache-2.0
// Ports and queues over a worker.
#include <buda/runtime/backend.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/device/load.hpp>
#include <buda/image/device_match.hpp>
#include <buda/netlist/check/require_rules.hpp>
#include <buda/runtime/backend/backend_timeouts.hpp>
#include <buda/runtime/backend/device_worker.hpp>
#include <buda/runtime/backend/host_values.hpp>
#include <buda/runtime/backend/turn.hpp>
#include <buda/runtime/batches.hpp>
#include <buda/runtime/device/open_device.hpp>
#include <buda/runtime/inputs/fixed_inputs.hpp>
#include <buda/runtime/inputs/input_ranges.hpp>
#include <buda/runtime/inputs/port_values.hpp>
#include <buda/runtime/inputs/state.hpp>
#include <buda/runtime/model/model_ports.hpp>
#include <buda/runtime/programs/queue_users.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace buda::runtime {

struct Backend::Parts {
  MergedModel image;
  std::vector<LoadedModel> models;
  QueueUsers users;
  std::map<std::string, const netlist::Queue*> queues;
  std::unique_ptr<DeviceWorker> worker;
  HostValues on_host;
  Host* host = nullptr;

  Result<const netlist::Queue*> queue(const std::string& name, netlist::QueueKind kind) const;
  bool keeps(const netlist::Queue& queue) const;
  const StatePort* host_state(const Port& port) const;
  Result<void> push(const std::string& what, const netlist::Queue& queue, const Tensor& entries, Timeout timeout);
  Result<Tensor> take(const std::string& what, const netlist::Queue& queue, std::int64_t entries, bool pops, Timeout timeout);
  Result<Tensor> of_host(const Port& output, bool pops, Timeout timeout);
};

namespace {

using netlist::Queue;
using netlist::QueueKind;

Diagnostic unknown(const char* code, std::string message, const std::string& name, const std::vector<std::string>& known) {
  Diagnostic d = input_error(code, {}, std::move(message));
  if (auto near = nearest_word(name, known)) d.hint = cat("did you mean '", *near, "'?");
  return d;
}

Result<LoadedModel> bound(const Model& model) {
  LoadedModel out;
  out.name = model.plan.model;
  BUDA_ASSIGN(out.ports, ports_of(model));
  for (const auto& segment : model.plan.segments) {
    out.programs.insert(out.programs.end(), segment.programs.begin(), segment.programs.end());
    out.batches_per_turn = std::max(out.batches_per_turn, segment.batches);
    out.has_host_segments = out.has_host_segments || segment.kind == host_plan::SegmentKind::host;
  }
  return out;
}

// Every program gives way to the host with each entry of the first output that it fills.
std::map<std::string, std::string> slices_of(const netlist::Netlist& netlist, const std::vector<LoadedModel>& models,
                                             const QueueUsers& users) {
  std::map<std::string, std::string> out;
  for (const auto& program : netlist.programs)
    for (const LoadedModel& model : models)
      for (const Port& port : model.ports.popped)
        if (users.writes(program.name, port.queue->name)) out.emplace(program.name, port.queue->name);
  return out;
}

// States begin with zeros.
Result<void> enter_states(const LoadedModel& model, Device& device, HostValues& on_host, Host& host) {
  for (const StatePort& state : model.ports.states) {
    BUDA_ASSIGN(Tensor zeros, first_state(state, {}, host));
    if (state.input.queue == nullptr) {
      on_host.set(*state.input.tensor, std::move(zeros));
      continue;
    }
    BUDA_ASSIGN(Tensor entries, entries_of(state.input, zeros));
    BUDA_TRY(device.push(state.input.queue->name, entries));
  }
  return success();
}

Result<const Port*> port_named(const std::string& what, const std::string& name, const std::vector<const std::vector<Port>*>& lists) {
  std::vector<std::string> known;
  for (const auto* list : lists)
    for (const Port& port : *list) {
      if (port.tensor->name == name) return &port;
      known.push_back(port.tensor->name);
    }
  return unknown("RT020", cat("the model has no ", what, " '", name, "'; it has ", join(known, ", ")), name, known);
}

std::int64_t room_of(Device& device, const Queue& queue, std::int64_t waiting) {
  return device.room(queue.name).value_or(queue.entries - waiting);
}

}  // namespace

Result<const Queue*> Backend::Parts::queue(const std::string& name, QueueKind kind) const {
  auto it = queues.find(name);
  const char* wanted = kind == QueueKind::ram ? "ram" : "queue";
  if (it != queues.end() && it->second->kind == kind) return it->second;
  if (it != queues.end())
    return input_error("RT054", {}, cat("'", name, "' is a ", kind == QueueKind::ram ? "queue" : "ram", ", not a ", wanted));
  std::vector<std::string> known;
  for (const auto& [other, queue] : queues)
    if (queue->kind == kind) known.push_back(other);
  return unknown("RT054", cat("the image has no ", wanted, " '", name, "'"), name, known);
}

// A state: what a step leaves there, the next one reads.
bool Backend::Parts::keeps(const Queue& queue) const {
  auto is_kept = [&](const StatePort& state) { return state.input.queue != nullptr && state.input.queue->name == queue.name; };
  return std::any_of(models.begin(), models.end(),
                     [&](const LoadedModel& model) { return std::any_of(model.ports.states.begin(), model.ports.states.end(), is_kept); });
}

// The state that an input or output is of, where the host keeps it.
const StatePort* Backend::Parts::host_state(const Port& port) const {
  for (const LoadedModel& model : models)
    for (const StatePort& state : model.ports.states)
      if (state.input.queue == nullptr && (state.input.tensor == port.tensor || state.output.tensor == port.tensor)) return &state;
  return nullptr;
}

Result<void> Backend::Parts::push(const std::string& what, const Queue& queue, const Tensor& entries, Timeout timeout) {
  QueueWait wait{what, queue, entries.shape()[0]};
  if (wait.entries > queue.entries)
    return input_error("RT053", {},
                       cat(what, wait.entries, " entries are pushed into queue '", queue.name, "', which has ", queue.entries));
  auto try_push = [&](Device& device) -> Result<bool> {
    BUDA_ASSIGN(std::int64_t waiting, device.waiting(queue.name));
    wait.there = room_of(device, queue, waiting);
    if (wait.there < wait.entries) return false;
    BUDA_TRY(device.push(queue.name, entries));
    return true;
  };
  BUDA_ASSIGN(bool pushed, worker->attempt(timeout, try_push));
  if (!pushed) return push_timed_out(wait, worker->status(), users);
  return success();
}

Result<Tensor> Backend::Parts::take(const std::string& what, const Queue& queue, std::int64_t entries, bool pops, Timeout timeout) {
  QueueWait wait{what, queue, entries};
  if (entries < 1 || entries > queue.entries)
    return input_error("RT053", {}, cat(what, entries, " entries are asked for of queue '", queue.name, "', which has ", queue.entries));
  Tensor out;
  auto try_take = [&](Device& device) -> Result<bool> {
    BUDA_ASSIGN(wait.there, device.waiting(queue.name));
    if (wait.there < entries) return false;
    auto taken = pops ? device.pop(queue.name, entries) : device.read(queue.name, 0, entries);
    if (!taken) return std::move(taken).failure();
    out = std::move(*taken);
    return true;
  };
  BUDA_ASSIGN(bool taken, worker->attempt(timeout, try_take));
  if (!taken) return pop_timed_out(wait, worker->status(), users);
  return out;
}

Result<Tensor> Backend::Parts::of_host(const Port& output, bool pops, Timeout timeout) {
  auto batch = on_host.get(*output.tensor, pops, timeout);
  if (!batch) return host_timed_out("output", output);
  return std::move(*batch);
}

Backend::Backend() : parts_(std::make_unique<Parts>()) {}
Backend::~Backend() = default;

namespace {

// Who pushes and pops says nothing of zeroed sums and of the slots of states, on which such programs depend.
Result<void> refuse_programs_of_training(const Model& model) {
  if (!host_plan::has_phases(model.plan)) return success();
  Diagnostic d =
      input_error("RT093", {model.path},
                  cat("'", model.plan.model, "' is a training step in programs, which a backend cannot run by pushing and popping"));
  d.hint = "trainer runs it, and runtime::TrainingSession on a Session; autograd --form step makes a step that a backend runs, too";
  return d;
}

}  // namespace

Result<std::unique_ptr<Backend>> Backend::open(MergedModel models, Target& target, const device::DeviceDescriptor& descriptor, Host& host) {
  if (models.whole.device) BUDA_TRY(image::check_same_device(*models.whole.device, descriptor, models.whole.path));
  if (std::none_of(models.models.begin(), models.models.end(), [](const Model& m) { return m.uses_device(); }))
    return input_error("RT055", {models.whole.path}, "the host does all of the model's work: Session::run runs it, without a device");
  for (const Model& model : models.models) BUDA_TRY(refuse_programs_of_training(model));
  std::unique_ptr<Backend> backend(new Backend());
  Parts& parts = *backend->parts_;
  parts.image = std::move(models);
  parts.host = &host;
  const netlist::Netlist& netlist = parts.image.whole.program.netlist;
  BUDA_TRY(netlist::require_rules(netlist, descriptor, host));
  for (const Model& model : parts.image.models) {
    BUDA_ASSIGN(auto loaded, bound(model));
    parts.models.push_back(std::move(loaded));
  }
  for (const Queue& queue : netlist.queues) parts.queues.emplace(queue.name, &queue);
  parts.users = users_of_queues(netlist);
  BUDA_ASSIGN(auto device, open_device(parts.image.whole, target, descriptor, host));
  parts.image.whole.parameters.clear();
  for (std::size_t i = 0; i < parts.models.size(); ++i) {
    BUDA_TRY(push_parameters(parts.image.models[i], *device, host));
    BUDA_TRY(enter_states(parts.models[i], *device, parts.on_host, host));
  }
  parts.worker = std::make_unique<DeviceWorker>(std::move(device), slices_of(netlist, parts.models, parts.users));
  return backend;
}

Result<std::unique_ptr<Backend>> Backend::open(const std::string& path, Target& target, Host& host) {
  BUDA_ASSIGN(MergedModel models, load_models(host, path));
  std::optional<device::DeviceDescriptor> device = models.whole.device;
  if (!device) {
    const std::string& name = models.models.front().plan.device;
    BUDA_ASSIGN(device, device::load_device(host, name));
  }
  const device::DeviceDescriptor descriptor = std::move(*device);
  return open(std::move(models), target, descriptor, host);
}

std::int64_t LoadedModel::turns_for_rows(std::int64_t rows) const {
  const bool has_rows = !ports.inputs.empty() && ports.inputs.front().shape.rank() > 0;
  return ceil_div(rows, (has_rows ? ports.inputs.front().shape[0] : 1) * batches_per_turn);
}

const std::vector<LoadedModel>& Backend::models() const { return parts_->models; }
const netlist::Netlist& Backend::netlist() const { return parts_->image.whole.program.netlist; }

Result<const LoadedModel*> Backend::model(const std::string& name) const {
  std::vector<std::string> known;
  for (const LoadedModel& model : parts_->models) {
    if (model.name == name) return &model;
    known.push_back(model.name);
  }
  return unknown("RT003", cat("the image has no model '", name, "'; it holds ", join(known, ", ")), name, known);
}

Result<const Port*> LoadedModel::input(const std::string& tensor) const {
  return port_named("input", tensor, {&ports.inputs, &ports.pushed});
}

Result<const Port*> LoadedModel::output(const std::string& tensor) const {
  return port_named("output", tensor, {&ports.outputs, &ports.popped});
}

Result<void> Backend::push(const Port& input, const Tensor& batch, Timeout timeout) {
  const std::string what = cat("input '", input.tensor->name, "': ");
  if (batch.shape() != input.shape)
    return input_error("RT021", {}, cat(what, "the batch has the shape ", batch.shape().text(), ", the model's is ", input.shape.text()));
  BUDA_ASSIGN(Tensor typed, with_dtype(input, batch));
  BUDA_TRY(check_fixed_input(input, typed));
  BUDA_TRY(check_input_range(input, typed));
  if (!input.is_read) return success();
  if (input.queue == nullptr) {
    if (parts_->host_state(input) != nullptr) {
      parts_->on_host.set(*input.tensor, std::move(typed));
    } else {
      parts_->on_host.put(*input.tensor, std::move(typed));
    }
    return success();
  }
  BUDA_ASSIGN(Tensor entries, entries_of(input, typed));
  if (!parts_->keeps(*input.queue)) return parts_->push(what, *input.queue, entries, timeout);
  auto write = [&](Device& device) -> Result<bool> {
    BUDA_TRY(device.write(input.queue->name, 0, entries));
    return true;
  };
  BUDA_ASSIGN(bool written, parts_->worker->attempt(timeout, write));
  if (!written) return program_timed_out(status());
  return success();
}

Result<Tensor> Backend::pop(const Port& output, Timeout timeout) {
  if (parts_->host_state(output) != nullptr || (output.queue != nullptr && parts_->keeps(*output.queue)))
    return input_error("RT056", {}, cat("output '", output.tensor->name, "' is what the next step begins with, and stays: get() tells it"));
  if (output.queue == nullptr) return parts_->of_host(output, true, timeout);
  BUDA_ASSIGN(Tensor entries, parts_->take(cat("output '", output.tensor->name, "': "), *output.queue, output.queued[0], true, timeout));
  return value_of(output, entries);
}

Result<Tensor> Backend::get(const Port& output, Timeout timeout) {
  if (const StatePort* state = parts_->host_state(output)) return parts_->of_host(state->input, false, timeout);
  if (output.queue == nullptr) return parts_->of_host(output, false, timeout);
  BUDA_ASSIGN(Tensor entries, parts_->take(cat("output '", output.tensor->name, "': "), *output.queue, output.queued[0], false, timeout));
  return value_of(output, entries);
}

Result<void> Backend::push_entries(const std::string& queue, const Tensor& entries, Timeout timeout) {
  BUDA_ASSIGN(const Queue* found, parts_->queue(queue, QueueKind::queue));
  const Shape entry = entry_shape(*found);
  const Shape& given = entries.shape();
  if (given.rank() != 4 || given[0] < 1 || !std::equal(entry.begin(), entry.end(), given.begin() + 1))
    return input_error(
        "RT011", {}, cat("entries of the shape ", given.text(), " are pushed into queue '", queue, "', whose entries are ", entry.text()));
  return parts_->push("", *found, entries, timeout);
}

Result<Tensor> Backend::pop_entries(const std::string& queue, std::int64_t entries, Timeout timeout) {
  BUDA_ASSIGN(const Queue* found, parts_->queue(queue, QueueKind::queue));
  return parts_->take("", *found, entries, true, timeout);
}

Result<QueueState> Backend::queue_state(const std::string& queue) {
  BUDA_ASSIGN(const Queue* found, parts_->queue(queue, QueueKind::queue));
  QueueState state{found->entries};
  auto look = [&](Device& device) -> Result<bool> {
    BUDA_ASSIGN(state.waiting, device.waiting(queue));
    state.room = room_of(device, *found, state.waiting);
    return true;
  };
  BUDA_ASSIGN(bool seen, parts_->worker->attempt({}, look));
  if (!seen) return program_timed_out(status());
  return state;
}

Result<Tensor> Backend::read(const std::string& ram, std::int64_t slot, std::int64_t slots) {
  BUDA_TRY(parts_->queue(ram, QueueKind::ram));
  Tensor out;
  auto look = [&](Device& device) -> Result<bool> {
    BUDA_ASSIGN(out, device.read(ram, slot, slots));
    return true;
  };
  BUDA_ASSIGN(bool seen, parts_->worker->attempt({}, look));
  if (!seen) return program_timed_out(status());
  return out;
}

Result<void> Backend::write(const std::string& ram, std::int64_t slot, const Tensor& values) {
  BUDA_TRY(parts_->queue(ram, QueueKind::ram));
  auto write = [&](Device& device) -> Result<bool> {
    BUDA_TRY(device.write(ram, slot, values));
    return true;
  };
  BUDA_ASSIGN(bool written, parts_->worker->attempt({}, write));
  if (!written) return program_timed_out(status());
  return success();
}

Result<void> Backend::start(const std::string& program, const Parameters& parameters) {
  const auto& programs = netlist().programs;
  auto found = std::find_if(programs.begin(), programs.end(), [&](const auto& p) { return p.name == program; });
  if (found == programs.end()) {
    std::vector<std::string> known;
    for (const auto& p : programs) known.push_back(p.name);
    return unknown("RT015", cat("the image has no program '", program, "'; it has ", join(known, ", ")), program, known);
  }
  Parameters given;
  for (const auto& instruction : found->instructions) {
    const auto* param = std::get_if<netlist::instruction::Param>(&instruction.what);
    if (param == nullptr) continue;
    for (const auto& name : param->names) {
      auto value = parameters.find(name);
      if (value == parameters.end()) return input_error("RT023", {}, cat("parameter '", name, "' of program '", program, "' has no value"));
      given.emplace(*value);
    }
  }
  return parts_->worker->start(program, given);
}

Result<void> Backend::wait(Timeout timeout) {
  BUDA_ASSIGN(bool ended, parts_->worker->wait(timeout));
  if (!ended) return program_timed_out(status());
  return success();
}

Result<void> Backend::run(const std::string& program, const Parameters& parameters, Timeout timeout) {
  BUDA_TRY(start(program, parameters));
  return wait(timeout);
}

Result<void> Backend::run_model(const LoadedModel& model, std::int64_t turns, Timeout timeout) {
  const Model& whole = parts_->image.models[static_cast<std::size_t>(&model - parts_->models.data())];
  parts_->on_host.set_computing(true);
  Result<void> done = success();
  for (std::int64_t i = 0; i < turns && done; ++i) {
    done = run_turn(*this, {whole, model}, parts_->on_host, *parts_->host, timeout);
  }
  parts_->on_host.set_computing(false);
  return done;
}

void Backend::cancel() {
  parts_->on_host.cancel();
  parts_->worker->cancel();
}
BackendStatus Backend::status() const { return parts_->worker->status(); }

Telemetry Backend::telemetry() {
  Telemetry out;
  auto look = [&](Device& device) -> Result<bool> {
    out = device.telemetry();
    return true;
  };
  static_cast<void>(parts_->worker->attempt({}, look));
  return out;
}

}  // namespace buda::runtime
