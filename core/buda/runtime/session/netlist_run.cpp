// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs by the names of queues.
#include <buda/runtime/session/netlist_run.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/netlist/model/index.hpp>
#include <buda/netlist/program/program_vm.hpp>
#include <buda/runtime/batches.hpp>
#include <buda/runtime/ports.hpp>
#include <buda/runtime/programs/program_order.hpp>
#include <buda/runtime/session.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <limits>
#include <set>

namespace buda::runtime {
namespace {

using netlist::Netlist;
using netlist::Queue;
using netlist::QueueKind;

std::set<std::string> names_read(const Netlist& netlist) {
  std::set<std::string> read;
  for (const auto& graph : netlist.graphs)
    for (const auto& op : graph.ops)
      for (const auto& in : op.inputs) read.insert(in.name);
  return read;
}

Result<Tensor> as_entries(const Queue& queue, const Tensor& tensor) {
  const Shape entry = entry_shape(queue);
  std::vector<std::int64_t> dims = tensor.shape().dims();
  while (dims.size() < 4) dims.insert(dims.begin(), 1);
  if (dims.size() != 4 || !std::equal(entry.begin(), entry.end(), dims.begin() + 1))
    return input_error("RT021", {},
                       cat("input '", queue.name, "' has the shape ", tensor.shape().text(), "; an entry of the queue is ", entry.text(),
                           ", so [N, ", join(entry, ", "), "] is needed for N entries"));
  return tensor.reshaped(Shape(std::move(dims)));
}

Result<void> check_names(const Netlist& netlist, const NamedTensors& inputs) {
  Failure failure;
  std::vector<std::string> known;
  std::vector<std::string> texts;
  for (const Queue* q : input_queues(netlist)) {
    known.push_back(q->name);
    texts.push_back(
        cat("'", q->name, "' [", q->kind == QueueKind::ram ? cat(q->entries) : std::string("N"), ", ", join(entry_shape(*q), ", "), "]"));
  }
  for (const auto& name : known)
    if (inputs.count(name) == 0) failure.add(input_error("RT020", {}, cat("input '", name, "' is missing")));
  for (const auto& [name, tensor] : inputs) {
    // A queue that comes from outside but that no op reads may be given all the same.
    if (std::any_of(netlist.queues.begin(), netlist.queues.end(), [&n = name](const Queue& q) { return q.name == n && q.from_outside(); }))
      continue;
    Diagnostic d = input_error("RT020", {}, cat("the netlist has no queue '", name, "' that the host fills"));
    if (auto near = nearest_word(name, known)) d.hint = cat("did you mean '", *near, "'?");
    failure.add(std::move(d));
  }
  if (failure.empty()) return success();
  // Said once, behind all that is wrong.
  failure.diagnostics().back().notes.push_back({{}, cat("the netlist's inputs are ", join(texts, ", "))});
  return failure;
}

// The host at a bare netlist: fills the queues before the programs, and serves epochs that are longer than a queue while they run.
class HostSide {
 public:
  HostSide(const Netlist& netlist, Device& device) : netlist_(netlist), device_(device) {}

  Result<void> fill(const NamedTensors& inputs) {
    for (const Queue& queue : netlist_.queues) {
      auto given = inputs.find(queue.name);
      if (given == inputs.end()) continue;
      BUDA_ASSIGN(auto entries, as_entries(queue, given->second));
      if (queue.kind == QueueKind::ram) {
        BUDA_TRY(device_.write(queue.name, 0, entries));
      } else {
        BUDA_TRY(device_.push(queue.name, entries));
        pushed_.emplace(queue.name, std::move(entries));
      }
    }
    return success();
  }

  // Entries pushed divided by the inputs of an epoch that takes them: the smallest over all pushed queues.
  std::int64_t loop_count() const {
    std::int64_t count = std::numeric_limits<std::int64_t>::max();
    for (const auto& graph : netlist_.graphs)
      for (const auto& op : graph.ops)
        for (const auto& in : op.inputs)
          if (auto it = pushed_.find(in.name); it != pushed_.end())
            count = std::min(count, it->second.shape()[0] / std::max(graph.input_count, 1));
    return count == std::numeric_limits<std::int64_t>::max() ? 1 : std::max<std::int64_t>(count, 1);
  }

  Result<void> run(const std::string& program, const Parameters& parameters) {
    BUDA_TRY(device_.start(program, parameters));
    while (true) {
      BUDA_ASSIGN(Progress progress, device_.advance(Until::idle()));
      if (progress.state == State::idle) return success();
      for (const QueueChange& change : progress.changes) room_[change.queue] = change.room;
      bool helped = false;
      Failure reasons;
      for (Wait& wait : progress.waits) {
        BUDA_ASSIGN(bool served, serve(wait));
        helped = helped || served;
        reasons.add(std::move(wait.reason));
      }
      if (!helped) return reasons;
    }
  }

 private:
  Result<bool> serve(const Wait& wait) {
    auto queue = std::find_if(netlist_.queues.begin(), netlist_.queues.end(), [&](const Queue& q) { return q.name == wait.queue; });
    if (wait.what == Wait::For::device || queue == netlist_.queues.end() || longest_epoch(*queue) <= queue->entries) return false;
    if (wait.what == Wait::For::pop) {
      BUDA_TRY(device_.pop(wait.queue, 1));
      return true;
    }
    auto entries = pushed_.find(wait.queue);
    if (entries == pushed_.end() || entries->second.shape()[0] < queue->entries) return false;
    // Where time counts, a host does not wait to be asked for every single one.
    std::int64_t& room = room_[wait.queue];
    const std::int64_t count = device_.clock() ? std::max<std::int64_t>(room, 1) : 1;
    for (std::int64_t i = 0; i < count; ++i) {
      BUDA_ASSIGN(Tensor next, rows_of(entries->second, again_[wait.queue]++ % queue->entries, 1));
      BUDA_TRY(device_.push(wait.queue, next));
    }
    room = std::max<std::int64_t>(room - count, 0);
    return true;
  }

  // Inputs of an epoch that reads or writes the queue.
  std::int64_t longest_epoch(const Queue& queue) const {
    std::int64_t inputs = 0;
    for (const auto& graph : netlist_.graphs)
      for (const auto& op : graph.ops)
        if (op.name == queue.input ||
            std::any_of(op.inputs.begin(), op.inputs.end(), [&](const auto& in) { return in.name == queue.name; }))
          inputs = std::max<std::int64_t>(inputs, graph.input_count);
    return inputs;
  }

  const Netlist& netlist_;
  Device& device_;
  std::map<std::string, Tensor> pushed_;
  std::map<std::string, std::int64_t> again_;  // entries pushed beyond those
  std::map<std::string, std::int64_t> room_;   // as the device last told it
};

Result<Parameters> parameters_of(const netlist::Program& program, const NetlistRunOptions& options, std::int64_t loops) {
  Parameters values;
  for (const auto& instruction : program.instructions) {
    const auto* param = std::get_if<netlist::instruction::Param>(&instruction.what);
    if (param == nullptr) continue;
    for (const auto& name : param->names) {
      auto given = options.parameters.find(name);
      if (given == options.parameters.end()) given = options.parameters.find(name.substr(1));
      if (given != options.parameters.end()) {
        values[name] = given->second;
      } else if (name == kLoopCount) {
        values[name] = loops;
      } else {
        Diagnostic d = input_error("RT023", {}, cat("program '", program.name, "' needs a value for its parameter '", name, "'"));
        d.hint = cat("--param ", name.substr(1), "=VALUE");
        return d;
      }
    }
  }
  return values;
}

Result<std::vector<const netlist::Program*>> programs_of(const Netlist& netlist, const NetlistRunOptions& options) {
  if (options.programs.empty()) return program_order(netlist);
  std::vector<const netlist::Program*> out;
  std::vector<std::string> known;
  for (const auto& p : netlist.programs) known.push_back(p.name);
  for (const auto& name : options.programs) {
    auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end()) {
      Diagnostic d = input_error("RT015", {netlist.file}, cat("the netlist has no program '", name, "'; it has ", join(known, ", ")));
      if (auto near = nearest_word(name, known)) d.hint = cat("did you mean '", *near, "'?");
      return d;
    }
    out.push_back(&netlist.programs[static_cast<std::size_t>(found - known.begin())]);
  }
  return out;
}

// Follows the read pointers of what comes from outside.
class ReadRecorder final : public netlist::ProgramEvents {
 public:
  explicit ReadRecorder(const Netlist& netlist) : netlist_(netlist), most_(netlist.queues.size(), 0) {
    const netlist::Index index(netlist);
    for (const auto& graph : netlist.graphs) {
      std::set<std::size_t> read;
      for (const auto& op : graph.ops)
        for (const auto& in : op.inputs)
          if (auto q = index.queue(in.name); q && netlist.queues[*q].from_outside()) read.insert(*q);
      reads_.push_back(std::move(read));
    }
  }

  Result<void> execute(const netlist::Execution& execution) override {
    const std::int64_t inputs = std::max(netlist_.graphs[execution.graph].input_count, 1);
    for (std::size_t q : reads_[execution.graph]) {
      const bool ram = netlist_.queues[q].kind == QueueKind::ram;
      auto setting = std::find_if(execution.settings.begin(), execution.settings.end(), [&](const auto& s) { return s.queue == q; });
      std::int64_t first = 0, step = ram ? 0 : 1;
      if (setting != execution.settings.end()) {
        first = ram ? setting->rd_ptr_global.value_or(0) : setting->rd_ptr_local.value_or(setting->rd_ptr_global.value_or(0));
        step = setting->prologue ? 0 : setting->rd_ptr_autoinc;
      }
      most_[q] = std::max(most_[q], std::max<std::int64_t>(first, 0) + (inputs - 1) * std::max<std::int64_t>(step, 0) + 1);
    }
    return success();
  }

  std::map<std::string, std::int64_t> entries() const {
    std::map<std::string, std::int64_t> out;
    for (std::size_t q = 0; q < most_.size(); ++q)
      if (netlist_.queues[q].from_outside())
        out[netlist_.queues[q].name] = std::min<std::int64_t>(std::max<std::int64_t>(most_[q], 1), netlist_.queues[q].entries);
    return out;
  }

 private:
  const Netlist& netlist_;
  std::vector<std::set<std::size_t>> reads_;  // by graph
  std::vector<std::int64_t> most_;            // by queue
};

}  // namespace

Result<std::map<std::string, std::int64_t>> entries_read(const Netlist& netlist, const NetlistRunOptions& options) {
  BUDA_ASSIGN(auto order, programs_of(netlist, options));
  BUDA_ASSIGN(auto vm, netlist::ProgramVm::make(netlist));
  ReadRecorder recorder(netlist);
  for (const auto* program : order) {
    netlist::ProgramParameters values;
    for (const auto& name : vm.parameters(program->name)) {
      auto given = options.parameters.find(name);
      if (given == options.parameters.end()) given = options.parameters.find(name.substr(1));
      values[name] =
          given == options.parameters.end() ? 1 : static_cast<std::int32_t>(std::clamp<std::int64_t>(given->second, 0, 0x7fffffff));
    }
    BUDA_TRY(vm.run(program->name, values, recorder));
  }
  return recorder.entries();
}

std::vector<const Queue*> input_queues(const Netlist& netlist) {
  const auto read = names_read(netlist);
  std::vector<const Queue*> out;
  for (const Queue& q : netlist.queues)
    if (q.from_outside() && q.alias.empty() && read.count(q.name) != 0) out.push_back(&q);
  return out;
}

std::vector<const Queue*> output_queues(const Netlist& netlist) {
  const auto read = names_read(netlist);
  std::vector<const Queue*> out;
  for (const Queue& q : netlist.queues)
    if (!q.from_outside() && (q.kind == QueueKind::ram || read.count(q.name) == 0)) out.push_back(&q);
  return out;
}

Result<NetlistRun> run_netlist(const Program& program, Target& target, const device::DeviceDescriptor& descriptor,
                               const NamedTensors& inputs, const NetlistRunOptions& options, Host& host) {
  const Netlist& netlist = program.netlist;
  BUDA_TRY(check_names(netlist, inputs));
  if (netlist.programs.empty()) return input_error("RT015", {netlist.file}, "the netlist has no programs: nothing runs");
  BUDA_ASSIGN(auto order, programs_of(netlist, options));
  BUDA_ASSIGN(auto device, target.open(program, descriptor, host));
  if (options.opened) options.opened(*device);
  if (options.sink != nullptr) device->record(*options.sink, options.level);
  if (options.observer != nullptr && !device->observe(*options.observer))
    host.report(warning("RT024", {netlist.file}, "this target reports no intermediate results: nothing is dumped or traced"));
  HostSide host_side(netlist, *device);
  BUDA_TRY(host_side.fill(inputs));
  for (const auto* p : order) {
    BUDA_ASSIGN(auto parameters, parameters_of(*p, options, host_side.loop_count()));
    BUDA_TRY(host_side.run(p->name, parameters));
  }
  NetlistRun out;
  for (const Queue* queue : output_queues(netlist)) {
    if (queue->kind == QueueKind::ram) {
      BUDA_ASSIGN(auto tensor, device->read(queue->name, 0, queue->entries));
      out.outputs.emplace(queue->name, std::move(tensor));
    } else {
      BUDA_ASSIGN(auto count, device->waiting(queue->name));
      BUDA_ASSIGN(auto tensor, device->pop(queue->name, count));
      out.outputs.emplace(queue->name, std::move(tensor));
    }
  }
  out.telemetry = device->telemetry();
  out.summary = device->summary();
  return out;
}

}  // namespace buda::runtime
