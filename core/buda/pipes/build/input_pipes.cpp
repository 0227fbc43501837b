// SPDX-License-Identifier: Apache-2.0
// Makes pipes of routes.
#include <buda/pipes/build/input_pipes.hpp>

#include <buda/pipes/build/period.hpp>
#include <buda/pipes/build/pipe_cores.hpp>
#include <buda/pipes/build/pipe_nocs.hpp>
#include <buda/pipes/build/source_blocks.hpp>
#include <buda/pipes/interchip/copy_rounds.hpp>
#include <buda/pipes/interchip/ring.hpp>
#include <buda/pipes/noc/noc.hpp>

#include <algorithm>
#include <utility>

namespace buda::pipes {
namespace {

// The buffers of a destination.
std::vector<Id> output_group(const PlacedEpoch& epoch, std::size_t op, std::size_t number, std::int32_t destination) {
  const InputPlan& input = epoch.plan.ops[op].inputs[number];
  const OpBufferIds& ids = epoch.ids.ops[op];
  if (input.chunks > 0) return {ids.shares[number][static_cast<std::size_t>(destination)]};
  const GridShape grid = epoch.plan.ops[op].op->grid;
  const std::vector<Id>& buffers = ids.inputs[number];
  std::vector<Id> out;
  if (input.routes.axis == MulticastAxis::row) {
    for (std::int32_t c = 0; c < grid.cols; ++c) out.push_back(buffers[static_cast<std::size_t>(destination * grid.cols + c)]);
  } else if (input.routes.axis == MulticastAxis::column) {
    for (std::int32_t r = 0; r < grid.rows; ++r) out.push_back(buffers[static_cast<std::size_t>(r * grid.cols + destination)]);
  } else {
    out.push_back(buffers[static_cast<std::size_t>(destination)]);
  }
  return out;
}

// How often each group is followed by itself, if that is the same for all of them and no group comes again later; else 1.
std::int64_t consumer_repeat(const std::vector<std::vector<Id>>& groups) {
  std::size_t repeat = 1;
  while (repeat < groups.size() && groups[repeat] == groups[0]) ++repeat;
  if (repeat < 2 || groups.size() % repeat != 0) return 1;
  for (std::size_t i = 0; i < groups.size(); i += repeat) {
    for (std::size_t j = i + 1; j < i + repeat; ++j)
      if (groups[j] != groups[i]) return 1;
    for (std::size_t j = 0; j < i; j += repeat)
      if (groups[j] == groups[i]) return 1;
  }
  return static_cast<std::int64_t>(repeat);
}

// Long lists that repeat themselves are written once, if the kernel's steps do not straddle the repetition.
void shorten_periodic(const InputPlan& input, std::int64_t granularity, Pipe& pipe) {
  if (auto period = list_period(pipe.inputs, granularity, input.sizes.clear)) {
    pipe.periodic_repeat = static_cast<std::int64_t>(pipe.inputs.size() / *period);
    pipe.inputs.resize(*period);
  }
}

// Chips without Ethernet write to their neighbours over PCIe; such a pipe is not cut.
void mark_over_pcie(const EpochPlan& plan, const OpPlan& p, const InputPlan& input, Pipe& pipe) {
  if (input.from_chip == p.chip || input.source.is_queue() || !plan.device->eth.empty()) return;
  pipe.mmio_downstream = is_next_in_ring(plan.index->chips(), *plan.cluster, input.from_chip, p.chip).value_or(false) ? 1 : 0;
  pipe.incoming_vc = 0;
}

// Constants for tiles of an op are kept in a worker: the pipe's, or one of the producer where that is an Ethernet core.
CoreCoord padding_core(const EpochPlan& plan, const OpPlan& p, const InputPlan& input, const Pipe& pipe) {
  if (!EpochPlan::is_ethernet(p) || input.source.is_queue()) return {input.from_chip, pipe.mcast_core.front().core};
  return {input.from_chip, worker_of(*plan.ops[input.source.op].op, 0)};
}

// Sets the inputs of a pipe, and what it gives to groups whose round is padding.
void set_blocks(const PlacedEpoch& epoch, std::size_t op, std::size_t number, const PipeRoute& route, const std::vector<Id>& buffers,
                PaddingBuffers& padding, Pipe& pipe) {
  const OpPlan& p = epoch.plan.ops[op];
  const InputPlan& input = p.inputs[number];
  const std::int64_t granularity = source_granularity(epoch.plan, input);
  std::int64_t constants = 0;
  bool pads = false;
  for (const Run& run : route.tiles.runs()) {
    if (run.core != kPaddingCore) continue;
    pads = true;
    constants += run.count / granularity;
  }
  const Id constant = pads ? padding.block(op, number, padding_core(epoch.plan, p, input, pipe), constants) : 0;
  pipe.inputs = blocks_of(route, granularity, buffers, constant);
  if (pipe.outputs.size() > 1) pipe.output_padding.assign(pipe.outputs.size(), 0);
  for (std::size_t g = 0; g < route.padded.size(); ++g)
    if (route.padded[g])
      pipe.output_padding[g] = padding.block(
          op, number, copies_in_rounds(p, input) ? padding_core(epoch.plan, p, input, pipe) : CoreCoord{p.chip, pipe.mcast_core[g].core},
          1);
}

Pipe input_pipe(const PlacedEpoch& epoch, std::size_t op, std::size_t number, const PipeRoute& route, const std::vector<Id>& buffers,
                IdSequence& ids, PaddingBuffers& padding) {
  const OpPlan& p = epoch.plan.ops[op];
  const InputPlan& input = p.inputs[number];
  Pipe pipe;
  pipe.id = ids.next();
  for (std::int32_t d : route.destinations) pipe.outputs.push_back(output_group(epoch, op, number, d));
  pipe.consumer_repeat = route.padded.empty() ? consumer_repeat(pipe.outputs) : 1;
  pipe.mcast_core = pipe_cores(epoch, op, input, route, pipe.consumer_repeat > 1);
  set_blocks(epoch, op, number, route, buffers, padding, pipe);
  if (input.chunks > 0) {
    pipe.incoming_vc = pipe.outgoing_vc = kDramWriteChannel;
  } else {
    choose_nocs(epoch, op, number, pipe);
    pipe.op_input_dram_io_buf_size_tiles = p.op->inputs[number].dram_io_tiles;
    shorten_periodic(input, source_granularity(epoch.plan, input), pipe);
    mark_over_pcie(epoch.plan, p, input, pipe);
  }
  return pipe;
}

Transfer transfer_into(const PlacedEpoch& epoch, std::size_t op, const InputPlan& input, const PipeRoute& route, std::size_t edge) {
  const OpPlan& p = epoch.plan.ops[op];
  const std::int32_t core = route.destinations.front();
  Transfer t;
  t.op = p.op;
  t.from = input.from_chip;
  t.to = p.chip;
  t.edge = edge;
  if (EpochPlan::is_ethernet(p)) t.fixed_route = &epoch.cores.ethernet(op, static_cast<std::size_t>(core))->route;
  t.from_queue = input.source.is_queue();
  t.tile_bytes = input.sizes.tile_bytes;
  t.pass_tiles = route.tiles.tiles();
  t.passes = t.input_count = p.graph->input_count;
  if (input.rows) t.rows = Transfer::RowPieces{input.rows->offset_bytes(core / p.op->grid.cols, core % p.op->grid.cols), input.sizes.size};
  if (t.from_queue) return t;
  const OpPlan& producer = epoch.plan.ops[input.source.op];
  t.passes = windows_of(*producer.op, p.graph->input_count);
  t.from_ethernet_core = EpochPlan::is_ethernet(producer);
  if (t.from_ethernet_core) return t;
  for (const Run& run : route.tiles.runs())
    if (run.core != kPaddingCore) {
      t.source_worker = worker_of(*producer.op, static_cast<std::size_t>(run.core));
      break;
    }
  return t;
}

}  // namespace

EdgePipes input_pipes(const PlacedEpoch& epoch, std::size_t op, std::size_t number, std::size_t edge, IdSequence& ids,
                      PaddingBuffers& padding) {
  const OpPlan& p = epoch.plan.ops[op];
  const InputPlan& input = p.inputs[number];
  const std::vector<Id> buffers = source_buffers(epoch, op, input);
  EdgePipes out;
  for (const PipeRoute& route : input.routes.pipes) {
    Pipe pipe = input_pipe(epoch, op, number, route, buffers, ids, padding);
    if (pipe.mmio_downstream || input.from_chip == p.chip) {
      out.complete.push_back(std::move(pipe));
    } else {
      out.inter_chip.push_back({std::move(pipe), transfer_into(epoch, op, input, route, edge)});
    }
  }
  return out;
}

std::vector<Pipe> share_pipes(const PlacedEpoch& epoch, std::size_t op, std::size_t number, IdSequence& ids) {
  const OpPlan& p = epoch.plan.ops[op];
  const InputPlan& input = p.inputs[number];
  const GridShape grid = p.op->grid;
  const bool shared = grid.rows > 1, noc1 = input.multicast.noc1;
  std::vector<Pipe> out;
  for (std::int32_t c = 0; input.chunks > 0 && c < grid.cols; ++c) {
    Pipe& pipe = out.emplace_back();
    pipe.id = ids.next();
    for (std::int64_t chunk = 0; chunk < input.chunks; ++chunk)
      pipe.inputs.push_back(epoch.ids.ops[op].shares[number][static_cast<std::size_t>(chunk * grid.cols + c)]);
    std::vector<Id>& column = pipe.outputs.emplace_back();
    for (std::int32_t r = 0; r < grid.rows; ++r)
      column.push_back(epoch.ids.ops[op].inputs[number][static_cast<std::size_t>(r * grid.cols + c)]);
    pipe.mcast_core.push_back({p.chip, worker_of(*p.op, shared && noc1 ? grid.rows - 1 : 0, c)});
    pipe.incoming_noc = noc1 ? 0 : 1;
    pipe.outgoing_noc = noc1 ? 1 : 0;
    pipe.incoming_vc = kUnicastChannel;
    pipe.outgoing_vc = shared ? kMulticastChannel : kUnicastChannel;
  }
  return out;
}

}  // namespace buda::pipes
