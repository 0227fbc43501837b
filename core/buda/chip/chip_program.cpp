// SPDX-License-Identifier: Apache-2.0
// One execution of an epoch: where its queues begin, what its ops are loaded with, and what has changed when it has ended.
#include <buda/chip/chip_device.hpp>

#include <buda/base/text.hpp>
#include <buda/timed/queue_errors.hpp>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

namespace buda::chip {
namespace {

const netlist::ResolvedSetting* setting_of(const netlist::Execution& execution, std::size_t queue) {
  for (const auto& s : execution.settings)
    if (s.queue == queue) return &s;
  return nullptr;
}

// Rams have no pointers.
bool is_passed_within(const netlist::Netlist& netlist, const runtime::EpochStreams& epoch, const netlist::Queue& queue) {
  bool written = false, read = false;
  for (std::size_t graph : epoch.graphs)
    for (const netlist::Op& op : netlist.graphs[graph].ops) {
      written = written || op.name == queue.input;
      for (const netlist::OpInput& input : op.inputs) read = read || input.name == queue.name;
    }
  return written && read && queue.kind == netlist::QueueKind::queue;
}

}  // namespace

// Index tiles of a sparse matmul are read from their queue; of other inputs, shape and format say all.
Result<void> ChipDevice::load_op(const arith::OpPlan& plan, std::size_t epoch, const movers::Execution& execution) {
  const netlist::Op& op = *plan.op;
  std::vector<arith::ValuePtr> inputs;
  for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
    const arith::EdgePlan& edge = plan.inputs[i];
    arith::Value value;
    value.tiles = edge.gather.shape();
    value.format = op.inputs[i].format;
    if (op.attributes.identity && i == 2 && edge.from == arith::EdgePlan::From::queue) {
      const auto start = execution.queues.find(netlist_.queues[edge.index].name);
      BUDA_ASSIGN(const auto entry, memory_.get(edge.index, start == execution.queues.end() ? 0 : start->second.read_slot));
      inputs.push_back(edge.gather.apply(entry, arith::Mode::bits, 1));
      continue;
    }
    inputs.push_back(std::make_shared<const arith::Value>(std::move(value)));
  }
  BUDA_ASSIGN(OpPrograms programs, op_programs(netlist_, plan, *epochs_[epoch].blob, inputs, kernels_, device_.l1));
  ops_.insert_or_assign(op.name, std::move(programs));
  return success();
}

// Slots of queues from the pointers and the settings. `now`: read pointers as the settings have moved them.
movers::Execution ChipDevice::execution_of(const std::vector<netlist::Execution>& executions, const timed::QueueTable& now) const {
  movers::Execution out;
  for (const netlist::Execution& execution : executions) {
    const netlist::Graph& graph = netlist_.graphs[execution.graph];
    out.inputs = std::max<std::int64_t>(out.inputs, graph.input_count);
    for (std::size_t q = 0; q < netlist_.queues.size(); ++q) {
      const timed::QueuePointers& queue = now[q];
      const netlist::ResolvedSetting* setting = setting_of(execution, q);
      movers::QueueStart& start = out.queues[netlist_.queues[q].name];
      const std::int64_t entries = std::max<std::int64_t>(queue.entries(), 1);
      const auto slot = [&](std::int64_t pointer) { return (pointer % entries + entries) % entries; };
      start = {slot(queue.read_pointer()), slot(queue.write_pointer()), 1, 1};
      if (queue.is_ram()) start = {0, 0, 0, 0};
      if (setting == nullptr) continue;
      if (queue.is_ram()) {
        start = {slot(setting->rd_ptr_global.value_or(0)), slot(setting->wr_ptr_global.value_or(0)), setting->rd_ptr_autoinc,
                 setting->global_wrptr_autoinc};
      } else {
        start.read_slot = slot(setting->rd_ptr_local.value_or(static_cast<std::int32_t>(queue.read_pointer())));
        start.read_step = setting->rd_ptr_autoinc;
      }
    }
  }
  return out;
}

// False where entries or room are missing: then `progress` says of which queues.
Result<bool> ChipDevice::execute(const runtime::ExecuteGraphs& graphs, runtime::Progress& progress) {
  const std::size_t epoch = grouping_.group_of(graphs.executions.front().graph);
  if (epoch >= epochs_.size()) return internal_error("a program executes a graph that is in no temporal epoch");
  const timed::QueueTable before = queues_;
  timed::EpochQueues moved(netlist_, graphs.executions, queues_);
  movers::Execution execution = execution_of(graphs.executions, queues_);
  BUDA_TRY(check_passed(moved, execution.inputs, epoch));
  progress.waits = waits(moved, execution.inputs, epoch);
  if (!progress.waits.empty()) {
    for (std::size_t q = 0; q < queues_.size(); ++q) queues_[q] = before[q];
    return false;
  }
  BUDA_TRY(begin_sums(graphs.executions, execution));
  std::map<std::string, const OpPrograms*> ops;
  std::map<std::string, const netlist::Op*> names;
  for (std::size_t graph : epochs_[epoch].graphs)
    for (const arith::OpPlan& op : plans_.graphs.at(graph).ops) {
      if (op.op->attributes.identity) BUDA_TRY(load_op(op, epoch, execution));
      names[op.op->name] = op.op;
      ops[op.op->name] = &ops_.at(op.op->name);
    }
  BUDA_TRY(cores_.run({epoch, *epochs_[epoch].blob, std::move(execution), ops, names}));
  moved.end(queues_);
  executed_ += 1;
  return true;
}

// Where gradients are summed up, by op, as stream programs name it; sums that are to begin with zeros do so in the ram.
Result<void> ChipDevice::begin_sums(const std::vector<netlist::Execution>& executions, movers::Execution& execution) {
  for (const netlist::Execution& e : executions)
    for (const netlist::Op& op : netlist_.graphs[e.graph].ops)
      for (std::size_t q : queues_.written_by(op.name)) {
        if (!op.gradient_op) continue;
        const netlist::Queue& queue = netlist_.queues[q];
        movers::QueueStart& start = execution.queues[op.name];
        start = execution.queues[queue.name];
        start.read_slot = start.write_slot;
        const netlist::ResolvedSetting* setting = setting_of(e, q);
        if (setting != nullptr && setting->zero)
          BUDA_TRY(memory_.put(q, start.write_slot, arith::Value(queue.shape(), queue.tile_dim, queue.format)));
      }
  return success();
}

// A queue that an epoch writes and reads, as a cache is, has to have all entries that are read, and room for those that are written, when
// it begins: then these are different ones.
Result<void> ChipDevice::check_passed(const timed::EpochQueues& moved, std::int64_t inputs, std::size_t epoch) const {
  for (const auto& [q, entries] : moved.entries()) {
    const netlist::Queue& queue = netlist_.queues[q];
    if (!is_passed_within(netlist_, epochs_[epoch], queue) || (entries.ready >= inputs && entries.room >= inputs)) continue;
    Diagnostic d = input_error(
        "CP001", queue.places.self.line == 0 ? SourceLoc{netlist_.file} : netlist_.loc(queue.places.self),
        cat("queue '", queue.name, "' is written and read in epoch ", epoch, ", for ", inputs, " inputs, and when it begins there are ",
            entries.ready, " entries to read and ", entries.room, " to write: movers do not move its pointers meanwhile yet"));
    d.node = queue.name;
    d.hint = "without target.ttsim.chip, ops run one by one, and the host feeds them";
    return d;
  }
  return success();
}

std::vector<runtime::Wait> ChipDevice::waits(const timed::EpochQueues& moved, std::int64_t inputs, std::size_t epoch) const {
  std::set<std::size_t> written;
  for (std::size_t graph : epochs_[epoch].graphs)
    for (const netlist::Op& op : netlist_.graphs[graph].ops)
      for (std::size_t q : queues_.written_by(op.name)) written.insert(q);
  std::vector<runtime::Wait> out;
  for (const auto& [q, entries] : moved.entries()) {
    const bool for_room = written.count(q) != 0;
    const std::int64_t there = for_room ? entries.room : entries.ready;
    if (there >= inputs) continue;
    const netlist::Queue& queue = netlist_.queues[q];
    const bool host_can = for_room ? !queues_.is_read(q) : queue.from_outside() && queues_[q].room() > 0;
    runtime::Wait wait;
    wait.what = !host_can ? runtime::Wait::For::device : for_room ? runtime::Wait::For::pop : runtime::Wait::For::push;
    wait.queue = queue.name;
    wait.entries = inputs - there;
    wait.reason = timed::waits_for(netlist_, queue, epoch, for_room);
    out.push_back(std::move(wait));
  }
  return out;
}

}  // namespace buda::chip
