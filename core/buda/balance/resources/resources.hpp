// SPDX-License-Identifier: Apache-2.0
// The resource model: what an op of a netlist takes from the core it stands on, and what that core has.
//
// Sizes of buffers are those of tiling/buffer_sizes.hpp, by which pipes and streams are laid out, too; what is added here are limits, and
// what is known of an op's surroundings. It works on netlist ops with a complete blocking, whoever wrote them.
//
// L1 of a core, in the operand space of the device (L1Map):
//   input        each kernel input buffer (input_buffer)
//   output       buf_size_mb mblocks
//   intermediate partial results that leave the destination register, where they do not share the output's memory
//   relay        for an input that a row or column of cores shares: the buffer of the core that sends it on
//   prologue     for matmul in1 held in L1: the part of it that this core loads from DRAM before it goes round the column; for inputs that
//                are loaded as they lie in their queue: that part of the queue
//   headers      of tiles, for each size of tiles but the first: of the op's own tiles, or of all on the chip where they are known
//   overlay      what the stream program needs beyond the default blob
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/diagnostic.hpp>
#include <buda/netlist/model/fused_op.hpp>
#include <buda/netlist/model/op.hpp>
#include <buda/tiling/buffer_sizes.hpp>
#include <buda/tiling/tile_order.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::balance {

enum class Resource : std::uint8_t {
  l1,            // bytes of one core
  l1_pipegen2,   // bytes of one core as TT-Buda's pipegen2 lays them out, which needs more than ours
  dest,          // tiles of the destination register
  streams,       // of one core
  multicasts,    // streams of one core that send to several
  dram_inputs,   // streams of one core that read DRAM
  dram_outputs,  // streams of one core that write DRAM
  dram_buffers,  // DRAM buffers that one core reads
  dram_reads,    // entries of the read list of one input
  fan_out,       // pipes that one core feeds
  phases,        // of the streams of one core
  workers,       // rows, columns or cores of the grid
  dram,          // bytes of a channel
};
std::string_view resource_name(Resource resource);  // "L1 bytes", "streams per core"
std::string_view resource_key(Resource resource);   // "l1", "streams": for files

// A part of a sum: "input 0: 24 tiles of 2080 B".
struct Part {
  std::string what;
  std::uint64_t amount = 0;
  friend bool operator==(const Part&, const Part&) = default;
};

struct Usage {
  Resource resource = Resource::l1;
  std::uint64_t used = 0;
  std::uint64_t available = 0;
  std::vector<Part> parts;
  bool fits() const { return used <= available; }
};

// The tiles that arrive at an input: the op's own, but what a dense product reads as a whole (its second factor and its bias) is 32x32. A
// netlist may have it otherwise; what the balancer makes is so.
TileDim input_tile_dim(const netlist::Op& op, std::size_t input);

// In which order an op takes an input, and which cores take the same tiles. The fused ops that the balancer makes are elementwise, and so
// is a tilizer, whose rows count as the tiles that become of them.
tiling::TileOrder input_order(const netlist::Op& op, std::size_t input);

// The kernel's buffer of an input.
tiling::InputBuffer input_buffer(const netlist::Op& op, std::size_t input, const device::DeviceDescriptor& device);

// What decides how fast an edge brings tiles. Of its slowest pipe, for one input, with the turns of all its destinations.
struct EdgeFlow {
  double turns = 0;      // of sources: both ends of a stream meet each time
  double tiles = 0;      // that come
  double window = 1;     // part of a producer core's result that is shown at once
  bool in_order = true;  // whether the room of each tile is free when it has gone; otherwise that of a window
  double lead = 0;       // part of the window by which a producer core has to be ahead of the pipe
};

// What is known of an op's surroundings; what is not known counts as the simplest case.
struct InputLink {
  bool from_queue = false;
  bool prologue = false;     // loaded into L1 before the epoch
  std::int64_t sources = 1;  // producer cores or queue buffers that one pipe gathers from
  std::int64_t reads = 0;    // entries of the DRAM read list of one pipe
  std::int64_t phases = 1;   // at the receiver
  std::int64_t pipes = 1;    // that bring a core its tiles; each is multicast for itself where cores share them
  EdgeFlow flow = {};
};
struct OutputLink {
  bool to_queue = false;
  std::int64_t fan_out = 1;  // pipes that one core feeds
  std::int64_t phases = 1;   // at the sender, over all its pipes
};
struct Links {
  std::vector<InputLink> inputs;    // one per input
  std::vector<OutputLink> outputs;  // one per reader
  std::size_t tile_sizes = 1;       // on the chip
  bool for_pipegen2 = false;        // L1 is to suffice for TT-Buda's pipegen2, too
};

// `fused`: the schedules of a fused op, whose blocks are those of `op`; null for others.
Usage l1_usage(const netlist::Op& op, const Links& links, const device::DeviceDescriptor& device, const netlist::FusedOp* fused = nullptr);
Usage phase_usage(const netlist::Op& op, const Links& links, const device::DeviceDescriptor& device);
// All resources of a core: L1 first, then those that have a limit. `l1_pipegen2` is there where it is asked for and the op gathers.
std::vector<Usage> usages(const netlist::Op& op, const Links& links, const device::DeviceDescriptor& device,
                          const netlist::FusedOp* fused = nullptr);

// The overlay_size with which the op's stream program has room: -1 (the default) or a number of bytes.
std::int32_t overlay_size_for(const Usage& phases, const device::DeviceDescriptor& device);

// Says how many tiles of an input that is read from DRAM may be under way, where TT-Buda's pipegen2 would otherwise take
// more L1 for them than there is. Our own buffers are no larger.
void bound_dram_reads(netlist::Op& op, const Links& links, const device::DeviceDescriptor& device, const netlist::FusedOp* fused);

// The first usage that is over its limit.
const Usage* first_misfit(const std::vector<Usage>& usages);
// "op 'fc1': L1 bytes: 1.6 MiB needed, 1.2 MiB available", with the parts as notes. `node` and `label`: name of its node, and what
// the message calls it. `remedy`: the nearest change that makes it fit.
Diagnostic misfit(const std::string& node, const std::string& label, const Usage& usage, std::string remedy);

}  // namespace buda::balance

#pragma GCC visibility pop
