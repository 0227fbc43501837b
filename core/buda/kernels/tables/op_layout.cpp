// SPDX-License-Identifier: Apache-2.0
// Rings and arguments.
#include <buda/kernels/tables/op_layout.hpp>

#include <buda/arith/tiles.hpp>
#include <buda/base/text.hpp>
#include <buda/kernels/tables/steps.hpp>
#include <buda/ops/table/op_traits.hpp>
#include <buda/tensor/data_format.hpp>

#include <algorithm>
#include <limits>
#include <optional>

namespace buda::kernels {
namespace {

using netlist::MulticastAxis;
using netlist::Op;
using netlist::UblockOrder;

constexpr std::uint32_t kFirstInputStream = 4, kOutputStream = 24, kBetweenStream = 32, kFirstBufferStream = 33;

netlist::BlockShape block_shape(const netlist::OperandBlocks& b) {
  return {static_cast<std::int32_t>(b.t), static_cast<std::int32_t>(b.blocks_r), static_cast<std::int32_t>(b.blocks_c),
          static_cast<std::int32_t>(b.block_rt), static_cast<std::int32_t>(b.block_ct)};
}

// Gives rings their places, one after the other.
class L1Space {
 public:
  L1Space(std::uint32_t begin, std::uint32_t end) : next_(begin), end_(end) {}

  bool place(tt::Ring& ring, DataFormat format, std::int64_t tiles, std::uint32_t stream) {
    return place_messages(ring, static_cast<std::uint32_t>(tile_bytes(format)), tiles, stream);
  }
  bool place_messages(tt::Ring& ring, std::uint32_t bytes, std::int64_t tiles, std::uint32_t stream) {
    wanted_ += std::int64_t{bytes} * tiles;
    const std::int64_t room = (end_ - next_) / bytes;
    if (tiles > room) return false;
    ring = {next_, bytes, static_cast<std::uint32_t>(tiles), stream};
    next_ += bytes * static_cast<std::uint32_t>(tiles);
    return true;
  }
  std::optional<std::uint32_t> place_words(std::size_t count) {
    const std::uint32_t at = next_;
    wanted_ += static_cast<std::int64_t>(count) * 4;
    if (count > (end_ - next_) / 4) return std::nullopt;
    next_ += (static_cast<std::uint32_t>(count) * 4 + 31) / 32 * 32;
    return at;
  }
  // Bytes of all that was asked for, whether there was room or not.
  std::int64_t wanted() const { return wanted_; }

 private:
  std::uint32_t next_, end_;
  std::int64_t wanted_ = 0;
};

OperandLayout operand_layout(const tiling::TileOrder& order) {
  OperandLayout out;
  out.blocks = order;
  out.grid = {order.axis == MulticastAxis::column ? 1 : order.grid.rows, order.axis == MulticastAxis::row ? 1 : order.grid.cols};
  out.order = order.order;
  out.tiles = order.tiles();
  return out;
}

// Whether the operands of a matmul come block by block of the inner dimension, as its kernel wants them.
std::optional<std::string> wrong_order(const Op& op, const OpLayout& layout) {
  const auto &left = layout.inputs[0], &right = layout.inputs[1];
  const auto& a = op.attributes;
  const netlist::OperandBlocks& l = left.blocks;
  const netlist::OperandBlocks& r = right.blocks;
  const bool shapes = l.blocks_r == op.block.mblock_m && l.blocks_c == a.m_k && l.block_rt == op.block.ublock_rt && l.block_ct == a.u_kt &&
                      r.blocks_r == a.m_k && r.blocks_c == op.block.mblock_n && r.block_rt == a.u_kt && r.block_ct == op.block.ublock_ct;
  const bool orders = (left.order == UblockOrder::c || l.blocks_c == 1 || l.blocks_r == 1) &&
                      (right.order == UblockOrder::r || r.blocks_r == 1 || r.blocks_c == 1);
  if (shapes && orders) return std::nullopt;
  return "its operands do not come block by block of the inner dimension";
}

std::uint32_t u32(std::int64_t v) { return static_cast<std::uint32_t>(v); }

void set_blocks(const Op& op, tt::Arguments& to) {
  to.matrices = u32(op.block.t);
  to.block_rows = u32(op.block.mblock_m);
  to.block_cols = u32(op.block.mblock_n);
  to.rows = u32(op.block.ublock_rt);
  to.cols = u32(op.block.ublock_ct);
}

void set_matmul(const Op& op, tt::Arguments& to) {
  const auto& a = op.attributes;
  to.tiles = u32(op.block.mblock_tiles());
  to.blocks = u32(std::int64_t{a.m_k} * (a.accumulate ? std::max(a.z, 1) : 1));
  to.inner = u32(a.u_kt);
}

// topk takes its rows one after the other.
std::optional<std::string> set_topk(const Op& op, OpLayout& to) {
  const std::int64_t inner = op.inner_tiles(), rows = std::int64_t{op.block.mblock_m} * op.block.ublock_rt;
  for (const OperandLayout& input : to.inputs) {
    std::int64_t n = 0;
    for (std::int64_t t = 0; t < op.block.t; ++t)
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < inner; ++c, ++n)
          if (n >= input.tiles || input.tile({0, 0}, n) != netlist::TileIndex{t, r, c}) return "its tiles do not come row by row";
    if (n != input.tiles) return "its rows do not have the tiles that arrive";
  }
  to.arguments.inner = u32(inner);
  return std::nullopt;
}

// Sparse tiles and index tiles of a row of cores, row by row.
netlist::OperandBlocks list_blocks(const arith::Value& value, GridShape grid) {
  return {MulticastAxis::core, value.tiles.t, value.tiles.rt / grid.rows, value.tiles.ct, 1, 1};
}

// Besides what a dense matmul needs.
struct SparseNeeds {
  std::size_t table_words = 0;
  std::int64_t window_tiles = 0;  // of activations, that have to be in L1 at the same time
};

// Rows of blocks of the output are made one after the other. Of blocks of activations one needs those up to its last one, and keeps those
// from the first that it or a later one needs (share/kernels/families/sparse.h).
std::int64_t window_blocks(const Op& op, const std::vector<netlist::SparseProduct>& products) {
  std::vector<std::pair<std::int64_t, std::int64_t>> needed(static_cast<std::size_t>(op.block.t * op.block.mblock_m),
                                                            {std::numeric_limits<std::int64_t>::max(), 0});
  for (const netlist::SparseProduct& p : products) {
    auto& [first, end] = needed[static_cast<std::size_t>(p.t * op.block.mblock_m + p.row / op.block.ublock_rt)];
    const std::int64_t block = p.act / op.attributes.u_kt;
    first = std::min(first, block);
    end = std::max(end, block + 1);
  }
  std::int64_t kept = std::numeric_limits<std::int64_t>::max(), most = 0;
  for (auto group = needed.rbegin(); group != needed.rend(); ++group) {
    kept = std::min(kept, group->first);
    most = std::max(most, group->second - kept);
  }
  return most;
}

// Or a sentence where the kernel cannot.
std::variant<SparseNeeds, std::string> set_sparse(const arith::OpCall& call, OpLayout& layout) {
  const Op& op = call.op;
  constexpr std::int32_t kMost = 0xffff;  // of a half of an entry
  for (std::size_t i : {std::size_t{0}, std::size_t{2}}) {
    OperandLayout& list = layout.inputs[i];
    list.blocks = list_blocks(*call.inputs[i], op.grid);
    list.grid = {op.grid.rows, 1};
    list.order = UblockOrder::r;
    list.tiles = list.blocks.t * list.blocks.tiles_per_t();
  }
  const OperandLayout& activations = layout.inputs[1];
  if (activations.order != UblockOrder::r && activations.blocks.blocks_r > 1 && activations.blocks.blocks_c > 1)
    return "its activations do not come block by block, row by row";
  SparseNeeds needs;
  std::size_t most = 0;
  std::int64_t blocks = 1;
  for (std::int32_t row = 0; row < op.grid.rows; ++row) {
    const auto products = arith::sparse_products(op, *call.inputs[2], {row, 0});
    if (const auto* wrong = std::get_if<std::string>(&products)) return cat("its index tiles for core row ", row, " are wrong: ", *wrong);
    const auto& list = std::get<std::vector<netlist::SparseProduct>>(products);
    most = std::max(most, list.size());
    for (const netlist::SparseProduct& p : list)
      if (p.act >= kMost || p.tile >= kMost || p.act >= call.inputs[1]->tiles.t * call.inputs[1]->tiles.rt ||
          p.tile >= layout.inputs[0].tiles)
        return cat("its index tiles for core row ", row, " ask for activation row ", p.act, " and sparse tile ", p.tile);
    blocks = std::max(blocks, window_blocks(op, list));
  }
  needs.window_tiles = std::min(blocks * op.attributes.u_kt * activations.blocks.part_ct(), activations.tiles);
  // Two words and one more for each row, two for each row of blocks, and of each product one and one before it.
  const auto rows =
      static_cast<std::size_t>(op.block.t) * static_cast<std::size_t>(op.block.mblock_m) * static_cast<std::size_t>(op.block.ublock_rt);
  needs.table_words = 3 * rows + 1 + 2 * rows / static_cast<std::size_t>(op.block.ublock_rt) + 2 * most;
  for (std::size_t i = 0; i < layout.inputs.size(); ++i)
    layout.arguments.round_tiles[i] = static_cast<std::uint32_t>(layout.inputs[i].tiles);
  return needs;
}

// Whether sums of a matmul wait in L1, and in which format; without one of its own, in at most as many bytes as a Float32.
bool keeps_sums(const Op& op) {
  const auto& a = op.attributes;
  if (a.identity || op.gradient_op) return true;
  return a.m_k > 1 || (a.accumulate && a.z > 1) || a.bias || a.l1_acc || a.requant || a.dequant;
}
DataFormat sums_format(const Op& op) {
  // Whole sums of a gradient op wait there, too, whatever the width of the destination.
  if (op.gradient_op) return DataFormat::float32;
  return is_float(op.intermed_format) ? op.intermed_format : DataFormat::float32;
}

// A message is a row of tiles of a block of the output: those come one after the other.
void set_rows(const Op& op, OpLayout& to) {
  to.inputs = {to.output};
  to.input_row_tiles = op.block.ublock_ct;
  to.arguments.row_bytes = u32(to.input_row_tiles * 32 * bits_per_datum(op.inputs[0].format) / 8);
}

// Steps: their table, and buffers between them.
bool place_steps(L1Space& space, const StepTable& steps, OpLayout& to) {
  tt::Arguments& a = to.arguments;
  const auto table = space.place_words(steps.words.size());
  bool fits = table.has_value();
  a.table = table.value_or(0);
  a.rounds = static_cast<std::uint32_t>(steps.rounds);
  a.input_count = static_cast<std::uint32_t>(to.inputs.size());
  for (std::size_t i = 0; i < to.inputs.size(); ++i) a.round_tiles[i] = static_cast<std::uint32_t>(steps.round_tiles[i]);
  for (std::uint32_t i = 0; i < kStepBuffers; ++i) {
    a.buffers[i] = {0, 0, 0, kFirstBufferStream + i};
    const StepBuffer& buffer = steps.buffers[i];
    if (buffer.tiles > 0) fits &= space.place(a.buffers[i], buffer.format, buffer.tiles, kFirstBufferStream + i);
  }
  to.table = steps.words;
  to.table_words = static_cast<std::uint32_t>(steps.words.size());
  return fits;
}

// Tiles of an input that have to be in L1 at the same time, twice, so that others arrive meanwhile.
std::int64_t least_tiles(const Op& op, std::size_t input, const OperandLayout& operand, const StepTable* steps) {
  if (steps != nullptr) return std::max<std::int64_t>(steps->round_tiles[input], 1);
  if (op.attributes.identity) return operand.tiles;
  if (!ops::multiplies_matrices(op.type) || input > 1) return 1;
  return (input == 0 ? operand.blocks.blocks_r : operand.blocks.blocks_c) * operand.blocks.block_tiles();
}

// `window_tiles`: those of a sparse product's activations; 0: it is not one.
void set_tiles_at_once(const Op& op, const StepTable* steps, std::int64_t window_tiles, OpLayout& out) {
  for (std::size_t i = 0; i < out.inputs.size(); ++i)
    out.inputs[i].at_once = i == 1 && window_tiles > 0 ? window_tiles : least_tiles(op, i, out.inputs[i], steps);
}

}  // namespace

bool takes_rows(const Op& op) { return ops::reads_datums(op.type); }

netlist::TileIndex OperandLayout::tile(GridCoord core, std::int64_t number) const {
  const std::int64_t row = grid.rows == 1 ? 0 : core.row, col = grid.cols == 1 ? 0 : core.col;
  return arith::tile_at(grid, block_shape(blocks), order, {row * grid.cols + col, number}).tile;
}

std::variant<OpLayout, std::string> layout_of(const arith::OpCall& call, std::uint32_t l1_begin, std::uint32_t l1_end) {
  const Op& op = call.op;
  OpLayout out;
  out.output = operand_layout(tiling::elementwise_order(op));
  const bool rows = takes_rows(op);
  for (std::size_t i = 0; i < call.inputs.size() && !rows; ++i) {
    const auto order = tiling::tile_order_of(op, call.fused, i, call.inputs[i]->tiles);
    if (const auto* error = std::get_if<tiling::OrderError>(&order)) return error->reason;
    out.inputs.push_back(operand_layout(std::get<tiling::TileOrder>(order)));
    if (out.inputs.back().tiles >= 1 << 30) return cat("input ", i, " has too many tiles");
  }
  if (rows) set_rows(op, out);
  const bool matmul = ops::multiplies_matrices(op.type);
  out.arguments.tiles = static_cast<std::uint32_t>(out.output.tiles);
  out.arguments.adds = call.previous ? 1 : 0;
  set_blocks(op, out.arguments);
  const std::int64_t row_bytes = out.output.blocks.part_ct() * 32 * bits_per_datum(op.out_format) / 8;
  if (op.untilize_output) {
    out.row_messages = out.output.blocks.t * out.output.blocks.blocks_r;
    out.arguments.row_bytes = u32(row_bytes);
  }
  const bool sparse = matmul && op.attributes.identity;
  SparseNeeds needs;
  if (sparse) {
    auto found = set_sparse(call, out);
    if (auto* wrong = std::get_if<std::string>(&found)) return std::move(*wrong);
    needs = std::get<SparseNeeds>(found);
    set_matmul(op, out.arguments);
  } else if (matmul) {
    if (auto wrong = wrong_order(op, out)) return *wrong;
    set_matmul(op, out.arguments);
  }
  const bool topk = ops::sorts(op.type);
  if (topk)
    if (auto wrong = set_topk(op, out)) return *wrong;
  std::optional<StepTable> steps;
  if (takes_steps(op)) {
    auto table = step_table(call, out.inputs, out.output);
    if (auto* wrong = std::get_if<std::string>(&table)) return std::move(*wrong);
    steps = std::move(std::get<StepTable>(table));
  }
  if (!rows) set_tiles_at_once(op, steps ? &*steps : nullptr, needs.window_tiles, out);
  // With two parts of each ring, or, where they do not fit, one; of activations of a sparse matmul then those that it keeps.
  std::int64_t wanted = 0;
  for (const bool in_window : {false, true})
    for (std::int64_t parts : {2, 1}) {
      if (in_window && !sparse) continue;
      const auto tiles_of = [&](std::size_t i) {
        if (in_window && i == 1) return needs.window_tiles;
        return parts * least_tiles(op, i, out.inputs[i], steps ? &*steps : nullptr);
      };
      L1Space space(l1_begin, l1_end);
      bool fits = true;
      for (std::size_t i = 0; i < out.inputs.size(); ++i)
        fits &=
            rows ? space.place_messages(out.inputs[i].ring, 32 + 32 * out.arguments.row_bytes, parts, kFirstInputStream)
                 : space.place(out.inputs[i].ring, call.inputs[i]->format, tiles_of(i), kFirstInputStream + static_cast<std::uint32_t>(i));
      const std::int64_t message = op.untilize_output ? 32 + out.output.blocks.block_rt * 32 * row_bytes : tile_bytes(op.out_format);
      fits &= message < 1 << 21 && space.place_messages(out.output.ring, u32(message), parts, kOutputStream);
      if (matmul && keeps_sums(op))
        fits &= space.place(out.arguments.between, sums_format(op), sparse ? 2 : op.block.mblock_tiles(), kBetweenStream);
      if (topk) fits &= space.place(out.arguments.between, DataFormat::float16_b, 1, kBetweenStream);
      if (sparse) {
        const auto table = space.place_words(needs.table_words);
        fits &= table.has_value();
        out.arguments.table = table.value_or(0);
        out.table_words = static_cast<std::uint32_t>(needs.table_words);
        out.arguments.buffers[0].stream = kFirstBufferStream;
      }
      if (steps) fits &= place_steps(space, *steps, out);
      wanted = space.wanted();
      if (!fits) continue;
      for (std::size_t i = 0; i < out.inputs.size(); ++i) out.arguments.inputs[i] = out.inputs[i].ring;
      out.arguments.output = out.output.ring;
      return out;
    }
  return cat("its buffers need ", wanted, " bytes of L1, of which ", l1_end - l1_begin, " are for operands");
}

}  // namespace buda::kernels
