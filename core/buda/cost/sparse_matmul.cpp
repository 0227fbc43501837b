// SPDX-License-Identifier: Apache-2.0
// Sparse ("identity") matmuls: what counts is what is not zero.
#include <buda/cost/formulas.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace buda::cost {

// Tiles of the activations that a tile row of the result picks its rows from, on average over the windows of ResNet-50's convolutions (1.4
// to 4.3): neighbouring rows of windows lie beside each other, but for the ends of the image's rows, and further apart by the stride.
constexpr double kTilesOfRow = 2.5;

SparseCounts guess_sparse_counts(const netlist::Op& op) {
  const auto& b = op.block;
  const auto& a = op.attributes;
  const std::int64_t m_k = std::max(a.m_k, 1), u_kt = std::max(a.u_kt, 1);
  SparseCounts out;
  for (std::int32_t n : a.sparse.num_nz_strips) out.strips = std::max<std::int64_t>(out.strips, n);
  if (out.strips == 0) out.strips = std::int64_t{b.t} * m_k;
  const std::int64_t ublock_rows = std::int64_t{b.t} * b.mblock_m;
  const double tiles_of_ublock = std::min(kTilesOfRow * b.ublock_rt, static_cast<double>(b.ublock_rt) * static_cast<double>(m_k * u_kt));
  const double strips_of_ublock = std::min(1 + (tiles_of_ublock - 1) / static_cast<double>(u_kt), static_cast<double>(m_k));
  const auto all = [&](double of_ublock) { return std::max<std::int64_t>(std::llround(static_cast<double>(ublock_rows) * of_ublock), 1); };
  out.ublocks = all(strips_of_ublock);
  out.tiles = all(tiles_of_ublock);
  return out;
}

SparseCounts count_sparse_products(const netlist::Op& op, std::span<const netlist::SparseProduct> products) {
  const std::int32_t u_kt = std::max(op.attributes.u_kt, 1), ublock_rt = std::max(op.block.ublock_rt, 1);
  using Place = std::array<std::int32_t, 3>;  // t, strip or row of activations, row of the output
  std::set<Place> strips, ublocks, tiles;
  for (const netlist::SparseProduct& p : products) {
    strips.insert({p.t, p.act / u_kt, 0});
    ublocks.insert({p.t, p.act / u_kt, p.row / ublock_rt});
    tiles.insert({p.t, p.act, p.row});
  }
  auto size = [](const std::set<Place>& places) { return static_cast<std::int64_t>(places.size()); };
  return {size(strips), size(ublocks), size(tiles)};
}

KernelCycles sparse_matmul_cycles(const netlist::Op& op, const SparseCounts& counts, const device::SparseCost& row, double larger) {
  const auto& b = op.block;
  auto strips = static_cast<double>(counts.strips), ublocks = static_cast<double>(counts.ublocks);
  auto tiles = static_cast<double>(counts.tiles), out_tiles = static_cast<double>(b.ublock_tiles());
  double columns = b.mblock_n, width = b.ublock_ct;
  double rows = static_cast<double>(b.t) * b.mblock_m;
  double again = std::max(0.0, ublocks - rows) * columns;
  KernelCycles out;
  out.math = tiles * columns * width * row.math * netlist::fidelity_phases(op.fidelity);
  double strip = strips * (row.strip + columns * (row.strip_column + row.strip_tile * std::max(op.attributes.u_kt, 1) * width));
  double bring = tiles * columns * larger * (row.unpack.tile + row.unpack.product * width);
  double follow = strip + tiles * row.decode + again * row.reload.of(out_tiles);
  out.unpack = bring + follow;
  out.pack = rows * columns * row.pack.of(out_tiles);
  out.total = std::max(out.math, bring) + follow + out.pack;
  return out;
}

}  // namespace buda::cost
