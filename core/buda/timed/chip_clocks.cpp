// SPDX-License-Identifier: Apache-2.0
// Times of chips and of queues.
#include <buda/timed/chip_clocks.hpp>

#include <algorithm>

namespace buda::timed {

using sim::Ticks;

ChipClocks::ChipClocks(const netlist::Netlist& netlist) : netlist_(netlist), uses_(netlist.graphs.size()), history_(netlist.queues.size()) {
  std::map<std::string_view, std::size_t> queues;
  std::map<std::string_view, std::vector<std::size_t>> written_by;
  for (std::size_t q = 0; q < netlist.queues.size(); ++q) {
    queues.emplace(netlist.queues[q].name, q);
    written_by[netlist.queues[q].input].push_back(q);
  }
  for (std::size_t g = 0; g < netlist.graphs.size(); ++g) {
    const netlist::Graph& graph = netlist.graphs[g];
    free_.emplace(graph.target_device, 0);
    for (const netlist::Op& op : graph.ops) {
      for (const auto& input : op.inputs)
        if (const auto queue = queues.find(input.name); queue != queues.end()) uses_[g].read.insert(queue->second);
      if (const auto written = written_by.find(op.name); written != written_by.end())
        uses_[g].written.insert(written->second.begin(), written->second.end());
    }
  }
}

Ticks ChipClocks::earliest(const Together& together, const QueueTable& queues) const {
  const auto& [executions, chips] = together;
  if (free_.size() <= 1) return latest_;
  Ticks out = 0;
  for (std::int32_t chip : chips)
    if (const auto free = free_.find(chip); free != free_.end()) out = std::max(out, free->second);
  std::set<std::size_t> made;  // by one of them
  for (const netlist::Execution& e : executions) made.insert(uses_[e.graph].written.begin(), uses_[e.graph].written.end());
  for (const netlist::Execution& e : executions) {
    const netlist::Graph& graph = netlist_.graphs[e.graph];
    for (std::size_t q : uses_[e.graph].read)
      if (!made.contains(q)) out = std::max(out, history_[q].written);
    for (std::size_t q : uses_[e.graph].written)
      out = std::max(
          out, queues[q].is_ram() ? std::max(history_[q].read, history_[q].written) : when_room(q, std::max(graph.input_count, 1), queues));
  }
  return out;
}

// What the host takes, it takes at once.
Ticks ChipClocks::when_room(std::size_t queue, std::int64_t inputs, const QueueTable& queues) const {
  const History& h = history_[queue];
  const std::int64_t needed = h.in + inputs - queues[queue].entries();
  if (!queues.is_read(queue) || needed <= 0) return 0;
  for (const auto& [out, since] : h.freed)
    if (out >= needed) return since;
  return h.read;
}

void ChipClocks::ended(const Together& together, Ticks end, const QueueTable& queues) {
  const auto& [executions, chips] = together;
  latest_ = std::max(latest_, end);
  for (std::int32_t chip : chips) free_[chip] = end;
  for (const netlist::Execution& e : executions) {
    const netlist::Graph& graph = netlist_.graphs[e.graph];
    for (std::size_t q : uses_[e.graph].read) {
      history_[q].read = std::max(history_[q].read, end);
      moved(q, queues);
    }
    for (std::size_t q : uses_[e.graph].written) {
      history_[q].written = std::max(history_[q].written, end);
      history_[q].in += std::max(graph.input_count, 1);
    }
  }
}

void ChipClocks::moved(std::size_t queue, const QueueTable& queues) {
  if (queues[queue].is_ram()) return;
  History& h = history_[queue];
  const std::int64_t range = std::max<std::int64_t>(2 * queues[queue].entries(), 1), now = queues[queue].read_pointer();
  const std::int64_t freed = (now - h.pointer + range) % range;
  h.pointer = now;
  if (freed == 0) return;
  h.out += freed;
  h.freed.emplace_back(h.out, h.read);
  // Nothing is asked about what was freed more than the whole queue ago.
  while (h.freed.size() > 1 && h.freed[1].first <= h.in - queues[queue].entries()) h.freed.pop_front();
}

void ChipClocks::cleared(std::size_t queue) {
  History& h = history_[queue];
  h.in = h.out = h.pointer = 0;
  h.freed.clear();
}

void ChipClocks::set(Ticks time) {
  latest_ = std::max(latest_, time);
  for (auto& [chip, free] : free_) free = latest_;
}

}  // namespace buda::timed
