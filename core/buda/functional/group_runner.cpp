// SPDX-License-Identifier: Apache-2.0
// Graphs that run together: input by input, each op as soon as what it takes is there.
//
// Ops are gone through in an order in which producers come first. One whose queue has no entry for the input, or whose output has no room,
// is passed over with all that depends on it; the others go on, since what they make may be what the host waits for before it pushes. When
// a round through all ops gets nothing done, the device waits: for the host where pushing or popping would help, else forever.
#include <buda/functional/group_runner.hpp>

#include <buda/arith/tile_sizes.hpp>

#include <buda/base/text.hpp>
#include <buda/runtime/observer.hpp>

#include <algorithm>
#include <utility>

namespace buda::functional {

using runtime::Wait;

Result<Group> GroupRunner::open(const runtime::ExecuteGraphs& action) {
  Group group{m_.plans.groups[m_.plans.graphs.at(action.executions.front().graph).group], {}};
  for (const auto& e : action.executions) {
    auto [it, fresh] = group.epochs.emplace(e.graph, Epoch{m_.plans.graphs.at(e.graph), e, {}, {}, {}, {}, {}});
    group.inputs = std::max<std::int64_t>(group.inputs, it->second.graph().input_count);
  }
  for (auto& [g, epoch] : group.epochs)
    for (std::size_t queue : epoch.plan.queues) BUDA_TRY(runner_.open_reader(epoch, queue));
  return group;
}

Result<GroupRunner::Step> GroupRunner::advance(Group& group) {
  waits_.clear();
  if (!group.begun) {
    for (const auto& [g, epoch] : group.epochs)
      for (const auto& [queue, reader] : epoch.readers)
        if (reader.prologue && !has_entry(epoch, queue, 0)) wait_for_entry(epoch, queue, 0);
    if (!waits_.empty()) return Step::waits;
    for (auto& [g, epoch] : group.epochs) runner_.begin(epoch);
    if (m_.observer != nullptr)
      for (const auto& [g, epoch] : group.epochs) runner_.tell_execution(epoch);
    group.begun = true;
    for (auto& [g, epoch] : group.epochs) epoch.start_input();
    return Step::more;
  }
  if (group.input < group.inputs) {
    BUDA_ASSIGN(bool complete, run_input(group));
    if (!complete) return Step::waits;
    end_input(group);
    return Step::more;
  }
  for (const auto& [g, epoch] : group.epochs)
    for (const auto& [index, sum] : epoch.sums) has_room(epoch, epoch.plan.ops[index]);
  if (!waits_.empty()) return Step::waits;
  BUDA_TRY(end(group));
  return Step::done;
}

Result<bool> GroupRunner::run_input(Group& group) {
  for (bool progress = true; progress;) {
    progress = false;
    bool complete = true;
    waits_.clear();
    for (const auto& [g, op] : group.plan.order) {
      auto found = group.epochs.find(g);
      if (found == group.epochs.end() || !found->second.takes(group.input) || found->second.done[op]) continue;
      if (!is_ready(group, found->second, op)) {
        complete = false;
        continue;
      }
      BUDA_TRY(runner_.run_op(found->second, op, group.input));
      progress = true;
    }
    if (complete) return true;
  }
  return false;
}

bool GroupRunner::is_ready(const Group& group, const Epoch& epoch, std::size_t index) {
  const OpPlan& op = epoch.plan.ops[index];
  bool ready = op.op->gradient_op || has_room(epoch, op);
  for (std::size_t k = 0; k < op.inputs.size(); ++k) {
    const EdgePlan& edge = op.inputs[k];
    switch (edge.from) {
      case EdgePlan::From::queue:
        if (has_entry(epoch, edge.index, group.input)) break;
        wait_for_entry(epoch, edge.index, group.input);
        ready = false;
        break;
      case EdgePlan::From::op:
        ready = ready && epoch.done[edge.index];
        break;
      case EdgePlan::From::other_graph: {
        const std::string& name = op.op->inputs[k].name;
        const Epoch* producer = group.epoch_with(name);
        if (producer != nullptr && producer->takes(group.input))
          ready = ready && m_.exports[name].size() > static_cast<std::size_t>(group.input);
        break;
      }
    }
  }
  return ready;
}

bool GroupRunner::has_entry(const Epoch& epoch, std::size_t queue, std::int64_t input) const {
  const Epoch::Reader& reader = epoch.readers.at(queue);
  const QueueMemory& memory = m_.queues[queue];
  if (memory.is_ram() || reader.goes_round || !reader.loaded.empty()) return true;
  const std::int64_t there = memory.from(reader.pointer + input * reader.step);
  return there >= 1 && there <= memory.entries();
}

void GroupRunner::wait_for_entry(const Epoch& epoch, std::size_t queue, std::int64_t input) {
  const Epoch::Reader& reader = epoch.readers.at(queue);
  const QueueMemory& memory = m_.queues[queue];
  const std::string& name = memory.queue().name;
  const std::int64_t needed = reader.needed(epoch.graph().input_count), there = input * reader.step;
  Wait wait;
  // Where nothing that was read is given back before the epoch ends, a full queue stays full.
  wait.what = memory.queue().from_outside() && memory.room() > 0 ? Wait::For::push : Wait::For::device;
  wait.queue = name;
  wait.entries = 1;
  wait.reason = epoch_error(m_, epoch, "GD021", name,
                            cat("it needs ", needed, needed == 1 ? " entry" : " entries", " of queue '", name, "' from ", reader.pointer,
                                " on, where there ", there == 1 ? "is " : "are ", there, "; a chip would wait forever"));
  add_wait(std::move(wait));
}

bool GroupRunner::has_room(const Epoch& epoch, const OpPlan& op) {
  bool room = true;
  for (const WritePlan& w : op.writes) {
    const QueueMemory& memory = m_.queues[w.queue];
    if (memory.is_ram() || memory.entries() == 0 || memory.room() > 0) continue;
    room = false;
    const std::string& name = memory.queue().name;
    const bool read_here = std::any_of(m_.plans.graphs.begin(), m_.plans.graphs.end(), [&](const auto& graph) {
      return std::binary_search(graph.second.queues.begin(), graph.second.queues.end(), w.queue);
    });
    Wait wait;
    wait.what = read_here ? Wait::For::device : Wait::For::pop;
    wait.queue = name;
    wait.entries = 1;
    wait.reason = epoch_error(m_, epoch, "GD024", name,
                              cat("op '", op.op->name, "' writes to queue '", name, "', all of whose ", memory.entries(),
                                  " entries are waiting to be read; a chip would wait forever"));
    add_wait(std::move(wait));
  }
  return room;
}

// Several ops may wait for one queue.
void GroupRunner::add_wait(Wait wait) {
  const bool known = std::any_of(waits_.begin(), waits_.end(), [&](const Wait& w) { return w.queue == wait.queue && w.what == wait.what; });
  if (!known) waits_.push_back(std::move(wait));
}

void GroupRunner::end_input(Group& group) {
  for (auto& [g, epoch] : group.epochs) {
    if (!epoch.takes(group.input)) continue;
    for (const auto& [queue, reader] : epoch.readers)
      if (reader.published_step != 0) m_.queues[queue].set_read(m_.queues[queue].read_pointer() + reader.published_step);
    // What graphs hand each other is kept for those that did not run beside the others.
    if (group.epochs.size() == group.plan.graphs.size())
      for (const OpPlan& op : epoch.plan.ops)
        if (op.exported) m_.exports[op.op->name].back() = nullptr;
  }
  ++group.input;
  for (auto& [g, epoch] : group.epochs) epoch.start_input();
}

Result<void> GroupRunner::end(Group& group) {
  for (auto& [g, epoch] : group.epochs) {
    for (const auto& [index, sum] : epoch.sums) {
      const OpPlan& op = epoch.plan.ops[index];
      BUDA_TRY(runner_.store_output(epoch, op, with_tiles(sum, op.op->tile_dim), 0));
    }
    m_.counts.epochs += 1;
    m_.counts.inputs += epoch.graph().input_count;
    m_.host.progress(cat("epoch ", epoch.graph().name), static_cast<std::size_t>(m_.counts.epochs), 0);
  }
  return success();
}

}  // namespace buda::functional
