// SPDX-License-Identifier: Apache-2.0
// Makes pipes of routes into queues.
#include <buda/pipes/build/output_pipes.hpp>

#include <buda/pipes/build/pipe_nocs.hpp>
#include <buda/pipes/build/source_blocks.hpp>

#include <utility>

namespace buda::pipes {
namespace {

std::vector<Pipe> untilized_pipes(const PlacedEpoch& epoch, const QueuePlan& q, IdSequence& ids) {
  const OpPlan& p = epoch.plan.ops[q.writer];
  std::vector<Pipe> out;
  for (std::size_t b = 0; b < epoch.plan.netlist().queues[q.queue].buffers.size(); ++b) {
    Pipe& pipe = out.emplace_back();
    pipe.id = ids.next();
    pipe.inputs = epoch.ids.ops[q.writer].outputs;
    pipe.outputs.push_back({epoch.plan.index->queue_buffer(q.queue, b)});
    pipe.mcast_core.push_back({p.chip, worker_of(*p.op, 0)});
  }
  return out;
}

Transfer transfer_out(const PlacedEpoch& epoch, const QueuePlan& q, const PipeRoute& route, GridCoord core, std::size_t edge) {
  const OpPlan& p = epoch.plan.ops[q.writer];
  Transfer t;
  t.op = p.op;
  t.from = t.to = p.chip;
  t.edge = edge;
  t.from_ethernet_core = EpochPlan::is_ethernet(p);
  if (!epoch.plan.device->eth.empty()) t.to = epoch.plan.netlist().queues[q.queue].target_device;
  t.to_queue = true;
  t.tile_bytes = p.output.tile_bytes;
  t.pass_tiles = route.tiles.tiles();
  t.passes = windows_of(*p.op, p.graph->input_count);
  t.input_count = p.graph->input_count;
  if (!t.from_ethernet_core) t.source_worker = core;
  return t;
}

}  // namespace

EdgePipes output_pipes(const PlacedEpoch& epoch, std::size_t number, std::size_t edge, IdSequence& ids) {
  const QueuePlan& q = epoch.plan.queues[number];
  const OpPlan& p = epoch.plan.ops[q.writer];
  EdgePipes out;
  if (p.op->gradient_op) return out;
  if (p.op->untilize_output) {
    out.complete = untilized_pipes(epoch, q, ids);
    return out;
  }
  for (const PipeRoute& route : q.from_writer.pipes) {
    const auto buffer = static_cast<std::size_t>(route.destinations.front());
    const auto core = static_cast<std::size_t>(route.tiles.runs().front().core);
    const GridCoord at = epoch.cores.core(q.writer, core);
    Pipe pipe;
    pipe.id = ids.next();
    pipe.inputs = blocks_of(route, p.granularity, epoch.ids.ops[q.writer].outputs, 0);
    pipe.outputs.push_back({epoch.plan.index->queue_buffer(q.queue, buffer)});
    pipe.mcast_core.push_back({p.chip, at});
    choose_queue_nocs(epoch, q.writer, core, q, buffer, pipe);
    Transfer transfer = transfer_out(epoch, q, route, at, edge);
    if (transfer.from == transfer.to && !transfer.from_ethernet_core) {
      out.complete.push_back(std::move(pipe));
    } else {
      out.inter_chip.push_back({std::move(pipe), std::move(transfer)});
    }
  }
  return out;
}

}  // namespace buda::pipes
