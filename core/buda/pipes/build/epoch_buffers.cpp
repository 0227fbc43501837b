// SPDX-License-Identifier: Apache-2.0
// Lists buffers.
#include <buda/pipes/build/epoch_buffers.hpp>

#include <buda/pipes/build/op_buffers.hpp>
#include <buda/pipes/build/queue_buffers.hpp>
#include <buda/pipes/graph/append.hpp>

#include <utility>

namespace buda::pipes {
namespace {

// Numbers of the queues in the plan, in the order in which an op uses them.
std::vector<std::size_t> queues_of(const EpochPlan& plan, const OpPlan& p) {
  std::vector<std::size_t> out;
  for (const InputPlan& input : p.inputs)
    if (input.source.is_queue()) out.push_back(plan.queue_index.at(input.source.queue));
  for (std::size_t q : p.output_queues)
    if (!p.op->gradient_op) out.push_back(plan.queue_index.at(q));
  return out;
}

}  // namespace

Result<std::vector<Buffer>> epoch_buffers(const PlacedEpoch& epoch) {
  std::vector<Buffer> out;
  std::vector<bool> listed(epoch.plan.queues.size(), false);
  for (std::size_t o = 0; o < epoch.plan.ops.size(); ++o) {
    BUDA_ASSIGN(auto of_op, op_buffers(epoch, o));
    append(out, std::move(of_op));
    for (std::size_t q : queues_of(epoch.plan, epoch.plan.ops[o])) {
      if (listed[q]) continue;
      listed[q] = true;
      BUDA_ASSIGN(auto of_queue, queue_buffers(epoch, q));
      append(out, std::move(of_queue));
    }
  }
  return out;
}

}  // namespace buda::pipes
