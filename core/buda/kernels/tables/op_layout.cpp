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

// Whether the operands of a depthwise product come as its kernel wants them: the left one column by column, the right one row by row.
std::optional<std::string> wrong_columns(const Op& op, const OpLayout& layout) {
  if (op.grid.cols != 1) return "depthwise ops run on one column of cores";
  const auto &left = layout.inputs[0], &right = layout.inputs[1];
  const auto& block = op.block;
  const std::int64_t inner = op.inner_tiles();
  const bool shapes = left.blocks.blocks_r == block.mblock_m && left.blocks.blocks_c == block.mblock_n * inner &&
                      left.blocks.block_rt == block.ublock_rt && left.blocks.block_ct == block.ublock_ct &&
                      right.blocks.blocks_r == inner && right.blocks.blocks_c == block.mblock_n && right.blocks.block_rt == 1 &&
                      right.blocks.block_ct == block.ublock_ct;
  const bool orders =
      (left.order == UblockOrder::c || left.blocks.blocks_r == 1) && (right.order == UblockOrder::r || right.blocks.blocks_c == 1);
  if (shapes && orders) return std::nullopt;
  return "its operands do not come column by column and row by row";
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

bool is_depthwise(const Op& op) { return netlist::op_class(op.type) == netlist::OpClass::depthwise; }

// How many tiles of the inputs are in L1 at the same time.
struct Way {
  std::int64_t parts = 1;        // of each ring; two, so that others arrive meanwhile
  bool in_window = false;        // of a sparse product's activations those that it keeps, and not all
  std::int64_t inner_tiles = 0;  // of a depthwise product's inner dimension, in a block
};

// The best first: of a depthwise product as few blocks as fit.
std::vector<Way> ways_of(const Op& op) {
  std::vector<Way> out;
  const std::int64_t inner = is_depthwise(op) ? op.inner_tiles() : 1, least = sums_by_blocks(op) ? 1 : inner;
  for (const bool in_window : {false, true}) {
    if (in_window && !op.attributes.identity) continue;
    for (std::int64_t tiles = inner; tiles >= least; --tiles)
      for (std::int64_t parts : {2, 1})
        if (inner % tiles == 0) out.push_back({parts, in_window, tiles});
  }
  return out;
}

// Places of rings, sums and tables.
class Placing {
 public:
  // `window_tiles`: those of a sparse product's activations.
  Placing(const arith::OpCall& call, const L1Part& l1, const StepTable* steps, const SparseNeeds& sparse)
      : call_(call), op_(call.op), l1_(l1), steps_(steps), sparse_(sparse) {}

  // Whether there is room for all of it.
  bool place(const Way& way, OpLayout& out) {
    tt::Arguments& a = out.arguments;
    if (is_depthwise(op_)) {
      a.inner = u32(way.inner_tiles);
      a.blocks = u32(op_.inner_tiles() / way.inner_tiles);
    }
    const bool rows = takes_rows(op_), matmul = ops::multiplies_matrices(op_.type), sparse = matmul && op_.attributes.identity;
    L1Space space(l1_.begin, l1_.end);
    bool fits = true;
    for (std::size_t i = 0; i < out.inputs.size(); ++i) {
      OperandLayout& input = out.inputs[i];
      const std::uint32_t stream = kFirstInputStream + static_cast<std::uint32_t>(i);
      const std::int64_t given = i < l1_.input_slots.size() ? l1_.input_slots[i] : 0;
      if (rows) {
        fits &= space.place_messages(input.ring, 32 + 32 * a.row_bytes, std::max(way.parts, given), kFirstInputStream);
        continue;
      }
      const bool window = sparse && i == 1;
      input.at_once = window ? sparse_.window_tiles : least_tiles(i, input, way);
      const std::int64_t tiles = window && way.in_window ? input.at_once : way.parts * least_tiles(i, input, way);
      fits &= space.place(input.ring, call_.inputs[i]->format, std::max(tiles, given), stream);
    }
    const std::int64_t message =
        op_.untilize_output ? 32 + out.output.blocks.block_rt * 32 * std::int64_t{a.row_bytes} : tile_bytes(op_.out_format);
    fits &= message < 1 << 21 && space.place_messages(out.output.ring, u32(message), std::max(way.parts, l1_.output_slots), kOutputStream);
    a.between = {};
    if (matmul && keeps_sums(op_)) fits &= space.place(a.between, sums_format(op_), sparse ? 2 : op_.block.mblock_tiles(), kBetweenStream);
    if (is_depthwise(op_) && a.blocks > 1) fits &= space.place(a.between, DataFormat::float32, op_.block.mblock_tiles(), kBetweenStream);
    if (ops::sorts(op_.type)) fits &= space.place(a.between, DataFormat::float16_b, 1, kBetweenStream);
    if (sparse) {
      const auto table = space.place_words(sparse_.table_words);
      fits &= table.has_value();
      a.table = table.value_or(0);
      out.table_words = static_cast<std::uint32_t>(sparse_.table_words);
      a.buffers[0].stream = kFirstBufferStream;
    }
    if (steps_ != nullptr) fits &= place_steps(space, *steps_, out);
    wanted_ = space.wanted();
    for (std::size_t i = 0; i < out.inputs.size(); ++i) a.inputs[i] = out.inputs[i].ring;
    a.output = out.output.ring;
    return fits;
  }

  // Bytes of what was placed last.
  std::int64_t wanted() const { return wanted_; }

 private:
  // Tiles of an input that have to be in L1 at the same time.
  std::int64_t least_tiles(std::size_t input, const OperandLayout& operand, const Way& way) const {
    if (steps_ != nullptr) return std::max<std::int64_t>(steps_->round_tiles[input], 1);
    if (op_.attributes.identity) return operand.tiles;
    if (is_depthwise(op_) && input < 2) return operand.tiles / op_.block.t / op_.inner_tiles() * way.inner_tiles;
    if (!ops::multiplies_matrices(op_.type) || input > 1) return 1;
    return (input == 0 ? operand.blocks.blocks_r : operand.blocks.blocks_c) * operand.blocks.block_tiles();
  }

  const arith::OpCall& call_;
  const Op& op_;
  const L1Part& l1_;
  const StepTable* steps_;
  const SparseNeeds& sparse_;
  std::int64_t wanted_ = 0;
};

}  // namespace

bool takes_rows(const Op& op) { return ops::reads_datums(op.type); }

bool sums_by_blocks(const Op& op) {
  constexpr std::int64_t kMaxTogether = std::int64_t{1} << 19;  // bytes of both operands
  if (!is_depthwise(op)) return false;
  const std::int64_t inner = op.inner_tiles(), width = std::int64_t{op.block.mblock_n} * op.block.ublock_ct;
  return inner > 1 &&
         inner * (op.block.mblock_tiles() * tile_bytes(op.inputs[0].format) + width * tile_bytes(op.inputs[1].format)) > kMaxTogether;
}

netlist::TileIndex OperandLayout::tile(GridCoord core, std::int64_t number) const {
  const std::int64_t row = grid.rows == 1 ? 0 : core.row, col = grid.cols == 1 ? 0 : core.col;
  return arith::tile_at(grid, block_shape(blocks), order, {row * grid.cols + col, number}).tile;
}

std::variant<OpLayout, std::string> layout_of(const arith::OpCall& call, const L1Part& l1) {
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
  if (op.untilize_output) {
    out.row_messages = out.output.blocks.t * out.output.blocks.blocks_r;
    out.arguments.row_bytes = u32(out.output.blocks.part_ct() * 32 * bits_per_datum(op.out_format) / 8);
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
  } else if (is_depthwise(op)) {
    if (auto wrong = wrong_columns(op, out)) return *wrong;
    out.arguments.tiles = u32(op.block.mblock_tiles());
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
  Placing placing(call, l1, steps ? &*steps : nullptr, needs);
  for (const Way& way : ways_of(op))
    if (placing.place(way, out)) return out;
  return cat("its buffers need ", placing.wanted(), " bytes of L1, of which ", l1.end - l1.begin, " are for operands");
}

}  // namespace buda::kernels
