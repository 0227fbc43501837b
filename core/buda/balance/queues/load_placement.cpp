// SPDX-License-Identifier: Apache-2.0
// Longest processing time first, then moves and swaps.
//
// Every epoch is two loads: what channels read before its first input, and what they read and write while it runs, because the one is over
// when the other begins. A buffer adds to those of all epochs that read or write it. What is made small is the sum over loads and channels
// of mean * (load / mean)^8, where the mean is that of the load's channels: a load counts by its bytes, and the high power leaves little
// but its busiest channel. So is what cores read in step (BufferTurn), in all its parts: buffers that are read at the same time lie in
// different channels. Its mean is not below its largest buffer, which no placement makes smaller. Both loads of an epoch together decide
// among placements that are otherwise alike: few buffers before an epoch lie in the channels with least to do while it runs.
#include <buda/balance/queues/load_placement.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace buda::balance {
namespace {

constexpr int kMaxRounds = 8;
// Pairs of buffers that are compared for swaps, at most: the time is bounded whatever the netlist.
constexpr std::int64_t kMaxPairs = 20'000'000;
// An epoch whose busiest channel has so much of the mean is not improved by swaps.
constexpr double kEven = 1.02;

// What the load of a whole channel counts beside those of its halves. Each half has a rate of its own, but with less than this weight
// channels stay uneven whose halves are about even, and plans are no faster by the estimate.
constexpr double kOfWholeChannel = 8;

// What a part of an epoch's time counts beside the whole epoch. With more, channels are uneven over an epoch, and plans slower by the
// estimate; without it, gpt2_small takes 4 % longer on target `grid`, and BERT-large 18 %.
constexpr double kOfTurn = 0.1;

// What both loads of an epoch together count. With more, the times themselves are less even.
constexpr double kOfBoth = 0.01;

double cost_of(double load, double mean) {
  const double x = load / mean, x2 = x * x, x4 = x2 * x2;
  return mean * x4 * x4;
}

// A buffer's share of a load.
struct Share {
  std::size_t load = 0;
  double bytes = 0;
};

class Shares {
 public:
  Shares(const std::vector<LoadedBuffer>& buffers, ChannelRoom room, std::size_t halves)
      : buffers_(buffers),
        halves_(halves),
        channels_(room.channels()),
        room_(std::move(room)),
        of_buffer_(buffers.size()),
        channel_(buffers.size(), -1) {
    std::map<std::pair<std::int32_t, bool>, std::size_t> numbers;  // by epoch, and whether before its first input
    for (std::size_t b = 0; b < buffers.size(); ++b)
      for (const BufferLoad& load : buffers[b].loads)
        add_share(b, numbers.try_emplace({load.epoch, load.before}, numbers.size()).first->second, static_cast<double>(load.bytes));
    times_ = numbers.size();
    std::map<std::int32_t, std::size_t> both;  // by epoch that has both times
    for (const auto& [of, load] : numbers)
      if (of.second && numbers.contains({of.first, false})) both.emplace(of.first, times_ + both.size());
    for (std::size_t b = 0; b < buffers.size(); ++b)
      for (const BufferLoad& load : buffers[b].loads)
        if (const auto it = both.find(load.epoch); it != both.end()) add_share(b, it->second, static_cast<double>(load.bytes));
    turns_ = times_ + both.size();
    std::map<std::tuple<std::int32_t, bool, std::int32_t, std::int32_t>, std::size_t> turns;
    for (std::size_t b = 0; b < buffers.size(); ++b)
      for (const BufferTurn& turn : buffers[b].turns)
        add_share(b, turns.try_emplace({turn.epoch, turn.before, turn.reader, turn.part}, turns_ + turns.size()).first->second,
                  static_cast<double>(turn.bytes));
    weight_.resize(buffers.size(), 0);
    mean_.resize(turns_ + turns.size(), 0);
    members_.resize(turns_);
    load_.assign(mean_.size(), std::vector<double>(channels_, 0));
    for (std::size_t b = 0; b < buffers.size(); ++b)
      for (const Share& s : of_buffer_[b]) {
        mean_[s.load] += s.bytes / static_cast<double>(channels_);
        if (is_turn(s.load)) continue;
        if (is_time(s.load)) weight_[b] += s.bytes;
        members_[s.load].push_back(b);
      }
    for (std::size_t b = 0; b < buffers.size(); ++b)
      for (const Share& s : of_buffer_[b])
        if (is_turn(s.load)) mean_[s.load] = std::max(mean_[s.load], s.bytes);
  }

  std::vector<std::int32_t> place() {
    std::vector<std::size_t> order(buffers_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return weight_[a] > weight_[b]; });
    for (std::size_t b : order)
      if (buffers_[b].fixed >= 0) put(b, buffers_[b].fixed);
    for (std::size_t b : order)
      if (buffers_[b].fixed < 0) put(b, best_channel(b));
    for (int round = 0; round < kMaxRounds; ++round) {
      const bool moved = move_each(order), swapped = swap_pairs();
      if (!moved && !swapped) break;
    }
    return std::move(channel_);
  }

 private:
  // Whether a load is that of an epoch before its first input or while it runs, or of a turn; if neither, it is both times together.
  bool is_time(std::size_t load) const { return load < times_; }
  bool is_turn(std::size_t load) const { return load >= turns_; }

  void add_share(std::size_t b, std::size_t load, double bytes) {
    for (Share& s : of_buffer_[b])
      if (s.load == load) {
        s.bytes += bytes;
        return;
      }
    if (bytes > 0) of_buffer_[b].push_back({load, bytes});
  }

  void put(std::size_t b, std::int32_t channel) {
    const auto c = static_cast<std::size_t>(channel);
    for (const Share& s : of_buffer_[b]) load_[s.load][c] += s.bytes;
    if (buffers_[b].takes_room) room_.take(c, buffers_[b].bytes, buffers_[b].life);
    channel_[b] = channel;
  }

  void take_away(std::size_t b) {
    const auto c = static_cast<std::size_t>(channel_[b]);
    for (const Share& s : of_buffer_[b]) load_[s.load][c] -= s.bytes;
    room_.give_back(c, buffers_[b].bytes, buffers_[b].life);
    channel_[b] = -1;
  }

  // What a buffer adds to the sum in a channel where it is not.
  double added(std::size_t b, std::size_t channel) const {
    double sum = 0;
    for (const Share& s : of_buffer_[b]) {
      const std::vector<double>& loads = load_[s.load];
      const double load = loads[channel], mean = mean_[s.load];
      const double weight = is_time(s.load) ? 1 : is_turn(s.load) ? kOfTurn : kOfBoth;
      sum += weight * (cost_of(load + s.bytes, mean) - cost_of(load, mean));
      if (halves_ == 1 || !is_time(s.load)) continue;
      const double whole = load + loads[channel ^ 1];
      sum += kOfWholeChannel * (cost_of(whole + s.bytes, 2 * mean) - cost_of(whole, 2 * mean));
    }
    return sum;
  }

  // Of equal channels the one with most room.
  std::int32_t best_channel(std::size_t b) const {
    std::int32_t best = -1;
    double least = 0;
    std::uint64_t most = 0;
    for (std::size_t c = 0; c < channels_; ++c) {
      const std::uint64_t left = room_.left(c, buffers_[b].life);
      if (left < buffers_[b].bytes) continue;
      const double cost = added(b, c);
      if (best >= 0 && (cost > least || (cost == least && left <= most))) continue;
      best = static_cast<std::int32_t>(c);
      least = cost;
      most = left;
    }
    return std::max(best, 0);
  }

  bool move_each(const std::vector<std::size_t>& order) {
    bool moved = false;
    for (std::size_t b : order) {
      if (buffers_[b].fixed >= 0 || of_buffer_[b].empty()) continue;
      const std::int32_t from = channel_[b];
      take_away(b);
      const std::int32_t to = best_channel(b);
      const double before = added(b, static_cast<std::size_t>(from)), after = added(b, static_cast<std::size_t>(to));
      const bool is_better = after < before * (1 - 1e-6);
      put(b, is_better ? to : from);
      moved = moved || is_better;
    }
    return moved;
  }

  bool swap_pairs() {
    bool swapped = false;
    for (std::size_t load = 0; load < turns_ && pairs_ < kMaxPairs; ++load) {
      const auto busiest = std::max_element(load_[load].begin(), load_[load].end());
      if (*busiest <= kEven * mean_[load]) continue;
      const auto channel = static_cast<std::int32_t>(busiest - load_[load].begin());
      for (std::size_t a : members_[load])
        if (channel_[a] == channel && buffers_[a].fixed < 0 && swap_with_best(a, members_[load])) swapped = true;
    }
    return swapped;
  }

  bool swap_with_best(std::size_t a, const std::vector<std::size_t>& others) {
    const std::int32_t from = channel_[a];
    std::size_t best = a;
    double least = 0;
    for (std::size_t b : others) {
      if (channel_[b] == from || buffers_[b].fixed >= 0 || ++pairs_ >= kMaxPairs) continue;
      const double change = change_of_swap(a, b);
      if (change >= least) continue;
      least = change;
      best = b;
    }
    if (best == a) return false;
    const std::int32_t to = channel_[best];
    take_away(a);
    take_away(best);
    put(a, to);
    put(best, from);
    return true;
  }

  // How much smaller the sum gets (below 0) when two buffers change channels; 0 where they have no room or too little is gained.
  double change_of_swap(std::size_t a, std::size_t b) {
    const auto from = static_cast<std::size_t>(channel_[a]), to = static_cast<std::size_t>(channel_[b]);
    take_away(a);
    take_away(b);
    double change = 0;
    const double now = added_together(a, from, b, to), then = added_together(a, to, b, from);
    const bool is_better = then < now * (1 - 1e-6);
    if (is_better && has_room(a, to) && has_room(b, from)) change = then - now;
    put(a, static_cast<std::int32_t>(from));
    put(b, static_cast<std::int32_t>(to));
    return change;
  }

  bool has_room(std::size_t b, std::size_t channel) const { return room_.left(channel, buffers_[b].life) >= buffers_[b].bytes; }

  double added_together(std::size_t a, std::size_t of_a, std::size_t b, std::size_t of_b) const { return added(a, of_a) + added(b, of_b); }

  const std::vector<LoadedBuffer>& buffers_;
  std::size_t halves_;
  std::size_t channels_;  // or halves of them
  ChannelRoom room_;
  // Loads up to here are those of epochs before their first inputs or while they run, those up to `turns_` of both together, then turns.
  std::size_t times_ = 0, turns_ = 0;
  std::vector<std::vector<Share>> of_buffer_;
  std::vector<double> weight_;                     // by buffer: its shares together
  std::vector<double> mean_;                       // by load
  std::vector<std::vector<std::size_t>> members_;  // by load but of turns: buffers with a share of it
  std::vector<std::vector<double>> load_;          // by load and channel
  std::vector<std::int32_t> channel_;
  std::int64_t pairs_ = 0;
};

}  // namespace

std::vector<std::int32_t> place_by_load(const std::vector<LoadedBuffer>& buffers, ChannelRoom room, bool of_halves) {
  if (room.channels() == 0) return std::vector<std::int32_t>(buffers.size(), 0);
  return Shares(buffers, std::move(room), of_halves ? 2 : 1).place();
}

}  // namespace buda::balance
