// SPDX-License-Identifier: Apache-2.0
// Draws netlists.
#include "unit/pipes/check/random_netlists.hpp"

#include "unit/pipes/built.hpp"

#include <buda/netlist/model/tensor_maps.hpp>
#include <buda/netlist/text/parse.hpp>
#include <buda/pipes/check/check_tiles.hpp>
#include <buda/pipes/plan/netlist_index.hpp>

#include <algorithm>
#include <variant>
#include <vector>

namespace buda::pipes {
namespace {

using netlist::Dim;
using netlist::TileShape;
using netlist::Tm;

std::int64_t divisor(std::int64_t n, Rng& rng, std::int64_t most = 8) {
  std::vector<std::int64_t> all;
  for (std::int64_t d = 1; d <= std::min(n, most); ++d)
    if (n % d == 0) all.push_back(d);
  return all[rng.below(all.size())];
}

// A blocking of r x c tiles: grid, mblock and ublock.
struct Blocking {
  std::int64_t grid_r, grid_c, m, n, rt, ct;
  Blocking(std::int64_t r, std::int64_t c, Rng& rng, std::int64_t most_grid = 4) {
    grid_r = divisor(r, rng, most_grid);
    grid_c = divisor(c, rng, most_grid);
    rt = divisor(r / grid_r, rng, 4);
    ct = divisor(c / grid_c, rng, 4);
    m = r / grid_r / rt;
    n = c / grid_c / ct;
  }
  std::string blocks(std::int64_t t) const { return cat("t: ", t, ", mblock: [", m, ", ", n, "], ublock: [", rt, ", ", ct, ']'); }
  std::string grid() const { return cat("grid_size: [", grid_r, ", ", grid_c, ']'); }
  int cores() const { return static_cast<int>(grid_r * grid_c); }
};

Tm random_netlists_random_tm(const TileShape& s, Rng& rng) {
  bool large = s.volume() > 256;
  auto small = [&](std::int64_t most) { return static_cast<std::int32_t>(1 + rng.below(static_cast<std::uint64_t>(most))); };
  switch (rng.below(8)) {
    case 0:
      if (!large) return Tm::broadcast(Dim::r, small(4));
      break;
    case 1:
      if (!large) return Tm::broadcast(Dim::c, small(4));
      break;
    case 2:
      if (!large && s.t == 1) return Tm::broadcast(Dim::z, small(4));
      break;
    case 3:
      return Tm::hslice(static_cast<std::int32_t>(divisor(s.ct, rng, 4)));
    case 4:
      return Tm::vslice(static_cast<std::int32_t>(divisor(s.rt, rng, 4)));
    case 5:
      return Tm::hstack(static_cast<std::int32_t>(divisor(s.t, rng, 4)));
    case 6:
      return Tm::vstack(static_cast<std::int32_t>(divisor(s.t, rng, 4)));
    default:
      break;
  }
  return Tm::transpose();
}

struct Consumer {
  std::string type, place, shape, attributes, extra_queues, extra_tms, out_queue;
  int inputs = 1;
};

std::string order(bool row_major) { return row_major ? "ublock_order: r" : "ublock_order: c"; }

Consumer elementwise(const TileShape& s, Rng& rng) {
  Blocking b(s.rt, s.ct, rng);
  bool rows = rng.below(2) == 0;
  Consumer c;
  c.type = "nop";
  c.place = b.grid();
  c.shape = cat(b.blocks(s.t), ", ", order(rows));
  c.out_queue = queue_text("out", "op", cat(b.grid(), ", ", b.blocks(s.t), ", ", order(rows)), b.cores(), 0x50000000);
  return c;
}

// As in0 (or in1) of a matmul, which may accumulate along z. The other operand comes from a queue that has just the right blocks, or a
// single row (column) of them, which is broadcast.
Consumer matmul(const TileShape& s, bool left, Rng& rng) {
  std::int64_t inner = left ? s.ct : s.rt, side = left ? s.rt : s.ct, other = 1 + static_cast<std::int64_t>(rng.below(6));
  std::int64_t u_kt = divisor(inner, rng), m_k = inner / u_kt, z = rng.below(2) == 0 ? divisor(s.t, rng) : 1;
  const bool repeated = rng.below(3) == 0;
  Blocking b(left ? side : other, left ? other : side, rng);
  const std::int64_t stored = repeated ? 1 : other;
  Blocking q(left ? inner : stored, left ? stored : inner, rng);
  Consumer c;
  c.type = "matmul";
  c.inputs = 2;
  c.place = b.grid();
  c.shape = cat(b.blocks(s.t / z), ", ublock_order: r");
  c.attributes = cat("m_k: ", m_k, ", u_kt: ", u_kt, z > 1 ? cat(", accumulate: true, z: ", z) : "");
  c.extra_queues = queue_text("other", "HOST", cat(q.grid(), ", ", q.blocks(s.t)), q.cores(), 0x40000000);
  if (repeated) c.extra_tms = Tm::broadcast(left ? Dim::c : Dim::r, static_cast<std::int32_t>(other)).text();
  c.out_queue = queue_text("out", "op", cat(b.grid(), ", ", b.blocks(s.t / z)), b.cores(), 0x50000000);
  return c;
}

Consumer reduce(const TileShape& s, Rng& rng) {
  Consumer c;
  c.type = "reduce";
  auto out = [&](const Blocking& b, std::int64_t t) {
    c.place = b.grid();
    c.shape = cat(b.blocks(t), ", ublock_order: r");
    c.out_queue = queue_text("out", "op", cat(b.grid(), ", ", b.blocks(t)), b.cores(), 0x50000000);
  };
  std::uint64_t dim = rng.below(3);
  if (dim == 2) {
    std::int64_t z = divisor(s.t, rng);
    out(Blocking(s.rt, s.ct, rng), s.t / z);
    c.attributes = cat("dim: z, type: max, z: ", z);
    return c;
  }
  std::int64_t collapsed = dim == 0 ? s.rt : s.ct, grid = divisor(collapsed, rng, 3), u_kt = divisor(collapsed / grid, rng, 4);
  Blocking b(dim == 0 ? grid : s.rt, dim == 0 ? s.ct : grid, rng);
  (dim == 0 ? b.grid_r : b.grid_c) = grid;
  (dim == 0 ? b.m : b.n) = 1;
  (dim == 0 ? b.rt : b.ct) = 1;
  out(b, s.t);
  c.attributes = cat("dim: ", dim == 0 ? "r" : "c", ", type: max, m_k: ", collapsed / grid / u_kt, ", u_kt: ", u_kt);
  return c;
}

std::string on_any_chip(std::string queue, std::uint64_t chip) {
  const std::string_view key = "target_device: 0";
  return queue.empty() ? queue : queue.replace(queue.find(key), key.size(), cat("target_device: ", chip));
}

// The number of tiles after which those that op 'op' takes from an input come again, on every core and at every t (or over all ts); 0 when
// they never do.
std::int64_t repeating_tiles(const netlist::Netlist& netlist, std::size_t input, bool per_t) {
  NetlistIndex index(netlist);
  const netlist::Op& op = *index.op("op").op;
  const netlist::OpInput& from = op.inputs[input];
  const std::size_t q = index.queue(from.name);
  const TileShape made = q == NetlistIndex::kNone ? index.op(from.name).op->shape() : netlist.queues[q].shape();
  const auto map = std::get<netlist::TileMap>(netlist::TileMap::make(made, from.maps));
  std::vector<std::vector<netlist::TileIndex>> parts;
  for (std::int32_t core = 0; core < op.grid.volume(); ++core) {
    const Taken taken = tiles_taken(netlist, op, input, map.shape(), {core / op.grid.cols, core % op.grid.cols});
    const std::size_t part = taken.tiles.size() / static_cast<std::size_t>(per_t ? taken.ts : 1);
    for (std::size_t i = 0; i < taken.tiles.size(); ++i) {
      if (i % part == 0) parts.emplace_back();
      parts.back().push_back(map.source(taken.tiles[i]).tile);
    }
  }
  auto repeats_after = [](std::size_t period) {
    return [period](const auto& part) { return std::equal(part.begin() + static_cast<std::ptrdiff_t>(period), part.end(), part.begin()); };
  };
  for (std::size_t period = 1; period < parts.front().size(); ++period)
    if (std::all_of(parts.begin(), parts.end(), repeats_after(period))) return static_cast<std::int64_t>(period);
  return 0;
}

// What a kernel may keep of the inputs of op 'op', as entries of its attributes.
std::string kernel_broadcasts(const std::string& text, const std::string& arch, Rng& rng) {
  const auto netlist = netlist::parse_netlist(text, "net.yaml", {arch});
  if (!netlist) return "";
  const bool per_t = rng.below(4) != 0;
  const std::size_t inputs = NetlistIndex(*netlist).op("op").op->inputs.size();
  std::string kept;
  for (std::size_t i = 0; i < inputs; ++i)
    if (const std::int64_t tiles = repeating_tiles(*netlist, i, per_t); tiles > 0 && rng.below(8) != 0)
      kept += cat(kept.empty() ? "" : ", ", "input_", i, ": ", tiles);
  return kept.empty() ? "" : cat(per_t ? "kernel_broadcast_per_t" : "kernel_broadcast", ": {", kept, '}');
}

std::string graph_text(const std::string& name, std::uint64_t chip, std::int64_t input_count, const std::string& ops) {
  return cat("  ", name, ":\n    target_device: ", chip, "\n    input_count: ", input_count, "\n", ops);
}

std::string netlist_without_broadcasts(Rng& rng, std::int32_t chips, const std::string& arch) {
  auto chip = [&] { return chips == 1 ? 0 : rng.below(static_cast<std::uint64_t>(chips)); };
  TileShape s{1 + static_cast<std::int64_t>(rng.below(4)), 1 + static_cast<std::int64_t>(rng.below(8)),
              1 + static_cast<std::int64_t>(rng.below(8))};
  if (rng.below(2) == 0) s.t = 1;
  Blocking source(s.rt, s.ct, rng, 3);
  bool by_rows = rng.below(3) != 0, from_op = rng.below(2) == 0, prologue = chips == 1 && !from_op && rng.below(3) == 0;
  std::int64_t input_count = 1 + static_cast<std::int64_t>(rng.below(3));
  std::string blocks = cat(source.blocks(s.t), ", ", order(by_rows));
  std::string queues = queue_text("q", "HOST", cat(source.grid(), ", ", blocks), source.cores(), 0x20000000,
                                  prologue ? "type: ram, entries: 1" : "type: queue, entries: 4");
  std::string ops, feeder;
  if (from_op) {
    // Buffers that hold a part of the ts, all of them, or several inputs.
    std::int64_t half = rng.below(3) == 0 ? s.t * (1 + static_cast<std::int64_t>(rng.below(2))) : divisor(s.t, rng);
    if (half > s.t) input_count = half / s.t * (1 + static_cast<std::int64_t>(rng.below(2)));
    feeder = op_text("f", "nop", "q", 1, cat("grid_loc: [0, 0], ", source.grid()),
                     cat(blocks, ", buf_size_mb: ", half == 1 && rng.below(2) == 0 ? 1 : 2 * half));
  }
  // Lists of manipulations, and what they make of a shape.
  auto add_tm = [](std::string& tms, TileShape& shape, const Tm& tm) {
    shape = std::get<TileShape>(netlist::shape_after(shape, tm));
    tms += cat(tms.empty() ? "" : ", ", tm.text());
  };
  auto draw_tms = [&](TileShape& shape, std::uint64_t count) {
    std::string tms;
    for (std::uint64_t i = count; i > 0; --i) add_tm(tms, shape, random_netlists_random_tm(shape, rng));
    return tms;
  };
  TileShape arriving = s;
  std::string producer = from_op ? "f" : "q", copied;
  constexpr std::int64_t kRoomOfCopies = 40;  // tiles that an ethernet core has room for
  bool copies = chips > 1 && arch != "grayskull" && from_op && rng.below(3) != 0;
  std::string copy_tms;
  if (copies && s.t > 1 && rng.below(2) == 0) {  // a stack, whose parts go to cores in turns
    const auto parts = static_cast<std::int32_t>(divisor(s.t, rng));
    const Tm stack = rng.below(2) == 0 ? Tm::hstack(parts) : Tm::vstack(parts);
    arriving = std::get<TileShape>(netlist::shape_after(arriving, stack));
    copy_tms = stack.text();
  } else if (copies) {
    copy_tms = draw_tms(arriving, rng.below(3));
  }
  if (copies && 2 * arriving.rt * arriving.ct > kRoomOfCopies) {
    copies = false;
    arriving = s;
  }
  const std::uint64_t copy_to = copies ? chip() : 0;
  if (copies) {
    Blocking b(arriving.rt, arriving.ct, rng, 2);
    std::string copy_blocks = cat(b.blocks(arriving.t), ", ", order(rng.below(2) == 0));
    feeder += op_text("e", "ethernet_datacopy", "f", 1, b.grid(),
                      cat(copy_blocks, ", buf_size_mb: ", 2 * divisor(arriving.t, rng, kRoomOfCopies / (2 * arriving.rt * arriving.ct))),
                      cat("attributes: {dest_device: ", copy_to, '}', copy_tms.empty() ? "" : cat(", input_0_tms: [", copy_tms, ']')));
    if (rng.below(3) == 0) copied = queue_text("copied", "e", cat(b.grid(), ", ", copy_blocks), b.cores(), 0x60000000);
    producer = "e";
  }
  std::string tms = draw_tms(arriving, rng.below(5));
  if (arriving.volume() <= 64 && rng.below(3) == 0)  // so that tiles repeat
    add_tm(tms, arriving, Tm::broadcast(rng.below(2) == 0 ? Dim::r : Dim::c, 2 + static_cast<std::int32_t>(rng.below(3))));
  std::uint64_t kind = rng.below(4);
  Consumer c = kind == 0 ? elementwise(arriving, rng) : kind == 3 ? reduce(arriving, rng) : matmul(arriving, kind == 1, rng);
  bool second = c.inputs == 2 && kind == 2;
  std::string inputs = c.inputs == 1 ? producer : second ? cat("other, ", producer) : cat(producer, ", other");
  std::string more = c.attributes.empty() ? "" : cat("attributes: {", c.attributes, '}');
  auto add_tms = [&](int input, const std::string& list) {
    if (!list.empty()) more += cat(more.empty() ? "" : ", ", "input_", input, "_tms: [", list, ']');
  };
  add_tms(second ? 1 : 0, tms);
  add_tms(second ? 0 : 1, c.extra_tms);
  std::string transposed = rng.below(5) == 0 ? "grid_transpose: true, " : "";
  ops += op_text("op", c.type, inputs, c.inputs, cat(transposed, "grid_loc: [4, 4], ", c.place), cat(c.shape, ", buf_size_mb: 2"), more);
  std::string settings = prologue ? "q: {prologue: true, epilogue: false, zero: false, rd_ptr_global: 0, wr_ptr_global: 0}" : "";
  if (chips == 1) return netlist_text(queues + c.extra_queues + c.out_queue, feeder + ops, static_cast<int>(input_count), settings);
  std::uint64_t here = chip();
  std::string text = cat("devices: {arch: [", arch, "]}\nqueues:\n", on_any_chip(queues, chip()), on_any_chip(c.extra_queues, chip()),
                         on_any_chip(c.out_queue, chip()), on_any_chip(copied, chip()), "graphs:\n");
  std::uint64_t there = copies ? 1 - copy_to : chip();
  bool one = feeder.empty() || (here == there && !copies);
  if (!one) text += graph_text("producer", there, input_count, feeder);
  text += graph_text("consumer", here, input_count, one ? feeder + ops : ops);
  text += "programs:\n  - p:\n";
  if (!one) text += "    - execute: {graph_name: producer, queue_settings: {}}\n";
  return text + "    - execute: {graph_name: consumer, queue_settings: {}}\n";
}

}  // namespace

std::string random_netlist(Rng& rng, std::int32_t chips, const std::string& arch) {
  std::string text = netlist_without_broadcasts(rng, chips, arch);
  const std::string kept = rng.below(4) != 0 ? kernel_broadcasts(text, arch, rng) : "";
  if (kept.empty()) return text;
  const std::size_t op = text.find("    op: {"), end = text.find("}\n", op), attributes = text.find("attributes: {", op);
  if (attributes < end) return text.insert(attributes + std::string_view("attributes: {").size(), kept + ", ");
  return text.insert(end, cat(", attributes: {", kept, '}'));
}

}  // namespace buda::pipes
