// SPDX-License-Identifier: Apache-2.0
// How long the bytes of an epoch keep the chip's paths busy: DRAM channels, links of the networks, PCIe, Ethernet.
#pragma once

#include <buda/cost/contention.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace buda::balance {

// What a channel of DRAM moves in an epoch, with all its inputs: while it runs, before it and after it. Bytes.
struct ChannelBytes {
  std::uint64_t read = 0, written = 0, before = 0, after = 0;
  std::uint64_t upper = 0;  // of all these, those that the upper half of a large channel moves
  std::uint64_t upper_before = 0;
  std::uint64_t sum() const { return read + written + before + after; }
  friend bool operator==(const ChannelBytes&, const ChannelBytes&) = default;
};

// The paths of one kind, of which the busiest holds the epoch up. Bytes and cycles of one input, but for what is read before the epoch.
struct PathLoad {
  std::string kind;     // "DRAM", "NoC", "port", "PCIe", "Ethernet"
  std::string busiest;  // "DRAM channel 3", "link 1-2 to 2-2 of NoC 0", "input of NoC 0 at 1-2"; the kind where nothing says which one
  double most = 0;      // bytes of the busiest
  double mean = 0;      // of all those that the chip has
  double cycles = 0;    // that the busiest needs
};

// Of one input.
struct LinkBytes {
  std::string link;  // "link 1-2 to 2-2 of NoC 0"
  double bytes = 0;
};
inline constexpr std::size_t kListedLinks = 8;

// The limiter of an epoch whose inputs wait for room in the buffers between its ops.
inline constexpr const char* kBetweenOps = "buffers between ops";

// The streams of a chip as flows that meet by chance, once it is known how long kernels take.
struct SharedWays {
  std::vector<std::string> ops;  // by number; one without a name has the flows of no op
  std::vector<cost::SharingFlow> flows;
  std::vector<std::int32_t> operands;  // of each flow: for which input of its op it reads; -1: for none
  std::vector<bool> is_output;         // of each flow: whether it takes the result of its op to memory
  std::vector<double> rates;           // of each part of the chip, bytes per cycle
  double inputs = 1;
};

// What one chip moves in an epoch.
struct EpochLoads {
  std::vector<ChannelBytes> channels;                            // of DRAM, by number; empty where they are not known
  std::vector<PathLoad> paths;                                   // of the kinds that anything passes through: DRAM, NoC, PCIe, Ethernet
  std::vector<LinkBytes> links;                                  // of the networks, the busiest first, kListedLinks at most
  double before = 0;                                             // cycles that the busiest path needs for what is read before the epoch
  std::map<std::pair<std::string, std::int32_t>, double> edges;  // cycles of an input over the busiest way to an op's operand
  std::map<std::string, double> outputs;                         // cycles of an op's result on its way to memory
  SharedWays shared;

  // The one that needs most cycles, or null.
  const PathLoad* slowest() const;
  // Null where nothing passes through it.
  const PathLoad* find(std::string_view kind) const;
};

}  // namespace buda::balance
