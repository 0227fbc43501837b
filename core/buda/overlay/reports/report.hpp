// SPDX-License-Identifier: Apache-2.0
// What stream programs cost: room in L1, streams and phases per core, bytes per link of the networks and per DRAM channel.
#pragma once

#include <buda/device/cluster.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/overlay/blob/blob.hpp>
#include <buda/overlay/traffic.hpp>
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

struct Report : Traffic {
  std::vector<CoreReport> cores;
  friend bool operator==(const Report&, const Report&) = default;
};

// `eth_core` says how much room there is on ethernet cores.
Report make_report(const Blob& blob, const device::DeviceDescriptor& device, const device::EthCore& eth_core = {});

std::string report_text(const Report& report, const Blob& blob, const device::DeviceDescriptor& device);
// A picture: each chip's network with its cores, the bytes on its links and in its DRAM channels.
std::string report_svg(const Report& report, const Blob& blob, const device::DeviceDescriptor& device);
// buda.pipegen-report/2; a core, link, channel, Ethernet link or neighbour over PCIe per line.
std::string report_json(const Report& report, const Blob& blob);

}  // namespace buda::overlay
