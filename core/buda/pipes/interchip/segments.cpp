// SPDX-License-Identifier: Apache-2.0
// Makes segments.
#include <buda/pipes/interchip/segments.hpp>

#include <algorithm>
#include <utility>

namespace buda::pipes {

Id cross_links(std::vector<Id> from, const ChipRoute& route, const Transfer& transfer, RelayAllocator& relays, Segments& out) {
  for (const device::EthLink& link : route) {
    Buffer sender = relays.ethernet_relay(link.chip, link.channel, transfer);
    Pipe to_link = relays.pipe(std::move(from), sender.id, {sender.chip, sender.core});
    to_link.ethernet_chan = link.channel;
    out.pipes.push_back(std::move(to_link));
    from = {sender.id};
    out.relays.push_back(std::move(sender));
    if (transfer.fixed_route != nullptr && &link == &route.back()) break;
    Buffer receiver = relays.ethernet_relay(link.to_chip, link.to_channel, transfer);
    Pipe over_link = relays.pipe(std::move(from), receiver.id, {receiver.chip, receiver.core});
    over_link.ethernet_pipe = true;
    over_link.incoming_vc = over_link.outgoing_vc = 0;
    out.pipes.push_back(std::move(over_link));
    from = {receiver.id};
    out.relays.push_back(std::move(receiver));
  }
  return from.front();
}

void terminate(InterChipPipe last, std::vector<Id> from, const ChipRoute& route, RelayAllocator& relays, Segments& out) {
  const Transfer& transfer = last.transfer;
  Pipe& pipe = last.pipe;
  if (transfer.fixed_route != nullptr) {
    pipe.mcast_core = {{transfer.to, ethernet_core(relays.device(), route.back().to_channel)}};
    pipe.ethernet_pipe = true;
    pipe.incoming_vc = pipe.outgoing_vc = 0;
  } else if (transfer.to_queue) {
    const GridCoord worker = relays.worker(transfer.to);
    Buffer relay = relays.relay(BufferType::relay, {transfer.to, worker}, transfer);
    Pipe to_worker = relays.pipe(std::move(from), relay.id,
                                 {transfer.to, route.empty() ? worker : ethernet_core(relays.device(), route.back().to_channel)});
    if (!route.empty()) to_worker.ethernet_chan = route.back().to_channel;
    to_worker.periodic_repeat = std::exchange(pipe.periodic_repeat, 0);
    out.pipes.push_back(std::move(to_worker));
    from = {relay.id};
    out.relays.push_back(std::move(relay));
    pipe.mcast_core = {{transfer.to, worker}};
  } else if (std::all_of(pipe.outputs.begin(), pipe.outputs.end(), [](const auto& group) { return group.size() == 1; })) {
    pipe.mcast_core.assign(pipe.outputs.size(), {transfer.to, ethernet_core(relays.device(), route.back().to_channel)});
    pipe.ethernet_chan = route.back().to_channel;
  }
  pipe.inputs = std::move(from);
  out.pipes.push_back(std::move(pipe));
}

}  // namespace buda::pipes
