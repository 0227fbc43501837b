// SPDX-License-Identifier: Apache-2.0
// What stream programs move in an epoch: bytes over the links of the networks, of DRAM channels, over Ethernet links, and between chips
// over PCIe.
#pragma once

#include <buda/device/cluster.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/overlay/blob/blob.hpp>

#include <cstdint>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::overlay {

// From a node of the network to its neighbour, in the epoch.
struct LinkLoad {
  std::int32_t chip = 0, noc = 0;
  device::NocCoord from, to;
  std::uint64_t bytes = 0;
  std::uint64_t before = 0;  // of these, those that are read before the epoch
  friend bool operator==(const LinkLoad&, const LinkLoad&) = default;
};

// Between a node and one of the networks, in one direction, in the epoch.
struct PortLoad {
  std::int32_t chip = 0, noc = 0;
  device::NocCoord node;
  bool input = false;  // of the node; otherwise its output
  std::uint64_t bytes = 0, before = 0;
  friend bool operator==(const PortLoad&, const PortLoad&) = default;
};

// What comes to the cores of an op for one of its inputs, in the epoch, over what is the busiest of its ways.
struct WayBytes {
  std::uint64_t link = 0, port = 0;
  std::uint64_t memory = 0;  // of a channel of DRAM, or of a half of one where channels have two
  friend bool operator==(const WayBytes&, const WayBytes&) = default;
};
// Cores read the buffers of a queue in turn. Those that keep step read the same part of the queue at the same time, so that what is the
// busiest counts for each part alone, and the parts are added up. Cores with nothing between them drift apart, and what they share is
// evenly loaded. Those keep step that a multicast has among its receivers, and with the first input of an epoch all of an op of which some
// do.
struct EdgeLoad {
  std::string op;
  std::int32_t operand = 0;
  WayBytes first, later;
  friend bool operator==(const EdgeLoad&, const EdgeLoad&) = default;
};

// Channels of more bytes have two halves, each with half of the channel's rate.
inline constexpr std::uint64_t kDramHalf = std::uint64_t{1} << 30;

struct ChannelLoad {
  std::int32_t chip = 0;
  bool host = false;
  std::int32_t channel = 0;
  std::uint64_t read = 0, written = 0;  // while the epoch runs
  std::uint64_t before = 0, after = 0;
  std::uint64_t upper = 0;  // of all these, those that the upper half moves
  std::uint64_t upper_before = 0;
  friend bool operator==(const ChannelLoad&, const ChannelLoad&) = default;
};

// Over an Ethernet link in one direction, in the epoch.
struct EthernetLoad {
  device::EthLink link;      // as travelled
  std::int64_t streams = 0;  // that send over it
  std::uint64_t bytes = 0;
  friend bool operator==(const EthernetLoad&, const EthernetLoad&) = default;
};

// From a chip to the next one over PCIe, in the epoch.
struct PcieLoad {
  std::int32_t chip = 0, to_chip = 0;
  std::int64_t streams = 0;  // that write
  std::uint64_t bytes = 0;
  friend bool operator==(const PcieLoad&, const PcieLoad&) = default;
};

// What nothing passes through is not listed.
struct Traffic {
  std::vector<LinkLoad> links;  // most loaded first
  std::vector<PortLoad> ports;
  std::vector<EdgeLoad> edges;         // by op and operand; not of what is read before the epoch
  std::vector<ChannelLoad> channels;   // by chip, DRAM before host, number
  std::vector<EthernetLoad> ethernet;  // by chip and channel
  std::vector<PcieLoad> pcie;          // by chip
  friend bool operator==(const Traffic&, const Traffic&) = default;
};

// Messages go network 0 first right, then down, network 1 first up, then left, round the edges of the grid; a multicast loads each link of
// its tree once. O(phases, and hops of streams).
Traffic traffic_of(const Blob& blob, const device::DeviceDescriptor& device);

}  // namespace buda::overlay

#pragma GCC visibility pop
