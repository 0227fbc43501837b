// SPDX-License-Identifier: Apache-2.0
// Tables: from which tiles each tile of a step is made.
#include <buda/arith/fused.hpp>
#include <buda/arith/splice.hpp>
#include <buda/base/text.hpp>
#include <buda/kernels/tables/steps.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

namespace buda::kernels {
namespace {

using arith::OpCall;
using netlist::Dim;
using netlist::Op;
using netlist::OpClass;
using netlist::OpType;
using netlist::TileIndex;
using OperandKind = netlist::SubOperand::Kind;

using Entries = std::vector<std::uint32_t>;  // of one tile

std::uint32_t entry(std::size_t operand, std::int64_t tile) {
  return static_cast<std::uint32_t>(operand) << 16 | static_cast<std::uint32_t>(tile & 0xffff);
}

// Where a tile of a core's part comes among those of a round.
class Positions {
 public:
  Positions(const OperandLayout& layout, std::int64_t rounds) {
    for (std::int64_t n = 0; n < layout.tiles / rounds; ++n) {
      const TileIndex tile = layout.tile({0, 0}, n);
      numbers_[{tile.t, tile.r, tile.c}] = n;
    }
  }
  std::optional<std::int64_t> of(std::int64_t t, std::int64_t r, std::int64_t c) const {
    const auto it = numbers_.find({t, r, c});
    return it == numbers_.end() ? std::nullopt : std::optional(it->second);
  }

 private:
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::int64_t> numbers_;
};

class Builder {
 public:
  Builder(const OpCall& call, const std::vector<OperandLayout>& inputs, const OperandLayout& output)
      : call_(call), op_(call.op), inputs_(inputs), output_(output) {
    table_.buffers.resize(kStepBuffers);
  }

  std::variant<StepTable, std::string> run() {
    std::optional<std::string> wrong;
    switch (netlist::op_class(op_.type)) {
      case OpClass::fused:
        wrong = add_fused();
        break;
      case OpClass::reduce:
        wrong = add_reduce();
        break;
      case OpClass::splice:
        wrong = add_splice();
        break;
      default:
        set_rounds(output_.tiles);
        add_step({{entry(0, 0), entry(1, 0)}});
        break;
    }
    if (wrong) return *wrong;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (table_.round_tiles[i] > 0xffff)
        return cat("input ", i, " has ", table_.round_tiles[i], " tiles in a round, and tables count to 65535");
    return std::move(table_);
  }

 private:
  void set_rounds(std::int64_t rounds) {
    table_.rounds = rounds;
    for (const OperandLayout& input : inputs_) table_.round_tiles.push_back(input.tiles / rounds);
  }
  void add_step(const std::vector<Entries>& tiles) {
    table_.words.push_back(static_cast<std::uint32_t>(tiles.size()));
    table_.words.push_back(static_cast<std::uint32_t>(tiles.empty() ? 0 : tiles.front().size()));
    for (const Entries& e : tiles) table_.words.insert(table_.words.end(), e.begin(), e.end());
  }

  // Tiles of the output in a round, in their order.
  std::vector<TileIndex> outputs() const {
    std::vector<TileIndex> out;
    for (std::int64_t n = 0; n < output_.tiles / table_.rounds; ++n) out.push_back(output_.tile({0, 0}, n));
    return out;
  }

  std::optional<std::string> add_reduce() {
    const auto& a = op_.attributes;
    const auto& block = op_.block;
    const bool rows = a.reduce_dim == Dim::r;
    if (a.reduce_dim == Dim::z) return add_depth_reduce();
    const std::int64_t across = rows ? std::int64_t{block.mblock_m} * block.ublock_rt : std::int64_t{block.mblock_n} * block.ublock_ct;
    if (across != 1) return "cores have more than one tile of its output across the direction in which it reduces";
    const std::int64_t made = rows ? block.ublock_ct : block.ublock_rt, inner = a.u_kt, blocks = a.m_k;
    set_rounds(block.t * (rows ? block.mblock_n : block.mblock_m));
    if (reduces_as_they_come(op_)) {
      table_.round_tiles[0] = 0;
      add_step({Entries(static_cast<std::size_t>(blocks * inner), entry(0, 0))});
      return std::nullopt;
    }
    std::vector<Entries> tiles(static_cast<std::size_t>(made));
    for (std::int64_t n = 0; n < made; ++n)
      for (std::int64_t b = 0; b < blocks; ++b)
        for (std::int64_t k = 0; k < inner; ++k)
          tiles[static_cast<std::size_t>(n)].push_back(entry(0, b * inner * made + (rows ? k * made + n : n * inner + k)));
    add_step(tiles);
    return std::nullopt;
  }

  std::optional<std::string> add_depth_reduce() {
    set_rounds(op_.block.t);
    const Positions in(inputs_[0], table_.rounds);
    std::vector<Entries> tiles;
    for (const TileIndex& out : outputs()) {
      tiles.emplace_back();
      for (std::int64_t z = 0; z < std::max(op_.attributes.z, 1); ++z) {
        const auto n = in.of(z, out.r, out.c);
        if (!n) return "its input does not have a tile for each one of its output and each z";
        tiles.back().push_back(entry(0, *n));
      }
    }
    add_step(tiles);
    return std::nullopt;
  }

  std::optional<std::string> add_splice() {
    const bool whole = arith::splices_whole_t(op_);
    set_rounds(whole ? 1 : op_.block.t);
    const std::int64_t unit = whole ? output_.tiles / op_.block.t : std::int64_t{op_.block.ublock_rt} * op_.block.ublock_ct;
    std::vector<Entries> tiles;
    for (const auto& [input, from] : arith::splice_sources(op_))
      for (std::int64_t k = 0; k < unit; ++k) tiles.push_back({entry(input, from * unit + k)});
    add_step(tiles);
    return std::nullopt;
  }

  // The tiles of an operand of a sub-op, row by row, as entries.
  struct Operand {
    netlist::TileShape shape;
    std::vector<std::uint32_t> entries;
    std::uint32_t at(std::int64_t r, std::int64_t c) const { return entries[static_cast<std::size_t>(r * shape.ct + c)]; }
  };

  std::variant<Operand, std::string> operand_of(const arith::FusedOperand& operand) {
    const bool input = operand.what.kind == OperandKind::input;
    const auto index = static_cast<std::size_t>(operand.what.index);
    netlist::TileShape shape = input ? part_shape(index) : shapes_[buffer_of(operand.what)];
    auto numbers = std::make_shared<arith::Value>(shape, TileDim{}, DataFormat::int32);
    std::optional<Positions> positions;
    if (input) positions.emplace(inputs_[index], table_.rounds);
    for (std::int64_t r = 0; r < shape.rt; ++r)
      for (std::int64_t c = 0; c < shape.ct; ++c) {
        const auto n = positions ? positions->of(0, r, c) : r * shape.ct + c;
        if (!n) return cat("input ", index, " does not have all the tiles that a sub-op reads");
        std::int32_t& corner = numbers->ints[static_cast<std::size_t>(r) * 32 * numbers->cols() + static_cast<std::size_t>(c) * 32];
        corner = static_cast<std::int32_t>(entry(input ? index : tt::kInputs + buffer_of(operand.what), *n));
      }
    const arith::ValuePtr gathered = operand.gather.apply(numbers, call_.mode, 1);
    Operand out{gathered->tiles, {}};
    for (std::int64_t r = 0; r < out.shape.rt; ++r)
      for (std::int64_t c = 0; c < out.shape.ct; ++c)
        out.entries.push_back(static_cast<std::uint32_t>(
            gathered->ints[static_cast<std::size_t>(r) * 32 * gathered->cols() + static_cast<std::size_t>(c) * 32]));
    return out;
  }

  netlist::TileShape part_shape(std::size_t input) const {
    const auto& blocks = inputs_[input].blocks;
    return {1, static_cast<std::int32_t>(blocks.part_rt()), static_cast<std::int32_t>(blocks.part_ct())};
  }

  static std::variant<Entries, std::string> entries_of(const Op& op, const std::vector<Operand>& from, std::int64_t r, std::int64_t c) {
    const netlist::TileShape shape = op.shape();
    Entries out;
    switch (netlist::op_class(op.type)) {
      case OpClass::reduce: {
        if (op.attributes.reduce_dim == Dim::z) return std::string("it reduces over z inside of a fused op");
        const bool rows = op.attributes.reduce_dim == Dim::r;
        const std::int64_t inner = rows ? from[0].shape.rt / shape.rt : from[0].shape.ct / shape.ct;
        for (std::int64_t k = 0; k < inner; ++k) out.push_back(rows ? from[0].at(r * inner + k, c) : from[0].at(r, c * inner + k));
        break;
      }
      case OpClass::matmul:
        for (std::int64_t k = 0; k < from[0].shape.ct; ++k) {
          out.push_back(from[0].at(r, k));
          out.push_back(from[1].at(k, c));
        }
        break;
      default:
        for (const Operand& o : from) out.push_back(o.at(r, c));
        break;
    }
    return out;
  }

  std::optional<std::string> add_fused() {
    std::vector<netlist::TileShape> shapes;
    std::vector<TileDim> dims;
    for (const auto& input : call_.inputs) {
      shapes.push_back(input->tiles);
      dims.push_back(input->dim);
    }
    auto steps = arith::fused_steps(op_, *call_.fused, std::move(shapes), std::move(dims));
    if (const auto* unable = std::get_if<arith::Unable>(&steps)) return unable->reason;
    set_rounds(op_.block.t);
    shapes_.resize(kStepBuffers);
    for (const arith::FusedStep& step : std::get<std::vector<arith::FusedStep>>(steps))
      if (auto wrong = add_sub_op(step)) return wrong;
    return std::nullopt;
  }

  std::optional<std::string> add_sub_op(const arith::FusedStep& step) {
    std::vector<Operand> from;
    for (const arith::FusedOperand& o : step.operands) {
      auto operand = operand_of(o);
      if (auto* wrong = std::get_if<std::string>(&operand)) return std::move(*wrong);
      from.push_back(std::move(std::get<Operand>(operand)));
    }
    const bool last = step.output.kind == OperandKind::output;
    std::vector<TileIndex> made;
    if (last) {
      made = outputs();
    } else {
      const netlist::TileShape shape = step.op.shape();
      for (std::int32_t r = 0; r < shape.rt; ++r)
        for (std::int32_t c = 0; c < shape.ct; ++c) made.push_back({0, r, c});
    }
    std::vector<Entries> tiles;
    for (const TileIndex& out : made) {
      auto entries = entries_of(step.op, from, out.r, out.c);
      if (auto* wrong = std::get_if<std::string>(&entries)) return std::move(*wrong);
      tiles.push_back(std::move(std::get<Entries>(entries)));
    }
    if (!last)
      if (auto wrong = write_buffer(step, tiles)) return wrong;
    add_step(tiles);
    return std::nullopt;
  }

  // A step may read the buffer that it writes only where each tile is made of the one that it replaces.
  std::optional<std::string> write_buffer(const arith::FusedStep& step, const std::vector<Entries>& tiles) {
    const std::uint32_t index = buffer_of(step.output);
    for (std::size_t n = 0; n < tiles.size(); ++n)
      for (std::uint32_t e : tiles[n])
        if (e >> 16 == tt::kInputs + index && (e & 0xffff) != n)
          return cat("sub-op '", step.op.name, "' changes ", netlist::text(step.output), " while it reads other tiles of it");
    StepBuffer& buffer = table_.buffers[index];
    // Formats may differ from step to step: room for the larger.
    if (buffer.tiles == 0 || tile_bytes(step.op.out_format) > tile_bytes(buffer.format)) buffer.format = step.op.out_format;
    buffer.tiles = std::max(buffer.tiles, static_cast<std::int64_t>(tiles.size()));
    shapes_[index] = step.op.shape();
    return std::nullopt;
  }

  const OpCall& call_;
  const Op& op_;
  const std::vector<OperandLayout>& inputs_;
  const OperandLayout& output_;
  StepTable table_;
  std::vector<netlist::TileShape> shapes_;  // of what is in the buffers
};

}  // namespace

bool takes_steps(const Op& op) {
  switch (netlist::op_class(op.type)) {
    case OpClass::fused:
    case OpClass::reduce:
    case OpClass::splice:
    case OpClass::quant:
      return true;
    default:
      return op.type == OpType::maximum;
  }
}

bool reduces_as_they_come(const Op& op) {
  constexpr std::int64_t kMaxHeld = 128;
  const auto& a = op.attributes;
  if (netlist::op_class(op.type) != OpClass::reduce || a.reduce_dim == Dim::z) return false;
  const std::int32_t made = a.reduce_dim == Dim::r ? op.block.ublock_ct : op.block.ublock_rt;
  return made == 1 && std::int64_t{a.m_k} * a.u_kt > kMaxHeld;
}

std::variant<StepTable, std::string> step_table(const OpCall& call, const std::vector<OperandLayout>& inputs, const OperandLayout& output) {
  return Builder(call, inputs, output).run();
}

}  // namespace buda::kernels
