// What a pipe asks for, as far as it is known before there are streams, and then which streams carry it. Internal to the module.
#pragma once

#include <buda/overlay/blob.hpp>
#include <buda/pipes/graph/pipe_graph.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace buda::overlay {

using pipes::Buffer;
using pipes::BufferType;
using pipes::Pipe;

// Tiles that one pass takes from one source.
struct Block {
  std::int32_t source = 0;  // index in PipePlan::buffers
  std::int64_t offset = 0;  // first tile
  std::int64_t tiles = 0;
  friend bool operator==(const Block&, const Block&) = default;
};

enum class SourceKind : std::uint8_t {
  output,  // what kernels make
  store,   // what was read into L1 before the epoch
  dram,    // queues, read while the epoch runs, or before it right into the buffer of the kernel
};
enum class SinkKind : std::uint8_t {
  kernel,
  share,  // one core's share of an input that is read before the epoch
  queue,
};

// A relay buffer on the way, and the pipe that brings tiles to it.
struct Hop {
  const Buffer* buffer = nullptr;
  const Pipe* pipe = nullptr;
  friend bool operator==(const Hop&, const Hop&) = default;
};

// What lies between the sources of a pipe and an output group: relay buffers, one after the other. Empty for most.
struct Way {
  std::vector<Hop> hops;
  const Pipe* last = nullptr;  // leads to the output group
  std::size_t group = 0;       // of that pipe
};

// A part of what comes in a pass: it goes to several output groups in turns, or always to the same one.
struct Part {
  std::int64_t first = 0, tiles = 0;
  std::vector<std::size_t> groups;  // indices in PipePlan::groups; pass p goes to number p mod their count
};

// A group that gets padding instead of tiles, in a turn of its own after another group's, or before it.
struct Padding {
  static constexpr std::size_t kBehind = SIZE_MAX;
  std::size_t group = 0, beside = 0;  // indices in PipePlan::groups
  std::int32_t source = 0;            // index in PipePlan::buffers
  std::int64_t tiles = 0;             // of the turn
  bool before = false;
  std::size_t hop = kBehind;  // where it joins the way to its group: at this relay buffer, or behind all of them
};

// A pipe that takes from outputs, stores or queues, with all that carries its tiles on, up to kernels, shares or queues.
struct PipePlan {
  const Pipe* pipe = nullptr;
  SourceKind source = SourceKind::output;
  SinkKind sink = SinkKind::kernel;
  bool before_epoch = false;           // a DRAM source that is read once and kept
  std::vector<const Buffer*> buffers;  // sources, each once, in the order of first use
  std::vector<Block> blocks;           // of one pass; of L1 sources those that follow on each other are joined
  std::int64_t pass_tiles = 0;
  std::int64_t passes = 0;                          // in the epoch
  bool ring = false;                                // one source that gives its buffer away in order, or DRAM
  bool flows = false;                               // a ring whose phases need not follow passes: nobody else cuts them
  std::vector<std::vector<const Buffer*>> groups;   // resolved outputs at the end of the way
  std::vector<Way> ways;                            // per group
  std::vector<Part> parts;                          // of a pass, in order: one, unless pipes share relay buffers
  std::vector<Padding> padding;                     // turns of groups that get padding
  std::vector<std::size_t> target_of;               // per group: index in `targets`
  std::vector<std::vector<const Buffer*>> targets;  // groups, each once
  bool multicast = false;
  std::optional<std::size_t> reads_with;  // index of the plan that reads what this one brings
  bool reads_for_others = false;
  std::vector<StreamRef> senders;             // per buffer, for L1 sources
  std::vector<Way> target_ways;               // per target
  std::vector<std::vector<StreamRef>> lines;  // per target: streams between senders and receivers, in order; last, that of a multicast
  bool brings_blocks(std::int32_t number) const;
  // The padding that source `number` brings to a target, if it brings nothing but padding; or null.
  const Padding* only_pads(std::int32_t number, std::size_t target) const;
  // Of the streams on the way to its target, the one to which padding goes; behind them all stand the receivers.
  std::size_t joins(const Padding& p) const;
  // From chip to chip without ethernet.
  bool over_pcie() const { return pipe->mmio_downstream.has_value(); }
  // How many targets have each buffer.
  std::map<pipes::Id, int> targets_by_buffer() const;
  const Buffer& first_output() const { return *groups.front().front(); }
  bool takes_turns() const {
    return !padding.empty() || std::any_of(parts.begin(), parts.end(), [](const Part& p) { return p.groups.size() > 1; });
  }
};

}  // namespace buda::overlay
