// SPDX-License-Identifier: Apache-2.0
// Goes through the buffers of a queue.
#include <buda/pipes/check/check_queues.hpp>

#include <buda/base/text.hpp>
#include <buda/pipes/check/compare.hpp>
#include <buda/pipes/check/expected.hpp>

#include <map>
#include <string>
#include <vector>

namespace buda::pipes {

using netlist::Op;
using netlist::Queue;

namespace {

bool is_of_queue(const Checked& checked, const Buffer& b, std::size_t queue) {
  const Owner* owner = checked.owners.find(&b);
  return owner != nullptr && owner->kind == Owner::Kind::queue && owner->queue == queue;
}

void check_untilized_queue(const Checked& checked, std::size_t q, const Op& op, Findings& findings) {
  const Queue& queue = checked.epoch.netlist().queues[q];
  for (const Buffer& b : checked.epoch.graph.buffers) {
    if (!is_of_queue(checked, b, q)) continue;
    auto feeds = checked.feeds.find(b.id);
    std::string what = cat("queue '", queue.name, "', buffer_", b.id);
    if (feeds == checked.feeds.end() || feeds->second.size() != 1) {
      findings.error("PC010", queue.name, cat(what, ": it is not fed by one pipe"));
      continue;
    }
    const Pipe& pipe = checked.epoch.graph.pipes[feeds->second.front().pipe];
    std::vector<Id> wanted;
    for (std::int64_t core = 0; core < op.grid.volume(); ++core)
      if (const Buffer* output = checked.owners.output(op, core)) wanted.push_back(output->id);
    if (pipe.inputs != wanted)
      findings.error("PC013", queue.name,
                     cat(what, ": pipe_", pipe.id, " does not transfer the cores of op '", op.name, "' one after the other"));
    ++findings.counts.buffers;
  }
}

}  // namespace

void check_queue(const Checked& checked, std::size_t q, Findings& findings) {
  const Queue& queue = checked.epoch.netlist().queues[q];
  auto [op, graph] = checked.epoch.index.op(queue.input);
  if (op->untilize_output) return check_untilized_queue(checked, q, *op, findings);
  std::map<std::int64_t, const Buffer*> buffers;
  for (const Buffer& b : checked.epoch.graph.buffers)
    if (is_of_queue(checked, b, q)) buffers[checked.owners.find(&b)->core] = &b;
  for (std::int64_t i = 0; i < queue.grid.volume(); ++i) {
    const std::string what = cat("queue '", queue.name, "', buffer ", i);
    auto found = buffers.find(i);
    if (found == buffers.end()) {
      findings.error("PC018", queue.name, cat(what, ": there is no buffer"));
      continue;
    }
    const auto expected = expected_output(queue, i, *op, graph->input_count, what, findings);
    if (!expected) return;
    compare(checked, what, queue.name, *found->second, *expected, graph->input_count, findings);
  }
}

void check_gradient(const Checked& checked, const Op& op, Findings& findings) {
  const auto& queues = checked.epoch.index.queues_written_by(op.name);
  for (const Buffer& b : checked.epoch.graph.buffers) {
    if (b.type != BufferType::gradient_op || b.op != op.name) continue;
    auto it = checked.owners.core_at.find({b.chip, b.core.row, b.core.col});
    if (it == checked.owners.core_at.end() || queues.empty()) continue;
    const Queue& queue = checked.epoch.netlist().queues[queues.front()];
    auto core = static_cast<std::size_t>(it->second.second);
    if (core >= queue.buffers.size() || b.dram_addr != address_of(checked.epoch, queue, core) || b.dram_chan != queue.buffers[core].channel)
      findings.error("PC003", op.name,
                     cat("op '", op.name, "', core ", core, ": its ram '", queue.name, "' is not at address ", b.dram_addr, " of channel ",
                         b.dram_chan));
    ++findings.counts.buffers;
  }
}

}  // namespace buda::pipes
