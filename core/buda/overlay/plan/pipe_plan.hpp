// SPDX-License-Identifier: Apache-2.0
// What a pipe requires, as far as it is known before there are streams. Counts are in tiles. Internal to the module.
#pragma once

#include <buda/overlay/plan/buffer_facts.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace buda::overlay {

// Consecutive tiles that a pass takes from one source.
struct Block {
  std::int32_t source = 0;  // index in PipePlan::sources
  std::int64_t offset = 0;  // first tile
  std::int64_t tiles = 0;
  friend bool operator==(const Block&, const Block&) = default;
};

enum class SourceKind : std::uint8_t {
  output,  // results of kernels
  store,   // data that were read into L1 before the epoch
  dram,    // queues: read during the epoch, or before it directly into the buffer of the kernel
};
enum class SinkKind : std::uint8_t {
  kernel,
  share,  // one core's share of an input that is read before the epoch
  queue,
};

// A relay buffer, and the pipe that leads to it.
struct RelayHop {
  const Buffer* buffer = nullptr;
  const Pipe* pipe = nullptr;
  friend bool operator==(const RelayHop&, const RelayHop&) = default;
};

// From the sources of a pipe to an output group: relay buffers, one after the other. Most routes have none.
struct RelayRoute {
  std::vector<RelayHop> hops;
  const Pipe* last = nullptr;  // leads to the output group
  std::size_t group = 0;       // of that pipe
};

// A part of each pass: its tiles go to several output groups in round-robin order, or always to the same one.
struct Part {
  std::int64_t first = 0, tiles = 0;
  std::vector<std::size_t> groups;  // indices in PipePlan::groups; pass p goes to number p modulo their count
};

// A group that receives padding instead of tiles, in a round of its own after that of another group, or before it.
struct Padding {
  static constexpr std::size_t kAfterRelays = SIZE_MAX;
  std::size_t group = 0, beside = 0;  // indices in PipePlan::groups
  std::int32_t source = 0;            // index in PipePlan::sources
  std::int64_t tiles = 0;             // of the round
  bool before = false;
  std::size_t hop = kAfterRelays;  // where it joins the route to its group: at this relay buffer, or after all of them
};

// A pipe that takes from outputs, stores or queues, together with all pipes that carry its tiles on, up to kernels, shares or queues.
// Invariants: sources and groups are not empty; there is a route per group; parts cover [0, pass_tiles) in order and without gaps.
struct PipePlan {
  const Pipe* pipe = nullptr;
  SourceKind source = SourceKind::output;
  SinkKind sink = SinkKind::kernel;
  bool before_epoch = false;           // a DRAM source that is read once and kept
  std::vector<const Buffer*> sources;  // each once, in order of first use; padding of groups last
  std::vector<Block> blocks;           // of one pass; of L1 sources contiguous ones are merged
  std::int64_t pass_tiles = 0;
  std::int64_t passes = 0;                         // in the epoch
  bool ring = false;                               // one source that sends its whole buffer in order, or DRAM
  bool flows = false;                              // a ring whose phases are independent of passes: nothing else depends on their borders
  std::vector<std::vector<const Buffer*>> groups;  // outputs at the ends of the routes
  std::vector<RelayRoute> routes;                  // per group
  std::vector<Part> parts;                         // of a pass, in order: one, unless pipes share relay buffers
  std::vector<Padding> padding;                    // rounds of groups that receive padding
  bool multicast = false;

  const Buffer& first_output() const { return *groups.front().front(); }
  // From chip to chip without Ethernet.
  bool over_pcie() const { return pipe->mmio_downstream.has_value(); }
  // Whether the receivers differ from pass to pass.
  bool is_round_robin() const;
  bool has_blocks_of(std::int32_t source) const;
  // Whether it reads rows of a queue instead of tiles.
  bool reads_rows() const;
};

// The plans of an epoch.
struct PipePlans {
  std::vector<PipePlan> pipes;
  std::map<Id, std::vector<std::size_t>> feeds;      // by buffer: the plans that lead to it, at least one
  std::vector<std::vector<std::size_t>> components;  // plans that are connected by common receivers; by first member, each rising
};

}  // namespace buda::overlay
