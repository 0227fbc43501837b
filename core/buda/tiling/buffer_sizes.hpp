// SPDX-License-Identifier: Apache-2.0
// Sizes of an op's buffers in L1: inputs, output and intermediates of its kernel, and what multicasts and relays need on the way. The one
// source of these numbers for balancing, pipes and stream programs.
//
// The rules are those of TT-Buda (docs/formats/pipegen.md), so that files of either side serve the other.
#pragma once

#include <buda/netlist/model/op.hpp>
#include <buda/netlist/model/queue.hpp>
#include <buda/tiling/edge_routes.hpp>
#include <buda/tiling/tile_order.hpp>

#include <cstdint>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::tiling {

struct RowCut;  // flat_rows.hpp

// Counts are in tiles (of an input in flat layout: in pieces of rows), tile_bytes in bytes.
struct InputBuffer {
  std::int64_t clear = 0;        // what the kernel waits for, reads and frees at once
  std::int64_t size = 0;         // the buffer, a multiple of it
  std::int64_t block = 0;        // what the pipegen file calls scatter_gather_num_tiles
  std::int64_t epoch_tiles = 0;  // arrives in an epoch, per core
  std::int32_t tile_bytes = 0;
  std::int64_t bytes() const { return size * tile_bytes; }
};

struct OutputBuffer {
  bool scattered = false;      // handed out in blocks, to several pipes or out of order
  std::int64_t replicate = 0;  // blocks of the window, if scattered; `size` and `epoch_tiles` are then divided by it
  std::int64_t size = 0;
  std::int64_t block = 0;
  std::int64_t epoch_tiles = 0;
  std::int64_t tiles_per_input = 0;
  std::int32_t tile_bytes = 0;
  std::int64_t total_tiles() const { return scattered ? size * replicate : size; }
  std::int64_t bytes() const { return total_tiles() * tile_bytes; }
};

struct IntermediateBuffer {
  std::int32_t operand = 0;
  std::int64_t size = 0;
  std::int64_t block = 0;
  std::int64_t epoch_tiles = 0;
  std::int32_t tile_bytes = 0;
  std::int64_t bytes() const { return size * tile_bytes; }
};

// An op and what several of its sizes depend on. Refers to its members, which must outlive it.
struct OpContext {
  const netlist::Op& op;
  const netlist::FusedOp* fused = nullptr;  // the fused op it refers to
  std::int64_t input_count = 1;             // inputs that it processes in an epoch
  std::int32_t tile_alignment = kTileAlignment;
};

// Tiles of `tile_bytes` that arrive while a request for one is under way, with the size of a tile rounded to a power of two.
std::int64_t latency_tiles(std::int64_t tile_bytes);
inline constexpr std::int64_t kBytesUnderWay = 1024 * 32;  // 1,024 cycles of 32 bytes

// The kernel's buffer of an input that comes as tiles of dimension `dim`, in `order`. `producer_tiles`: of one tensor, in one core or
// buffer of the producer.
InputBuffer input_buffer(const OpContext& context, std::size_t input, const TileOrder& order, TileDim dim, std::int64_t producer_tiles);

// The same of an input that comes as rows, in pieces; `dim` is what the op makes tiles of.
InputBuffer input_buffer(const OpContext& context, std::size_t input, const RowCut& cut, TileDim dim);

// `granularity` and `scattered`: over all consumers of the output.
OutputBuffer output_buffer(const OpContext& context, bool scattered, std::int64_t granularity);

bool has_intermediates(const netlist::Op& op);
// Whether the output and the one intermediate buffer are the same memory.
bool shares_output(const netlist::Op& op);
std::vector<IntermediateBuffer> intermediate_buffers(const OpContext& context, const OutputBuffer& output);

// The buffer of a core that sends an input on to others, in tiles: half of the receiver's buffer of `buffer_tiles`, and less where that
// hides the latency; 1 at least.
std::int64_t staging_tiles(std::int64_t buffer_tiles, std::int64_t clear_tiles, std::int64_t tile_bytes);

// How often a kernel goes over its output block: mblock_k of output and intermediate buffers in the pipegen file.
std::int32_t passes_over_output(const netlist::Op& op);

}  // namespace buda::tiling

#pragma GCC visibility pop
