// Pipes whose ends are on different chips.
//
// Such a pipe is cut into several, with relay buffers between them, through which tiles pass in their order:
//
//   sources ─▶ relay on a worker ─▶ ethernet core ═link═▶ ethernet core ─▶ … ─▶ destinations
//
// All of the re-blocking is done by the first pipe; all of the spreading over cores, groups in turn and multicasts, by the last. The relay
// on a worker gathers what comes from several cores or from DRAM, which ethernet cores do not read; a queue on another chip is written by a
// worker over there. One pass of the pipe is one pass of each piece, so a relay's block is all that a pass brings.
#include <buda/pipes/graph_builder.hpp>

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::pipes {
namespace {

// What a relay holds at least as long as a pass has it: enough to keep a link busy, little enough for all streams of an ethernet core.
constexpr std::int64_t kWorkerRelayBytes = 16 * 1024;
constexpr std::int64_t kEthernetRelayBytes = 8 * 1024;

constexpr std::int32_t kLoadOfOp = 4;

}  // namespace

// The worker with the least to do; an op counts like a few relays.
GridCoord GraphBuilder::relay_worker(std::int32_t chip) {
  const GridShape grid = device().grid();
  auto [it, fresh] = relay_workers_.try_emplace(chip);
  RelayWorkers& workers = it->second;
  if (fresh) {
    std::vector<std::int32_t> load(static_cast<std::size_t>(grid.volume()), 0);
    for (const OpPlan& p : plan_.ops) {
      if (p.graph->target_device != chip || op_class(p.op->type) == netlist::OpClass::ethernet) continue;
      for (std::size_t core = 0; core < static_cast<std::size_t>(p.op->grid.volume()); ++core) {
        GridCoord at = worker_of(*p.op, core);
        load[static_cast<std::size_t>(at.row * grid.cols + at.col)] = kLoadOfOp;
      }
    }
    for (std::int32_t i = 0; i < grid.volume(); ++i) workers.emplace(load[static_cast<std::size_t>(i)], i);
  }
  auto [load, place] = workers.extract(workers.begin()).value();
  workers.emplace(load + 1, place);
  return {place / grid.cols, place % grid.cols};
}

Id GraphBuilder::add_relay(BufferType type, std::int32_t chip, GridCoord core, const Freight& freight) {
  Buffer b;
  b.type = type;
  b.id = new_id();
  b.op = cat(b.id);
  b.operand = kRelayOperand + relays_at_[{type, chip, core.row, core.col}]++;
  b.chip = chip;
  b.core = core;
  b.epoch_tiles = freight.pass_tiles * freight.passes;
  b.tiles_per_input = b.epoch_tiles / freight.input_count;
  const std::int64_t bytes = type == BufferType::relay ? kWorkerRelayBytes : kEthernetRelayBytes;
  b.size_tiles = std::min(freight.pass_tiles, std::max<std::int64_t>(1, bytes / freight.tile_bytes));
  b.scatter_gather_num_tiles = freight.pass_tiles;
  b.tile_size = freight.tile_bytes;
  b.ublock_rt = b.ublock_ct = b.mblock_m = b.mblock_n = 1;
  graph_.buffers.push_back(std::move(b));
  return graph_.buffers.back().id;
}

Pipe GraphBuilder::relay_pipe(std::vector<Id> inputs, Id output, std::int32_t chip, GridCoord core) {
  Pipe pipe;
  pipe.id = new_id();
  pipe.inputs = std::move(inputs);
  pipe.outputs.push_back({output});
  pipe.mcast_core.push_back({chip, core});
  pipe.incoming_vc = pipe.outgoing_vc = kUnicastChannel;
  return pipe;
}

Result<void> GraphBuilder::finish_pipe(Pipe pipe, const Freight& freight) {
  if (freight.from == freight.to) {
    graph_.pipes.push_back(std::move(pipe));
    return success();
  }
  auto way = chips_.take(freight.from, freight.to);
  if (!way) {
    Diagnostic d = input_error(
        "PP034", netlist().loc(freight.op->places.self),
        cat("op '", freight.op->name, "': '", device().name, "' has no ethernet links from chip ", freight.from, " to chip ", freight.to));
    d.node = freight.op->name;
    d.hint = "place the graphs on chips that are joined, or name a device whose descriptor has the links";
    return d;
  }
  auto ethernet_core = [&](std::int32_t channel) {
    device::NocCoord at = device().eth[static_cast<std::size_t>(channel)];
    return GridCoord{at.y, at.x};
  };
  std::vector<Id> from = std::move(pipe.inputs);
  std::int64_t repeat = std::exchange(pipe.periodic_repeat, 0);
  if (freight.from_queue || from.size() > 1 || repeat > 0) {
    GridCoord worker = freight.source_worker ? *freight.source_worker : relay_worker(freight.from);
    Id relay = add_relay(BufferType::relay, freight.from, worker, freight);
    Pipe first = relay_pipe(std::move(from), relay, freight.from, worker);
    first.periodic_repeat = repeat;
    first.op_input_dram_io_buf_size_tiles = std::exchange(pipe.op_input_dram_io_buf_size_tiles, 0);
    graph_.pipes.push_back(std::move(first));
    from = {relay};
  }
  for (const device::EthLink& link : *way) {
    GridCoord out_core = ethernet_core(link.channel), in_core = ethernet_core(link.to_channel);
    Id out = add_relay(BufferType::ethernet_relay, link.chip, out_core, freight);
    graph_.buffers.back().ethernet_chan = link.channel;
    Id in = add_relay(BufferType::ethernet_relay, link.to_chip, in_core, freight);
    graph_.buffers.back().ethernet_chan = link.to_channel;
    Pipe to_link = relay_pipe(std::move(from), out, link.chip, out_core);
    to_link.ethernet_chan = link.channel;
    graph_.pipes.push_back(std::move(to_link));
    Pipe over_link = relay_pipe({out}, in, link.to_chip, in_core);
    over_link.ethernet_pipe = true;
    over_link.incoming_vc = over_link.outgoing_vc = 0;
    graph_.pipes.push_back(std::move(over_link));
    from = {in};
  }
  const device::EthLink& last = way->back();
  if (freight.to_queue) {
    GridCoord worker = relay_worker(freight.to);
    Id relay = add_relay(BufferType::relay, freight.to, worker, freight);
    Pipe to_worker = relay_pipe(std::move(from), relay, freight.to, ethernet_core(last.to_channel));
    to_worker.ethernet_chan = last.to_channel;
    graph_.pipes.push_back(std::move(to_worker));
    from = {relay};
    pipe.mcast_core = {{freight.to, worker}};
  } else if (pipe.outputs.size() == 1 && pipe.outputs.front().size() == 1) {
    pipe.mcast_core = {{freight.to, ethernet_core(last.to_channel)}};
    pipe.ethernet_chan = last.to_channel;
  }
  pipe.inputs = std::move(from);
  graph_.pipes.push_back(std::move(pipe));
  return success();
}

}  // namespace buda::pipes
