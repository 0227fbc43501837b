// SPDX-License-Identifier: Apache-2.0
// Periods, segments and slots.
#include <buda/overlay/phases/pass_numbering.hpp>

#include <buda/base/checked.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace buda::overlay {
namespace {

// Rounds of padding before the tiles of a pass, or after them: the maximum over the groups of a part, summed over the parts.
std::int64_t padding_rounds(const PipePlan& plan, bool before) {
  std::map<std::size_t, std::int64_t> beside;  // by group
  for (const Padding& p : plan.padding)
    if (p.before == before) ++beside[p.beside];
  std::int64_t sum = 0;
  for (const Part& part : plan.parts) {
    std::int64_t max = 0;
    for (std::size_t g : part.groups)
      if (auto it = beside.find(g); it != beside.end()) max = std::max(max, it->second);
    sum += max;
  }
  return sum;
}

std::int64_t segments_of(const PipePlan& plan, const std::vector<Piece>& pieces, std::int64_t max_tiles) {
  std::int64_t segments = 0;
  for (const Piece& piece : pieces) segments += ceil_div(piece.tiles, max_tiles);
  for (const Padding& p : plan.padding)
    segments = std::max(segments, p.tiles / plan.sources[static_cast<std::size_t>(p.source)]->scatter_gather_num_tiles);
  return segments;
}

// Extends the period of a component by a pipe; no longer than all passes.
std::int64_t extended_period(const EpochInput& in, const PipePlan& plan, std::int64_t period) {
  auto extend = [&](std::int64_t n) { period = std::min(std::lcm(period, n), plan.passes); };
  for (const Part& part : plan.parts) extend(static_cast<std::int64_t>(part.groups.size()));
  if (plan.source != SourceKind::output) return period;
  for (const Buffer* b : plan.sources) extend(windows_in_buffer(*b, in.buffers));
  return period;
}

}  // namespace

std::vector<Piece> pieces_of(const PipePlan& plan) {
  std::vector<Piece> out;
  if (plan.source == SourceKind::dram) {
    for (std::size_t i = 0; i < plan.parts.size(); ++i) out.push_back({-1, 0, plan.parts[i].tiles, i});
    return out;
  }
  std::size_t part = 0;
  std::int64_t at = 0;  // in the pass
  for (const Block& b : plan.blocks)
    for (std::int64_t done = 0; done < b.tiles;) {
      while (at >= plan.parts[part].first + plan.parts[part].tiles) ++part;
      const std::int64_t tiles = std::min(b.tiles - done, plan.parts[part].first + plan.parts[part].tiles - at);
      out.push_back({b.source, b.offset + done, tiles, part});
      done += tiles;
      at += tiles;
    }
  return out;
}

PassNumbering number_passes(const EpochInput& in, const std::vector<const PipePlan*>& component) {
  PassNumbering out;
  out.passes = component.front()->passes;
  for (const PipePlan* plan : component) {
    PassNumbering::OfPipe pipe{pieces_of(*plan), padding_rounds(*plan, true)};
    out.segments = std::max(out.segments, segments_of(*plan, pipe.pieces, in.device.streams.max_tiles_per_phase));
    out.slots = std::max(out.slots, pipe.slots_before + 1 + padding_rounds(*plan, false));
    out.period = extended_period(in, *plan, out.period);
    out.pipes.push_back(std::move(pipe));
  }
  if (out.passes % out.period != 0) out.period = out.passes;
  return out;
}

}  // namespace buda::overlay
