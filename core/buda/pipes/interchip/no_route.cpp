// SPDX-License-Identifier: Apache-2.0
// Words errors about routes.
#include <buda/pipes/interchip/no_route.hpp>

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::pipes {
namespace {

constexpr std::size_t kMaxNamedLinks = 16;

Diagnostic saturated(const netlist::Op& op, std::int32_t from, std::int32_t to, const std::vector<device::EthLink>& links,
                     std::int64_t streams_per_link) {
  const std::int64_t all = streams_per_link * static_cast<std::int64_t>(links.size());
  Diagnostic d =
      does_not_fit("PP036", op.name, "streams over ethernet", static_cast<std::uint64_t>(all) + 1, static_cast<std::uint64_t>(all),
                   cat("op '", op.name, "': no route from chip ", from, " to chip ", to, " has a free stream; every route uses ",
                       links.size() == 1 ? "a link" : cat("one of ", links.size(), " links"), " with ", all,
                       all == 1 ? " stream" : " streams", links.size() == 1 ? "" : " together", ", and ", all + 1, " are needed"),
                   "place ops that exchange data on the same chip, or transfer what several of them need once, through a nop");
  for (std::size_t i = 0; i < std::min(links.size(), kMaxNamedLinks); ++i)
    d.notes.push_back({{},
                       cat("saturated: chip ", links[i].chip, ", channel ", links[i].channel, " to chip ", links[i].to_chip, ", channel ",
                           links[i].to_channel)});
  return d;
}

}  // namespace

Diagnostic no_route(const netlist::Netlist& netlist, const device::DeviceDescriptor& device, RouteAllocator& links, const netlist::Op& op,
                    std::int32_t from, std::int32_t to) {
  if (links.connected(from, to)) {
    Diagnostic d = saturated(op, from, to, links.saturated_between(from, to), links.streams_per_link());
    d.loc = netlist.loc(op.places.self);
    return d;
  }
  Diagnostic d = input_error("PP034", netlist.loc(op.places.self),
                             cat("op '", op.name, "': '", device.name, "' has no ethernet links from chip ", from, " to chip ", to));
  d.node = op.name;
  d.hint = "place the graphs on connected chips, or name a device whose descriptor has the links";
  return d;
}

}  // namespace buda::pipes
