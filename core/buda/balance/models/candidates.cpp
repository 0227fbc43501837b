// SPDX-License-Identifier: Apache-2.0
// Candidates for the models of an op: how it may be divided, and whether L1 holds what it needs.
#include <buda/balance/models/candidates.hpp>

#include <buda/balance/cost/cost.hpp>
#include <buda/balance/models/sparse.hpp>
#include <buda/balance/problem/fused.hpp>
#include <buda/balance/resources/edge.hpp>
#include <buda/base/checked.hpp>
#include <buda/cost/kernel_cycles.hpp>
#include <buda/netlist/model/output_buffer.hpp>
#include <buda/netlist/text/parse.hpp>
#include <buda/tiling/flat_rows.hpp>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>
#include <variant>
#include <vector>

namespace buda::balance {

using netlist::BlockShape;
using netlist::Op;

// Parts beyond which a result is not cut: each costs the ops of an epoch a hand-over.
constexpr std::int64_t kMaxParts = 64;

std::vector<Stream> Candidates::streams() const {
  std::vector<Stream> out;
  auto add = [&](const Stream& stream) {
    if (overrides_ == nullptr || overrides_->allows(stream, spec_.out.t)) {
      out.push_back(stream);
    } else {
      out_.rejections.count(Rejection::override);
    }
  };
  add({});
  const bool asked = overrides_ != nullptr && overrides_->stream;
  if (!asked && !options_.t_streaming) return out;
  for (const Stream& stream : streams_of(spec_))
    if (asked || stream.parts <= kMaxParts) add(stream);
  return out;
}

// Of any chip: longer ones are no grid, and their number may not fit one's coordinates.
constexpr std::int64_t kLargestSide = 1 << 16;

std::vector<GridShape> Candidates::grids(std::int64_t rows, std::int64_t cols) {
  GridShape chip = device_.grid();
  const bool turns = options_.allow_transpose;
  const PlaceRule rule = overrides_ != nullptr ? overrides_->place_rule(turns) : PlaceRule{.at = {}, .upright = true, .transposed = turns};
  auto fits = [&](std::int64_t r, std::int64_t c) {
    return r <= kLargestSide && c <= kLargestSide && rule.fits({static_cast<std::int32_t>(r), static_cast<std::int32_t>(c)}, chip);
  };
  std::vector<GridShape> out;
  for (std::int64_t r : divisors(rows))
    for (std::int64_t c : divisors(cols)) {
      bool wanted = overrides_ == nullptr || !overrides_->grid || (overrides_->grid->rows == r && overrides_->grid->cols == c);
      if (!fits(r, c)) {
        out_.rejections.count(Rejection::grid);
      } else if (!wanted) {
        out_.rejections.count(Rejection::override);
      } else {
        out.push_back({static_cast<std::int32_t>(r), static_cast<std::int32_t>(c)});
      }
    }
  return out;
}

std::optional<BlockShape> Candidates::blocking(const netlist::TileShape& held, GridShape grid, std::int64_t dest) {
  std::int64_t rows = held.rt / grid.rows, cols = held.ct / grid.cols;
  std::int64_t best_r = 0, best_c = 0;
  // Ublocks that no input of a splice shares with another.
  std::int64_t row_unit = rows, column_unit = cols;
  for (std::int64_t size : spec_.splice.sizes) {
    if (spec_.splice.dim == netlist::Dim::r) row_unit = std::gcd(row_unit, size);
    if (spec_.splice.dim == netlist::Dim::c) column_unit = std::gcd(column_unit, size);
  }
  // Tilizers and embeddings make their tiles of 32 rows of datums at a time.
  std::int64_t tallest = tiling::takes_rows(spec_.op, 0) ? 1 : dest;
  bool bound = overrides_ != nullptr && (overrides_->ublock || overrides_->mblock);
  for (std::int64_t r : divisors(row_unit)) {
    if (r > tallest) break;
    for (std::int64_t c : divisors(column_unit)) {
      if (r * c > dest) break;
      if (bound && overrides_->ublock && ((*overrides_->ublock)[0] != r || (*overrides_->ublock)[1] != c)) continue;
      if (bound && overrides_->mblock && ((*overrides_->mblock)[0] != rows / r || (*overrides_->mblock)[1] != cols / c)) continue;
      if (r * c > best_r * best_c || (r * c == best_r * best_c && c > best_c)) {
        best_r = r;
        best_c = c;
      }
    }
  }
  if (best_r == 0) {
    out_.rejections.count(Rejection::override);
    return std::nullopt;
  }
  BlockShape b;
  b.t = static_cast<std::int32_t>(held.t);
  b.mblock_m = static_cast<std::int32_t>(rows / best_r);
  b.mblock_n = static_cast<std::int32_t>(cols / best_c);
  b.ublock_rt = static_cast<std::int32_t>(best_r);
  b.ublock_ct = static_cast<std::int32_t>(best_c);
  return b;
}

std::vector<std::int64_t> Candidates::inner_steps(std::int64_t inner) {
  std::vector<std::int64_t> out;
  auto all = divisors(inner);
  const bool is_chosen = overrides_ != nullptr && overrides_->u_kt;
  const auto is_exact = [this](std::int64_t step) { return step >= spec_.least_block && step <= spec_.most_block; };
  if (spec_.most_block > 0 && !is_chosen && std::any_of(all.begin(), all.end(), is_exact)) std::erase_if(all, std::not_fn(is_exact));
  for (auto it = all.rbegin(); it != all.rend(); ++it) {
    if (overrides_ == nullptr || !overrides_->u_kt || *overrides_->u_kt == *it) {
      out.push_back(*it);
    } else {
      out_.rejections.count(Rejection::override);
    }
  }
  return out;
}

Usage Candidates::l1_of(const OpModel& model) const {
  return l1_usage(with_model(spec_, model), links_alone(spec_, model), device_, spec_.fused.get());
}

// All parameters in L1 at first; while that is too much, the largest of them goes back to DRAM.
void Candidates::keep_residents(OpModel& model) const {
  model.resident = 0;
  bool from_dram = !options_.resident_parameters;
  if (overrides_ != nullptr) from_dram = overrides_->dram_parameters.value_or(from_dram);
  if (from_dram || tiling::takes_rows(spec_.op, 0)) return;
  const std::optional<std::uint32_t> wanted = overrides_ != nullptr ? overrides_->resident : std::nullopt;
  Op op = with_model(spec_, model);
  std::vector<std::pair<std::int64_t, std::size_t>> sizes;
  for (std::size_t i = 0; i < spec_.operands.size() && i < 32; ++i) {
    if (!spec_.operands[i].constant || op.inputs[i].kernel_broadcast.tiles > 0 || (wanted && (*wanted >> i & 1) == 0)) continue;
    std::int64_t tiles = input_order(op, i).tiles();
    if (tiles > netlist::kMaxDimension) continue;
    model.resident |= 1u << i;
    sizes.emplace_back(tiles, i);
  }
  if (wanted) return;
  std::sort(sizes.rbegin(), sizes.rend());
  for (const auto& [tiles, input] : sizes) {
    if (room_.holds(l1_of(model))) return;
    model.resident &= ~(1u << input);
  }
}

bool Candidates::fits_with(OpModel& model, std::int64_t mblocks, Usage& l1) const {
  model.buf_size_mb = static_cast<std::int32_t>(std::min<std::int64_t>(mblocks, netlist::kMaxDimension));
  if (netlist::output_buffer_fault(model.buf_size_mb, model.block.t, inputs_)) return false;
  keep_residents(model);
  l1 = l1_of(model);
  return room_.holds(l1);
}

bool Candidates::could_fit(OpModel model) {
  model.buf_size_mb = 1;
  model.resident = 0;
  Usage l1 = l1_of(model);
  if (room_.holds(l1)) return true;
  out_.rejections.count(Rejection::l1, model, std::move(l1));
  return false;
}

// Results that the buffer of an output holds at most.
constexpr std::int64_t kMaxResultsHeld = 4;

bool Candidates::offer(OpModel model) {
  // Readers in the same epoch may need several mblocks at once, or all of them (see OpSpec::depth); where there is no room for that, they
  // read a queue in a later one.
  const std::int64_t wanted = model.stream.parts > 1 ? model.block.t : spec_.depth;
  Usage l1;
  if (overrides_ != nullptr && overrides_->buf_size_mb) {
    if (netlist::output_buffer_fault(*overrides_->buf_size_mb, model.block.t, inputs_)) {
      out_.rejections.count(Rejection::override);
      return false;
    }
    if (fits_with(model, *overrides_->buf_size_mb, l1)) return keep(model, l1);
    out_.rejections.count(Rejection::l1, model, std::move(l1));
    return false;
  }
  bool found = fits_with(model, 2 * wanted, l1);
  if (found && model.stream.parts > 1 && l1.used + kRoomForNeighbours > l1.available) offer_lean(model);
  // A result that fits once alone is made and read by turns; two parts of it are made and read at the same time.
  if (!found && model.stream.parts > 1 && inputs_ > 1 && offer_lean(model)) return true;
  if (!found && room_.shallow && wanted > 1) found = fits_with(model, 2, l1);
  if (!found && (wanted == 1 || room_.shallow) && options_.single_buffer_fallback) found = fits_with(model, 1, l1);
  if (found) {
    deepen(model, l1);
    return keep(model, l1);
  }
  out_.rejections.count(Rejection::l1, model, std::move(l1));
  return false;
}

// Whether a model leaves the room that neighbours may need.
bool Candidates::leaves_room(const OpModel& model, Usage& l1) const {
  Usage usage = l1_of(model);
  if (usage.used + kRoomForNeighbours > usage.available) return false;
  l1 = std::move(usage);
  return true;
}

// With further inputs behind the first, L1 that nothing else needs holds more of them: where a short and a long way through an epoch meet,
// the short one holds what is under way on the long one. The halves of an output's buffer are what readers wait for, so that a streamed
// output is no better off with larger ones.
void Candidates::deepen(OpModel& model, Usage& l1) const {
  if (inputs_ < 2) return;
  OpModel deeper = model;
  deeper.buf_size_mb = static_cast<std::int32_t>(std::min(kMaxResultsHeld, inputs_ / 2 * 2));
  while (netlist::output_buffer_fault(deeper.buf_size_mb, 1, inputs_)) deeper.buf_size_mb -= 2;
  if (model.block.t == 1 && model.buf_size_mb < deeper.buf_size_mb && leaves_room(deeper, l1)) model = deeper;
  deeper = model;
  deeper.held_inputs = 1;
  if (leaves_room(deeper, l1)) model = deeper;
}

// Beside a candidate that fills L1 with all parts of its result, or for one that would need more, one that holds two of them.
bool Candidates::offer_lean(OpModel model) {
  model.buf_size_mb = 2;
  const Usage l1 = l1_of(model);
  return room_.holds(l1) && keep(model, l1);
}

// Whether padded operands could come at all: from a producer that has everything on one core. Padding may leave a core nothing else, and
// cannot always be cut into parts.
bool Candidates::could_be_fed(const OpModel& model, const Op& op) const {
  for (std::size_t i = 0; i < spec_.operands.size(); ++i) {
    if (!spec_.op.inputs[i].maps.pad || spec_.selection) continue;
    auto maps = streamed_maps(held_by_source(spec_, i), spec_.op.inputs[i].maps, model.stream, streamed_operand(spec_, i));
    const auto* made = std::get_if<netlist::EdgeMaps>(&maps);
    if (made == nullptr) return false;
    const netlist::TileShape& shape = spec_.operands[i].shape;
    TileLayout whole;
    whole.block = {static_cast<std::int32_t>(shape.t), static_cast<std::int32_t>(shape.rt), static_cast<std::int32_t>(shape.ct), 1, 1};
    whole.buffered_t = shape.t;
    if (std::holds_alternative<std::string>(measure_edge(whole, *made, op, i))) return false;
  }
  return true;
}

bool Candidates::keep(OpModel model, const Usage& l1) {
  Op op = with_model(spec_, model);
  if (!could_be_fed(model, op)) {
    reject();
    return false;
  }
  auto all = usages(op, links_alone(spec_, model), device_, spec_.fused.get());
  if (const Usage* over = first_misfit(all)) {
    out_.rejections.count(over->resource == Resource::dest ? Rejection::dest : Rejection::other, model, *over);
    return false;
  }
  model.l1_bytes = l1.used;
  set_cycles(model, op);
  out_.models.push_back(model);
  return true;
}

void Candidates::set_cycles(OpModel& model, const Op& op) const {
  const cost::SparseCounts counts{model.sparse.strips, model.sparse.ublocks, model.sparse.products};
  model.kernel_cycles =
      spec_.selection ? cost::kernel_cycles(op, nullptr, device_, &counts).total : kernel_cycles_of(op, spec_.fused.get(), device_);
  Traffic traffic;
  for (std::size_t i = 0; i < spec_.operands.size(); ++i) {
    traffic.input_from_dram.push_back(spec_.operands[i].from.source.valid());
    // What is loaded once for many inputs counts for each of them by its share.
    traffic.input_prologue.push_back(model.is_resident(i));
  }
  traffic.output_to_dram = spec_.outputs > 0;
  traffic.inputs_per_epoch = inputs_;
  model.cycles = std::max(model.kernel_cycles, estimate(op, model.kernel_cycles, traffic, device_).transfer());
}

}  // namespace buda::balance
