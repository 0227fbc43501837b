// SPDX-License-Identifier: Apache-2.0
// Lists of what is moved.
#include <buda/movers/pieces.hpp>

#include <algorithm>

namespace buda::movers {

void ReadPieces::add(std::int64_t tiles, std::int64_t node, std::uint64_t address) {
  const auto at = static_cast<std::int64_t>(address);
  if (last_[0] > 0 && last_[1] == node && last_[2] + last_[0] * tile_bytes_ == at) {
    last_[0] += tiles;
    return;
  }
  if (last_[0] > 0) overlay::append(runs_, last_);
  last_ = {tiles, node, at};
}

std::vector<ReadRun> ReadPieces::runs() {
  if (last_[0] > 0) overlay::append(runs_, last_);
  last_ = {};
  return std::move(runs_);
}

void SendPieces::add(std::int64_t tiles, std::int64_t to, std::int64_t number, std::uint64_t place) {
  const auto at = static_cast<std::int64_t>(place);
  if (!pieces_.empty()) {
    SendRun::Tuple& last = pieces_.back();
    if (last[1] == to && last[2] + last[0] == number && last[3] + last[0] * step_ == at) {
      last[0] += tiles;
      return;
    }
  }
  pieces_.push_back({tiles, to, number, at, 0});
}

std::vector<SendRun> SendPieces::runs(std::int64_t all) const {
  std::vector<SendRun::Tuple> pieces = pieces_;
  std::int64_t lowest = all;
  for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
    (*piece)[4] = lowest;
    lowest = std::min(lowest, (*piece)[2]);
  }
  std::vector<SendRun> out;
  for (const SendRun::Tuple& piece : pieces) overlay::append(out, piece);
  return out;
}

}  // namespace buda::movers
