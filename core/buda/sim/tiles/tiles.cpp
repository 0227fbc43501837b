// SPDX-License-Identifier: Apache-2.0
// Runs of tags.
#include <buda/sim/tiles/tiles.hpp>

#include <algorithm>
#include <utility>

namespace buda::sim {

bool continues(const TileRun& run, const TileRun& next) {
  return run.source == next.source && (run.source == kPadding || run.first + run.count == next.first);
}

void ArrivedTiles::add(const TileRun& run) {
  if (!runs.empty() && continues(runs.back(), run)) {
    runs.back().count += run.count;
  } else {
    runs.push_back(run);
  }
}

void TileFifo::push(const TileRun& run) {
  if (!runs_.empty() && continues(runs_.back(), run)) {
    runs_.back().count += run.count;
  } else {
    runs_.push(run);
  }
}

TileRun TileFifo::take(std::int64_t most) {
  TileRun& front = runs_.front();
  TileRun out = front;
  out.count = std::min(most, front.count);
  front.first += front.source == kPadding ? 0 : out.count;
  front.count -= out.count;
  if (front.count == 0) runs_.pop();
  return out;
}

TileCheck::TileCheck(ExpectedTiles expected) : expected_(std::move(expected)) {
  for (const TileRun& run : expected_.runs) input_tiles_ += run.count;
}

std::optional<TileCheck::Wrong> TileCheck::arrives(TileRun run) {
  while (run.count > 0) {
    TileRun expected = expected_.runs[run_];
    const bool padding = expected.source == kPadding;
    if (!padding) expected.first += within_ + input_ * expected_.per_input;
    expected.count -= within_;
    if (run.source != expected.source || (!padding && run.first != expected.first)) {
      run.count = expected.count = 1;
      return Wrong{run, expected, input_, number_};
    }
    const std::int64_t count = std::min(run.count, expected.count);
    tiles_ += count;
    number_ += count;
    within_ += count;
    run.first += padding ? 0 : count;
    run.count -= count;
    if (count < expected.count) continue;
    within_ = 0;
    if (++run_ < expected_.runs.size()) continue;
    run_ = 0;
    number_ = 0;
    ++input_;
  }
  return std::nullopt;
}

}  // namespace buda::sim
