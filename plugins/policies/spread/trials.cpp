// SPDX-License-Identifier: Apache-2.0
// Ratings of choices.
#include "trials.hpp"

#include <buda/balance/queues/dram.hpp>
#include <buda/balance/queues/queues.hpp>
#include <buda/cost/transfer_model.hpp>
#include "moves/relieve_links.hpp"
#include "moves/tighten_epochs.hpp"
#include "rating/moved_queues.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

namespace buda::balance {
namespace {

// Ops that are placed in all trials of a search together, about a second's worth, and the most trials; the same for estimates. Larger
// problems are rated by their ops.
constexpr std::size_t kPlacedOps = 12'500, kFewestPlacements = 6, kMaxPlacements = 160;
constexpr std::size_t kEstimatedOps = 1'500, kFewestEstimates = 2, kMaxEstimates = 6;
constexpr std::size_t kLargestProblem = 2'000;
// The part of DRAM that may be filled: some of it remains unused where buffers are large.
constexpr double kFullDram = 0.95;

// So many ops that stand as others cost no more than one that has to be rated.
constexpr std::size_t kPlacedAlike = 8;

// Buffers of a queue that are told from one another.
constexpr std::int64_t kMaxBuffers = 64;

// Bytes of the fullest bank if buffers are dealt out, the largest first, each to the bank that has least.
double fullest_bank(std::vector<double> buffers, std::size_t banks) {
  std::sort(buffers.begin(), buffers.end(), std::greater<>());
  std::vector<double> loads(std::max<std::size_t>(banks, 1), 0);
  for (double bytes : buffers) *std::min_element(loads.begin(), loads.end()) += bytes;
  return *std::max_element(loads.begin(), loads.end());
}

// Cycles per input that DRAM needs for the placement's present epoch, which ends before number `end` of the schedule, if no other epoch had
// a say in where its buffers are.
double dram_cycles(const Placement& placement, std::size_t end) {
  std::vector<double> buffers;
  auto add = [&](double moved, std::int64_t count) {
    const std::int64_t parts = std::clamp<std::int64_t>(count, 1, kMaxBuffers);
    buffers.insert(buffers.end(), static_cast<std::size_t>(parts), moved / static_cast<double>(parts));
  };
  for (const MovedQueue& queue : moved_queues(placement, end)) add(queue.bytes, queue.buffers);
  const std::size_t banks =
      placement.space().device().dram.channels.size() * static_cast<std::size_t>(halves_of_channel(placement.space().device()));
  return channel_cycles(fullest_bank(std::move(buffers), banks), placement.space().device());
}

// Whether DRAM would not hold the queues between epochs.
bool fills_dram(const Placement& placement, const Choice& choice) {
  std::vector<SpanBytes> all;
  double most = 0;
  for (OpId id : placement.schedule()) {
    const OpSpec& spec = placement.space().op(id);
    if (!ways_in_choice(placement, choice, id).written) continue;
    const Lifetime life = life_between_epochs(*placement.space().problem, choice, id, spec.users);
    const double bytes = tensor_bytes(spec.out, spec.op.out_format, placement.space().device()) *
                         static_cast<double>(entries_between_ops(*placement.space().problem, life));
    all.push_back({life, bytes});
    most = std::max(most, bytes / static_cast<double>(choice.ops[id.index()].model.cores()));
  }
  const auto largest = static_cast<double>(DramAllocator(placement.space().device()).largest_block());
  return peak_bytes(all, choice.epochs()) > room_of_queues(placement) || most > largest;
}

// The placement's present epoch without regard to links.
RelievedEpoch as_it_stands(const Placement& placement, QueueTimes& times, std::size_t end) {
  RelievedEpoch out;
  for (OpId id : placement.in_epoch()) {
    out.ops.push_back(placement.placed(id));
    out.slowest = std::max(out.slowest, times.cycles(id, out.ops.back().model, ways_in_epoch(placement, id, end)));
  }
  return out;
}

// Whether two runs of the schedule that are alike have the same models and places, and take inputs from the same models.
bool stand_alike(const Placement& placement, const Choice& choice, std::size_t a, std::size_t b, std::size_t length) {
  const auto& schedule = placement.schedule();
  const auto placed = [&](OpId id) -> const PlacedOp& { return choice.ops[id.index()]; };
  for (std::size_t i = 0; i < length; ++i) {
    const OpId first = schedule[a + i], second = schedule[b + i];
    if (placed(first).model != placed(second).model || placed(first).place != placed(second).place) return false;
    const auto &ones = placement.space().op(first).operands, &others = placement.space().op(second).operands;
    for (std::size_t k = 0; k < ones.size(); ++k)
      if (ones[k].from.op.valid() && placed(ones[k].from.op).model != placed(others[k].from.op).model) return false;
  }
  return true;
}

}  // namespace

double room_of_queues(const Placement& placement) {
  const DramAllocator dram(placement.space().device());
  double room = 0;
  for (std::size_t c = 0; c < placement.space().device().dram.channels.size(); ++c)
    room += kFullDram * static_cast<double>(dram.capacity(c));
  for (const SourceSpec& source : placement.space().problem->sources)
    room -= tensor_bytes(source.shape, source.format, placement.space().device());
  return std::max(room, 0.0);
}

double pipelined_cycles(const Choice& choice) {
  std::vector<double> slowest(static_cast<std::size_t>(choice.epochs()), 0);
  for (const PlacedOp& op : choice.ops) {
    double& cycles = slowest[static_cast<std::size_t>(op.epoch)];
    cycles = std::max(cycles, op.model.cycles);
  }
  return std::accumulate(slowest.begin(), slowest.end(), 0.0);
}

std::size_t most_estimates(std::size_t ops) {
  return std::clamp(kEstimatedOps / std::max<std::size_t>(ops, 1), kFewestEstimates, kMaxEstimates);
}

Trials::Trials(Placement& placement, const Estimator& estimator, LinkModel& links, RepeatedRuns& runs, double inputs, double budget)
    : placement_(placement),
      estimator_(estimator),
      links_(links),
      runs_(runs),
      flow_(placement, links),
      inputs_(inputs),
      change_(cost::TransferModel(placement.space().device()).full_epoch_change()),
      estimates_(estimator.estimates() && placement.schedule().size() <= kLargestProblem) {
  const std::size_t ops = std::max<std::size_t>(placement.schedule().size(), 1);
  ops_left_ = estimates_ ? std::clamp(kPlacedOps, kFewestPlacements * ops, kMaxPlacements * ops) : kFewestPlacements * ops;
  ops_left_ = static_cast<std::size_t>(budget * static_cast<double>(ops_left_));
}

void Trials::sum_up(Trial& trial) const {
  const double sum = std::accumulate(trial.epochs.begin(), trial.epochs.end(), 0.0);
  const double changes = static_cast<double>(trial.epochs.size()) * change_;
  trial.cycles = (sum - changes) / static_cast<double>(std::max(placement_.space().problem->microbatch, 1)) + changes / inputs_;
}

RatedEpoch Trials::rated_epoch(std::size_t end) {
  const cost::PipelineTimes flow = estimates_ ? flow_.times(end) : cost::PipelineTimes{};
  RelievedEpoch relieved = estimates_ ? relieved_epoch(placement_, links_, end) : as_it_stands(placement_, links_.times, end);
  const double path = std::max(dram_cycles(placement_, end), relieved.links), interval = std::max({relieved.slowest, path, flow.interval});
  const auto more = static_cast<double>(std::max(placement_.space().problem->microbatch, 1) - 1);
  std::int64_t cores = 0;
  for (const OpId op : placement_.in_epoch()) cores += placement_.placed(op).model.cores();
  const double change = std::round(cost::TransferModel(placement_.space().device()).epoch_change(cores));
  return {std::move(relieved.ops), change + std::max({relieved.latency, path, flow.first}) + more * interval};
}

Trial Trials::summed_up(Choice choice, std::vector<double> epochs) const {
  Trial out;
  out.fails = fills_dram(placement_, choice);
  out.choice = std::move(choice);
  out.epochs = std::move(epochs);
  sum_up(out);
  return out;
}

Trial Trials::rated(Choice choice) {
  struct Known {
    std::size_t begin;
    RatedEpoch epoch;
  };
  std::map<std::pair<std::size_t, std::size_t>, std::vector<Known>> known;  // by the first run of their like, and its length
  std::size_t rated = 0;                                                    // ops
  Choice better = choice;
  std::vector<double> epochs;
  auto visited = for_each_epoch(placement_, choice, [&](std::size_t end) {
    const std::size_t length = placement_.in_epoch().size(), begin = end - length;
    std::vector<Known>& alike = known[{estimates_ ? runs_.starts(begin, end).front() : begin, length}];
    auto found = std::find_if(alike.begin(), alike.end(),
                              [&](const Known& other) { return stand_alike(placement_, choice, other.begin, begin, length); });
    if (found == alike.end()) {
      found = alike.insert(found, {begin, rated_epoch(end)});
      rated += length;
    }
    epochs.push_back(found->epoch.cycles);
    for (std::size_t i = 0; i < length; ++i) {
      PlacedOp& op = better.ops[placement_.in_epoch()[i].index()];
      op.model = found->epoch.ops[i].model;
      op.place = found->epoch.ops[i].place;
    }
  });
  count_ops(rated + (placement_.schedule().size() - rated) / kPlacedAlike);
  Trial out = summed_up(std::move(better), std::move(epochs));
  out.fails = out.fails || !visited.ok();
  return out;
}

Trial Trials::estimated(Trial trial) const {
  if (auto epochs = estimator_.estimate(trial.choice)) {
    trial.epochs = std::move(*epochs);
    sum_up(trial);
  } else {
    trial.fails = true;
  }
  return trial;
}

}  // namespace buda::balance
