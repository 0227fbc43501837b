// SPDX-License-Identifier: Apache-2.0
// Numbers buffers.
#include <buda/pipes/build/buffer_ids.hpp>

namespace buda::pipes {
namespace {

// Copies of a queue's buffers, one set per reading op.
std::vector<std::vector<Id>> number_prologue(const NetlistIndex& index, const QueuePlan& q, IdSequence& ids) {
  std::vector<std::vector<Id>> out;
  if (!q.use.prologue) return out;
  const std::size_t buffers = index.netlist().queues[q.queue].buffers.size();
  for (std::size_t reader = 0; reader < q.readers.size(); ++reader) {
    std::vector<Id>& copy = out.emplace_back();
    for (std::size_t b = 0; b < buffers; ++b) copy.push_back(reader == 0 ? index.queue_buffer(q.queue, b) : ids.next());
  }
  return out;
}

OpBufferIds number_op(const OpPlan& p, IdSequence& ids) {
  OpBufferIds out;
  out.inputs.resize(p.inputs.size());
  out.shares.resize(p.inputs.size());
  for (std::size_t i = 0; i < p.inputs.size(); ++i)
    for (std::int64_t s = 0; s < p.inputs[i].chunks * p.op->grid.cols; ++s) out.shares[i].push_back(ids.next());
  for (std::int32_t core = 0; core < p.op->grid.volume(); ++core) {
    for (auto& input : out.inputs) input.push_back(ids.next());
    if (has_outputs(*p.op)) out.outputs.push_back(ids.next());
    std::vector<Id>& intermediates = out.intermediates.emplace_back();
    for (std::size_t i = 0; i < p.intermediates.size(); ++i) intermediates.push_back(ids.next());
  }
  return out;
}

}  // namespace

bool has_outputs(const netlist::Op& op) { return !op.gradient_op && class_of(op).has_output; }

BufferIds number_buffers(const EpochPlan& plan, IdSequence& ids) {
  BufferIds out;
  for (const QueuePlan& q : plan.queues) out.prologues.push_back(number_prologue(*plan.index, q, ids));
  for (const OpPlan& p : plan.ops) out.ops.push_back(number_op(p, ids));
  return out;
}

}  // namespace buda::pipes
