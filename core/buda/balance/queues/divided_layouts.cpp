// SPDX-License-Identifier: Apache-2.0
// Divisors of blocks, and sums over epochs.
#include <buda/balance/queues/divided_layouts.hpp>

#include <algorithm>
#include <numeric>
#include <tuple>

namespace buda::balance {
namespace {

// What turns count for beside a whole epoch: those that use half of the banks or more are even enough. More would cut rows of weights
// short, whose requests then take longer: vgg16 loses 7 % with 64 inputs.
constexpr double kOfTurns = 0.25;

// One side of a layout, of which each buffer has blocks * tiles: blocks are divided as far as they can be, then what they hold.
void divide_side(std::int64_t parts, std::int32_t& grid, std::int32_t& blocks, std::int32_t& tiles) {
  const std::int64_t of_blocks = std::gcd<std::int64_t>(blocks, parts);
  grid = static_cast<std::int32_t>(grid * parts);
  blocks = static_cast<std::int32_t>(blocks / of_blocks);
  tiles = static_cast<std::int32_t>(tiles / (parts / of_blocks));
}

// All that a buffer moves in an epoch, and reads. An op that reads and one that writes have a load each.
std::map<std::int32_t, std::pair<double, double>> sums_of(const BufferUse& buffer) {
  std::map<std::int32_t, std::pair<double, double>> out;
  for (const BufferLoad& load : buffer.loads) {
    auto& [all, read] = out[load.epoch];
    all += static_cast<double>(load.bytes);
    if (!load.written) read += static_cast<double>(load.bytes);
  }
  return out;
}

// By epoch: what the busiest buffers of the turns of a reader move, one turn after the other. Buffers that are read one at a time use the
// banks of one at a time.
std::map<std::int32_t, double> sums_of_turns(const QueueUse& use) {
  std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, std::uint64_t> busiest;  // by epoch, reader and part
  for (const BufferUse& buffer : use)
    for (const BufferTurn& turn : buffer.turns) {
      if (turn.before) continue;
      std::uint64_t& bytes = busiest[{turn.epoch, turn.reader, turn.part}];
      bytes = std::max(bytes, turn.bytes);
    }
  std::map<std::pair<std::int32_t, std::int32_t>, double> of_readers;
  for (const auto& [at, bytes] : busiest) of_readers[{std::get<0>(at), std::get<1>(at)}] += static_cast<double>(bytes);
  std::map<std::int32_t, double> out;
  for (const auto& [at, bytes] : of_readers) out[at.first] = std::max(out[at.first], bytes);
  return out;
}

}  // namespace

std::vector<tiling::TileLayout> divided_layouts(const tiling::TileLayout& layout, std::int64_t most) {
  std::vector<tiling::TileLayout> out;
  const netlist::BlockShape& b = layout.block;
  for (std::int64_t parts = 2; parts <= most; ++parts) {
    if (std::int64_t{b.mblock_m} * b.ublock_rt % parts == 0) {
      tiling::TileLayout& divided = out.emplace_back(layout);
      divide_side(parts, divided.grid.rows, divided.block.mblock_m, divided.block.ublock_rt);
    }
    if (std::int64_t{b.mblock_n} * b.ublock_ct % parts == 0) {
      tiling::TileLayout& divided = out.emplace_back(layout);
      divide_side(parts, divided.grid.cols, divided.block.mblock_n, divided.block.ublock_ct);
    }
  }
  return out;
}

EpochMeans::EpochMeans(const std::vector<QueueUse>& uses, std::size_t banks, std::uint64_t least) {
  const auto count = static_cast<double>(std::max<std::size_t>(banks, 1));
  for (const QueueUse& use : uses)
    for (const BufferUse& buffer : use)
      for (const auto& [epoch, sums] : sums_of(buffer)) {
        means_[epoch].all += sums.first / count;
        means_[epoch].read += sums.second / count;
      }
  std::erase_if(means_, [&](const auto& mean) { return mean.second.read * count < static_cast<double>(least); });
}

double EpochMeans::busiest_share(const QueueUse& use) const {
  double most = 0;
  for (const BufferUse& buffer : use)
    for (const auto& [epoch, sums] : sums_of(buffer)) {
      auto mean = means_.find(epoch);
      if (mean == means_.end()) continue;
      if (mean->second.all > 0) most = std::max(most, sums.first / mean->second.all);
      if (mean->second.read > 0) most = std::max(most, sums.second / mean->second.read);
    }
  for (const auto& [epoch, bytes] : sums_of_turns(use))
    if (auto mean = means_.find(epoch); mean != means_.end() && mean->second.read > 0)
      most = std::max(most, kOfTurns * bytes / mean->second.read);
  return most;
}

}  // namespace buda::balance
