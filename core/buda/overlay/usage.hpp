// SPDX-License-Identifier: Apache-2.0
// What the cores of an epoch use of L1, streams and phases, and what moves between them and memory; known from the netlist, before anything
// is written.
#pragma once

#include <buda/device/cluster.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/overlay/blob/blob.hpp>
#include <buda/overlay/epoch_compiler.hpp>
#include <buda/overlay/flows.hpp>
#include <buda/overlay/traffic.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace buda::overlay {

// A piece of a core's L1. Bytes.
struct L1Piece {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::string what;  // "input 0", "output and intermediate 24", "headers of 2080 B"
  friend bool operator==(const L1Piece&, const L1Piece&) = default;
};

// The streams of a kind that a core has, and their phases.
struct StreamUsage {
  StreamKind kind = StreamKind::input;
  std::int64_t streams = 0, phases = 0;
  friend bool operator==(const StreamUsage&, const StreamUsage&) = default;
};

struct CoreUsage {
  std::int32_t chip = 0;
  GridCoord core;                        // logical; of an ethernet core, row and column of the NoC
  std::optional<std::int32_t> ethernet;  // its channel, if it is an ethernet core
  std::string op;                        // empty for cores that only pass tiles on
  std::uint64_t l1_bytes = 0, l1_available = 0;
  std::int64_t streams = 0, streams_available = 0;
  std::int64_t phases = 0, phases_available = 0;
  std::vector<L1Piece> l1;  // headers and buffers by address; the rest of l1_bytes is for pointers, the program, and room left over
  std::vector<StreamUsage> by_kind;  // of the kinds that there are
  friend bool operator==(const CoreUsage&, const CoreUsage&) = default;
};

// One entry per core of the blob, in its order. `eth_core` describes Ethernet cores.
std::vector<CoreUsage> usage_of(const Blob& blob, const device::DeviceDescriptor& device, const device::EthCore& eth_core = {});

struct EpochUsage {
  std::int32_t epoch = 0;  // as netlist::temporal_epochs numbers them
  std::vector<CoreUsage> cores;
  Traffic traffic;
  std::vector<Flow> flows;
};

// The usage and traffic of all epochs of a netlist with placements: that of the stream programs which `netlist2pipe` and `pipegen` make,
// because it is made by the same steps. What these refuse is refused here with their diagnostics (PP… and OV…), all epochs at once.
// `threads`: epochs made side by side. The cost is that of both tools without their files.
Result<std::vector<EpochUsage>> predict_usage(const EpochCompiler& compiler, unsigned threads = 1);

// What a device's description lacks for stream programs: an error that names it (OV003), or nothing.
std::optional<Diagnostic> missing_description(const device::DeviceDescriptor& device);

}  // namespace buda::overlay
