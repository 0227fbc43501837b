// SPDX-License-Identifier: Apache-2.0
// Goes through the edges of an epoch.
#include <buda/pipes/build/epoch_pipes.hpp>

#include <buda/pipes/build/input_pipes.hpp>
#include <buda/pipes/build/output_pipes.hpp>
#include <buda/pipes/graph/append.hpp>
#include <buda/pipes/interchip/copy_rounds.hpp>

#include <utility>

namespace buda::pipes {
namespace {

void note_reads(const EpochPlan& plan, std::size_t op, std::size_t input, const EdgePipes& edge, std::vector<QueueRead>& out) {
  auto note = [&](const Pipe& pipe) {
    if (auto read = queue_read(plan, op, input, pipe.id)) out.push_back(*read);
  };
  for (const Pipe& pipe : edge.complete) note(pipe);
  for (const InterChipPipe& p : edge.inter_chip) note(p.pipe);
}

}  // namespace

Result<EpochPipes> epoch_pipes(const PlacedEpoch& epoch, const PaddingTable& table, IdSequence& ids, RelayAllocator& relays) {
  const EpochPlan& plan = epoch.plan;
  EpochPipes out;
  PaddingBuffers padding(plan, table, ids);
  std::size_t edges = 0;
  for (std::size_t o = 0; o < plan.ops.size(); ++o) {
    const OpPlan& p = plan.ops[o];
    for (std::size_t i = 0; i < p.inputs.size(); ++i) {
      EdgePipes edge = input_pipes(epoch, o, i, edges++, ids, padding);
      note_reads(plan, o, i, edge, out.reads);
      append(out.complete, std::move(edge.complete));
      if (copies_in_rounds(p, p.inputs[i])) {
        BUDA_ASSIGN(Segments cut, cut_copy(plan, epoch.cores, o, std::move(edge.inter_chip), epoch.ids.ops[o].inputs[i], relays));
        append(out.complete, std::move(cut.pipes));
        append(out.relays, std::move(cut.relays));
      } else {
        append(out.inter_chip, std::move(edge.inter_chip));
      }
      append(out.complete, share_pipes(epoch, o, i, ids));
    }
    for (std::size_t q : p.output_queues) {
      EdgePipes edge = output_pipes(epoch, plan.queue_index.at(q), edges++, ids);
      append(out.complete, std::move(edge.complete));
      append(out.inter_chip, std::move(edge.inter_chip));
    }
  }
  out.padding = padding.buffers();
  return out;
}

}  // namespace buda::pipes
