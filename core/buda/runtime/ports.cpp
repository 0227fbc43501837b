// SPDX-License-Identifier: Apache-2.0
// Checks of a plan.
#include <buda/runtime/ports.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/tags/training.hpp>
#include <buda/tensor/named_tensors.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace buda::runtime {
namespace {

using host_plan::HostPlan;
using host_plan::PlanTensor;
using netlist::Netlist;
using netlist::Queue;
using netlist::QueueKind;

// Of a training step in programs, device segments are its phases.
constexpr std::size_t kForward = 0, kBackward = 1;

class Binder {
 public:
  Binder(const HostPlan& plan, const Netlist& netlist, const NamedTensors& parameters)
      : plan_(plan), netlist_(netlist), parameters_(parameters) {
    for (const auto& q : netlist.queues) queues_.emplace(q.name, &q);
  }

  Result<Ports> run() {
    for (const auto& t : plan_.inputs) name("input", t.name);
    for (const auto& t : plan_.outputs) name("output", t.name);
    find_segments();
    has_phases_ = host_plan::has_phases(plan_);
    for (const auto* t : host_plan::queued_inputs(plan_))
      if (auto port = bind(*t, "input")) input(*port);
    // Outputs begin in their queues, with as many entries as a batch of inputs has.
    ports_.microbatch = ports_.pushed.empty() ? 1 : ports_.pushed.front().queued[0];
    for (const auto* t : host_plan::queued_outputs(plan_))
      if (auto port = bind(*t, "output")) output(*port);
    ports_.inputs = of_model(plan_.inputs, ports_.pushed, "input");
    ports_.outputs = of_model(plan_.outputs, ports_.popped, "output");
    set_states_apart();
    for (const auto& [queue, tensor] : parameters_) parameter(queue, tensor);
    uncovered();
    if (!failure_.empty()) return failure_;
    room();
    return std::move(ports_);
  }

 private:
  const Queue* find(const std::string& what, const std::string& name, const std::string& queue) {
    auto it = queues_.find(queue);
    if (it == queues_.end()) {
      std::vector<std::string> known;
      for (const auto& [q, pointer] : queues_) known.push_back(q);
      Diagnostic d = input_error("RT010", {netlist_.file}, cat(what, " '", name, "': the netlist has no queue '", queue, "'"));
      if (auto near = nearest_word(queue, known)) d.hint = cat("did you mean '", *near, "'?");
      failure_.add(std::move(d));
      return nullptr;
    }
    const bool shared = what == "output" && looped_.contains(queue);
    if (!used_.insert(queue).second && !shared)
      error("RT010", cat(what, " '", name, "': queue '", queue, "' is used by another tensor of the plan"));
    return it->second;
  }

  void name(const char* what, const std::string& tensor) {
    if (!names_.insert(cat(what, ' ', tensor)).second) error("RT010", cat("the plan has two ", what, "s named '", tensor, "'"));
  }

  // In the model's order, those without a queue, too.
  std::vector<Port> of_model(const std::vector<PlanTensor>& tensors, const std::vector<Port>& queued, const std::string& what) {
    std::map<const PlanTensor*, const Port*> bound;
    for (const auto& port : queued) bound.emplace(port.tensor, &port);
    std::vector<Port> out;
    for (const auto& t : tensors) {
      if (t.queue.empty()) {
        if (auto port = typed(t, what)) out.push_back(std::move(*port));
      } else if (auto it = bound.find(&t); it != bound.end()) {
        out.push_back(*it->second);
      }
    }
    return out;
  }

  // The device segment at which each tensor is transferred between host and device.
  void find_segments() {
    for (const auto& segment : plan_.segments) {
      if (segment.kind != host_plan::SegmentKind::device) continue;
      for (const auto* list : {&segment.inputs, &segment.outputs})
        for (const PlanTensor& t : *list) segments_.emplace(&t, device_segments_);
      ++device_segments_;
    }
  }

  std::optional<Port> bind(const PlanTensor& t, const std::string& what) {
    const Queue* queue = find(what, t.name, t.queue);
    auto port = typed(t, what);
    if (queue == nullptr || !port) return std::nullopt;
    // States of a training step in programs are rams.
    const bool is_state = has_phases_ && (!t.loopback.empty() || looped_.contains(t.queue));
    if (queue->kind != QueueKind::queue && !is_state) {
      error("RT012", cat(what, " '", t.name, "': '", t.queue, "' is a ram; a tensor of every batch needs a queue"));
      return std::nullopt;
    }
    port->queue = queue;
    if (auto passing = segments_.find(&t); passing != segments_.end()) {
      port->segment = passing->second;
    } else if (what == "output" && device_segments_ > 0) {
      port->segment = has_phases_ ? phase_of_output(t) : device_segments_ - 1;
    } else if (has_phases_ && t.training.starts_with(graph::kTrainingOutputGradient)) {
      port->segment = kBackward;
    } else if (port->is_of_step) {
      port->segment = device_segments_ - 1;
    }
    return port;
  }

  // Gradients are there when backward has run, all else when forward has.
  static std::size_t phase_of_output(const PlanTensor& t) {
    const bool is_gradient =
        t.training.starts_with(graph::kTrainingParameterGradient) || t.training.starts_with(graph::kTrainingInputGradient);
    return is_gradient ? kBackward : kForward;
  }

  std::optional<Port> typed(const PlanTensor& t, const std::string& what) {
    auto dtype = dtype_from_name(t.dtype);
    if (!dtype) error("RT010", cat(what, " '", t.name, "': '", t.dtype, "' is not an element type"));
    Shape shape(t.shape);
    if (!shape.volume()) error("RT011", cat(what, " '", t.name, "': the shape ", shape.text(), " has no volume"));
    if (!dtype || !shape.volume()) return std::nullopt;
    Port port{&t, nullptr, *dtype, std::move(shape), {}};
    port.is_of_step = has_phases_ && t.training.starts_with(graph::kTrainingScalar);
    return port;
  }

  void input(Port port) {
    const bool loops = !port.tensor->loopback.empty();
    if (loops && port.queue->from_outside())
      return error("RT012", cat("input '", port.tensor->name, "' is output '", port.tensor->loopback,
                                "' of the previous step, but no op writes queue '", port.queue->name, "'"));
    if (loops) looped_.insert(port.queue->name);
    if (!loops && !port.queue->from_outside())
      return error("RT012", cat("input '", port.tensor->name, "': queue '", port.queue->name, "' is written by op '", port.queue->input,
                                "', not by the host"));
    auto queued = host_plan::shape_after(port.shape, port.tensor->transforms);
    if (!queued) return transform_error("input", *port.tensor, std::move(queued).failure());
    port.queued = *queued;
    if (!fits("input", port.tensor->name, *port.queue, port.queued)) return;
    if (!ports_.pushed.empty() && ports_.pushed.front().queued[0] != port.queued[0])
      return error("RT013", cat("inputs '", ports_.pushed.front().tensor->name, "' and '", port.tensor->name, "' take ",
                                ports_.pushed.front().queued[0], " and ", port.queued[0],
                                " queue entries per batch; all have to take the same number"));
    ports_.pushed.push_back(std::move(port));
  }

  void output(Port port) {
    if (port.queue->from_outside())
      return error("RT012", cat("output '", port.tensor->name, "': queue '", port.queue->name, "' is written by the host, not by an op"));
    Shape entry = entry_shape(*port.queue);
    port.queued = Shape{ports_.microbatch, entry[0], entry[1], entry[2]};
    if (!fits("output", port.tensor->name, *port.queue, port.queued)) return;
    auto shape = host_plan::shape_after(port.queued, port.tensor->transforms);
    if (!shape) return transform_error("output", *port.tensor, std::move(shape).failure());
    if (*shape != port.shape)
      return error("RT011", cat("output '", port.tensor->name, "': the transforms make ", shape->text(), " of the ", port.queued.text(),
                                " that queue '", port.queue->name, "' holds, but the model's shape is ", port.shape.text()));
    ports_.popped.push_back(std::move(port));
  }

  // Inputs that are outputs of the step before.
  void set_states_apart() {
    for (const Port& input : ports_.inputs) {
      const PlanTensor& t = *input.tensor;
      if (t.loopback.empty()) continue;
      auto output = std::find_if(ports_.outputs.begin(), ports_.outputs.end(), [&](const Port& o) { return o.tensor->name == t.loopback; });
      auto wrong = [&](const char* code, const std::string& why) {
        error(code, cat("input '", t.name, "' cannot be output '", t.loopback, "' of the previous step: ", why));
      };
      if (output == ports_.outputs.end()) {
        wrong("RT010", "the plan has no such output");
      } else if (output->dtype != input.dtype || output->shape != input.shape) {
        wrong("RT011", cat("the input is ", dtype_name(input.dtype), ' ', input.shape.text(), " and the output ", dtype_name(output->dtype),
                           ' ', output->shape.text()));
      } else if (input.queue != nullptr && (output->queue == nullptr || !looped_.contains(output->queue->name))) {
        wrong("RT012", "the output has to have the queue of an input that it becomes");
      } else {
        ports_.states.push_back({input, *output, std::nullopt});
      }
    }
    for (const auto& segment : plan_.segments)
      if (segment.batches > 1 && !ports_.states.empty() && !has_phases_)
        error("RT015", cat("an iteration of the programs' loop processes ", segment.batches,
                           " batches; a model with state processes one batch per iteration"));
    auto is_looped = [&](const Port& port) { return looped_.contains(port.queue->name); };
    std::erase_if(ports_.pushed, is_looped);
    std::erase_if(ports_.popped, is_looped);
  }

  void parameter(const std::string& name, const Tensor& tensor) {
    // The first value of a state.
    if (looped_.contains(name)) {
      fits("the first value in", name, *queues_.at(name), tensor.shape());
      return;
    }
    const Queue* queue = find("parameter for", name, name);
    if (queue == nullptr) return;
    if (!queue->from_outside())
      return error("RT012", cat("parameter: '", name, "' is written by op '", queue->input, "', not by the host"));
    fits("parameter for", name, *queue, tensor.shape());
  }

  bool fits(const std::string& what, const std::string& name, const Queue& queue, const Shape& shape) {
    Shape entry = entry_shape(queue);
    Shape wanted{shape.rank() == 4 ? shape[0] : 1, entry[0], entry[1], entry[2]};
    if (shape != wanted) {
      error("RT011", cat(what, " '", name, "' reaches queue '", queue.name, "' as ", shape.text(), "; the queue's entries are ",
                         entry.text(), ", so the last three sizes have to be these"));
      return false;
    }
    if (shape[0] < 1 || shape[0] > queue.entries) {
      error("RT013", cat(what, " '", name, "' takes ", shape[0], " entries of queue '", queue.name, "', which has ", queue.entries));
      return false;
    }
    return true;
  }

  // Whatever ops read from outside has to come from somewhere.
  void uncovered() {
    std::set<std::string> read;
    for (const auto& graph : netlist_.graphs)
      for (const auto& op : graph.ops)
        for (const auto& in : op.inputs) read.insert(in.name);
    for (const auto& q : netlist_.queues)
      if (q.from_outside() && q.alias.empty() && used_.count(q.name) == 0 && read.count(q.name) != 0)
        error("RT014", cat("the host plan does not mention ", q.kind == QueueKind::ram ? "ram '" : "queue '", q.name,
                           "', which the host must fill"));
  }

  void room() {
    std::int64_t room = std::numeric_limits<std::int64_t>::max();
    for (const auto* list : {&ports_.pushed, &ports_.popped})
      for (const auto& port : *list)
        if (!port.is_of_step) room = std::min(room, port.queue->entries / ports_.microbatch);
    // A step that needs the host's part of the one before cannot be in a queue together with that.
    const bool waits = std::any_of(ports_.states.begin(), ports_.states.end(), [](const StatePort& s) { return s.input.queue == nullptr; });
    ports_.room = ports_.pushed.empty() || waits ? 1 : room;
  }

  void error(const char* code, std::string message) { failure_.add(input_error(code, {netlist_.file}, std::move(message))); }
  void transform_error(const char* what, const PlanTensor& t, Failure f) {
    for (auto& d : f.diagnostics()) d.message = cat(what, " '", t.name, "': ", d.message);
    failure_.add(std::move(f));
  }

  const HostPlan& plan_;
  const Netlist& netlist_;
  const NamedTensors& parameters_;
  std::map<std::string, const Queue*> queues_;
  std::set<std::string> used_, names_;
  std::map<const PlanTensor*, std::size_t> segments_;
  std::size_t device_segments_ = 0;
  bool has_phases_ = false;
  std::set<std::string> looped_;  // queues of inputs that are outputs
  Ports ports_;
  Failure failure_;
};

}  // namespace

bool Ports::must_be_given(const std::string& input) const {
  auto port = std::find_if(inputs.begin(), inputs.end(), [&](const Port& p) { return p.tensor->name == input; });
  return port != inputs.end() && port->is_read && !is_state(input);
}

bool Ports::is_state(const std::string& input) const {
  return std::any_of(states.begin(), states.end(), [&](const StatePort& s) { return s.input.tensor->name == input; });
}

bool Ports::gives_state(const std::string& output) const {
  return std::any_of(states.begin(), states.end(), [&](const StatePort& s) { return s.output.tensor->name == output; });
}

Shape entry_shape(const Queue& queue) {
  auto tiles = queue.shape();
  return Shape{tiles.t, tiles.rt * queue.tile_dim.rows, tiles.ct * queue.tile_dim.cols};
}

Result<Ports> bind_ports(const HostPlan& plan, const Netlist& netlist, const NamedTensors& parameters) {
  return Binder(plan, netlist, parameters).run();
}

}  // namespace buda::runtime
