// SPDX-License-Identifier: Apache-2.0
// The greatest common divisors over all consumers.
#include <buda/pipes/plan/granularities.hpp>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace buda::pipes {
namespace {

// Maximum length of a DRAM read request, which is also the largest block of a queue.
constexpr std::int64_t kMaxReadBytes = 64 * 1024;

void settle_op(const EpochPlan& plan, const std::vector<const EdgeRoutes*>& consumers, OpPlan& p) {
  const netlist::Op& op = *p.op;
  std::int64_t full = op.block.mblock_tiles() * op.single_buffer_mblocks();
  p.granularity = full;
  for (const EdgeRoutes* routes : consumers) {
    p.scattered = p.scattered || routes->scattered || routes->granularity != full;
    p.granularity = std::gcd(p.granularity, routes->granularity);
  }
  const tiling::OpContext context = context_of(plan, p);
  p.output = tiling::output_buffer(context, p.scattered, p.granularity);
  p.granularity = p.output.block;
  p.intermediates = tiling::intermediate_buffers(context, p.output);
  // What comes over the link is sent on from where it lies.
  if (EpochPlan::is_ethernet(p) && !p.inputs.empty()) p.inputs.front().sizes.size = p.output.total_tiles();
}

// Blocks of a queue that is read: not larger than the buffers that they go to, nor than one read.
void settle_queue(const EpochPlan& plan, const std::vector<const InputPlan*>& consumers, QueuePlan& queue) {
  const netlist::Queue& q = plan.netlist().queues[queue.queue];
  queue.granularity = q.block.tiles();
  if (consumers.empty()) return;
  queue.scattered = true;
  if (queue.rows) {
    queue.granularity = queue.rows->block_rows;
    return;
  }
  for (const InputPlan* input : consumers) {
    queue.granularity = std::gcd(queue.granularity, input->routes.granularity);
    if (input->chunks > 0) {
      queue.granularity = std::gcd(queue.granularity, input->chunk_tiles);
    } else if (input->sizes.size < queue.granularity) {
      queue.granularity = std::gcd(queue.granularity, input->sizes.size);
    }
  }
  std::int64_t most =
      std::max<std::int64_t>(1, kMaxReadBytes / std::max(1, stored_tile_bytes(*plan.index, q, plan.device->tile_alignment)));
  if (queue.granularity > most) {
    while (queue.granularity % most != 0) --most;
    queue.granularity = most;
  }
}

}  // namespace

EpochPlan settle_granularities(EpochPlan plan) {
  std::vector<std::vector<const EdgeRoutes*>> of_op(plan.ops.size());
  std::vector<std::vector<const InputPlan*>> of_queue(plan.queues.size());
  for (const OpPlan& p : plan.ops)
    for (const InputPlan& input : p.inputs) {
      if (input.source.is_queue()) {
        of_queue[plan.queue_index.at(input.source.queue)].push_back(&input);
      } else {
        of_op[input.source.op].push_back(&input.routes);
      }
    }
  for (std::size_t i = 0; i < plan.queues.size(); ++i) {
    QueuePlan& q = plan.queues[i];
    settle_queue(plan, of_queue[i], q);
    if (q.writer == kNone) continue;
    const netlist::Op& op = *plan.ops[q.writer].op;
    if (!op.untilize_output && !op.gradient_op) of_op[q.writer].push_back(&q.from_writer);
  }
  for (std::size_t o = 0; o < plan.ops.size(); ++o) settle_op(plan, of_op[o], plan.ops[o]);
  return plan;
}

}  // namespace buda::pipes
