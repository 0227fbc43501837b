// SPDX-License-Identifier: Apache-2.0
// Cuts by dynamic programming, and the rate of a pipeline by following it for some iterations.
#include <buda/balance/chips/chip_stages.hpp>

#include <algorithm>
#include <limits>
#include <set>

namespace buda::balance {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// The first input passes those of the epochs that read from one another, one after the other.
double cycles_together(const StagedEpochs& epochs, const EpochSpan& span) {
  const auto begin = static_cast<std::size_t>(span.first);
  double first = 0, interval = 0, inputs = 1;
  std::vector<double> done;
  for (std::size_t e = begin; e <= static_cast<std::size_t>(span.last); ++e) {
    double start = 0;
    for (const std::size_t other : epochs.reads[e])
      if (other >= begin && other < e) start = std::max(start, done[other - begin]);
    done.push_back(start + epochs.times[e].first);
    first = std::max(first, done.back());
    interval = std::max(interval, epochs.times[e].interval);
    inputs = std::max(inputs, epochs.times[e].inputs);
  }
  return epochs.change + first + (inputs - 1) * interval;
}

double cycles_of(const StagedEpochs& epochs, std::size_t epoch) {
  return cycles_together(epochs, {static_cast<std::int32_t>(epoch), static_cast<std::int32_t>(epoch)});
}

// The chips that have cores with programs of an epoch.
std::set<std::int32_t> chips_of_epoch(const StagedEpochs& epochs, const EpochChips& chips, std::size_t epoch) {
  std::set<std::int32_t> out{chips[epoch]};
  const auto place = [&](std::int32_t chip) { return std::find(epochs.chips.begin(), epochs.chips.end(), chip); };
  for (std::size_t other : epochs.reads[epoch]) {
    const auto [first, last] = std::minmax({place(chips[epoch]), place(chips[other])});
    out.insert(first, last);
    out.insert(chips[other]);
  }
  return out;
}

// Epochs that run together.
struct Run {
  std::int32_t segment = 0;
  double cycles = 0;
  std::set<std::int32_t> chips;
};

std::vector<Run> runs_of(const StagedEpochs& epochs, const EpochChips& chips) {
  std::vector<Run> out;
  for (const EpochSpan& span : epochs_together(chips, epochs.segments, epochs.joins_neighbours)) {
    out.push_back({epochs.segments[static_cast<std::size_t>(span.first)], cycles_together(epochs, span), {}});
    for (std::int32_t e = span.first; e <= span.last; ++e)
      out.back().chips.merge(chips_of_epoch(epochs, chips, static_cast<std::size_t>(e)));
  }
  return out;
}

// From one iteration of these runs to the next, once the pipeline is full.
double pipelined(const std::vector<Run>& runs, std::size_t chips) {
  std::map<std::int32_t, double> free;
  double end = 0, before = 0;
  const std::size_t filling = 2 * chips, measured = 2 * chips;
  for (std::size_t i = 0; i < filling + measured; ++i) {
    for (const Run& run : runs) {
      double begin = 0;
      for (std::int32_t chip : run.chips) begin = std::max(begin, free[chip]);
      for (std::int32_t chip : run.chips) free[chip] = begin + run.cycles;
      end = std::max(end, begin + run.cycles);
    }
    if (i + 1 == filling) before = end;
  }
  return (end - before) / static_cast<double>(measured);
}

// Where the stages of the epochs [begin, end) begin, on at most so many chips.
std::vector<std::size_t> stage_begins(const StagedEpochs& epochs, std::size_t begin, std::size_t end) {
  const std::size_t count = end - begin, chips = std::min(epochs.chips.size(), count);
  std::vector<double> sums{0};
  std::set<std::size_t> wanted;
  for (std::size_t e = 0; e < count; ++e) {
    sums.push_back(sums.back() + cycles_of(epochs, begin + e));
    if (e > 0 && epochs.begins_chip[begin + e] && wanted.size() + 1 < chips) wanted.insert(e);
  }
  // By number of stages and of epochs in them.
  std::vector<std::vector<double>> least(chips + 1, std::vector<double>(count + 1, kInfinite));
  std::vector<std::vector<std::size_t>> from(chips + 1, std::vector<std::size_t>(count + 1, 0));
  least[0][0] = 0;
  for (std::size_t s = 1; s <= chips; ++s)
    for (std::size_t last = s; last <= count; ++last)
      for (std::size_t first = s - 1; first < last; ++first) {
        const auto next = wanted.upper_bound(first);
        if (next != wanted.end() && *next < last) continue;
        const double taken = first > 0 ? sums[first] - sums[first - 1] : 0;
        const double busiest = std::max(least[s - 1][first], sums[last] - sums[first] + taken);
        if (busiest >= least[s][last]) continue;
        least[s][last] = busiest;
        from[s][last] = first;
      }
  std::size_t best = 1;
  for (std::size_t s = 2; s <= chips; ++s)
    if (least[s][count] < least[best][count]) best = s;
  std::vector<std::size_t> out;
  for (std::size_t s = best, last = count; s > 0; --s) out.push_back(begin + (last = from[s][last]));
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace

std::vector<EpochSpan> epochs_together(const EpochChips& chips, const std::vector<std::int32_t>& segments, bool joins_neighbours) {
  std::vector<EpochSpan> out;
  std::set<std::int32_t> busy;
  for (std::size_t e = 0; e < chips.size(); ++e) {
    const auto epoch = static_cast<std::int32_t>(e);
    const bool joins = joins_neighbours && e > 0 && segments[e] == segments[e - 1] && !busy.contains(chips[e]);
    if (!joins) {
      out.push_back({epoch, epoch});
      busy.clear();
    }
    out.back().last = epoch;
    busy.insert(chips[e]);
  }
  return out;
}

std::map<std::int32_t, double> busy_cycles(const StagedEpochs& epochs, const EpochChips& chips) {
  std::map<std::int32_t, double> out;
  for (const Run& run : runs_of(epochs, chips))
    for (std::int32_t chip : run.chips) out[chip] += run.cycles;
  return out;
}

double iteration_cycles(const StagedEpochs& epochs, const EpochChips& chips) {
  std::map<std::int32_t, std::vector<Run>> by_segment;
  double all = 0, pipeline = 0;
  bool has_several = false;
  for (Run& run : runs_of(epochs, chips)) {
    all += run.cycles;
    has_several = has_several || run.chips != std::set<std::int32_t>{chips.front()};
    by_segment[run.segment].push_back(std::move(run));
  }
  if (!has_several || epochs.is_sequential) return all;
  for (const auto& [segment, runs] : by_segment) pipeline += pipelined(runs, epochs.chips.size());
  return pipeline;
}

EpochChips best_stages(const StagedEpochs& epochs) {
  EpochChips out;
  for (std::size_t begin = 0; begin < epochs.times.size();) {
    std::size_t end = begin;
    while (end < epochs.times.size() && epochs.segments[end] == epochs.segments[begin]) ++end;
    std::vector<std::int32_t> order = epochs.chips;
    if (!out.empty()) {
      const auto first = std::find(order.begin(), order.end(), out.back());
      std::rotate(order.begin(), first, first + 1);
    }
    const std::vector<std::size_t> begins = stage_begins(epochs, begin, end);
    for (std::size_t stage = 0; begin < end; ++begin) {
      if (stage + 1 < begins.size() && begins[stage + 1] == begin) ++stage;
      out.push_back(order[stage]);
    }
  }
  return out;
}

}  // namespace buda::balance
