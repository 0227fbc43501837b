// Sizes of an op's buffers in L1: what each input, the output and the intermediates need.
#pragma once

#include <buda/pipes/consumption.hpp>
#include <buda/pipes/flat_rows.hpp>

#include <cstdint>
#include <vector>

namespace buda::pipes {

// Counts are in tiles, tile_bytes in bytes.
struct InputSizes {
  std::int64_t clear = 0;        // what the kernel takes at once
  std::int64_t size = 0;         // the buffer
  std::int64_t block = 0;        // what the file calls scatter_gather_num_tiles
  std::int64_t epoch_tiles = 0;  // arrives in an epoch, per core
  std::int32_t tile_bytes = 0;
};

struct OutputSizes {
  bool scattered = false;
  std::int64_t replicate = 0;
  std::int64_t size = 0;
  std::int64_t block = 0;
  std::int64_t epoch_tiles = 0;
  std::int64_t tiles_per_input = 0;
  std::int32_t tile_bytes = 0;
};

struct IntermediateSizes {
  std::int32_t operand = 0;
  std::int64_t size = 0;
  std::int64_t block = 0;
  std::int64_t epoch_tiles = 0;
  std::int32_t tile_bytes = 0;
};

// Facts about an op that several sizes depend on.
struct OpContext {
  const netlist::Netlist& netlist;
  const netlist::Op& op;
  std::int64_t input_count = 1;
  std::int32_t tile_alignment = kTileAlignment;
};

// The granularity with which input `input` is consumed is part of `consumption`; `dim` is the tile dimension of what arrives,
// `producer_tiles` what one core or buffer of the producer holds of a tensor.
InputSizes input_sizes(const OpContext& context, std::size_t input, const Consumption& consumption, TileDim dim,
                       std::int64_t producer_tiles);

// The same of an input that is taken as rows, in pieces; `dim` is what the op makes tiles of.
InputSizes row_sizes(const OpContext& context, std::size_t input, const RowCut& cut, TileDim dim);

// `granularity` and `scattered`: over all consumers of the output.
OutputSizes output_sizes(const OpContext& context, bool scattered, std::int64_t granularity);

bool has_intermediates(const netlist::Op& op);
// The output and the one intermediate buffer lie in the same memory.
bool shares_output(const netlist::Op& op);
std::vector<IntermediateSizes> intermediate_sizes(const OpContext& context, const OutputSizes& output);

// How often a kernel goes over its output block: mblock_k of output and intermediate buffers.
std::int32_t passes_over_output(const netlist::Op& op);

// The ts of an op's output that its buffer shows at once: all inputs of the epoch when they fit.
std::int64_t buffered_t(const netlist::Op& op, std::int64_t input_count);

}  // namespace buda::pipes
