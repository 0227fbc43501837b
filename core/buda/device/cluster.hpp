// SPDX-License-Identifier: Apache-2.0
// How chips reach each other: the Ethernet links of a board or a machine, and what ethernet cores have for it (docs/formats/cluster.md).
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/schema/record.hpp>

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::device {

// An Ethernet link: channel `channel` of one chip is connected to `to_channel` of another. It works both ways.
struct EthLink {
  std::int32_t chip = 0;
  std::int32_t channel = 0;
  std::int32_t to_chip = 0;
  std::int32_t to_channel = 0;
  friend auto operator<=>(const EthLink&, const EthLink&) = default;
};

// Streams and memory of an ethernet core: its operands lie in [operands_begin, L1 without the bytes that workers reserve at their end);
// only `link_streams` can send over the link, or receive from it.
struct EthCore {
  std::uint64_t operands_begin = 0;
  std::uint64_t tile_headers = 0;  // address
  std::int64_t overlay_blob = 0;   // bytes of a stream program
  std::int32_t streams = 0;
  std::vector<std::int32_t> link_streams;
  friend bool operator==(const EthCore&, const EthCore&) = default;
};

// Chips without ethernet reach the memory of the next chip over PCIe. They form a ring, in order of their numbers; each sees the chip
// before it from address `region_bytes` on and the one after it from twice that. In there lies first the L1 of all places of the NoC, row
// by row, `core_bytes` for each; and `offset` bytes from the beginning the host window of the DRAM.
struct PeerAccess {
  std::uint64_t region_bytes = 0;
  std::uint64_t offset = 0;
  std::uint64_t core_bytes = 0;
  friend bool operator==(const PeerAccess&, const PeerAccess&) = default;
};

struct Cluster {
  std::string base;  // in files: the cluster whose values this one starts from; empty once loaded
  EthCore eth_core;
  std::vector<EthLink> links;            // empty: see links_of()
  std::vector<std::int32_t> mmio_chips;  // that the host reaches directly; empty: as the device says
  std::optional<PeerAccess> peers;
  friend bool operator==(const Cluster&, const Cluster&) = default;
};

// A name is looked up as <host.share_dir>/clusters/<name>.yaml; what has a slash in it or ends in .yaml is a path. An empty name means
// the device's own file, or that of its architecture; a device that has neither has no links. Cluster descriptors of TT-Buda are read too:
// they name links, and all else is as in the file of the device's architecture.
Result<Cluster> load_cluster(Host& host, const DeviceDescriptor& device, const std::string& name = "");

// The same as text, whole, and back: DV003 where it has a base.
std::string cluster_text(const Cluster& cluster);
Result<Cluster> parse_cluster(std::string_view text, const std::string& path, const DeviceDescriptor& device);

// The device with as many chips as the links name, where these are more, and with the cluster's mmio_chips.
DeviceDescriptor in_cluster(DeviceDescriptor device, const Cluster& cluster);

// How many chips the links name, counted from 0; 0 where there are none.
std::int32_t chips_of(const Cluster& cluster);

// The links: as the file says, else a mesh of the device's chips with as many rows as columns, or nearly so. Rows are numbered to and fro,
// so that each chip is next to the one before it. A quarter of the ethernet channels leads to each side: down, right, up and left, in this
// order. Each link is listed once.
std::vector<EthLink> links_of(const Cluster& cluster, const DeviceDescriptor& device);

const schema::Record<EthLink>& describe(const EthLink*);
const schema::Record<EthCore>& describe(const EthCore*);
const schema::Record<PeerAccess>& describe(const PeerAccess*);
const schema::Record<Cluster>& describe(const Cluster*);

}  // namespace buda::device

#pragma GCC visibility pop
