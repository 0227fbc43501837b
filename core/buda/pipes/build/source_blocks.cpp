// SPDX-License-Identifier: Apache-2.0
// Lists blocks.
#include <buda/pipes/build/source_blocks.hpp>

#include <algorithm>

namespace buda::pipes {

std::size_t reader_number(const QueuePlan& queue, std::size_t op) {
  return static_cast<std::size_t>(std::find(queue.readers.begin(), queue.readers.end(), op) - queue.readers.begin());
}

std::vector<Id> source_buffers(const PlacedEpoch& epoch, std::size_t op, const InputPlan& input) {
  if (!input.source.is_queue()) return epoch.ids.ops[input.source.op].outputs;
  const std::size_t number = epoch.plan.queue_index.at(input.source.queue);
  const QueuePlan& q = epoch.plan.queues[number];
  if (q.use.prologue) return epoch.ids.prologues[number][reader_number(q, op)];
  std::vector<Id> out;
  for (std::size_t b = 0; b < epoch.plan.netlist().queues[q.queue].buffers.size(); ++b)
    out.push_back(epoch.plan.index->queue_buffer(q.queue, b));
  return out;
}

std::int64_t source_granularity(const EpochPlan& plan, const InputPlan& input) {
  return input.source.is_queue() ? plan.queue_plan(input.source.queue).granularity : plan.ops[input.source.op].granularity;
}

std::int64_t windows_of(const netlist::Op& op, std::int64_t input_count) {
  return std::max<std::int64_t>(1, input_count * op.block.t / tiling::layout_of(op, input_count).buffered_t);
}

std::vector<Id> blocks_of(const PipeRoute& route, std::int64_t granularity, const std::vector<Id>& buffers, Id padding) {
  std::vector<Id> out;
  out.reserve(static_cast<std::size_t>(route.tiles.tiles() / granularity));
  for (const Run& run : route.tiles.runs())
    for (std::int64_t i = 0; i < run.count; i += granularity)
      out.push_back(run.core == kPaddingCore ? padding : buffers[static_cast<std::size_t>(run.core)] + static_cast<Id>(run.first + i));
  return out;
}

}  // namespace buda::pipes
