// Pipes whose ends are on different chips.
//
// Such a pipe is cut into several, with relay buffers between them, through which tiles pass in their order:
//
//   sources ─▶ relay on a worker ─▶ ethernet core ═link═▶ ethernet core ─▶ … ─▶ destinations
//
// All of the re-blocking is done by the first pipe; all of the spreading over cores, by the last. The relay on a worker gathers what comes
// from several cores or from DRAM, which ethernet cores do not read; a queue on another chip is written by a worker over there. One pass of
// the pipe is one pass of each piece, so a relay's block is all that a pass brings.
//
// A cable carries few streams at once. Each pipe has a way of its own as long as there is one, be it a detour; where an edge has more pipes
// than ways, some of them share one: the first piece brings what all of them take in a pass, one after the other, and at the end of the
// last cable each takes its part:
//
//   sources of A, then of B ─▶ relay ─▶ ethernet core ═cable═▶ ethernet core ─┬▶ destinations of A
//                                                                            └▶ destinations of B
//
// Receivers that take turns get a way each from the producers on, where there is room and only one pipe has turns for them, so that none
// waits for another at the end of a cable:
//
//   sources ─┬▶ relay of turn 0 ─▶ ethernet core ═cable═▶ ethernet core ─▶ destination of turn 0
//            └▶ relay of turn 1 ─▶ …
//
// Nor do pipes that bring pieces of rows, of which each is known by its place in the list.
//
// Pipes of different edges do not share: an op that waits for one edge could hold up the other, and that one what the op waits for.
#include <buda/pipes/build/graph_builder.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <numeric>
#include <span>

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

// Where tiles are gathered before they leave a chip: on the core that makes them, if one does.
GridCoord GraphBuilder::gathering_worker(const Freight& freight) {
  return freight.source_worker ? *freight.source_worker : relay_worker(freight.from);
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

void GraphBuilder::finish_pipe(Pipe pipe, const Freight& freight) {
  if (pipe.mmio_downstream) {
    graph_.pipes.push_back(std::move(pipe));
  } else if (freight.from != freight.to || (freight.from_ethernet && freight.to_queue)) {
    crossings_.push_back({std::move(pipe), freight});
  } else {
    graph_.pipes.push_back(std::move(pipe));
  }
}

// Every edge gets one way, a detour where the straight ones are full, so that none is refused for what others could share. Then the edges
// with more pipes than ways get further ones in turns: straight ones first, because a detour takes streams of more cables.
Result<std::vector<GraphBuilder::Ferry>> GraphBuilder::share_cables() {
  std::vector<Ferry> ferries;
  for (std::size_t i = 0; i < crossings_.size(); ++i) {
    const Freight& f = crossings_[i].freight;
    const bool alone = f.given_way != nullptr || f.from == f.to;
    if (!alone && !f.rows && !ferries.empty() && ferries.back().ways.empty() && crossings_[i - 1].freight.edge == f.edge) {
      ++ferries.back().count;
      continue;
    }
    ferries.push_back({i, 1, {}});
    if (alone) ferries.back().ways.push_back(f.given_way != nullptr ? *f.given_way : ChipWay{});
  }
  for (Ferry& ferry : ferries) {
    if (!ferry.ways.empty()) continue;
    const Freight& f = crossings_[ferry.first].freight;
    auto way = chips_.take(f.from, f.to);
    if (!way) return no_way(*f.op, f.from, f.to);
    ferry.ways.push_back(std::move(*way));
  }
  std::vector<Ferry*> waiting;
  for (Ferry& ferry : ferries)
    if (ferry.ways.size() < ferry.count) waiting.push_back(&ferry);
  for (bool straight : {true, false}) {
    std::vector<Ferry*> asking = waiting;
    while (!asking.empty())
      std::erase_if(asking, [&](Ferry* ferry) {
        const Freight& f = crossings_[ferry->first].freight;
        auto way = straight ? chips_.take_shortest(f.from, f.to) : chips_.take(f.from, f.to);
        if (way) ferry->ways.push_back(std::move(*way));
        return !way || ferry->ways.size() == ferry->count;
      });
    std::erase_if(waiting, [](const Ferry* ferry) { return ferry->ways.size() == ferry->count; });
  }
  return ferries;
}

// How many turns each group of a pipe has in so many passes. Groups that get padding have theirs beside those of the group before them.
std::vector<std::int64_t> GraphBuilder::turns_in(const Pipe& pipe, std::int64_t passes) {
  auto padded = [&](std::size_t g) { return g < pipe.output_padding.size() && pipe.output_padding[g] != 0; };
  std::int64_t taking = 0, turn = -1;
  for (std::size_t g = 0; g < pipe.outputs.size(); ++g) taking += padded(g) ? 0 : 1;
  std::vector<std::int64_t> out;
  for (std::size_t g = 0; g < pipe.outputs.size(); ++g) {
    turn += padded(g) ? 0 : 1;
    out.push_back((passes - std::max<std::int64_t>(turn, 0) + taking - 1) / std::max<std::int64_t>(taking, 1));
  }
  return out;
}

// Receivers of a crossing that takes turns, each once, and what each gets in the epoch.
std::vector<GraphBuilder::Taker> GraphBuilder::takers_of(const Crossing& crossing) {
  std::vector<Taker> out;
  std::map<std::vector<Id>, std::size_t> known;
  const std::vector<std::int64_t> turns = turns_in(crossing.pipe, crossing.freight.passes);
  for (std::size_t g = 0; g < turns.size(); ++g) {
    auto [it, fresh] = known.emplace(crossing.pipe.outputs[g], out.size());
    if (fresh) out.push_back({});
    out[it->second].groups.push_back(g);
    out[it->second].turns += turns[g];
  }
  return out;
}

// Whether turns may part before the cable: tiles of kernels' outputs, to receivers that are in one group only and get whole inputs.
bool GraphBuilder::can_part(const Crossing& crossing) {
  const Freight& f = crossing.freight;
  if (crossing.pipe.outputs.size() < 2 || f.from_queue || f.from == f.to || f.given_way != nullptr) return false;
  const std::vector<Taker> takers = takers_of(crossing);
  std::set<Id> known;
  return takers.size() > 1 && std::all_of(takers.begin(), takers.end(), [&](const Taker& taker) {
           const auto& group = crossing.pipe.outputs[taker.groups.front()];
           return f.pass_tiles * taker.turns % f.input_count == 0 &&
                  std::all_of(group.begin(), group.end(), [&](Id id) { return known.insert(id).second; });
         });
}

// Ways for the other receivers, for all of them or for none.
std::vector<ChipWay> GraphBuilder::ways_of_turns(const Crossing& crossing) {
  std::vector<ChipWay> ways;
  if (!can_part(crossing)) return ways;
  const std::size_t wanted = takers_of(crossing).size();
  while (ways.size() + 1 < wanted) {
    auto way = chips_.take(crossing.freight.from, crossing.freight.to);
    if (way) {
      ways.push_back(std::move(*way));
      continue;
    }
    for (const ChipWay& taken : ways) chips_.give_back(taken);
    return {};
  }
  return ways;
}

// Whether several crossings of an edge lead to the same receivers, in turns that only their first pipes know.
bool GraphBuilder::share_receivers(const Ferry& ferry) const {
  std::set<Id> known;
  for (std::size_t i = ferry.first; i < ferry.first + ferry.count; ++i) {
    std::set<Id> own;
    for (const auto& group : crossings_[i].pipe.outputs) own.insert(group.begin(), group.end());
    for (Id id : own)
      if (!known.insert(id).second) return true;
  }
  return false;
}

Result<void> GraphBuilder::lay_crossings() {
  BUDA_ASSIGN(std::vector<Ferry> ferries, share_cables());
  for (Ferry& ferry : ferries) {
    const bool shares = share_receivers(ferry);
    for (std::size_t w = 0; w < ferry.ways.size(); ++w) {
      const std::size_t begin = ferry.count * w / ferry.ways.size(), end = ferry.count * (w + 1) / ferry.ways.size();
      Crossing& first = crossings_[ferry.first + begin];
      std::vector<ChipWay> more = end - begin == 1 && !shares ? ways_of_turns(first) : std::vector<ChipWay>{};
      if (more.empty()) {
        lay(ferry.first + begin, end - begin, ferry.ways[w]);
        continue;
      }
      more.insert(more.begin(), std::move(ferry.ways[w]));
      lay_turns(first, more);
    }
  }
  crossings_.clear();
  return success();
}

// A crossing whose receivers take turns, over a way for each receiver.
void GraphBuilder::lay_turns(Crossing& crossing, const std::vector<ChipWay>& ways) {
  Freight freight = crossing.freight;
  const std::vector<Taker> takers = takers_of(crossing);
  const auto groups = crossing.pipe.outputs;
  Pipe gather = relay_pipe(std::move(crossing.pipe.inputs), 0, freight.from, {});
  gather.periodic_repeat = std::exchange(crossing.pipe.periodic_repeat, 0);
  gather.consumer_repeat = std::exchange(crossing.pipe.consumer_repeat, 1);
  gather.outputs.assign(groups.size(), {});
  gather.mcast_core.assign(groups.size(), {});
  gather.output_padding = std::exchange(crossing.pipe.output_padding, {});
  std::vector<Id> relays;
  for (const Taker& taker : takers) {
    freight.passes = taker.turns;
    GridCoord worker = gathering_worker(freight);
    relays.push_back(add_relay(BufferType::relay, freight.from, worker, freight));
    for (std::size_t g : taker.groups) {
      gather.outputs[g] = {relays.back()};
      gather.mcast_core[g] = {freight.from, worker};
    }
  }
  graph_.pipes.push_back(std::move(gather));
  for (std::size_t k = 0; k < takers.size(); ++k) {
    freight.passes = takers[k].turns;
    Crossing last{crossing.pipe, freight};
    if (k > 0) last.pipe.id = new_id();
    const std::size_t group = takers[k].groups.front();
    last.pipe.outputs = {groups[group]};
    last.pipe.mcast_core = {crossing.pipe.mcast_core[group]};
    land(last, {lay_cables({relays[k]}, ways[k], freight)}, ways[k]);
  }
}

// Some crossings of an edge over one way: what they bring in a pass comes one after the other.
void GraphBuilder::lay(std::size_t first, std::size_t count, const ChipWay& way) {
  const std::span<Crossing> crossings(crossings_.data() + first, count);
  Freight freight = crossings.front().freight;
  std::vector<Id> from = std::move(crossings.front().pipe.inputs);
  if (way.empty()) return land(crossings.front(), std::move(from), way);
  std::int64_t repeat = std::exchange(crossings.front().pipe.periodic_repeat, 0), part_tiles = freight.pass_tiles;
  auto write_out = [&](std::vector<Id>& list, std::int64_t times) {
    const std::size_t once = list.size();
    list.reserve(once * static_cast<std::size_t>(std::max<std::int64_t>(times, 1)));
    for (std::int64_t r = 1; r < times; ++r) list.insert(list.end(), list.begin(), list.begin() + static_cast<std::ptrdiff_t>(once));
  };
  if (count > 1) write_out(from, std::exchange(repeat, 0));
  for (Crossing& c : crossings.subspan(1)) {
    write_out(c.pipe.inputs, std::exchange(c.pipe.periodic_repeat, 0));
    from.insert(from.end(), c.pipe.inputs.begin(), c.pipe.inputs.end());
    freight.pass_tiles += c.freight.pass_tiles;
    part_tiles = std::gcd(part_tiles, c.freight.pass_tiles);
  }
  if (freight.from_queue || from.size() > 1 || repeat > 0) {
    GridCoord worker = gathering_worker(freight);
    Id relay = add_relay(BufferType::relay, freight.from, worker, freight);
    if (freight.rows) {
      graph_.buffers.back().rows.tilize_row_col_offset = static_cast<std::int32_t>(freight.rows->offset);
      graph_.buffers.back().size_tiles = freight.rows->room;
    }
    Pipe gather = relay_pipe(std::move(from), relay, freight.from, worker);
    gather.periodic_repeat = repeat;
    gather.op_input_dram_io_buf_size_tiles = std::exchange(crossings.front().pipe.op_input_dram_io_buf_size_tiles, 0);
    graph_.pipes.push_back(std::move(gather));
    from = {relay};
  }
  const Id last = lay_cables(std::move(from), way, freight);
  if (count == 1) return land(crossings.front(), {last}, way);
  Buffer& shared = graph_.buffers.back();
  shared.is_scatter = true;
  shared.scatter_gather_num_tiles = part_tiles;
  shared.replicate = freight.pass_tiles / part_tiles;
  shared.epoch_tiles /= shared.replicate;
  std::int64_t at = 0;
  for (Crossing& c : crossings) {
    std::vector<Id> blocks;
    for (std::int64_t end = at + c.freight.pass_tiles; at < end; at += part_tiles) blocks.push_back(last + static_cast<Id>(at));
    land(c, std::move(blocks), way);
  }
}

// Relays at both ends of each cable; what is read by an ethernet core is there already. The last of them.
Id GraphBuilder::lay_cables(std::vector<Id> from, const ChipWay& way, const Freight& freight) {
  for (const device::EthLink& link : way) {
    const GridCoord out_core = ethernet_core(link.channel), in_core = ethernet_core(link.to_channel);
    Id out = add_relay(BufferType::ethernet_relay, link.chip, out_core, freight);
    graph_.buffers.back().ethernet_chan = link.channel;
    Pipe to_link = relay_pipe(std::move(from), out, link.chip, out_core);
    to_link.ethernet_chan = link.channel;
    graph_.pipes.push_back(std::move(to_link));
    from = {out};
    if (freight.given_way != nullptr && &link == &way.back()) break;
    Id in = add_relay(BufferType::ethernet_relay, link.to_chip, in_core, freight);
    graph_.buffers.back().ethernet_chan = link.to_channel;
    Pipe over_link = relay_pipe(std::move(from), in, link.to_chip, in_core);
    over_link.ethernet_pipe = true;
    over_link.incoming_vc = over_link.outgoing_vc = 0;
    graph_.pipes.push_back(std::move(over_link));
    from = {in};
  }
  return from.front();
}

// The last piece, from where the last cable ends.
void GraphBuilder::land(Crossing& crossing, std::vector<Id> from, const ChipWay& way) {
  const Freight& freight = crossing.freight;
  Pipe pipe = std::move(crossing.pipe);
  if (freight.given_way != nullptr) {
    pipe.mcast_core = {{freight.to, ethernet_core(way.back().to_channel)}};
    pipe.ethernet_pipe = true;
    pipe.incoming_vc = pipe.outgoing_vc = 0;
  } else if (freight.to_queue) {
    GridCoord worker = relay_worker(freight.to);
    Id relay = add_relay(BufferType::relay, freight.to, worker, freight);
    Pipe to_worker = relay_pipe(std::move(from), relay, freight.to, way.empty() ? worker : ethernet_core(way.back().to_channel));
    if (!way.empty()) to_worker.ethernet_chan = way.back().to_channel;
    to_worker.periodic_repeat = std::exchange(pipe.periodic_repeat, 0);
    graph_.pipes.push_back(std::move(to_worker));
    from = {relay};
    pipe.mcast_core = {{freight.to, worker}};
  } else if (std::all_of(pipe.outputs.begin(), pipe.outputs.end(), [](const auto& group) { return group.size() == 1; })) {
    pipe.mcast_core.assign(pipe.outputs.size(), {freight.to, ethernet_core(way.back().to_channel)});
    pipe.ethernet_chan = way.back().to_channel;
  }
  pipe.inputs = std::move(from);
  graph_.pipes.push_back(std::move(pipe));
}

}  // namespace buda::pipes
