// Ops on ethernet cores.
//
// An ethernet_datacopy takes its input like any op that copies, on the chip that it comes from, and hands it out on another: for each core
// of its grid there is a way, as a rule one cable. The input buffer is at the end of the last cable, and the output is the same memory. The
// cables may be given by the channels at both ends; otherwise those that are least used are taken.
#include <buda/pipes/build/graph_builder.hpp>

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::pipes {

using netlist::Op;

namespace {

constexpr std::size_t kMostCables = 16;  // that a message names

}  // namespace

GridCoord GraphBuilder::ethernet_core(std::int32_t channel) const {
  device::NocCoord at = device().eth[static_cast<std::size_t>(channel)];
  return {at.y, at.x};
}

GridCoord GraphBuilder::place_of_core(const OpPlan& p, std::size_t core) const {
  auto ways = ethernet_ways_.find(&p);
  return ways == ethernet_ways_.end() ? worker_of(*p.op, core) : ethernet_core(ways->second[core].back().to_channel);
}

device::NocCoord GraphBuilder::noc_of_core(const OpPlan& p, std::size_t core) const {
  auto ways = ethernet_ways_.find(&p);
  return ways == ethernet_ways_.end() ? device().noc_of_worker(worker_of(*p.op, core))
                                      : device().eth[static_cast<std::size_t>(ways->second[core].back().to_channel)];
}

// Several ops may stand on one ethernet core, so operands are counted there.
void GraphBuilder::put_on_ethernet(const OpPlan& p, std::size_t core, Buffer& b) {
  b.ethernet_chan = ethernet_ways_.at(&p)[core].back().to_channel;
  std::int32_t& ops = ethernet_ops_at_[{p.chip, *b.ethernet_chan}];
  b.operand += b.type == BufferType::packer ? ops++ : ops;
}

Diagnostic GraphBuilder::no_way(const Op& op, std::int32_t from, std::int32_t to) {
  if (chips_.joined(from, to)) {
    const std::vector<device::EthLink> full = chips_.full_between(from, to);
    const std::int64_t each = chips_.streams_of_a_cable(), all = each * static_cast<std::int64_t>(full.size());
    Diagnostic d =
        does_not_fit("PP036", op.name, "streams over ethernet", static_cast<std::uint64_t>(all) + 1, static_cast<std::uint64_t>(all),
                     cat("op '", op.name, "': no way from chip ", from, " to chip ", to, " has a stream left; every way takes ",
                         full.size() == 1 ? "a cable" : cat("one of ", full.size(), " cables"), " with ", all,
                         all == 1 ? " stream" : " streams", full.size() == 1 ? "" : " together", ", and ", all + 1, " are needed"),
                     "place ops that exchange data on the same chip, or bring what several of them take over once, through a nop");
    for (std::size_t i = 0; i < std::min(full.size(), kMostCables); ++i)
      d.notes.push_back({{},
                         cat("full: chip ", full[i].chip, ", channel ", full[i].channel, " to chip ", full[i].to_chip, ", channel ",
                             full[i].to_channel)});
    d.loc = netlist().loc(op.places.self);
    return d;
  }
  Diagnostic d = input_error("PP034", netlist().loc(op.places.self),
                             cat("op '", op.name, "': '", device().name, "' has no ethernet links from chip ", from, " to chip ", to));
  d.node = op.name;
  d.hint = "place the graphs on chips that are joined, or name a device whose descriptor has the links";
  return d;
}

Result<ChipWay> GraphBuilder::way_of_ethernet_core(const OpPlan& p, std::size_t core) {
  const auto& a = p.op->attributes;
  const std::int32_t from = p.inputs.front().from_chip;
  if (a.ingress_channels.empty()) {
    auto way = chips_.take(from, p.chip);
    if (way && !way->empty()) return std::move(*way);
    if (!way) return no_way(*p.op, from, p.chip);
  }
  auto error = [&](std::string what, std::string hint) {
    Diagnostic d = input_error("PP035", netlist().loc(p.op->places.of(netlist::Field::attributes)), cat("op '", p.op->name, "': ", what));
    d.node = p.op->name;
    d.hint = std::move(hint);
    return d;
  };
  if (from == p.chip) return error(cat("dest_device is chip ", p.chip, ", where its input is"), "use a nop to copy within a chip");
  const auto cores = static_cast<std::size_t>(p.op->grid.volume());
  if (a.ingress_channels.size() != cores || a.egress_channels.size() != cores)
    return error(cat("it has ", a.ingress_channels.size(), " ingress_channels and ", a.egress_channels.size(), " egress_channels for ",
                     cores, cores == 1 ? " core" : " cores"),
                 "give one of both for each core of the grid, or none");
  const std::int32_t in = a.ingress_channels[core], out = a.egress_channels[core];
  if (auto way = chips_.take_between(from, in, p.chip, out)) return std::move(*way);
  for (auto [chip, channel] : {std::pair{from, in}, std::pair{p.chip, out}}) {
    auto room = chips_.room(chip, channel);
    if (!room)
      return error(cat("ethernet channel ", channel, " of chip ", chip, " has no cable"), "name channels that a cable joins, or none");
    if (room->left > 0) continue;
    const auto all = static_cast<std::uint64_t>(room->all);
    Diagnostic d = does_not_fit("PP036", p.op->name, "streams over ethernet", all + 1, all,
                                cat("op '", p.op->name, "': the cable at ethernet channel ", channel, " of chip ", chip, " carries ",
                                    room->all, " streams, and all of them are taken"),
                                "name other channels, or none, so that they are chosen");
    d.loc = netlist().loc(p.op->places.of(netlist::Field::attributes));
    return d;
  }
  const std::int32_t first = chips_.cable(from, in)->to_chip, last = chips_.cable(p.chip, out)->to_chip;
  if (chips_.joined(first, last) && !chips_.full_between(first, last).empty()) return no_way(*p.op, first, last);
  return error(cat("no way leads from ethernet channel ", in, " of chip ", from, " to channel ", out, " of chip ", p.chip),
               "name channels that a cable joins, or none, so that they are chosen");
}

bool GraphBuilder::takes_turns(const OpPlan& p, const InputPlan& input) {
  std::vector<int> pipes_of(static_cast<std::size_t>(p.op->grid.volume()), 0);
  for (const PipeRoute& route : input.routes.pipes)
    for (std::int32_t d : route.destinations) ++pipes_of[static_cast<std::size_t>(d)];
  return std::any_of(pipes_of.begin(), pipes_of.end(), [](int n) { return n != 1; }) || input.routes.pipes.size() != pipes_of.size();
}

// Cores that take turns: each has its own cable, and a relay in front of that, to which all pipes bring what is for this core, padding
// included; so turns are over before the cable.
Result<void> GraphBuilder::lay_copy_turns(const OpPlan& p, const InputPlan& input, std::vector<Crossing> crossings) {
  struct Portions {
    std::int64_t tiles = 0, count = 0;  // of one, and how many come in the epoch
    Id relay = 0;
    GridCoord worker;
  };
  std::vector<Portions> of_core(static_cast<std::size_t>(p.op->grid.volume()));
  for (std::size_t i = 0; i < crossings.size(); ++i) {
    const std::vector<std::int64_t> turns = turns_in(crossings[i].pipe, crossings[i].freight.passes);
    for (std::size_t g = 0; g < turns.size(); ++g) {
      Portions& portions = of_core[static_cast<std::size_t>(input.routes.pipes[i].destinations[g])];
      if (portions.count > 0 && portions.tiles != crossings[i].freight.pass_tiles)
        return not_supported(netlist(), *p.op, "portions of several sizes that come to an ethernet core in turns", 0);
      portions.tiles = crossings[i].freight.pass_tiles;
      portions.count += turns[g];
    }
  }
  const auto& ways = ethernet_ways_.at(&p);
  for (std::size_t i = 0; i < crossings.size(); ++i) {
    Pipe& pipe = crossings[i].pipe;
    for (std::size_t g = 0; g < pipe.outputs.size(); ++g) {
      Portions& portions = of_core[static_cast<std::size_t>(input.routes.pipes[i].destinations[g])];
      if (portions.relay == 0) {
        Freight freight = crossings[i].freight;
        freight.pass_tiles = portions.tiles;
        freight.passes = portions.count;
        portions.worker = gathering_worker(freight);
        portions.relay = add_relay(BufferType::relay, freight.from, portions.worker, freight);
      }
      pipe.outputs[g] = {portions.relay};
      pipe.mcast_core[g] = {input.from_chip, portions.worker};
    }
    pipe.incoming_vc = pipe.outgoing_vc = kUnicastChannel;
    graph_.pipes.push_back(std::move(pipe));
  }
  for (std::size_t core = 0; core < of_core.size(); ++core) {
    const Portions& portions = of_core[core];
    Crossing last{relay_pipe({}, input.buffers[core], p.chip, {}), crossings.front().freight};
    last.freight.given_way = &ways[core];
    last.freight.pass_tiles = portions.tiles;
    last.freight.passes = portions.count;
    land(last, {lay_cables({portions.relay}, ways[core], last.freight)}, ways[core]);
  }
  return success();
}

// Those with given channels first, so that the others do not take their cables.
Result<void> GraphBuilder::place_ethernet_ops() {
  for (bool given : {true, false})
    for (const OpPlan& p : plan_.ops) {
      if (!EpochPlan::is_ethernet(p) || p.op->attributes.ingress_channels.empty() == given || p.inputs.empty()) continue;
      std::vector<ChipWay> ways;
      for (std::size_t core = 0; core < static_cast<std::size_t>(p.op->grid.volume()); ++core) {
        BUDA_ASSIGN(ChipWay way, way_of_ethernet_core(p, core));
        ways.push_back(std::move(way));
      }
      ethernet_ways_.emplace(&p, std::move(ways));
    }
  return success();
}

}  // namespace buda::pipes
