// SPDX-License-Identifier: Apache-2.0
// Pointers as the settings of an execution say.
#include <buda/timed/execution.hpp>

#include <algorithm>

namespace buda::timed {

using netlist::Execution;
using netlist::Graph;
using netlist::ResolvedSetting;

namespace {

const ResolvedSetting* setting_of(const Execution& execution, std::size_t queue) {
  const auto found = std::find_if(execution.settings.begin(), execution.settings.end(), [&](const auto& s) { return s.queue == queue; });
  return found == execution.settings.end() ? nullptr : &*found;
}

}  // namespace

std::int64_t EpochQueues::Reader::readable() const {
  if (step <= 0) return there > 0 ? inputs : 0;
  return std::min(inputs, (there + step - 1) / step);
}

EpochQueues::EpochQueues(const netlist::Netlist& netlist, const std::vector<Execution>& executions, QueueTable& queues) {
  for (const Execution& execution : executions) {
    const Graph& graph = netlist.graphs[execution.graph];
    const std::int64_t inputs = std::max(graph.input_count, 1);
    for (const ResolvedSetting& setting : execution.settings)
      if (!queues[setting.queue].is_ram() && setting.global_rdptr_autoinc != 0)
        moved_.push_back({setting.queue, false, inputs, setting.global_rdptr_autoinc, 0});
    for (const auto& op : graph.ops)
      for (const auto& in : op.inputs)
        if (auto queue = queues.queue_named(in.name)) open(graph, execution, *queue, queues);
    for (const auto& op : graph.ops)
      for (std::size_t q : queues.written_by(op.name)) {
        if (queues[q].is_ram()) continue;
        moved_.push_back({q, true, inputs, 1, 0});
        entries_[q].room = std::min(inputs, queues[q].room());
      }
  }
}

void EpochQueues::open(const Graph& graph, const Execution& execution, std::size_t q, QueueTable& queues) {
  if (readers_.count(q) != 0) return;
  QueuePointers& queue = queues[q];
  Reader reader;
  reader.inputs = std::max(graph.input_count, 1);
  std::int64_t pointer = queue.read_pointer(), published = 0;
  if (const ResolvedSetting* setting = setting_of(execution, q)) {
    if (setting->rd_ptr_global) queue.set_read(*setting->rd_ptr_global);
    pointer = setting->rd_ptr_local.value_or(static_cast<std::int32_t>(queue.read_pointer()));
    reader.step = setting->prologue ? 0 : setting->rd_ptr_autoinc;
    published = setting->global_rdptr_autoinc;
  }
  reader.there = queue.from(pointer) > queue.entries() ? 0 : queue.from(pointer);
  // A full queue that nobody is told to have read is read again and again.
  const std::int64_t needed = (reader.inputs - 1) * std::max<std::int64_t>(reader.step, 0) + 1;
  if (needed > queue.entries() && reader.there == queue.entries() && published == 0 && queue.queue().from_outside()) {
    queue.append(reader.inputs * reader.step);
    reader.there = needed;
  }
  entries_[q].ready = reader.readable();
  entries_[q].frees = published;
  readers_[q] = reader;
}

std::int64_t EpochQueues::readable_by(std::size_t queue, std::int64_t pushed) {
  const auto found = readers_.find(queue);
  if (found == readers_.end()) return 0;
  const std::int64_t before = found->second.readable();
  found->second.there += pushed;
  return found->second.readable() - before;
}

bool EpochQueues::move(Moved& moved, std::int64_t inputs, QueueTable& queues) {
  const std::int64_t more = std::min(inputs, moved.inputs) - moved.done;
  if (more <= 0) return false;
  if (moved.writes) {
    queues[moved.queue].append(more * moved.step);
  } else {
    queues[moved.queue].drop(more * moved.step);
  }
  moved.done += more;
  return true;
}

bool EpochQueues::follow(const sim::EpochRun& run, QueueTable& queues) {
  bool any = false;
  for (Moved& moved : moved_) {
    const sim::QueueFlow flow = run.flow(moved.queue);
    any = move(moved, moved.writes ? flow.written : flow.read, queues) || any;
  }
  return any;
}

void EpochQueues::end(QueueTable& queues) {
  for (Moved& moved : moved_) move(moved, moved.inputs, queues);
}

}  // namespace buda::timed
