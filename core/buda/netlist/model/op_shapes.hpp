// The shapes that ops expect on their inputs: what the balancer has to make, the validator checks, and pipes deliver.
#pragma once

#include <buda/netlist/model/netlist.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace buda::netlist {

// What an input of an op is for; decides which cores receive which part of it.
enum class InputRole : std::uint8_t {
  elementwise,    // the tiles that the core computes; reduce and topk take more of them along one side
  matmul_row,     // matmul and depthwise in0: a block row, the same for every core of a grid row
  matmul_column,  // matmul and depthwise in1: a block column, the same for every core of a grid column
  sparse_tiles,   // identity matmul in0
  indices,        // identity matmul in2; embedding in1
  table,          // embedding in0
  flat,           // tilizer: rows of datums
  splice,         // splice: a side of its own length
  scalars,        // quantization scales: elementwise, kept in Float32
};

InputRole input_role(const Op& op, std::size_t input);

// Shape that the tensor has to have after the edge's maps, where the op determines all of it; nothing for roles whose sizes are free
// (sparse tiles, indices, table, flat, splice) and for fused ops, see fused_input_shape. Values of 0 mean "any".
std::optional<TileShape> needed_shape(const Op& op, std::size_t input);

// The same for input `input` of a fused op: what the first sub-op that reads it needs. Nothing when no sub-op reads it.
std::optional<TileShape> fused_input_shape(const Op& op, const FusedOp& fused, std::size_t input);

// Which inputs of a matmul or depthwise are what, by position: bias and scales follow the operands.
std::optional<std::size_t> bias_input(const Op& op);
std::optional<std::size_t> requant_input(const Op& op);
// Inputs that the op's attributes call for.
std::size_t expected_inputs(const Op& op);

// Bytes of one entry of one buffer, and of a whole buffer with its header. Flat queues hold datums only, tilized ones whole tiles.
std::uint64_t entry_bytes(const Queue& queue, std::int32_t tile_alignment = kTileAlignment);
std::uint64_t buffer_bytes(const Queue& queue, std::int32_t tile_alignment = kTileAlignment, std::int32_t header = kTileAlignment);

}  // namespace buda::netlist
