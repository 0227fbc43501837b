// SPDX-License-Identifier: Apache-2.0
// The segments into which a pipe between chips is cut: over the links of its route, and from there to its receivers.
#pragma once

#include <buda/pipes/graph/pipe_graph.hpp>
#include <buda/pipes/interchip/relays.hpp>
#include <buda/pipes/interchip/transfer.hpp>

#include <vector>

namespace buda::pipes {

// In the order in which tiles pass through them.
struct Segments {
  std::vector<Buffer> relays;
  std::vector<Pipe> pipes;
};

// Appends a relay at both ends of each link, and the pipes between them. An op on Ethernet cores reads at the end of its fixed route, so
// there is no relay there. Returns the last relay, which is also the last of `out.relays`. `route` must not be empty.
Id cross_links(std::vector<Id> from, const ChipRoute& route, const Transfer& transfer, RelayAllocator& relays, Segments& out);

// Appends the last segment, which keeps the id and the receivers of the pipe. A queue is written by a worker of its chip, since Ethernet
// cores do not access DRAM.
void terminate(InterChipPipe pipe, std::vector<Id> from, const ChipRoute& route, RelayAllocator& relays, Segments& out);

}  // namespace buda::pipes
