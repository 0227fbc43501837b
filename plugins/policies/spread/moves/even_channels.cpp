// SPDX-License-Identifier: Apache-2.0
// One epoch after the other, each op whose result is uneven with its smallest even model.
#include "even_channels.hpp"

#include <buda/balance/queues/dram.hpp>
#include "rating/moved_queues.hpp"
#include "tighten_epochs.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace buda::balance {
namespace {

// Of the share of half a channel, what one buffer may have; and bytes that an epoch moves at least for it to matter.
constexpr double kMaxImbalance = 1.2, kSmallTransferBytes = 1e6;
// Models that are tried for an op.
constexpr std::size_t kMaxTrials = 4;

// What an epoch moves of an op's result, which lies in a buffer for each core.
struct Moved {
  double bytes = 0;
  double most_each = 0;     // bytes that one buffer may have
  double most_channel = 0;  // bytes that one channel may have of it
};
// By OpId.
using UnevenResults = std::vector<std::vector<Moved>>;

// Several buffers lie in different channels, until there are more of them than channels.
bool is_even(const Placement& placement, const Moved& moved, std::int64_t buffers) {
  const auto channels = static_cast<std::int64_t>(std::max<std::size_t>(placement.space().device().dram.channels.size(), 1));
  const double each = moved.bytes / static_cast<double>(buffers);
  const auto in_one = static_cast<double>((buffers + channels - 1) / channels);
  return each <= moved.most_each && (in_one < 2 || in_one * each <= moved.most_channel);
}

bool is_even(const Placement& placement, const std::vector<Moved>& all, std::int64_t buffers) {
  return std::all_of(all.begin(), all.end(), [&](const Moved& moved) { return is_even(placement, moved, buffers); });
}

// Cycles per input of the slowest op of the placement's present epoch.
double slowest_op(const Placement& placement, LinkModel& links, std::size_t end) {
  double out = 0;
  for (OpId id : placement.in_epoch())
    out = std::max(out, links.times.cycles(id, placement.placed(id).model, ways_in_epoch(placement, id, end)));
  return out;
}

// What the placement's present epoch moves of each op's result: several ops may read it.
std::map<OpId, MovedQueue> results_moved(const std::vector<MovedQueue>& queues) {
  std::map<OpId, MovedQueue> out;
  for (const MovedQueue& queue : queues) {
    if (!queue.op.valid()) continue;
    const auto [known, fresh] = out.try_emplace(queue.op, queue);
    if (!fresh) known->second.bytes += queue.bytes;
  }
  return out;
}

UnevenResults uneven_results(Placement& placement, LinkModel& links, const Choice& choice, Unevenness which) {
  UnevenResults out(choice.ops.size());
  const auto channels = static_cast<double>(std::max<std::size_t>(placement.space().device().dram.channels.size(), 1));
  auto visited = for_each_epoch(placement, choice, [&](std::size_t end) {
    const std::vector<MovedQueue> queues = moved_queues(placement, end);
    double all = 0;
    for (const MovedQueue& queue : queues) all += queue.bytes;
    if (all * std::max(placement.space().problem->microbatch, 1) < kSmallTransferBytes) return;
    double most_each = kMaxImbalance * all / (channels * halves_of_channel(placement.space().device())), most_channel = all / channels;
    if (which == Unevenness::holds_up) {
      most_each = std::max(most_each, slowest_op(placement, links, end) / std::max(channel_cycles(1, placement.space().device()), 1e-9));
      most_channel = all;
    }
    for (const auto& [op, queue] : results_moved(queues)) {
      const Moved moved{queue.bytes, most_each, most_channel};
      if (!is_even(placement, moved, queue.buffers)) out[op.index()].push_back(moved);
    }
  });
  if (!visited) out.assign(out.size(), {});
  return out;
}

// Those of even results that are not too slow for their epoch, the smallest first.
std::vector<const OpModel*> even_models(const Placement& placement, LinkModel& links, OpId op, const std::vector<Moved>& moved,
                                        double slower, std::size_t end) {
  const QueueWays ways = ways_in_epoch(placement, op, end);
  const OpModel& present = placement.placed(op).model;
  const double most = std::max(slower * links.times.cycles(op, present, ways), slowest_op(placement, links, end));
  std::vector<const OpModel*> out;
  for (const OpModel& model : placement.space().models_of(op))
    if (model.cores() <= present.cores() + placement.placer().free_cores() && is_even(placement, moved, model.cores()) &&
        links.times.cycles(op, model, ways) <= most)
      out.push_back(&model);
  std::stable_sort(out.begin(), out.end(), [](const OpModel* a, const OpModel* b) { return a->cores() < b->cores(); });
  out.resize(std::min(out.size(), kMaxTrials));
  return out;
}

// A free place beside the other ops of the present epoch.
std::optional<Place> place_beside_others(const Placement& placement, OpId op, GridShape grid) {
  Placer chip(placement.placer().chip());
  for (OpId other : placement.in_epoch())
    if (other != op) chip.take(Placer::rect_of(placement.placed(other).model.grid, placement.placed(other).place));
  return chip.find(grid, placement.space().place_rule(op));
}

}  // namespace

std::optional<Choice> with_even_channels(Placement& placement, LinkModel& links, Choice choice, const EvenRules& rules) {
  const std::vector<std::size_t> bounds = bounds_of(placement, choice);
  const UnevenResults uneven = uneven_results(placement, links, choice, rules.which);
  if (std::all_of(uneven.begin(), uneven.end(), [](const auto& moved) { return moved.empty(); })) return std::nullopt;
  bool changed = false;
  if (!placement.schedule().empty()) placement.rewind(placement.schedule().front());
  for (std::size_t e = 0; e + 1 < bounds.size(); ++e) {
    const std::size_t begin = bounds[e], end = bounds[e + 1];
    placement.next_epoch();
    if (!stand_as_in(placement, begin, end, choice)) return std::nullopt;
    const std::vector<OpId> ops(placement.in_epoch().begin(), placement.in_epoch().end());
    for (OpId op : ops) {
      const std::vector<Moved>& moved = uneven[op.index()];
      if (moved.empty() || (rules.kind && placement.space().kind_of(op) != *rules.kind)) continue;
      for (const OpModel* model : even_models(placement, links, op, moved, rules.slower, end)) {
        const auto place = place_beside_others(placement, op, model->grid);
        if (!place) continue;
        Choice other = choice;
        other.ops[op.index()].model = *model;
        other.ops[op.index()].place = *place;
        begin_again(placement, begin);
        const bool stands = stand_as_in(placement, begin, end, other);
        if (stands) choice = std::move(other);
        changed = changed || stands;
        if (stands) break;
        if (!stand_as_in(placement, begin, end, choice)) return std::nullopt;
      }
    }
  }
  if (!changed) return std::nullopt;
  return choice;
}

std::set<std::size_t> uneven_kinds(Placement& placement, LinkModel& links, const Choice& choice) {
  std::set<std::size_t> out;
  const UnevenResults uneven = uneven_results(placement, links, choice, Unevenness::any);
  for (OpId op : placement.schedule())
    if (!uneven[op.index()].empty()) out.insert(placement.space().kind_of(op));
  return out;
}

}  // namespace buda::balance
