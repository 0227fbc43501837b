// SPDX-License-Identifier: Apache-2.0
// Kernels: those of workers by the op of their core; those of Ethernet cores, which may serve several ops, by the ids of their buffers.
#include <buda/base/text.hpp>
#include <buda/netlist/model/op_types.hpp>
#include <buda/ops/table/op_traits.hpp>
#include <buda/overlay/blob/blob_of_netlist.hpp>
#include <buda/pipes/check/consumption.hpp>
#include <buda/pipes/plan/epoch_plan.hpp>
#include <buda/sim/epoch/building.hpp>

#include <algorithm>
#include <tuple>

namespace buda::sim {
namespace {

using netlist::Op;
using overlay::Stream;
using overlay::StreamKind;

// The number of an op's core, row by row.
std::int64_t core_number(const Op& op, GridCoord worker) {
  const std::int32_t r = worker.row - op.grid_loc.row, c = worker.col - op.grid_loc.col;
  return op.grid_transpose ? std::int64_t{c} * op.grid.cols + r : std::int64_t{r} * op.grid.cols + c;
}

Diagnostic not_of_netlist(const Building& b, std::uint32_t core, const std::string& message) {
  Diagnostic d = input_error("SM020", {}, cat("the stream program is not of this netlist: on ", name_of_core(b.m, core), ' ', message));
  d.node = b.blob().cores[core].op;
  return d;
}

KernelId new_kernel(Building& b, const Op& op, std::uint32_t core, std::int64_t number) {
  KernelState k;
  k.op = &op;
  k.core = core;
  k.number = number;
  k.operands.assign(op.inputs.size(), kNone);
  b.m.kernels.push_back(std::move(k));
  return static_cast<KernelId>(b.m.kernels.size() - 1);
}

void set_output(Building& b, KernelId id, StreamId stream) {
  KernelState& k = b.m.kernels[id];
  StreamState& s = b.m.streams[stream];
  k.output = stream;
  s.source = static_cast<TileSource>(b.m.source_names.size());
  b.m.source_names.push_back(name_of_kernel(b.m, k));
  b.outputs[{k.op, k.number}] = s.source;
}

Result<void> add_worker(Building& b, std::uint32_t c) {
  const overlay::Core& core = b.blob().cores[c];
  const Op* op = b.setup.index.op(core.op).op;
  if (op == nullptr)
    return input_error("SM001", {}, cat("the stream program has cores of op '", core.op, "', which the netlist does not have"));
  if (!overlay::has_core(*op, core.core)) return not_of_netlist(b, c, cat("op '", op->name, "' has no core"));
  const KernelId id = new_kernel(b, *op, c, core_number(*op, core.core));
  for (const Stream& p : core.streams) {
    const auto found = b.ids.find({static_cast<std::int32_t>(c), p.number});
    if (found == b.ids.end()) continue;
    const StreamId stream = found->second;
    if (p.kind != StreamKind::input && p.kind != StreamKind::output && p.kind != StreamKind::fork && p.kind != StreamKind::intermediate)
      continue;
    b.m.streams[stream].kernel = id;
    KernelState& k = b.m.kernels[id];
    if (p.kind == StreamKind::input) {
      const auto operand = static_cast<std::size_t>(p.operand);
      if (p.operand < 0 || operand >= k.operands.size() || k.operands[operand] != kNone)
        return not_of_netlist(b, c, cat("stream ", p.number, " is for input ", p.operand, ", which is not there or has another"));
      k.operands[operand] = stream;
    }
    if (p.kind == StreamKind::intermediate) k.sums = stream;
    if (p.kind == StreamKind::output) {
      if (k.output != kNone)
        return not_of_netlist(b, c, cat("streams ", b.m.streams[k.output].program->number, " and ", p.number, " are for one output"));
      set_output(b, id, stream);
    }
  }
  return success();
}

// The streams of one core of an ethernet_datacopy: an input, and the output that sends from the same buffer.
struct EthernetCopy {
  pipes::Id input_buffer = 0;
  std::uint32_t core = 0;
  StreamId input = kNone, output = kNone;
};

std::vector<EthernetCopy> ethernet_copies(const Building& b) {
  std::vector<EthernetCopy> out;
  for (std::uint32_t c = 0; c < b.blob().cores.size(); ++c) {
    const overlay::Core& core = b.blob().cores[c];
    if (!core.ethernet) continue;
    for (const Stream& input : core.streams) {
      if (input.kind != StreamKind::input) continue;
      EthernetCopy copy{input.buffer, c, b.ids.at({static_cast<std::int32_t>(c), input.number}), kNone};
      for (const Stream& output : core.streams)
        if (output.kind == StreamKind::output && output.address == input.address)
          copy.output = b.ids.at({static_cast<std::int32_t>(c), output.number});
      out.push_back(copy);
    }
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& c) { return a.input_buffer < c.input_buffer; });
  return out;
}

// Buffers are numbered op by op and core by core, and nothing else in a stream program tells whose an Ethernet core is.
Result<void> add_ethernet_ops(Building& b) {
  const std::vector<EthernetCopy> copies = ethernet_copies(b);
  std::size_t next = 0;
  for (const auto* graph : b.setup.epoch.graphs)
    for (const Op& op : graph->ops) {
      if (!ops::runs_on_ethernet(op.type)) continue;
      for (std::int64_t number = 0; number < op.grid.volume(); ++number, ++next) {
        if (next >= copies.size()) return not_simulated(cat("op '", op.name, "': the stream program lacks some of its cores"), op.name);
        const EthernetCopy& copy = copies[next];
        const KernelId id = new_kernel(b, op, copy.core, number);
        b.m.streams[copy.input].kernel = id;
        b.m.kernels[id].operands.front() = copy.input;
        if (copy.output == kNone) continue;
        for (StreamState& s : b.m.streams)
          if (s.owner == copy.output) s.kernel = id;
        set_output(b, id, copy.output);
        b.m.kernels[id].passes_on = true;
      }
    }
  if (next < copies.size()) return not_simulated("Ethernet cores that are of no op", "");
  return success();
}

ExpectedTiles expected_tiles(const Building& b, const pipes::Consumption& consumption) {
  ExpectedTiles out;
  out.per_input = consumption.per_input;
  for (const pipes::ConsumedRun& run : consumption.runs) {
    TileRun tiles{kPadding, run.first, run.count};
    if (run.from == pipes::ConsumedRun::From::op) {
      auto found = b.outputs.find({run.op, run.core});
      tiles.source = found == b.outputs.end() ? kUnknown : found->second;
    } else if (run.from == pipes::ConsumedRun::From::queue) {
      auto found = b.sources.find(run.queue_buffer);
      tiles.source = found == b.sources.end() ? kUnknown : found->second;
    }
    out.runs.push_back(tiles);
  }
  return out;
}

// By TileSource.
std::vector<TileOrigin> origins(const Building& b) {
  std::vector<TileOrigin> out(b.m.source_names.size());
  for (const auto& [output, source] : b.outputs) out[source] = {output.first, output.second};
  const auto& index = b.setup.index;
  for (const overlay::DramBuffer& buffer : b.blob().dram) {
    const std::size_t q = index.queue(buffer.queue);
    const auto source = b.sources.find(buffer.id);
    if (source == b.sources.end() || q == pipes::NetlistIndex::kNone) continue;
    const std::int64_t buffers = index.netlist().queues[q].grid.volume();
    for (std::int64_t i = 0; i < buffers; ++i)
      if (index.queue_buffer(q, static_cast<std::size_t>(i)) == buffer.id) out[source->second] = {nullptr, i};
  }
  return out;
}

ArrivedTiles arriving(const pipes::Consumption& consumption) {
  ArrivedTiles out;
  for (const auto& [tile, number] : consumption.places) out.places.push_back({tile, number});
  out.per_input = consumption.tiles;
  return out;
}

// The sums of a gradient op are there before the first step, and never freed.
void add_sums(Building& b, KernelState& k) {
  KernelPlan::Operand sums;
  sums.tiles = b.m.streams[k.sums].reading == nullptr ? 0 : b.m.streams[k.sums].reading->all;
  sums.kept = true;
  k.plan.operands.push_back(sums);
  k.operands.push_back(k.sums);
}

Result<void> plan_kernel(Building& b, KernelState& k, const pipes::Consumptions& consumptions) {
  const Op& op = *k.op;
  KernelContext context{op, pipes::fused_op_of(b.setup.index.netlist(), op), k.number, {}};
  for (std::size_t i = 0; i < k.operands.size(); ++i) {
    KernelOperand operand;
    if (k.operands[i] == kNone) {
      context.operands.push_back(operand);
      continue;
    }
    StreamState& s = b.m.streams[k.operands[i]];
    operand.kept = s.supply == Supply::kept;
    operand.tiles = operand.kept ? s.reading->all : s.program->messages() / b.m.inputs;
    BUDA_ASSIGN(auto consumption, consumptions.input(op, i, k.number, b.m.inputs));
    if (consumption) {
      operand.at_once = s.storage.at_once = std::max<std::int64_t>(consumption->at_once, 1);
      operand.tiles = consumption->tiles;
      if (b.setup.check_tiles) s.check = std::make_unique<TileCheck>(expected_tiles(b, *consumption));
      if (b.setup.check_tiles && b.m.arrivals)
        s.arrived = &b.m.arrivals->inputs.emplace_back(InputArrivals{arriving(*consumption), &op, i, operand.kept});
    }
    context.operands.push_back(operand);
  }
  // The firmware of an Ethernet core only tells one stream of what the other has received.
  if (ops::runs_on_ethernet(op.type)) {
    k.plan = plan_steps(op, context.operands);
  } else {
    BUDA_ASSIGN(k.plan, b.setup.cores.plan(context));
  }
  k.steps = k.plan.steps() * b.m.inputs;
  // An output that nobody takes is no reason to wait.
  if (k.output != kNone && b.m.streams[k.output].storage.users.empty()) k.output = kNone;
  k.passes_on = k.passes_on && k.output != kNone;
  if (k.sums != kNone) add_sums(b, k);
  k.tile_time.assign(k.operands.size(), 0);
  k.tile_moving.resize(k.tile_time.size());
  k.tile_filling.resize(k.tile_time.size());
  return success();
}

Result<void> expect_stored(Building& b, const pipes::Consumptions& consumptions) {
  const auto& index = b.setup.index;
  for (std::size_t d = 0; d < b.m.queues.size(); ++d) {
    const QueueState& q = b.m.queues[d];
    if (q.writers.size() != 1 || b.blob().dram[d].padding || q.queue >= index.netlist().queues.size()) continue;
    const netlist::Queue& queue = index.netlist().queues[q.queue];
    const Op* op = index.writer(queue);
    if (op == nullptr) continue;
    std::int64_t buffer = 0;
    while (buffer < queue.grid.volume() && index.queue_buffer(q.queue, static_cast<std::size_t>(buffer)) != b.blob().dram[d].id) ++buffer;
    BUDA_ASSIGN(auto stored, consumptions.stored(queue, buffer, *op, b.m.inputs));
    if (!stored) continue;
    StreamState& writer = b.m.streams[q.writers.front()];
    writer.check = std::make_unique<TileCheck>(expected_tiles(b, *stored));
    if (b.m.arrivals) writer.arrived = &b.m.arrivals->stored.emplace_back(StoredArrivals{arriving(*stored), queue.name});
  }
  return success();
}

}  // namespace

Result<void> add_kernels(Building& b) {
  for (std::uint32_t c = 0; c < b.blob().cores.size(); ++c)
    if (!b.blob().cores[c].ethernet && overlay::has_kernel(b.blob().cores[c])) BUDA_TRY(add_worker(b, c));
  BUDA_TRY(add_ethernet_ops(b));
  for (const StreamState& s : b.m.streams)
    if (s.supply == Supply::kernel && s.kernel == kNone)
      return not_of_netlist(b, s.core, cat("no kernel gives the tiles of stream ", s.program->number));
  const pipes::Consumptions consumptions(b.setup.index, b.setup.device, b.setup.epoch, b.setup.padding);
  for (KernelState& k : b.m.kernels) BUDA_TRY(plan_kernel(b, k, consumptions));
  if (b.setup.check_tiles) BUDA_TRY(expect_stored(b, consumptions));
  if (b.m.arrivals) b.m.arrivals->origins = origins(b);
  return success();
}

}  // namespace buda::sim
