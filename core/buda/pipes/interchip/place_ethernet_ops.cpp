// SPDX-License-Identifier: Apache-2.0
// Finds a route for each core of ops on Ethernet cores.
#include <buda/pipes/interchip/place_ethernet_ops.hpp>

#include <buda/base/text.hpp>
#include <buda/pipes/interchip/no_route.hpp>

#include <map>
#include <optional>
#include <string>
#include <utility>

namespace buda::pipes {
namespace {

Diagnostic channels_error(const EpochPlan& plan, const OpPlan& p, const std::string& what, std::string hint) {
  Diagnostic d =
      input_error("PP035", plan.netlist().loc(p.op->places.of(netlist::Field::attributes)), cat("op '", p.op->name, "': ", what));
  d.node = p.op->name;
  d.hint = std::move(hint);
  return d;
}

// What is wrong with a given channel, if anything.
std::optional<Diagnostic> check_channel(const EpochPlan& plan, const OpPlan& p, const RouteAllocator& links, std::int32_t chip,
                                        std::int32_t channel) {
  const auto free = links.free_streams(chip, channel);
  if (!free)
    return channels_error(plan, p, cat("ethernet channel ", channel, " of chip ", chip, " has no link"),
                          "name channels with links, or none");
  if (*free > 0) return std::nullopt;
  const auto all = static_cast<std::uint64_t>(links.streams_per_link());
  Diagnostic d = does_not_fit("PP036", p.op->name, "streams over ethernet", all + 1, all,
                              cat("op '", p.op->name, "': the link at ethernet channel ", channel, " of chip ", chip, " has ", all,
                                  " streams, and all of them are in use"),
                              "name other channels, or none, so that they are chosen");
  d.loc = plan.netlist().loc(p.op->places.of(netlist::Field::attributes));
  return d;
}

// The route between the channels that the netlist gives.
Result<ChipRoute> given_route(const EpochPlan& plan, const OpPlan& p, std::size_t core, RouteAllocator& links) {
  const auto& a = p.op->attributes;
  const std::int32_t from = p.inputs.front().from_chip;
  if (from == p.chip)
    return channels_error(plan, p, cat("dest_device is chip ", p.chip, ", where its input is"), "use a nop to copy within a chip");
  const auto cores = static_cast<std::size_t>(p.op->grid.volume());
  if (a.ingress_channels.size() != cores || a.egress_channels.size() != cores)
    return channels_error(plan, p,
                          cat("it has ", a.ingress_channels.size(), " ingress_channels and ", a.egress_channels.size(),
                              " egress_channels for ", cores, cores == 1 ? " core" : " cores"),
                          "give one of both for each core of the grid, or none");
  const std::int32_t in = a.ingress_channels[core], out = a.egress_channels[core];
  if (auto route = links.allocate_between(from, in, p.chip, out)) return std::move(*route);
  for (auto [chip, channel] : {std::pair{from, in}, std::pair{p.chip, out}})
    if (auto error = check_channel(plan, p, links, chip, channel)) return std::move(*error);
  const std::int32_t first = links.link(from, in)->to_chip, last = links.link(p.chip, out)->to_chip;
  if (links.connected(first, last) && !links.saturated_between(first, last).empty())
    return no_route(plan.netlist(), *plan.device, links, *p.op, first, last);
  return channels_error(plan, p,
                        cat("there is no route from ethernet channel ", in, " of chip ", from, " to channel ", out, " of chip ", p.chip),
                        "name channels with links, or none, so that they are chosen");
}

Result<ChipRoute> route_of_core(const EpochPlan& plan, const OpPlan& p, std::size_t core, RouteAllocator& links) {
  const std::int32_t from = p.inputs.front().from_chip;
  if (p.op->attributes.ingress_channels.empty() && from != p.chip) {
    auto route = links.allocate(from, p.chip);
    if (!route) return no_route(plan.netlist(), *plan.device, links, *p.op, from, p.chip);
    return std::move(*route);
  }
  return given_route(plan, p, core, links);
}

}  // namespace

Result<CorePositions> place_ethernet_ops(const EpochPlan& plan, RouteAllocator& links) {
  std::vector<std::vector<EthernetCore>> cores(plan.ops.size());
  for (bool given : {true, false})
    for (std::size_t o = 0; o < plan.ops.size(); ++o) {
      const OpPlan& p = plan.ops[o];
      if (!EpochPlan::is_ethernet(p) || p.op->attributes.ingress_channels.empty() == given) continue;
      for (std::size_t core = 0; core < static_cast<std::size_t>(p.op->grid.volume()); ++core) {
        BUDA_ASSIGN(ChipRoute route, route_of_core(plan, p, core, links));
        cores[o].push_back({std::move(route), 0});
      }
    }
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> placed;  // cores, by chip and channel
  for (std::size_t o = 0; o < plan.ops.size(); ++o)
    for (EthernetCore& core : cores[o]) core.operands = placed[{plan.ops[o].chip, core.channel()}]++;
  return CorePositions(plan, std::move(cores));
}

}  // namespace buda::pipes
