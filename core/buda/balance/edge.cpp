// Walking an input over its producer's layout.
#include <buda/balance/edge.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

namespace buda::balance {
namespace {

using netlist::Dim;
using netlist::EdgeMaps;
using netlist::Op;
using netlist::OpClass;
using netlist::TileIndex;
using netlist::TileMap;
using netlist::TileShape;
using netlist::Tm;
using netlist::TmKind;
using netlist::UblockOrder;

// Place and index of a tile in a layout.
struct Spot {
  std::int64_t source = -1;  // row-major number of the core or buffer
  std::int64_t index = 0;    // of the tile there, t outermost
};

Spot spot_of(const Layout& l, const TileIndex& tile) {
  const auto& b = l.block;
  std::int64_t rows = std::int64_t{b.mblock_m} * b.ublock_rt, cols = std::int64_t{b.mblock_n} * b.ublock_ct;
  std::int64_t r = tile.r % rows, c = tile.c % cols;
  std::int64_t m = r / b.ublock_rt, n = c / b.ublock_ct;
  std::int64_t ublock = l.order == UblockOrder::r ? m * b.mblock_n + n : n * b.mblock_m + m;
  Spot s;
  s.source = tile.r / rows * l.grid.cols + tile.c / cols;
  s.index = tile.t * b.mblock_tiles() + ublock * b.ublock_tiles() + r % b.ublock_rt * b.ublock_ct + c % b.ublock_ct;
  return s;
}

bool moves_t(const EdgeMaps& maps) {
  return std::any_of(maps.tms.begin(), maps.tms.end(), [](const Tm& tm) {
    return tm.kind == TmKind::hslice || tm.kind == TmKind::vslice || tm.kind == TmKind::hstack || tm.kind == TmKind::vstack;
  });
}

// Gathers what one pipe after the other finds.
class Meter {
 public:
  explicit Meter(const Layout& producer)
      : fan_out_(static_cast<std::size_t>(producer.grid.volume()), 0),
        sent_(fan_out_.size(), 0),
        seen_by_(fan_out_.size(), -1),
        whole_(producer.depth * producer.block.mblock_tiles()) {
    cost_.granularity = whole_;
  }

  void begin_pipe() {
    ++pipe_;
    sources_ = changes_ = tiles_ = 0;
    source_ = -1;
  }

  void take(const Spot& s) {
    ++tiles_;
    if (s.source == source_ && s.index == next_) {
      ++next_;
      return;
    }
    end_run();
    auto at = static_cast<std::size_t>(s.source);
    if (s.source != source_) ++changes_;
    if (seen_by_[at] != pipe_) {
      seen_by_[at] = pipe_;
      ++sources_;
      ++fan_out_[at];
    }
    ++sent_[at];
    source_ = s.source;
    start_ = s.index;
    next_ = s.index + 1;
  }

  void end_pipe() {
    end_run();
    cost_.sources = std::max(cost_.sources, sources_);
    cost_.receiver_phases = std::max(cost_.receiver_phases, changes_);
    most_tiles_ = std::max(most_tiles_, tiles_);
  }

  // `repeats`: how often all of it happens for one input.
  EdgeCost cost(std::int64_t repeats) const {
    EdgeCost out = cost_;
    out.fan_out = *std::max_element(fan_out_.begin(), fan_out_.end());
    out.sender_phases = *std::max_element(sent_.begin(), sent_.end());
    out.pieces = most_tiles_ / out.granularity * repeats;
    return out;
  }

 private:
  void end_run() {
    if (source_ < 0) return;
    cost_.granularity = std::gcd(cost_.granularity, std::gcd(next_ - start_, start_));
  }

  EdgeCost cost_;
  std::vector<std::int64_t> fan_out_, sent_, seen_by_;
  std::int64_t whole_;
  std::int64_t pipe_ = -1;
  std::int64_t sources_ = 0, changes_ = 0, tiles_ = 0, most_tiles_ = 0;
  std::int64_t source_ = -1, start_ = 0, next_ = 0;
};

void walk_pipe(const Walk& w, std::int64_t i, std::int64_t j, std::int64_t ts, const TileMap& map, const Layout& producer, Meter& meter) {
  meter.begin_pipe();
  std::int64_t outer = w.by_columns ? w.block_cols : w.block_rows, inner = w.by_columns ? w.block_rows : w.block_cols;
  for (std::int64_t t = 0; t < ts; ++t)
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t n = 0; n < inner; ++n) {
        std::int64_t r0 = i * w.row_step + (w.by_columns ? n : o) * w.rt, c0 = j * w.col_step + (w.by_columns ? o : n) * w.ct;
        for (std::int64_t r = 0; r < w.rt; ++r)
          for (std::int64_t c = 0; c < w.ct; ++c) {
            auto from = map.source({t, r0 + r, c0 + c});
            if (!from.padding) meter.take(spot_of(producer, from.tile));
          }
      }
  meter.end_pipe();
}

Walk eltwise_walk(const Op& op) {
  const auto& b = op.block;
  Walk w;
  w.t = b.t;
  w.block_rows = b.mblock_m;
  w.block_cols = b.mblock_n;
  w.rt = b.ublock_rt;
  w.ct = b.ublock_ct;
  w.by_columns = op.ublock_order == UblockOrder::c;
  w.row_step = w.block_rows * w.rt;
  w.col_step = w.block_cols * w.ct;
  w.pipe_rows = op.grid.rows;
  w.pipe_cols = op.grid.cols;
  return w;
}

Walk matmul_walk(const Op& op, std::size_t input) {
  Walk w = eltwise_walk(op);
  const auto& a = op.attributes;
  if (input > 1) return w;
  w.t *= a.accumulate ? std::max(a.z, 1) : 1;
  if (input == 0) {
    w.reach = Reach::row;
    w.block_cols = a.m_k;
    w.ct = a.u_kt;
    w.by_columns = true;
    w.col_step = 0;
    w.pipe_cols = 1;
  } else {
    w.reach = Reach::column;
    w.block_rows = a.m_k;
    w.rt = a.u_kt;
    w.by_columns = false;
    w.row_step = 0;
    w.pipe_rows = 1;
  }
  return w;
}

Walk reduce_walk(const Op& op) {
  Walk w = eltwise_walk(op);
  const auto& a = op.attributes;
  if (a.reduce_dim == Dim::r) {
    w.block_rows = a.m_k;
    w.rt = a.u_kt;
    w.by_columns = true;
    w.row_step = w.block_rows * w.rt;
  } else if (a.reduce_dim == Dim::c) {
    w.block_cols = a.m_k;
    w.ct = a.u_kt;
    w.by_columns = false;
    w.col_step = w.block_cols * w.ct;
  } else {
    w.t *= std::max(a.z, 1);
    w.by_columns = false;
  }
  return w;
}

// One side of a layout (grid, blocks, tiles of a block) made to hold `size` tiles, keeping the block where it divides.
void fit_side(std::int64_t size, std::int32_t& grid, std::int32_t& blocks, std::int32_t& tiles) {
  if (size == std::int64_t{grid} * blocks * tiles) return;
  tiles = static_cast<std::int32_t>(std::gcd<std::int64_t>(size, tiles));
  std::int64_t left = size / tiles;
  blocks = static_cast<std::int32_t>(std::gcd<std::int64_t>(left, blocks));
  left /= blocks;
  grid = static_cast<std::int32_t>(std::gcd<std::int64_t>(left, grid));
  blocks = static_cast<std::int32_t>(left / grid * blocks);
}

}  // namespace

Layout layout_of(const netlist::Queue& queue) { return {queue.grid, queue.block, queue.ublock_order, queue.block.t}; }

Layout layout_of(const Op& op, std::int64_t input_count) {
  std::int64_t depth = std::min<std::int64_t>(input_count * op.block.t, op.single_buffer_mblocks());
  return {op.grid, op.block, op.ublock_order, std::max<std::int64_t>(depth, 1)};
}

Walk walk_of(const Op& op, std::size_t input) {
  switch (netlist::op_class(op.type)) {
    case OpClass::matmul:
      return matmul_walk(op, input);
    case OpClass::reduce:
      return reduce_walk(op);
    default:
      return eltwise_walk(op);
  }
}

TileShape needed_shape(const Op& op, std::size_t input) {
  Walk w = walk_of(op, input);
  return {w.t, (w.pipe_rows - 1) * w.row_step + w.block_rows * w.rt, (w.pipe_cols - 1) * w.col_step + w.block_cols * w.ct};
}

Layout preferred_layout(const Op& op, std::size_t input, const TileShape& producer, const EdgeMaps& maps) {
  Walk w = walk_of(op, input);
  Layout l;
  l.grid = {static_cast<std::int32_t>(w.pipe_rows), static_cast<std::int32_t>(w.pipe_cols)};
  l.block.mblock_m = static_cast<std::int32_t>(w.block_rows);
  l.block.mblock_n = static_cast<std::int32_t>(w.block_cols);
  l.block.ublock_rt = static_cast<std::int32_t>(w.rt);
  l.block.ublock_ct = static_cast<std::int32_t>(w.ct);
  l.order = w.by_columns ? UblockOrder::c : UblockOrder::r;
  bool transposed = false;
  for (const Tm& tm : maps.tms)
    if (tm.kind == TmKind::transpose) transposed = !transposed;
  if (transposed) {
    std::swap(l.grid.rows, l.grid.cols);
    std::swap(l.block.mblock_m, l.block.mblock_n);
    std::swap(l.block.ublock_rt, l.block.ublock_ct);
    l.order = l.order == UblockOrder::r ? UblockOrder::c : UblockOrder::r;
  }
  if (moves_t(maps) || maps.pad || maps.unpad) l.grid = {1, 1};
  l.block.t = static_cast<std::int32_t>(producer.t);
  l.depth = producer.t;
  fit_side(producer.rt, l.grid.rows, l.block.mblock_m, l.block.ublock_rt);
  fit_side(producer.ct, l.grid.cols, l.block.mblock_n, l.block.ublock_ct);
  return l;
}

std::variant<std::int64_t, std::string> stack_depth(const std::vector<Tm>& tms) {
  std::int64_t depth = 1, slack = 1;
  for (const Tm& tm : tms) {
    if (tm.kind == TmKind::hslice || tm.kind == TmKind::vslice) slack *= tm.factor;
    if (tm.kind != TmKind::hstack && tm.kind != TmKind::vstack) continue;
    if (slack % tm.factor == 0) {
      slack /= tm.factor;
    } else if (tm.factor % slack == 0) {
      depth *= tm.factor / slack;
      slack = 1;
    } else {
      return cat(tm.text(), " neither divides nor is divided by the slices before it (", slack, ')');
    }
  }
  return depth;
}

std::variant<EdgeCost, std::string> measure_edge(const Layout& producer, const EdgeMaps& maps, const Op& consumer, std::size_t input) {
  TileShape from = producer.shape();
  auto made = TileMap::make(from, maps);
  if (auto* error = std::get_if<netlist::MapError>(&made)) return error->reason;
  const auto& map = std::get<TileMap>(made);
  TileShape needed = needed_shape(consumer, input);
  if (map.shape() != needed) return cat("it arrives as ", map.shape().text(), " where ", needed.text(), " is needed");
  auto span = stack_depth(maps.tms);
  if (auto* reason = std::get_if<std::string>(&span)) return *reason;
  std::int64_t depth = std::get<std::int64_t>(span);
  if (producer.depth % depth != 0)
    return cat("its stacks take ", depth, " mblocks together and the producer holds ", producer.depth, " at once");
  for (const Tm& tm : maps.tms)
    if (tm.kind == TmKind::broadcast && tm.dim == Dim::z && tm.factor > 1 && from.t != 1)
      return cat(tm.text(), " needs a producer of t=1, and this one has t=", from.t);

  // Without slices and stacks all t are alike, so one is walked; with them, those that come from what the producer holds at once.
  bool uniform = !moves_t(maps);
  std::int64_t held = std::min(producer.depth, from.t);
  std::int64_t ts = uniform ? 1 : std::max<std::int64_t>(held * needed.t / from.t, 1);
  std::int64_t repeats = needed.t / ts;
  Walk w = walk_of(consumer, input);
  if (w.pipe_rows * w.pipe_cols * w.block_rows * w.block_cols * w.rt * w.ct * ts > kMostWalkTiles)
    return cat("its ", needed.volume(), " tiles are more than can be analysed (", kMostWalkTiles, ')');
  Meter meter(producer);
  for (std::int64_t i = 0; i < w.pipe_rows; ++i)
    for (std::int64_t j = 0; j < w.pipe_cols; ++j) walk_pipe(w, i, j, ts, map, producer, meter);
  EdgeCost cost = meter.cost(repeats);
  // A pipe of which nothing but padding is left would have no source.
  if (cost.sources == 0) return std::string("nothing of the producer arrives");
  return cost;
}

EdgeCost one_to_one(const Layout& layout) {
  std::int64_t tiles = layout.block.mblock_tiles() * layout.depth;
  return {tiles, 1, 1, 1, 1, layout.block.t / std::max<std::int64_t>(layout.depth, 1)};
}

std::int64_t dram_reads(const EdgeCost& edge, const Op& consumer, std::size_t input, const device::DeviceDescriptor& device) {
  std::int64_t tile = std::max(tile_bytes(consumer.inputs[input].format, input_tile_dim(consumer, input), device.tile_alignment), 1);
  std::int64_t most = std::min(input_buffer(consumer, input, device).tiles, std::max<std::int64_t>(kMostReadBytes / tile, 1));
  std::int64_t piece = std::min(edge.granularity, most);
  while (edge.granularity % piece != 0) --piece;
  return edge.pieces * (edge.granularity / piece);
}

}  // namespace buda::balance
