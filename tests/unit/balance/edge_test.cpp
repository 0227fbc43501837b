// SPDX-License-Identifier: Apache-2.0
// Edges: the example of the netlist specification, cases worked out by hand, and a slow second way of counting.
#include <buda/balance/models/op_model.hpp>
#include <buda/balance/resources/edge.hpp>

#include "unit/balance/fixture.hpp"

#include <buda/base/rng.hpp>

#include <numeric>
#include <set>

namespace buda::balance {
namespace {

using netlist::Dim;
using netlist::EdgeMaps;
using netlist::Op;
using netlist::OpType;
using netlist::Tm;
using netlist::UblockOrder;

Op make(OpType type, GridShape grid, netlist::BlockShape block, std::size_t inputs) {
  Op op;
  op.name = "op";
  op.type = type;
  op.grid = grid;
  op.block = block;
  op.inputs.resize(inputs);
  for (auto& in : op.inputs) in.format = DataFormat::float16_b;
  op.out_format = op.intermed_format = op.acc_format = DataFormat::float16_b;
  return op;
}

EdgeCost cost_of(const TileLayout& producer, const EdgeMaps& maps, const Op& op, std::size_t input) {
  auto result = measure_edge(producer, maps, op, input);
  if (auto* reason = std::get_if<std::string>(&result)) {
    ADD_FAILURE() << *reason;
    return {};
  }
  return std::get<EdgeCost>(result);
}

std::string reason_of(const TileLayout& producer, const EdgeMaps& maps, const Op& op, std::size_t input) {
  auto result = measure_edge(producer, maps, op, input);
  if (auto* reason = std::get_if<std::string>(&result)) return *reason;
  ADD_FAILURE() << "it was accepted";
  return "";
}

// The matmul of the specification's worked example: grid 2x2, ublock 4x4, K = 2 * 2; both operands lie in queues of 2x2 buffers with
// ublocks of 4x2 (in0: 8x4 tiles) and 2x4 (in1: 4x8 tiles).
TEST(Edge, TheSpecificationsExample) {
  Op mm = make(OpType::matmul, {2, 2}, {1, 1, 1, 4, 4}, 2);
  mm.attributes.m_k = mm.attributes.u_kt = 2;
  TileLayout q0{{2, 2}, {1, 1, 1, 4, 2}, UblockOrder::r, 1};
  // Row 0 takes columns {0, 1} from buffer (0, 0) as one run of 8 tiles, then {2, 3} from (0, 1).
  EdgeCost in0 = cost_of(q0, {}, mm, 0);
  EXPECT_EQ(in0.granularity, 8);
  EXPECT_EQ(in0.sources, 2);
  EXPECT_EQ(in0.fan_out, 1);
  EXPECT_EQ(in0.receiver_phases, 2);
  EXPECT_EQ(in0.pieces, 2);
  // Column 0 takes rows 0-1 from (0, 0) and rows 2-3 from (1, 0).
  TileLayout q1{{2, 2}, {1, 1, 1, 2, 4}, UblockOrder::r, 1};
  EdgeCost in1 = cost_of(q1, {}, mm, 1);
  EXPECT_EQ(in1.granularity, 8);
  EXPECT_EQ(in1.sources, 2);
  EXPECT_EQ(in1.fan_out, 1);
}

// What a tilizer reads travels as parts of rows of datums, one after the other, and not as the tiles that become of them.
TEST(Edge, TilizersReadRows) {
  Op tilizer = make(OpType::tilizer, {1, 2}, {1, 2, 1, 1, 4}, 1);
  TileLayout queue{{1, 1}, {1, 2, 2, 1, 4}, UblockOrder::r, 1};
  EdgeCost cost = cost_of(queue, {}, tilizer, 0);
  EXPECT_EQ(cost.granularity, 1);
  EXPECT_EQ(cost.pieces, 2 * 32);
  EXPECT_EQ(cost.fan_out, 2);
  // A column of one core alone lies in one piece: a tile's height of rows is read at once.
  TileLayout apart{{1, 2}, {1, 2, 1, 1, 4}, UblockOrder::r, 1};
  EXPECT_EQ(cost_of(apart, {}, tilizer, 0).granularity, 32);
  EXPECT_EQ(cost_of(apart, {}, tilizer, 0).pieces, 2);
}

TEST(Edge, ShapesHaveToAgree) {
  Op add = make(OpType::add, {1, 1}, {1, 2, 2, 1, 1}, 2);
  TileLayout p{{1, 1}, {1, 2, 1, 1, 1}, UblockOrder::r, 1};
  EXPECT_THAT(reason_of(p, {}, add, 0), ::testing::HasSubstr("arrives as t=1 rt=2 ct=1 where t=1 rt=2 ct=2 is needed"));
  EdgeMaps twice{{}, {Tm::broadcast(Dim::c, 2)}, {}};
  EXPECT_EQ(cost_of(p, twice, add, 0).sources, 1);
  EdgeMaps bad{{}, {Tm::hslice(3)}, {}};
  EXPECT_THAT(reason_of(p, bad, add, 0), ::testing::HasSubstr("not divisible by 3"));
}

TEST(Edge, StacksTakeFromEachWindowOfAShallowProducer) {
  Op nop = make(OpType::nop, {1, 1}, {1, 1, 4, 1, 1}, 1);
  EdgeMaps stack{{}, {Tm::hstack(4)}, {}};
  TileLayout producer{{1, 1}, {4, 1, 1, 1, 1}, UblockOrder::r, 1};
  EXPECT_EQ(cost_of(producer, stack, nop, 0).granularity, 1);
  EXPECT_EQ(cost_of(producer, stack, nop, 0).pieces, 4);
  producer.buffered_t = 4;
  EXPECT_EQ(cost_of(producer, stack, nop, 0).granularity, 4);
  EXPECT_EQ(cost_of(producer, stack, nop, 0).pieces, 1);
  // Rows of tiles that begin in an earlier window than those before them end: the producer would have to keep both.
  Op tall = make(OpType::nop, {1, 1}, {1, 2, 4, 1, 1}, 1);
  producer.block = {4, 2, 1, 1, 1};
  producer.buffered_t = 1;
  EXPECT_THAT(reason_of(producer, stack, tall, 0), ::testing::HasSubstr("after tiles of its buffer"));
}

// As the activations of a convolution whose selection is computed in two parts, and which itself is computed in parts.
TEST(Edge, WhatFollowsAStackNeedsAllMatricesInTheBuffer) {
  Op nop = make(OpType::nop, {1, 1}, {4, 1, 1, 1, 1}, 1);
  EdgeMaps cut{{}, {Tm::vstack(2), Tm::vslice(4)}, {}};
  TileLayout producer{{1, 1}, {2, 2, 1, 1, 1}, UblockOrder::r, 1};
  EXPECT_THAT(reason_of(producer, cut, nop, 0), ::testing::HasSubstr("must hold all 2 matrices at once, not 1"));
  producer.buffered_t = 2;
  EXPECT_EQ(cost_of(producer, cut, nop, 0).sources, 1);
  // Slices before the stack that make up for it leave each matrix for itself.
  EdgeMaps apart{{}, {Tm::vslice(2), Tm::hstack(2), Tm::hslice(2)}, {}};
  producer.buffered_t = 1;
  EXPECT_EQ(cost_of(producer, apart, nop, 0).sources, 1);
}

TEST(Edge, PartsThatBlocksDoNotDivideNeedAllMatricesInTheBuffer) {
  Op nop = make(OpType::nop, {1, 1}, {1, 3, 1, 2, 1}, 1);
  EdgeMaps stack{{}, {Tm::vstack(2)}, {}};
  TileLayout producer{{1, 1}, {2, 3, 1, 1, 1}, UblockOrder::r, 1};
  EXPECT_THAT(reason_of(producer, stack, nop, 0), ::testing::HasSubstr("matrices that its blocks do not divide"));
  producer.buffered_t = 2;
  EXPECT_EQ(cost_of(producer, stack, nop, 0).sources, 1);
}

// As the result of a streamed splice that a sparse matmul on several columns of cores reads: each column reads all parts in one ublock.
TEST(Edge, PartsThatAreLowerAndWiderThanUblocksNeedAllMatricesInTheBuffer) {
  Op nop = make(OpType::nop, {1, 2}, {1, 1, 1, 2, 1}, 1);
  EdgeMaps stack{{}, {Tm::vstack(2)}, {}};
  TileLayout producer{{1, 1}, {2, 1, 2, 1, 1}, UblockOrder::r, 1};
  EXPECT_THAT(reason_of(producer, stack, nop, 0), ::testing::HasSubstr("lower and wider than its ublocks"));
  producer.buffered_t = 2;
  EXPECT_EQ(cost_of(producer, stack, nop, 0).sources, 1);
  // As wide as its ublocks.
  Op narrow = make(OpType::nop, {1, 1}, {1, 1, 1, 2, 2}, 1);
  producer.buffered_t = 1;
  EXPECT_EQ(cost_of(producer, stack, narrow, 0).sources, 1);
}

TEST(Edge, EachTurnOfADestinationIsAPhaseOfTheSender) {
  // Four windows of two rows of tiles, two of which go to each of two rows of cores.
  Op nop = make(OpType::nop, {2, 1}, {1, 4, 1, 1, 1}, 1);
  EdgeMaps stack{{}, {Tm::vstack(4)}, {}};
  TileLayout producer{{1, 1}, {4, 2, 1, 1, 1}, UblockOrder::r, 1};
  EXPECT_EQ(cost_of(producer, stack, nop, 0).sender_phases, 4);
  EXPECT_EQ(cost_of(producer, stack, nop, 0).receiver_phases, 1);
  // From two columns of cores each destination takes two rows, changing between the columns four times: twice in each of its two turns.
  Op wide = make(OpType::nop, {2, 1}, {1, 4, 1, 1, 2}, 1);
  TileLayout columns{{1, 2}, {4, 2, 1, 1, 1}, UblockOrder::r, 1};
  EXPECT_EQ(cost_of(columns, stack, wide, 0).sender_phases, 8);
  EXPECT_EQ(cost_of(columns, stack, wide, 0).receiver_phases, 8);
  // A buffer of all windows hands out each destination's share at once.
  producer.buffered_t = 4;
  EXPECT_EQ(cost_of(producer, stack, nop, 0).sender_phases, 2);
}

// A stream program repeats a period of windows and turns; of a number of inputs that is not a multiple of it, it has all.
TEST(Edge, PassesThatDoNotRepeatAreAllWritten) {
  EdgeCost cost;
  cost.sources = 2;
  cost.receiver_phases = 10;
  cost.sender_phases = 3;
  cost.turns = 1;
  EXPECT_EQ(in_passes(cost, 2, 64).receiver_phases, 10);
  EXPECT_EQ(in_passes(cost, 2, 64).sender_phases, 3);
  EXPECT_EQ(in_passes(cost, 1, 13).receiver_phases, 10);
  EXPECT_EQ(in_passes(cost, 2, 1).receiver_phases, 10);  // the epoch ends before the second window
  EXPECT_EQ(in_passes(cost, 2, 13).receiver_phases, 70);
  EXPECT_EQ(in_passes(cost, 2, 13).sender_phases, 21);
  cost.turns = 5;
  EXPECT_EQ(in_passes(cost, 2, 65).sender_phases, 21);
  EXPECT_EQ(in_passes(cost, 1, 65).sender_phases, 3);
  // From one core, tiles of a pass follow those of the pass before it in one phase.
  cost.sources = 1;
  EXPECT_EQ(in_passes(cost, 2, 13).receiver_phases, 10);
}

TEST(StackDepth, SlicesBeforeAStackMakeUpForIt) {
  EXPECT_EQ(std::get<std::int64_t>(stack_depth({Tm::hslice(4), Tm::vstack(4)})), 1);
  EXPECT_EQ(std::get<std::int64_t>(stack_depth({Tm::hslice(2), Tm::vstack(4)})), 2);
  EXPECT_EQ(std::get<std::int64_t>(stack_depth({Tm::vstack(4), Tm::hslice(4)})), 4);
  EXPECT_TRUE(std::holds_alternative<std::string>(stack_depth({Tm::hslice(2), Tm::vstack(3)})));
}

TEST(Edge, ZBroadcastsNeedOneSlice) {
  Op nop = make(OpType::nop, {1, 1}, {4, 1, 1, 1, 1}, 1);
  EdgeMaps maps{{}, {Tm::broadcast(Dim::z, 2)}, {}};
  TileLayout p{{1, 1}, {2, 1, 1, 1, 1}, UblockOrder::r, 2};
  EXPECT_THAT(reason_of(p, maps, nop, 0), ::testing::HasSubstr("repeats a tensor of t=1 only"));
}

TEST(Edge, HugeWalksAreRefusedQuickly) {
  Op nop = make(OpType::nop, {1, 1}, {1, 1 << 15, 1 << 15, 1, 1}, 1);
  TileLayout p{{1, 1}, {1, 1 << 15, 1 << 15, 1, 1}, UblockOrder::r, 1};
  EXPECT_THAT(reason_of(p, {}, nop, 0), ::testing::HasSubstr("more than can be analysed"));
}

TEST(Edge, ReadsAreCutToTheKernelsBuffer) {
  Op mm = make(OpType::matmul, {1, 1}, {1, 1, 4, 1, 2}, 2);
  mm.attributes.m_k = 16;
  mm.attributes.u_kt = 4;
  // 64 x 8 tiles in one run; the kernel's buffer holds 2 * 4 * 2 * 4 = 64 tiles, and 64 KiB hold 31: 16 tiles are the largest divisor
  // below.
  TileLayout q = preferred_layout(mm, 1, {1, 64, 8}, {});
  EdgeCost cost = cost_of(q, {}, mm, 1);
  EXPECT_EQ(cost.granularity, 512);
  EXPECT_EQ(dram_reads(cost, mm, 1, board("n150")), 32);
}

TEST(PreferredLayout, IsReadInOnePiecePerPipe) {
  Op mm = make(OpType::matmul, {2, 3}, {2, 2, 1, 2, 4}, 3);
  mm.attributes.m_k = 3;
  mm.attributes.u_kt = 5;
  mm.attributes.bias = true;
  TileLayout in0 = preferred_layout(mm, 0, {2, 8, 15}, {});
  EXPECT_EQ(in0.grid, (GridShape{2, 1}));
  EXPECT_EQ(in0.order, UblockOrder::c);
  EXPECT_EQ(in0.block, (netlist::BlockShape{2, 2, 3, 2, 5}));
  TileLayout in1 = preferred_layout(mm, 1, {2, 15, 12}, {});
  EXPECT_EQ(in1.grid, (GridShape{1, 3}));
  EXPECT_EQ(in1.block, (netlist::BlockShape{2, 3, 1, 5, 4}));
  // A bias of one row, as TT-Buda writes it: the columns of the op, one row.
  EdgeMaps down{{}, {Tm::broadcast(Dim::r, 8)}, {}};
  TileLayout bias = preferred_layout(mm, 2, {2, 1, 12}, down);
  EXPECT_EQ(bias.grid, (GridShape{1, 3}));
  EXPECT_EQ(bias.block, (netlist::BlockShape{2, 1, 1, 1, 4}));
  for (std::size_t i = 0; i < 2; ++i) {
    const TileLayout& l = i == 0 ? in0 : in1;
    EdgeCost c = cost_of(l, {}, mm, i);
    EXPECT_EQ(c.sources, 1) << i;
    EXPECT_EQ(c.granularity, l.block.tiles()) << i;
  }
  EXPECT_EQ(cost_of(bias, down, mm, 2).sources, 1);
  // Through a transpose: the source is (12 x 15).
  EdgeMaps turned{{}, {Tm::transpose()}, {}};
  TileLayout t = preferred_layout(mm, 1, {2, 12, 15}, turned);
  EXPECT_EQ(t.grid, (GridShape{3, 1}));
  EXPECT_EQ(cost_of(t, turned, mm, 1).sources, 1);
}

// A streamed op takes a parameter part by part: each core's columns of each part are a buffer of their own, so that channels share them.
TEST(PreferredLayout, OfPartsOfColumnsIsSpreadOverBuffers) {
  Op mm = make(OpType::matmul, {2, 4}, {3, 1, 1, 2, 2}, 2);
  mm.attributes.m_k = 6;
  mm.attributes.u_kt = 1;
  const EdgeMaps parts{{}, {Tm::hslice(3)}, {}};
  const TileLayout l = preferred_layout(mm, 1, {1, 6, 24}, parts);
  EXPECT_EQ(l.grid, (GridShape{1, 12}));
  EXPECT_EQ(cost_of(l, parts, mm, 1).sources, 3);
  // Of too many parts several lie in a buffer.
  Op many = make(OpType::matmul, {2, 4}, {12, 1, 1, 2, 2}, 2);
  many.attributes = mm.attributes;
  EXPECT_EQ(preferred_layout(many, 1, {1, 6, 96}, {{}, {Tm::hslice(12)}, {}}).grid, (GridShape{1, 6}));
}

// ---- A second way: every pipe's tiles as a list, then everything is counted on the lists.

struct Slow {
  std::int64_t granularity = 0, sources = 0, fan_out = 0, changes = 0, pieces = 0, sends = 0;
};

Slow slow_cost(const TileLayout& p, const EdgeMaps& maps, const Op& op, std::size_t input) {
  auto map = std::get<netlist::TileMap>(netlist::TileMap::make(p.shape(), maps));
  const tiling::TileOrder o = input_order(op, input);
  const bool by_columns = o.order == UblockOrder::c;
  std::int64_t window = p.window_tiles();
  std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> pipes;
  for (std::int64_t d = 0; d < o.destinations(); ++d) {
    auto& list = pipes.emplace_back();
    bool inside = true;
    for (std::int64_t t = 0; t < o.t && inside; ++t) {
      std::vector<std::pair<std::int64_t, std::int64_t>> order;
      for (std::int64_t a = 0; a < o.blocks_r; ++a)
        for (std::int64_t b = 0; b < o.blocks_c; ++b) order.emplace_back(by_columns ? b : a, by_columns ? a : b);
      std::sort(order.begin(), order.end());
      for (auto [x, y] : order)
        for (std::int64_t r = 0; r < o.block_rt; ++r)
          for (std::int64_t c = 0; c < o.block_ct; ++c) {
            std::int64_t br = by_columns ? y : x, bc = by_columns ? x : y;
            auto s = map.source({t, o.origin(d).r + br * o.block_rt + r, o.origin(d).c + bc * o.block_ct + c});
            const auto& b = p.block;
            std::int64_t rows = b.mblock_m * b.ublock_rt, cols = b.mblock_n * b.ublock_ct;
            std::int64_t ur = s.tile.r % rows / b.ublock_rt, uc = s.tile.c % cols / b.ublock_ct;
            std::int64_t u = p.order == UblockOrder::r ? ur * b.mblock_n + uc : uc * b.mblock_m + ur;
            std::int64_t index =
                s.tile.t * b.mblock_tiles() + u * b.ublock_tiles() + s.tile.r % b.ublock_rt * b.ublock_ct + s.tile.c % b.ublock_ct;
            if (index >= window) inside = false;
            if (inside) list.emplace_back(s.tile.r / rows * p.grid.cols + s.tile.c / cols, index);
          }
    }
  }
  Slow out;
  out.granularity = window;
  std::map<std::int64_t, std::int64_t> fan_out, sends;
  for (const auto& list : pipes) {
    std::set<std::int64_t> sources;
    std::int64_t changes = 0;
    for (std::size_t k = 0; k < list.size(); ++k) {
      sources.insert(list[k].first);
      bool begins = k == 0 || list[k].first != list[k - 1].first || list[k].second != list[k - 1].second + 1;
      if (k == 0 || list[k].first != list[k - 1].first) ++changes;
      if (begins) {
        ++sends[list[k].first];
        out.granularity = std::gcd(out.granularity, list[k].second);
        std::int64_t length = 1;
        while (k + static_cast<std::size_t>(length) < list.size() && list[k + static_cast<std::size_t>(length)].first == list[k].first &&
               list[k + static_cast<std::size_t>(length)].second == list[k].second + length)
          ++length;
        out.granularity = std::gcd(out.granularity, length);
      }
    }
    for (auto s : sources) ++fan_out[s];
    out.sources = std::max<std::int64_t>(out.sources, static_cast<std::int64_t>(sources.size()));
    out.changes = std::max(out.changes, changes);
  }
  for (auto [s, n] : fan_out) out.fan_out = std::max(out.fan_out, n);
  for (auto [s, n] : sends) out.sends = std::max(out.sends, n);
  return out;
}

std::int32_t pick(Rng& rng, const std::vector<std::int64_t>& from) { return static_cast<std::int32_t>(from[rng.below(from.size())]); }

netlist::BlockShape blocks(Rng& rng, std::int64_t t, std::int64_t rows, std::int64_t cols) {
  netlist::BlockShape b;
  b.t = static_cast<std::int32_t>(t);
  b.ublock_rt = pick(rng, divisors(rows));
  b.ublock_ct = pick(rng, divisors(cols));
  b.mblock_m = static_cast<std::int32_t>(rows / b.ublock_rt);
  b.mblock_n = static_cast<std::int32_t>(cols / b.ublock_ct);
  return b;
}

TEST(Edge, AgreesWithCountingOnLists) {
  Rng rng(7);
  for (int round = 0; round < 300; ++round) {
    std::int64_t r = 1 + static_cast<std::int64_t>(rng.below(12)), c = 1 + static_cast<std::int64_t>(rng.below(12)),
                 k = 1 + static_cast<std::int64_t>(rng.below(12));
    bool is_matmul = rng.below(2) == 0;
    GridShape grid{pick(rng, divisors(r)), pick(rng, divisors(c))};
    const std::int64_t t = 1 + static_cast<std::int64_t>(rng.below(4));
    Op op = make(is_matmul ? OpType::matmul : OpType::add, grid, blocks(rng, t, r / grid.rows, c / grid.cols), 2);
    if (!is_matmul && rng.below(2) == 0) op.ublock_order = UblockOrder::c;
    op.attributes.u_kt = pick(rng, divisors(k));
    op.attributes.m_k = static_cast<std::int32_t>(k / op.attributes.u_kt);
    std::size_t input = rng.below(2);
    netlist::TileShape need = input_order(op, input).needed();
    EdgeMaps maps;
    std::int64_t rows = need.rt, cols = need.ct;
    if (rng.below(3) == 0) {
      std::int32_t n = pick(rng, divisors(rows));
      maps.tms.push_back(Tm::broadcast(Dim::r, n));
      rows /= n;
    }
    if (rng.below(3) == 0) {
      maps.tms.insert(maps.tms.begin(), Tm::transpose());
      std::swap(rows, cols);
    }
    TileLayout p;
    p.grid = {pick(rng, divisors(rows)), pick(rng, divisors(cols))};
    p.block = blocks(rng, t, rows / p.grid.rows, cols / p.grid.cols);
    p.buffered_t = pick(rng, divisors(t));
    p.order = rng.below(2) == 0 ? UblockOrder::r : UblockOrder::c;
    EdgeCost fast = cost_of(p, maps, op, input);
    Slow slow = slow_cost(p, maps, op, input);
    ASSERT_EQ(fast.granularity, slow.granularity) << round;
    ASSERT_EQ(fast.sources, slow.sources) << round;
    ASSERT_EQ(fast.fan_out, slow.fan_out) << round;
    ASSERT_EQ(fast.receiver_phases, slow.changes) << round;
    ASSERT_EQ(fast.sender_phases, slow.sends) << round;
    // What is preferred is never worse in sources than one buffer per pipe.
    TileLayout preferred = preferred_layout(op, input, {t, rows, cols}, maps);
    ASSERT_EQ(preferred.shape(), (netlist::TileShape{t, rows, cols})) << round;
  }
}

}  // namespace
}  // namespace buda::balance
