// SPDX-License-Identifier: Apache-2.0
// Passes through the epochs of a choice.
#include "epoch_search.hpp"

#include "model_swaps.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

namespace buda::balance {
namespace {

// The part of the ops left that one pass may place.
constexpr double kPassPart = 0.5;
// Edges that count as slow beside the slowest one.
constexpr double kSlowEdges = 0.8;

// The ops of the longest way through an epoch, each taking an input as a whole, by their numbers in it.
std::vector<std::size_t> longest_way(const Placement& placement, const std::vector<OpId>& ops, const std::vector<double>& cycles) {
  std::map<OpId, std::size_t> number;
  std::vector<double> done(ops.size(), 0);
  std::vector<std::optional<std::size_t>> before(ops.size());
  for (std::size_t i = 0; i < ops.size(); ++i) {
    number[ops[i]] = i;
    for (const Operand& operand : placement.space().op(ops[i]).operands) {
      const auto producer = number.find(operand.from.op);
      if (producer == number.end() || done[producer->second] <= done[i]) continue;
      done[i] = done[producer->second];
      before[i] = producer->second;
    }
    done[i] += cycles[i];
  }
  std::vector<std::size_t> out;
  std::optional<std::size_t> at = static_cast<std::size_t>(std::max_element(done.begin(), done.end()) - done.begin());
  for (; at; at = before[*at]) out.push_back(*at);
  return out;
}

// The choice after the one that an op has now; null where there is no faster one.
const CoreCost* faster_choice(const std::vector<CoreCost>& choices, double cycles) {
  auto found = std::find_if(choices.begin(), choices.end(), [&](const CoreCost& c) { return c.cycles < cycles; });
  return found == choices.end() ? nullptr : &*found;
}

// Of the choices that are no slower than an op is now, the fewest cores.
std::int64_t cores_at(const std::vector<CoreCost>& choices, double cycles) {
  for (const CoreCost& c : choices)
    if (c.cycles <= cycles) return c.cores;
  return choices.back().cores;
}

}  // namespace

std::vector<double> hastened(const Placement& placement, const StandingEpoch& epoch, const std::vector<std::vector<CoreCost>>& choices,
                             std::int64_t cores) {
  std::vector<double> out = epoch.cycles;
  while (cores > 0) {
    const CoreCost* best = nullptr;
    std::size_t op = 0;
    std::int64_t taken = 0;
    double most = 0;
    for (std::size_t i : longest_way(placement, epoch.ops, out)) {
      const CoreCost* faster = faster_choice(choices[i], out[i]);
      if (faster == nullptr) continue;
      const std::int64_t more = std::max<std::int64_t>(faster->cores - cores_at(choices[i], out[i]), 1);
      const double saved = (out[i] - faster->cycles) / static_cast<double>(more);
      if (more > cores || saved <= most) continue;
      best = faster;
      op = i;
      taken = more;
      most = saved;
    }
    if (best == nullptr) break;
    out[op] = best->cycles;
    cores -= taken;
  }
  return out;
}

EpochSearch::EpochSearch(std::vector<PacedPlacer>& placers, Trials& trials, RepeatedRuns& runs, bool few)
    : placers_(placers), trials_(trials), runs_(runs) {
  auto add = [this](auto cycles) {
    paces_.push_back([cycles](const StandingEpoch& epoch) {
      std::vector<double> out;
      for (double own : epoch.cycles) out.push_back(cycles(own, epoch.interval));
      return out;
    });
  };
  for (double part : {0.8, 1.0, 0.6, 1.3, 0.9, 0.45, 0.7}) {
    paces_.push_back([this, part](const StandingEpoch& epoch) { return with_fast_edges(epoch, part - 0.15); });
    add([part](double, double interval) { return part * interval; });
    if (few) add([part](double own, double) { return part * own; });
    // Those that do not hold the epoch up: the first input comes through sooner.
    if (part < 0.75) add([part](double own, double interval) { return own > 0.8 * interval ? own : part * own; });
    if (part >= 0.8) paces_.push_back([this, part](const StandingEpoch& epoch) { return with_idle_cores(epoch, part - 0.3); });
  }
}

std::vector<double> EpochSearch::with_idle_cores(const StandingEpoch& epoch, double share) {
  Placement& placement = placers_.front().placement();
  std::vector<std::vector<CoreCost>> choices;
  for (OpId op : epoch.ops) {
    std::vector<CoreCost> all;
    for (const OpModel& model : placement.space().models_of(op)) all.push_back({model.cores(), placers_.front().cycles(op, model)});
    choices.push_back(best_choices(std::move(all)));
  }
  return hastened(placement, epoch, choices, static_cast<std::int64_t>(share * static_cast<double>(epoch.idle)));
}

double EpochSearch::fastest(OpId op) {
  double out = std::numeric_limits<double>::infinity();
  for (const OpModel& model : placers_.front().placement().space().models_of(op)) out = std::min(out, placers_.front().cycles(op, model));
  return out;
}

// Ops whose edges are slower than all ops become faster, the others as slow as the slowest: they leave cores to them.
std::vector<double> EpochSearch::with_fast_edges(const StandingEpoch& epoch, double part) {
  const double slowest = *std::max_element(epoch.edges.begin(), epoch.edges.end());
  std::vector<double> out(epoch.cycles.size(), epoch.interval);
  for (std::size_t i = 0; i < out.size(); ++i)
    if (epoch.edges[i] > std::max(epoch.interval, kSlowEdges * slowest)) out[i] = std::max(part * epoch.cycles[i], fastest(epoch.ops[i]));
  return out;
}

Trial EpochSearch::improved(Trial start, std::size_t least) {
  next_.assign(start.epochs.size(), 0);
  while (trials_.ops_left() > least && sweep(start, least)) {
  }
  return start;
}

RatedEpoch EpochSearch::best_of(std::size_t epoch, std::size_t begin, std::size_t end, std::size_t tries, RatedEpoch standing) {
  Placement& placement = placers_.front().placement();
  RatedEpoch best = std::move(standing);
  StandingEpoch now;
  for (std::size_t i = begin; i < end; ++i) {
    now.ops.push_back(placement.schedule()[i]);
    now.cycles.push_back(placers_.front().cycles(now.ops.back()));
  }
  now.interval = *std::max_element(now.cycles.begin(), now.cycles.end());
  now.edges = placers_.front().edge_cycles(now.ops);
  now.idle = placement.placer().free_cores();
  std::size_t& next = next_[epoch];
  for (const std::size_t last = next + tries; next < last && trials_.ops_left() > 0; ++next) {
    PacedPlacer& placer = placers_[next % placers_.size()];
    const std::vector<double> cycles = paces_[next / placers_.size()](now);
    begin_again(placement, begin);
    placer.expect_end(end);
    trials_.count_ops(end - begin);
    if (!fits_within(placer, begin, end, cycles)) continue;
    RatedEpoch rated = trials_.rated_epoch(end);
    if (rated.cycles < best.cycles) best = std::move(rated);
  }
  begin_again(placement, begin);
  return best;
}

RatedEpoch EpochSearch::better_of(std::size_t begin, std::size_t end, RatedEpoch standing, const RatedEpoch& alike) {
  Placement& placement = placers_.front().placement();
  if (alike.cycles >= standing.cycles) return standing;
  begin_again(placement, begin);
  if (!stand_as(placement, begin, alike.ops)) return standing;
  RatedEpoch rated = trials_.rated_epoch(end);
  begin_again(placement, begin);
  return rated.cycles < standing.cycles ? rated : standing;
}

std::vector<std::size_t> EpochSearch::first_alike(const std::vector<std::size_t>& bounds) {
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> first;  // by the first run of their like
  std::vector<std::size_t> out;
  for (std::size_t e = 0; e + 1 < bounds.size(); ++e) {
    const std::size_t start = runs_.starts(bounds[e], bounds[e + 1]).front();
    out.push_back(first.try_emplace({start, bounds[e + 1] - bounds[e]}, e).first->second);
  }
  return out;
}

bool EpochSearch::sweep(Trial& trial, std::size_t least) {
  Placement& placement = placers_.front().placement();
  const auto bounds = bounds_of(placement, trial.choice);
  const std::size_t all_tries = paces_.size() * placers_.size();
  const double total = std::accumulate(trial.epochs.begin(), trial.epochs.end(), 0.0);
  const double budget =
      std::max(kPassPart * static_cast<double>(trials_.ops_left() - least), static_cast<double>(placement.schedule().size()));
  placement.rewind(placement.schedule().front());
  bool is_better = false, tried = false;
  std::vector<double> cycles;
  const std::vector<std::size_t> first = first_alike(bounds);
  std::vector<double> of_all(first.size(), 0);  // cycles of all that are alike, by the first
  for (std::size_t e = 0; e < first.size(); ++e) of_all[first[e]] += trial.epochs[e];
  std::map<std::size_t, RatedEpoch> found;
  for (std::size_t e = 0; e + 1 < bounds.size(); ++e) {
    const std::size_t begin = bounds[e], end = bounds[e + 1];
    placement.next_epoch();
    for (PacedPlacer& placer : placers_) placer.expect_end(end);
    // What stood there may not go with other models of its producers.
    if (!stand_as_in(placement, begin, end, trial.choice) &&
        !fits_within(placers_.front(), begin, end, std::vector<double>(end - begin, trial.epochs[e])))
      return false;
    RatedEpoch best = trials_.rated_epoch(end);
    const double before = best.cycles;
    if (first[e] == e) {
      const auto share = static_cast<std::size_t>(budget * of_all[e] / total / static_cast<double>(end - begin));
      const std::size_t tries = std::min(std::max<std::size_t>(share, 1), all_tries - next_[e]);
      tried = tried || tries > 0;
      best = best_of(e, begin, end, tries, std::move(best));
      if (stand_as(placement, begin, best.ops)) best = with_other_models(placers_.front(), trials_, begin, end, std::move(best));
      begin_again(placement, begin);
      found.emplace(e, best);
    } else {
      best = better_of(begin, end, std::move(best), found.at(first[e]));
      begin_again(placement, begin);
    }
    if (!stand_as(placement, begin, best.ops)) return false;
    if (best.cycles < before) {
      is_better = true;
      if (first[e] == e) next_[e] = 0;
    }
    cycles.push_back(best.cycles);
  }
  auto choice = placement.choice();
  if (!choice) return false;
  Trial other = trials_.summed_up(std::move(*choice), std::move(cycles));
  if (!other.is_better(trial)) return tried && !is_better;
  trial = std::move(other);
  return true;
}

}  // namespace buda::balance
