// What stream programs cost: room in L1, streams and phases per core, bytes per link of the networks and per DRAM channel.
#pragma once

#include <buda/device/cluster.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/overlay/blob/blob.hpp>
#include <buda/overlay/usage.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace buda::overlay {

struct CoreReport : CoreUsage {
  device::NocCoord noc;
  std::int64_t messages_in = 0, messages_out = 0;  // in the epoch
  friend bool operator==(const CoreReport&, const CoreReport&) = default;
};

// From a node of the network to its neighbour, in the epoch.
struct LinkLoad {
  std::int32_t chip = 0, noc = 0;
  device::NocCoord from, to;
  std::uint64_t bytes = 0;
  friend bool operator==(const LinkLoad&, const LinkLoad&) = default;
};

struct ChannelLoad {
  std::int32_t chip = 0;
  bool host = false;
  std::int32_t channel = 0;
  std::uint64_t read = 0, written = 0;  // while the epoch runs
  std::uint64_t before = 0, after = 0;
  friend bool operator==(const ChannelLoad&, const ChannelLoad&) = default;
};

// Over an ethernet cable in one direction, in the epoch.
struct CableLoad {
  device::EthLink link;      // as travelled
  std::int64_t streams = 0;  // that send over it
  std::uint64_t bytes = 0;
  friend bool operator==(const CableLoad&, const CableLoad&) = default;
};

// From a chip to the next one over PCIe, in the epoch.
struct PcieLoad {
  std::int32_t chip = 0, to_chip = 0;
  std::int64_t streams = 0;  // that write
  std::uint64_t bytes = 0;
  friend bool operator==(const PcieLoad&, const PcieLoad&) = default;
};

struct Report {
  std::vector<CoreReport> cores;
  std::vector<LinkLoad> links;        // most loaded first
  std::vector<ChannelLoad> channels;  // by chip, DRAM before host, number
  std::vector<CableLoad> cables;      // by chip and channel
  std::vector<PcieLoad> pcie;         // by chip
  friend bool operator==(const Report&, const Report&) = default;
};

// Messages go network 0 first right, then down, network 1 first up, then left, round the edges of the grid; a multicast loads each link of
// its tree once. `eth_core` says how much room there is on ethernet cores.
Report make_report(const Blob& blob, const device::DeviceDescriptor& device, const device::EthCore& eth_core = {});

std::string report_text(const Report& report, const Blob& blob, const device::DeviceDescriptor& device);
// A picture: each chip's network with its cores, the bytes on its links and in its DRAM channels.
std::string report_svg(const Report& report, const Blob& blob, const device::DeviceDescriptor& device);
// buda.pipegen-report/1; a core, link, channel, cable or neighbour over PCIe per line.
std::string report_json(const Report& report, const Blob& blob);

}  // namespace buda::overlay
