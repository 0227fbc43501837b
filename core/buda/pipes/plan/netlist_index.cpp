// SPDX-License-Identifier: Apache-2.0
// Names and ids of a netlist.
#include <buda/pipes/plan/netlist_index.hpp>

#include <algorithm>

namespace buda::pipes {

NetlistIndex::NetlistIndex(const netlist::Netlist& netlist) : names_(netlist) {
  bool any = false;
  auto note = [&](std::int32_t chip) {
    chips_ = any ? ChipRange{std::min(chips_.first, chip), std::max(chips_.last, chip)} : ChipRange{chip, chip};
    any = true;
  };
  for (const auto& graph : netlist.graphs) note(graph.target_device);
  for (std::size_t q = 0; q < netlist.queues.size(); ++q) {
    const auto& queue = netlist.queues[q];
    note(queue.target_device);
    if (!queue.from_outside()) written_by_[queue.input].push_back(q);
    queue_ids_.push_back(free_);
    free_ += queue.buffers.size() * kIdStep;
  }
}

NetlistIndex::OpEntry NetlistIndex::op(std::string_view name) const {
  auto ref = names_.op(name);
  if (!ref) return {};
  const netlist::Graph& graph = netlist().graphs[ref->graph];
  return {&graph.ops[ref->op], &graph};
}

std::size_t NetlistIndex::queue(std::string_view name) const { return names_.queue(name).value_or(kNone); }

const std::vector<std::size_t>& NetlistIndex::queues_written_by(std::string_view op) const {
  static const std::vector<std::size_t> none;
  auto it = written_by_.find(op);
  return it == written_by_.end() ? none : it->second;
}

}  // namespace buda::pipes
