// SPDX-License-Identifier: Apache-2.0
// By the graphs that programs execute.
#include <buda/runtime/programs/queue_users.hpp>

#include <algorithm>
#include <set>

namespace buda::runtime {
namespace {

std::set<std::string> graphs_of(const netlist::Program& program) {
  std::set<std::string> out;
  for (const auto& instruction : program.instructions)
    if (const auto* execute = std::get_if<netlist::instruction::Execute>(&instruction.what)) out.insert(execute->graph);
  return out;
}

}  // namespace

bool QueueUsers::writes(const std::string& program, const std::string& queue) const {
  auto it = writers.find(queue);
  return it != writers.end() && std::find(it->second.begin(), it->second.end(), program) != it->second.end();
}

QueueUsers users_of_queues(const netlist::Netlist& netlist) {
  QueueUsers users;
  for (const auto& program : netlist.programs) {
    std::set<std::string> ops, read;
    const auto graphs = graphs_of(program);
    for (const auto& graph : netlist.graphs) {
      if (!graphs.contains(graph.name)) continue;
      for (const auto& op : graph.ops) {
        ops.insert(op.name);
        for (const auto& input : op.inputs) read.insert(input.name);
      }
    }
    for (const auto& queue : netlist.queues) {
      if (read.contains(queue.name)) users.readers[queue.name].push_back(program.name);
      if (ops.contains(queue.input)) users.writers[queue.name].push_back(program.name);
    }
  }
  return users;
}

}  // namespace buda::runtime
