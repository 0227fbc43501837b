// SPDX-License-Identifier: Apache-2.0
// The table of op classes: what is the same for all op types of a class, once. Tiling, the rules of netlists, balancing, pipes and targets
// ask it.
//
// The rows are in op_classes.def. A column that means a computation is an enumerator, and one function has a case for each value: shapes
// and blocks of operands in netlist/model/op_shapes.hpp, everything about buffers in tiling.
#pragma once

#include <buda/ops/table/op_type.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace buda::ops {

// What an operand is for. Decides its shape, which of its tiles a core takes, and which cores take the same ones.
enum class OperandRole : std::uint8_t {
  elementwise,     // the tiles that the core computes
  scales,          // the same: quantization scales and zero points, kept in Float32
  bias,            // the same: added to a product
  left,            // of a matrix product: rows of blocks, the same for every core of a grid row
  right,           // columns of blocks, the same for every core of a grid column
  depthwise_left,  // m_k times the columns of the output, otherwise like `left`
  sparse_tiles,    // of a sparse product: the tiles that are not zero, of each core
  activations,     // its right operand, of any t: the index tiles say which of them are read
  index_tiles,     // where its sparse tiles belong: of each core
  row_indices,     // index tiles that the cores of a grid row share
  reduced,         // the output, with m_k * u_kt tiles on the side that is reduced
  reduced_z,       // the output, with z times its t
  sorted,          // the output, with m_k * u_kt tiles in a row
  spliced,         // a multiple of the output's ublocks
  table,           // whose rows are looked up: rows of datums
  row_numbers,     // the rows that are looked up
  rows,            // rows of datums that become tiles
  fused,           // what the first sub-op that reads it takes
};

// The order in which the blocks of an operand are taken; the tiles of a block come row by row.
enum class Scan : std::uint8_t {
  output,   // that of the output's ublocks, ublock_order
  rows,     // row by row
  columns,  // column by column
  across,   // of a reduction: so that what becomes one tile comes together
};

// A number of blocks of an operand.
enum class Portion : std::uint8_t {
  block,
  line,           // a row or column of blocks, along the scan
  line_or_block,  // one block where attribute min_buffer_input names the operand
  matrix,         // all blocks of one t
  as_produced,    // all that the producer's core or buffer holds of one tensor
};

// What an input buffer holds besides two portions for the kernel.
enum class Reserve : std::uint8_t {
  latency,      // what arrives while a request is under way
  none,         // nothing: filled once
  reread_line,  // `latency`, or where the output has several columns of blocks two lines, which are read once for each
  matrix,       // two matrices: it stays while the other operand passes by
};

// How a queue that is loaded before the epoch lies in L1.
enum class Preload : std::uint8_t {
  in_order,    // in the order in which the kernel takes it, where that fits its buffer
  shared,      // the same; what does not fit is shared out among the cores of a column, which send it on to each other
  as_in_queue  // as it lies in the queue
};

// Whether an edge may end in a transposition.
enum class Transpose : std::uint8_t { never, always, by_device };

// Without which attribute an operand is absent.
enum class Needs : std::uint8_t { nothing, bias, requant, optional };  // optional: it may be left out

struct Operand {
  OperandRole role = OperandRole::elementwise;
  Needs needs = Needs::nothing;
  Scan scan = Scan::output;
  Portion takes = Portion::block;       // what the kernel waits for, reads and frees at once
  Portion filled_by = Portion::matrix;  // the unit in which pipes fill the buffer (scatter_gather_num_tiles)
  Reserve reserve = Reserve::latency;
  Preload preload = Preload::in_order;
  Transpose transpose = Transpose::never;
  bool small_tiles = false;  // may have tiles other than 32x32
};

// What leaves the destination register before it is a result. Every gradient op has a buffer for it besides.
enum class Intermediates : std::uint8_t {
  none,
  partial_products,  // of an output block, where inner blocks or ts are summed, or anything follows the sum
  partial_blocks,    // of an output block, where inner blocks are summed or a bias follows
  partial_z,         // of an output block, where several t become one
  always,            // of an output block
  sorted_pair,       // values and indices of a row of blocks
  declared,          // those of the fused op
};

// How often a kernel goes over its output block.
enum class Passes : std::uint8_t {
  once,
  inner_blocks,         // m_k
  summed_inner_blocks,  // m_k for each of the t that are summed
  z,
  unknown,  // until it runs
};

// The formula of a kernel's cycles.
enum class CostVariant : std::uint8_t {
  ublocks,          // by ublocks that pass through the destination register
  dense_products,   // by products of tiles
  sparse_products,  // by products of tiles that are not zero
  accumulation,     // by mblocks that are added up
};

struct OpClassInfo {
  OpClass op_class{};
  // Its operands in their order.
  std::vector<Operand> operands = {};
  std::int8_t repeats = 0;  // operands like the last one that may follow it

  bool sub_op = false;       // may be a step of a fused op in a netlist
  bool elementwise = false;  // each number of the output depends on the numbers at its place in the inputs alone
  bool copies = false;       // hands its input on
  bool balanced = false;     // the balancer can place it
  bool on_ethernet = false;  // runs on ethernet cores, which are no workers
  bool has_output = true;
  bool ends_schedule = false;    // as a step of a fused op: nothing may follow it in its schedule
  bool inner = false;            // has an inner dimension of m_k * u_kt tiles
  bool sums_t = false;           // with attribute accumulate, z consecutive t become one
  bool row_major = false;        // makes its ublocks row by row: ublock_order r
  bool shares_latency = false;   // more than three inputs share the reserve of three
  bool copies_operands = false;  // into the destination register, before anything is computed
  bool int32_step = false;       // has, as a step of a fused op, a form that accumulates in Int32
  bool takes_uint8 = true;
  bool any_gradient = false;  // can accumulate gradients on every device

  Intermediates intermediates = Intermediates::none;
  Passes passes = Passes::once;
  CostVariant cost = CostVariant::ublocks;

  std::size_t min_inputs() const;
  std::size_t max_inputs() const { return operands.size() + static_cast<std::size_t>(repeats); }
  // Where all operands are there.
  const Operand& operand(std::size_t input) const { return operands[input < operands.size() ? input : operands.size() - 1]; }
};

// How an attribute, or being a step of a fused op, changes the row of an op.
enum class OpVariant : std::uint8_t {
  plain,
  sparse,  // identity: true
  over_z,  // dim: z
  sub_op,  // a step of a fused op
};

// The row of a class; of its variant where it has one.
const OpClassInfo& class_info(OpClass op_class, OpVariant variant = OpVariant::plain);

}  // namespace buda::ops
