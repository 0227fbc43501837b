// SPDX-License-Identifier: Apache-2.0
// A relay for each core, then its route.
#include <buda/pipes/interchip/copy_rounds.hpp>

#include <buda/pipes/interchip/rounds.hpp>
#include <buda/pipes/noc/noc.hpp>
#include <buda/pipes/plan/not_supported.hpp>

#include <algorithm>
#include <utility>

namespace buda::pipes {
namespace {

// What a core receives: rounds of `tiles` tiles.
struct CoreRounds {
  std::int64_t tiles = 0, rounds = 0;
  Id relay = 0;
  CoreCoord relay_at;
};

Result<std::vector<CoreRounds>> rounds_of_cores(const EpochPlan& plan, const OpPlan& p, const std::vector<InterChipPipe>& pipes) {
  std::vector<CoreRounds> out(static_cast<std::size_t>(p.op->grid.volume()));
  const auto& routes = p.inputs.front().routes.pipes;
  for (std::size_t i = 0; i < pipes.size(); ++i) {
    const Transfer& transfer = pipes[i].transfer;
    const std::vector<std::int64_t> rounds = rounds_per_group(pipes[i].pipe, transfer.passes);
    for (std::size_t g = 0; g < rounds.size(); ++g) {
      CoreRounds& core = out[static_cast<std::size_t>(routes[i].destinations[g])];
      if (core.rounds > 0 && core.tiles != transfer.pass_tiles)
        return not_supported(plan.netlist(), *p.op, "rounds of several sizes for one ethernet core", 0);
      core.tiles = transfer.pass_tiles;
      core.rounds += rounds[g];
    }
  }
  return out;
}

}  // namespace

bool copies_in_rounds(const OpPlan& op, const InputPlan& input) {
  if (!EpochPlan::is_ethernet(op)) return false;
  std::vector<int> pipes_of(static_cast<std::size_t>(op.op->grid.volume()), 0);
  for (const PipeRoute& route : input.routes.pipes)
    for (std::int32_t d : route.destinations) ++pipes_of[static_cast<std::size_t>(d)];
  return std::any_of(pipes_of.begin(), pipes_of.end(), [](int n) { return n != 1; }) || input.routes.pipes.size() != pipes_of.size();
}

Result<Segments> cut_copy(const EpochPlan& plan, const CorePositions& cores, std::size_t op, std::vector<InterChipPipe> pipes,
                          const std::vector<Id>& kernel_inputs, RelayAllocator& relays) {
  const OpPlan& p = plan.ops[op];
  const auto& routes = p.inputs.front().routes.pipes;
  BUDA_ASSIGN(std::vector<CoreRounds> of_core, rounds_of_cores(plan, p, pipes));
  Segments out;
  for (std::size_t i = 0; i < pipes.size(); ++i) {
    Pipe& pipe = pipes[i].pipe;
    for (std::size_t g = 0; g < pipe.outputs.size(); ++g) {
      CoreRounds& core = of_core[static_cast<std::size_t>(routes[i].destinations[g])];
      if (core.relay == 0) {
        Transfer transfer = pipes[i].transfer;
        transfer.pass_tiles = core.tiles;
        transfer.passes = core.rounds;
        core.relay_at = {transfer.from, relays.gathering_worker(transfer)};
        core.relay = out.relays.emplace_back(relays.relay(BufferType::relay, core.relay_at, transfer)).id;
      }
      pipe.outputs[g] = {core.relay};
      pipe.mcast_core[g] = core.relay_at;
    }
    pipe.incoming_vc = pipe.outgoing_vc = kUnicastChannel;
    out.pipes.push_back(std::move(pipe));
  }
  for (std::size_t c = 0; c < of_core.size(); ++c) {
    const ChipRoute& route = cores.ethernet(op, c)->route;
    InterChipPipe last{relays.pipe({}, kernel_inputs[c], {p.chip, {}}), pipes.front().transfer};
    last.transfer.fixed_route = &route;
    last.transfer.pass_tiles = of_core[c].tiles;
    last.transfer.passes = of_core[c].rounds;
    const Id end = cross_links({of_core[c].relay}, route, last.transfer, relays, out);
    terminate(std::move(last), {end}, route, relays, out);
  }
  return out;
}

}  // namespace buda::pipes
