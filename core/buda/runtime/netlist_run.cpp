// Inputs and outputs by the names of queues.
#include <buda/runtime/netlist_run.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/runtime/ports.hpp>
#include <buda/runtime/session.hpp>

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

// Entries pushed divided by the inputs of an epoch that takes them: the smallest over all pushed queues.
std::int64_t loop_count(const Netlist& netlist, const std::map<std::string, std::int64_t>& pushed) {
  std::int64_t count = std::numeric_limits<std::int64_t>::max();
  for (const auto& graph : netlist.graphs)
    for (const auto& op : graph.ops)
      for (const auto& in : op.inputs)
        if (auto it = pushed.find(in.name); it != pushed.end()) count = std::min(count, it->second / std::max(graph.input_count, 1));
  return count == std::numeric_limits<std::int64_t>::max() ? 1 : std::max<std::int64_t>(count, 1);
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
  std::string all = cat("the netlist's inputs are ", join(texts, ", "));
  for (const auto& name : known) {
    if (inputs.count(name) != 0) continue;
    Diagnostic d = input_error("RT020", {}, cat("input '", name, "' is missing"));
    d.notes.push_back({{}, all});
    failure.add(std::move(d));
  }
  for (const auto& [name, tensor] : inputs) {
    // A queue that comes from outside but that no op reads may be given all the same.
    if (std::any_of(netlist.queues.begin(), netlist.queues.end(), [&n = name](const Queue& q) { return q.name == n && q.from_outside(); }))
      continue;
    Diagnostic d = input_error("RT020", {}, cat("the netlist has no queue '", name, "' that is filled from outside"));
    if (auto near = nearest_word(name, known)) d.hint = cat("did you mean '", *near, "'?");
    d.notes.push_back({{}, all});
    failure.add(std::move(d));
  }
  if (!failure.empty()) return failure;
  return success();
}

Result<std::map<std::string, std::int64_t>> fill(const Netlist& netlist, const NamedTensors& inputs, Device& device) {
  std::map<std::string, std::int64_t> pushed;
  for (const Queue& queue : netlist.queues) {
    auto given = inputs.find(queue.name);
    if (given == inputs.end()) continue;
    BUDA_ASSIGN(auto entries, as_entries(queue, given->second));
    if (queue.kind == QueueKind::ram) {
      BUDA_TRY(device.write(queue.name, 0, entries));
    } else {
      BUDA_TRY(device.push(queue.name, entries));
      pushed[queue.name] = entries.shape()[0];
    }
  }
  return pushed;
}

Result<void> run_program(const netlist::Program& program, const NetlistRunOptions& options, std::int64_t loops, Device& device) {
  std::map<std::string, std::int64_t> values;
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
  return device.run(program.name, values);
}

}  // namespace

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
  BUDA_ASSIGN(auto device, target.open(program, descriptor, host));
  BUDA_ASSIGN(auto pushed, fill(netlist, inputs, *device));
  const std::int64_t loops = loop_count(netlist, pushed);
  for (const auto& p : netlist.programs) BUDA_TRY(run_program(p, options, loops, *device));
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
  return out;
}

}  // namespace buda::runtime
