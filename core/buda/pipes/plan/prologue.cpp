// SPDX-License-Identifier: Apache-2.0
// Chooses how prologues are read.
#include <buda/pipes/plan/prologue.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace buda::pipes {

using netlist::Op;

namespace {

// Each pipe cut into pipes of `chunk_tiles` tiles, one for each core that keeps a share.
EdgeRoutes into_shares(const EdgeRoutes& routes, std::int64_t chunk_tiles) {
  EdgeRoutes out = routes;
  out.pipes.clear();
  out.axis = MulticastAxis::core;
  auto columns = static_cast<std::int32_t>(routes.pipes.size());
  for (const PipeRoute& pipe : routes.pipes) {
    std::int64_t at = 0;
    RunList share;
    for (Run run : pipe.tiles.runs()) {
      while (run.count > 0) {
        std::int64_t take = std::min(run.count, chunk_tiles - share.tiles());
        share.add({run.core, run.first, take});
        at += take;
        run.first += take;
        run.count -= take;
        if (share.tiles() < chunk_tiles) continue;
        auto chunk = static_cast<std::int32_t>((at - 1) / chunk_tiles);
        out.pipes.push_back({std::exchange(share, {}), {chunk * columns + pipe.destinations.front()}});
      }
    }
  }
  for (const PipeRoute& pipe : out.pipes)
    for (const Run& run : pipe.tiles.runs()) out.granularity = std::gcd(std::gcd(out.granularity, run.count), run.first);
  out.granularity = std::gcd(out.granularity, chunk_tiles);
  out.scattered = true;
  return out;
}

}  // namespace

InputPlan with_prologue(const EpochPlan& plan, const Op& op, std::size_t number, InputPlan input) {
  if (!input.prologue) return input;
  const ops::Preload preload = operand_use(op, fused_op_of(plan.netlist(), op), number).operand->preload;
  if (preload == ops::Preload::as_in_queue) return input;
  std::int64_t most = 0;
  for (const auto& pipe : input.routes.pipes) most = std::max(most, pipe.tiles.tiles());
  const bool fits = most <= input.sizes.size;
  const auto& maps = op.inputs[number].maps;
  const bool in_shares = !fits && preload == ops::Preload::shared && maps.tms.empty() && !maps.pad;
  input.post_tm = fits || in_shares;
  if (!in_shares) return input;
  input.chunks = op.grid.rows;
  while (most % input.chunks != 0) --input.chunks;
  input.chunk_tiles = most / input.chunks;
  return input;
}

std::vector<InputPlan> agree_on_prologues(std::vector<InputPlan> inputs, GridShape grid) {
  for (InputPlan& input : inputs) {
    if (!input.prologue) continue;
    const auto reads_same = [&](const InputPlan& other) { return other.source.queue == input.source.queue; };
    if (std::all_of(inputs.begin(), inputs.end(), [&](const InputPlan& other) { return !reads_same(other) || other.post_tm; })) continue;
    for (InputPlan& other : inputs)
      if (reads_same(other)) {
        other.post_tm = false;
        other.chunks = 0;
      }
  }
  for (InputPlan& input : inputs) {
    if (input.chunks > 0) {
      input.routes = into_shares(input.routes, input.chunk_tiles);
    } else if (input.prologue && input.post_tm) {
      tiling::split_multicasts(input.routes, grid);
    }
  }
  return inputs;
}

}  // namespace buda::pipes
