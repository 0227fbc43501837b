// SPDX-License-Identifier: Apache-2.0
// Names.
#include <buda/timed/queue_table.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>

namespace buda::timed {

QueueTable::QueueTable(const netlist::Netlist& netlist) : netlist_(netlist), is_read_(netlist.queues.size(), false) {
  for (const netlist::Queue& queue : netlist.queues) {
    index_.emplace(queue.name, pointers_.size());
    written_by_[queue.input].push_back(pointers_.size());
    pointers_.emplace_back(queue);
  }
  for (const auto& graph : netlist.graphs)
    for (const auto& op : graph.ops)
      for (const auto& in : op.inputs)
        if (auto found = index_.find(in.name); found != index_.end()) is_read_[found->second] = true;
}

std::optional<std::size_t> QueueTable::queue_named(const std::string& name) const {
  const auto found = index_.find(name);
  if (found == index_.end() || pointers_[found->second].is_ram()) return std::nullopt;
  return found->second;
}

Result<std::size_t> QueueTable::find(const std::string& name) const {
  if (auto found = index_.find(name); found != index_.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [queue, number] : index_) known.push_back(queue);
  Diagnostic d = input_error("SM011", {netlist_.file}, cat("the netlist has no queue named '", name, "'"));
  if (auto near = nearest_word(name, known)) d.hint = cat("did you mean '", *near, "'?");
  return d;
}

Result<std::size_t> QueueTable::find_queue(const std::string& name, const char* why) const {
  BUDA_ASSIGN(std::size_t queue, find(name));
  if (pointers_[queue].is_ram()) return input_error("SM012", {netlist_.file}, cat("'", name, "' is a ram: ", why));
  return queue;
}

const std::vector<std::size_t>& QueueTable::written_by(const std::string& op) const {
  static const std::vector<std::size_t> none;
  auto found = written_by_.find(op);
  return found == written_by_.end() ? none : found->second;
}

}  // namespace buda::timed
