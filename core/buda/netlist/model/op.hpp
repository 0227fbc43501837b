// SPDX-License-Identifier: Apache-2.0
// Ops: what a rectangle of workers computes.
#pragma once

#include <buda/netlist/model/block_shape.hpp>
#include <buda/netlist/model/op_types.hpp>
#include <buda/netlist/model/source_location.hpp>
#include <buda/tensor/data_format.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::netlist {

// kernel_broadcast: the kernel reads `tiles` tiles of this input again and again, for the whole input or for each t.
struct KernelBroadcast {
  std::int32_t tiles = 0;  // 0 without
  bool per_t = false;
  friend bool operator==(const KernelBroadcast&, const KernelBroadcast&) = default;
};

// One round of splice on an input: skip `index`, copy `length` from there on, then move on by `stride`, which counts from where the copy
// began; in ublocks or ts. Over all rounds `index` + `stride` add up to the whole input.
struct SpliceRange {
  std::int32_t index = 0, length = 0, stride = 0;
  friend bool operator==(const SpliceRange&, const SpliceRange&) = default;
};

// An input of an op, with everything that the file says about it in lists and input_N_… keys.
struct OpInput {
  std::string name;  // a queue or an op
  DataFormat format = DataFormat::invalid;
  EdgeMaps maps;                      // unpad, TMs, pad on the way here
  std::int32_t min_buffer_tiles = 0;  // lower bound of the kernel input buffer; 0 without
  std::int32_t dram_io_tiles = 0;     // size of the DRAM read staging; 0 without
  std::string forked_from;            // the op of this graph whose reads of the same queue serve this input; empty without
  KernelBroadcast kernel_broadcast;
  std::optional<SpliceRange> splice;
  friend bool operator==(const OpInput&, const OpInput&) = default;
};

struct Relu {
  bool enabled = false;
  double threshold = 0;
  ReluMode mode = ReluMode::none;
  friend bool operator==(const Relu&, const Relu&) = default;
};

// Geometry of a sparse ("identity") matmul's encoding. Fields absent from the file are 0, fracture_factor 1.
struct SparseEncoding {
  std::int32_t num_index_tiles = 0, num_sparse_tiles = 0, num_columns = 0;
  std::int32_t sparse_tile_ptr_bits = 0, sparse_ublock_idx_bits = 0, indices_len = 0;
  std::int32_t fracture_factor = 1, starting_row = 0, act_t = 0;
  std::vector<std::int32_t> num_nz_strips;  // per core
  friend bool operator==(const SparseEncoding&, const SparseEncoding&) = default;
};

// Attributes, with their defaults; which op takes which is the validator's knowledge.
struct OpAttributes {
  std::int32_t m_k = 0, u_kt = 0;  // inner dimension in tiles = m_k * u_kt; 0 without
  bool bias = false;
  bool accumulate = false;
  std::int32_t z = 0;  // ts summed (matmul) or reduced to one (reduce dim z); 0 without
  bool l1_acc = false;
  std::optional<std::int32_t> min_buffer_input;
  std::string sfpu_op;  // of a matmul, afterwards; empty without
  Relu relu;
  bool requant = false, dequant = false;
  double zero_point = 0;
  VectorMode vector = VectorMode::rc;
  bool approximate_mode = false;
  SfpuThread sfpu_thread = SfpuThread::math;
  Dim reduce_dim = Dim::none;  // attributes dim; type is always max
  double p = 0;                // dropout
  std::int32_t seed = 0;
  double slope = 0.01;                     // lrelu
  std::int32_t exp = 0;                    // power
  std::optional<Granularity> granularity;  // splice; ublock when absent
  bool identity = false;
  SparseEncoding sparse;
  std::int32_t num_indices = 0;  // embedding
  std::int32_t k = 0;            // topk
  TopkSort sort = TopkSort::max;
  bool kreduce = false;
  std::vector<std::int32_t> ingress_channels, egress_channels;  // ethernet_datacopy
  std::int32_t dest_device = -1;
  StochasticRounding stochastic_rounding = StochasticRounding::none;
  std::string fused_op_id;  // key in Netlist::fused_ops; empty without
  friend bool operator==(const OpAttributes&, const OpAttributes&) = default;
};

// A number for each attribute by its key, to find its place: op.places.of_attribute(attribute_number("m_k")). -1 for words that are none.
int attribute_number(std::string_view key);

struct Op {
  std::string name;
  OpType type{};
  GridCoord grid_loc;           // logical place of the top-left worker; no meaning for ethernet_datacopy
  GridShape grid{1, 1};         // logical grid; occupied() gives the workers
  bool grid_transpose = false;  // core (r, c) at worker (grid_loc.row + c, grid_loc.col + r)
  std::vector<OpInput> inputs;
  DataFormat out_format = DataFormat::invalid;
  DataFormat intermed_format = DataFormat::invalid;
  DataFormat acc_format = DataFormat::invalid;  // of the destination register
  MathFidelity fidelity = MathFidelity::hifi3;
  BlockShape block;  // of the output, per core
  UblockOrder ublock_order = UblockOrder::r;
  std::int32_t buf_size_mb = 2;  // output buffer in mblocks; above 1: two halves
  TileDim tile_dim;
  bool untilize_output = false;
  bool gradient_op = false;
  std::int32_t overlay_size = -1;  // bytes of overlay blob for this op's cores; not positive: the default
  OpAttributes attributes;
  SourceLocations places;

  TileShape shape() const { return tensor_shape(grid, block); }
  // The workers it is placed on.
  GridRect occupied() const { return {grid_loc, grid_transpose ? GridShape{grid.cols, grid.rows} : grid}; }
  // Mblocks of one half of the output buffer.
  std::int32_t single_buffer_mblocks() const { return buf_size_mb <= 1 ? 1 : buf_size_mb / 2; }
  // Inner dimension in tiles.
  std::int64_t inner_tiles() const { return std::int64_t{attributes.m_k} * attributes.u_kt; }
  friend bool operator==(const Op&, const Op&) = default;
};

}  // namespace buda::netlist

#pragma GCC visibility pop
