// SPDX-License-Identifier: Apache-2.0
// Plans, from relaxed epochs to placed ops.
#include "first_trials.hpp"

#include <buda/balance/queues/queues.hpp>
#include <buda/cost/transfer_model.hpp>
#include "rating/queue_times.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <utility>

namespace buda::balance {
namespace {

// Shares of the chip's cores that are planned with.
constexpr double kChipParts[] = {1.0, 0.9, 0.8, 0.7, 0.55, 0.95, 0.85, 0.75, 0.62};
// By how many times its traffic a byte in a queue counts more, where queues do not fit DRAM.
constexpr double kQueuePrices[] = {0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 8, 32, 128};
// An op that takes so many times what it may belongs to the next epoch.
constexpr double kLate = 1.1;
// An epoch may end earlier than it must by one in so many of its ops.
constexpr std::size_t kLastOps = 3;

double bytes_of(const netlist::TileShape& shape, DataFormat format, const device::DeviceDescriptor& device) {
  return static_cast<double>(shape.volume()) * tile_bytes(format, TileDim{}, device.tile_alignment);
}

// What a choice reads from DRAM for every input holds it up; what all read counts for the epoch as well.
RelaxedOp relaxed(const Placement& placement, QueueTimes& times, OpId id) {
  const OpSpec& spec = placement.space().op(id);
  const double rate = cost::TransferModel(placement.space().device()).dram_rate();
  RelaxedOp out;
  std::vector<CoreCost> choices;
  const auto models = placement.space().models_of(id);
  const auto& reads = times.source_reads(id);
  for (std::size_t i = 0; i < models.size(); ++i)
    choices.push_back({models[i].cores(), std::max({models[i].cycles, reads[i].cycles, reads[i].bytes / rate})});
  out.choices = best_choices(std::move(choices));
  out.begins_epoch = placement.space().overrides[id.index()].epoch_break == true;
  if (spec.once_per_step) out.inputs = 1;
  out.last_user = id.index();
  for (const OpUse& use : spec.users) out.last_user = std::max(out.last_user, use.op.index());
  out.result_bytes = bytes_of(spec.out, spec.op.out_format, placement.space().device());
  if (spec.outputs > 0) out.dram_bytes += out.result_bytes;
  for (std::size_t i = 0; i < spec.operands.size(); ++i)
    if (spec.operands[i].from.op.valid())
      out.operands.push_back(
          {spec.operands[i].from.op.index(), bytes_of(spec.operands[i].shape, spec.op.inputs[i].format, placement.space().device())});
  const auto fewer = [](const QueueTimes::SourceReads& a, const QueueTimes::SourceReads& b) { return a.bytes < b.bytes; };
  out.dram_bytes += std::min_element(reads.begin(), reads.end(), fewer)->bytes;
  return out;
}

// The place in the schedule of the op's producer that comes last; that of the op itself if it has none.
std::size_t last_producer(const Placement& placement, std::size_t place) {
  const auto& schedule = placement.schedule();
  const OpSpec& spec = placement.space().op(schedule[place]);
  for (std::size_t i = place; i-- > 0;)
    if (std::any_of(spec.operands.begin(), spec.operands.end(), [&](const Operand& o) { return o.from.op == schedule[i]; })) return i;
  return place;
}

// A producer may have spread its result over more queue buffers than a core can read; then its reader cannot begin an epoch, and the epoch
// begins with the producer.
Result<Choice> place(PacedPlacer& placer, const std::vector<RelaxedEpoch>& epochs) {
  Placement& placement = placer.placement();
  if (!placement.schedule().empty()) placement.rewind(placement.schedule().front());
  for (const RelaxedEpoch& epoch : epochs) {
    const std::span<const double> cycles = epoch.cycles;
    placement.next_epoch();
    placer.expect_end(epoch.end);
    for (std::size_t i = epoch.begin; i < epoch.end; ++i) {
      auto placed = placer.place(i, i + 1, cycles.subspan(i - epoch.begin, 1));
      if (placed) continue;
      const std::size_t from = last_producer(placement, i);
      if (from == i) return std::move(placed).failure();
      placement.rewind(placement.schedule()[from]);
      placement.next_epoch();
      BUDA_TRY(placer.place(from, i + 1, std::vector<double>(i + 1 - from, epoch.interval)));
    }
  }
  return placement.choice();
}

// Whether ops [begin, end] fit an epoch if they are packed anew; otherwise [begin, end) stand as before.
bool is_packed_with(PacedPlacer& placer, std::size_t begin, std::size_t end, std::span<const double> cycles) {
  Placement& placement = placer.placement();
  const auto& schedule = placement.schedule();
  std::vector<PlacedOp> before;
  for (std::size_t i = begin; i < end; ++i) before.push_back(placement.placed(schedule[i]));
  if (placer.pack(begin, end + 1, cycles.first(end + 1 - begin))) return true;
  for (std::size_t i = begin; i < end; ++i) placement.place_at(schedule[i], before[i - begin].model, before[i - begin].place);
  return false;
}

// Where an epoch of ops that have room until `end` ends best: not much earlier, but where little passes to later epochs.
std::size_t best_end(const std::vector<RelaxedOp>& ops, const RelaxedCuts& cuts, const RelaxedChip& chip, std::size_t begin,
                     std::size_t end) {
  std::size_t best = end;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t at = end; at > begin && end - at <= (end - begin) / kLastOps; --at) {
    double written = 0;
    for (std::size_t i = begin; i < at; ++i)
      if (ops[i].last_user >= at) written += ops[i].result_bytes;
    const double cost = cuts.rest(at) + (chip.cycles_per_written_byte + 1 / chip.dram_bytes_per_cycle) * written;
    if (cost >= least) continue;
    least = cost;
    best = at;
  }
  return best;
}

// Epoch by epoch: where an op finds no room in which it keeps up, the epoch ends, or a little earlier, and what follows is cut anew. Runs
// of ops that are alike stand as the first of them, where they can.
Result<Choice> place_by_and_by(PacedPlacer& placer, RepeatedRuns& runs, const std::vector<RelaxedOp>& ops, const RelaxedChip& chip,
                               RelaxedGoal goal, bool ends_early) {
  Placement& placement = placer.placement();
  const auto& schedule = placement.schedule();
  const RelaxedCuts cuts(ops, chip, goal);
  std::map<std::pair<std::size_t, std::size_t>, std::vector<PlacedOp>> first;  // epochs, by the first run alike to what was to be one
  if (!schedule.empty()) placement.rewind(schedule.front());
  for (std::size_t begin = 0, end = 0; begin < ops.size(); begin = end) {
    const RelaxedEpoch epoch = cuts.epoch_from(begin);
    placement.next_epoch();
    const auto [alike, fresh] = first.try_emplace({runs.starts(begin, epoch.end).front(), epoch.end - begin});
    if (!fresh && stand_as(placement, begin, alike->second)) {
      end = begin + alike->second.size();
      continue;
    }
    placer.expect_end(epoch.end);
    for (end = begin; end < epoch.end; ++end) {
      const double most = epoch.cycles[end - begin];
      BUDA_TRY(placer.place(end, end + 1, std::span(&most, 1)));
      const PlacedOp& placed = placement.placed(schedule[end]);
      const bool keeps_up = placed.epoch == placement.placed(schedule[begin]).epoch && placer.cycles(schedule[end]) <= kLate * most;
      if (keeps_up || end == begin) continue;
      if (placer.goal() == PlaceGoal::pairs && is_packed_with(placer, begin, end, epoch.cycles)) continue;
      if (ends_early) end = best_end(ops, cuts, chip, begin, end);
      placement.rewind(schedule[end]);
      break;
    }
    alike->second.clear();
    for (std::size_t i = begin; i < end; ++i) alike->second.push_back(placement.placed(schedule[i]));
  }
  return placement.choice();
}

// How the cores of the chip are shared out.
struct Plan {
  RelaxedGoal goal = RelaxedGoal::interval;
  double share = 1;            // of the chip's cores
  double bytes_per_cycle = 0;  // of queues
  bool ends_early = false;     // whether an epoch may end before it must
  bool learned = false;        // whether it counts what edges were seen to slow epochs down
};

// Those that differ most come first.
std::vector<Plan> plans_of(const Trials& trials, double inputs, const device::DeviceDescriptor& device) {
  const cost::TransferModel transfers(device);
  std::vector<double> rates{transfers.queue_rate()};
  if (trials.estimates() && rates.front() < transfers.dram_rate()) rates.push_back(transfers.dram_rate());
  std::vector<Plan> out;
  auto add = [&](double share, bool learned) {
    for (double rate : rates)
      for (RelaxedGoal goal : {RelaxedGoal::latency, RelaxedGoal::interval})
        if (goal == RelaxedGoal::interval || (inputs < kSmallMicrobatch && trials.estimates()))
          out.push_back({goal, share, rate, rate == rates.front(), learned});
  };
  for (double share : kChipParts) {
    add(share, false);
    if (trials.estimates()) add(share, true);
  }
  return out;
}

// Keeps what differs, best first.
void add_trial(Trial trial, std::vector<Trial>& out) {
  if (std::any_of(out.begin(), out.end(), [&](const Trial& t) { return t.choice == trial.choice; })) return;
  out.insert(std::upper_bound(out.begin(), out.end(), trial, [](const Trial& a, const Trial& b) { return a.is_better(b); }),
             std::move(trial));
}

// The chip as a plan shares it out.
RelaxedChip planned_chip(RelaxedChip chip, const Plan& plan, double price, const device::DeviceDescriptor& device) {
  chip.cores = std::max<std::int64_t>(static_cast<std::int64_t>(static_cast<double>(device.grid().volume()) * plan.share), 1);
  chip.dram_bytes_per_cycle = plan.bytes_per_cycle;
  chip.cycles_per_written_byte = price / plan.bytes_per_cycle;
  return chip;
}

// Bytes of queues between epochs, where they are most.
double queued_bytes(const Problem& problem, const std::vector<RelaxedOp>& ops, const std::vector<RelaxedEpoch>& epochs) {
  std::vector<std::int32_t> epoch_of(ops.size(), 0);
  for (std::size_t e = 0; e < epochs.size(); ++e)
    for (std::size_t i = epochs[e].begin; i < epochs[e].end; ++i) epoch_of[i] = static_cast<std::int32_t>(e);
  std::vector<SpanBytes> out;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const EpochSpan span{epoch_of[i], epoch_of[ops[i].last_user]};
    if (span.first == span.last) continue;
    const Lifetime life = problem.dynamic_queues ? Lifetime(span) : std::nullopt;
    out.push_back({life, ops[i].result_bytes * static_cast<double>(entries_between_ops(problem, life))});
  }
  return peak_bytes(out, static_cast<std::int32_t>(epochs.size()));
}

// The price of queues, which rises until they fit DRAM.
class QueuePrice {
 public:
  explicit QueuePrice(const Placement& placement) : problem_(*placement.space().problem), room_(room_of_queues(placement)) {}

  // The chip of a plan at the lowest price, from the present one on, at which its queues fit.
  RelaxedChip chip_for(const std::vector<RelaxedOp>& ops, const RelaxedChip& chip, const Plan& plan,
                       const device::DeviceDescriptor& device) {
    RelaxedChip out = planned_chip(chip, plan, kQueuePrices[at_], device);
    while (queued_bytes(problem_, ops, relaxed_epochs(ops, out, plan.goal)) > room_ && raise())
      out = planned_chip(chip, plan, kQueuePrices[at_], device);
    return out;
  }
  // Raises it until the queues of a plan have less in them; false where they never have.
  bool raise_for(const std::vector<RelaxedOp>& ops, const RelaxedChip& chip, const Plan& plan, const device::DeviceDescriptor& device) {
    const auto queued = [&] {
      return queued_bytes(problem_, ops, relaxed_epochs(ops, planned_chip(chip, plan, kQueuePrices[at_], device), plan.goal));
    };
    const double before = queued();
    while (raise())
      if (queued() < before) return true;
    return false;
  }

 private:
  // False at the highest.
  bool raise() { return at_ + 1 < std::size(kQueuePrices) && ++at_ > 0; }

  const Problem& problem_;
  double room_;
  std::size_t at_ = 0;
};

// What edges between ops of one epoch take: the least of all trials. Nothing is known of those that were never in one epoch.
class EdgeRecord {
 public:
  EdgeRecord(const Placement& placement, LinkModel& links, const std::vector<RelaxedOp>& ops)
      : placement_(placement), links_(links), ops_(ops), known_(ops.size()) {
    for (std::size_t i = 0; i < ops.size(); ++i) known_[i].resize(ops[i].operands.size(), false);
  }

  // The ops with what is known.
  const std::vector<RelaxedOp>& ops() const { return ops_; }

  void learn(const Choice& choice) {
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      const OpId id = placement_.schedule()[i];
      const PlacedOp& placed = choice.ops[id.index()];
      std::size_t edge = 0;
      for (std::size_t k = 0; k < placement_.space().op(id).operands.size(); ++k) {
        const OpId from = placement_.space().op(id).operands[k].from.op;
        if (!from.valid()) continue;
        const std::size_t at = edge++;
        const PlacedOp& producer = choice.ops[from.index()];
        if (producer.epoch != placed.epoch) continue;
        const double cycles = links_.pairs.cycles(id, placed.model, k, producer.model);
        double& known = ops_[i].operands[at].cycles;
        known = known_[i][at] ? std::min(known, cycles) : cycles;
        known_[i][at] = true;
      }
    }
  }

 private:
  const Placement& placement_;
  LinkModel& links_;
  std::vector<RelaxedOp> ops_;
  std::vector<std::vector<bool>> known_;  // by op and edge
};

}  // namespace

std::vector<RelaxedOp> relaxed_ops(const Placement& placement, QueueTimes& times) {
  std::vector<RelaxedOp> out;
  for (OpId id : placement.schedule()) out.push_back(relaxed(placement, times, id));
  return out;
}

Result<std::vector<Trial>> first_trials(std::vector<PacedPlacer>& placers, Trials& trials, LinkModel& links, RepeatedRuns& runs,
                                        const std::vector<RelaxedOp>& all_ops, const RelaxedChip& chip) {
  std::vector<Trial> out;
  Failure failure;
  const Placement& placement = placers.front().placement();
  const std::size_t least = trials.ops_left() / 2;
  QueuePrice price(placement);
  EdgeRecord edges(placement, links, all_ops);
  for (const Plan& plan : plans_of(trials, chip.inputs_per_epoch, placement.space().device())) {
    const std::vector<RelaxedOp>& ops = plan.learned ? edges.ops() : all_ops;
    // The same plan again where queues fit only while shapes are left out of account.
    for (bool again = true; again;) {
      const RelaxedChip planned = trials.estimates() ? price.chip_for(ops, chip, plan, placement.space().device())
                                                     : planned_chip(chip, plan, 0, placement.space().device());
      bool fits = false;
      for (PacedPlacer& placer : placers) {
        if (!out.empty() && trials.ops_left() <= (trials.estimates() && out.front().fails ? 0 : least)) return out;
        auto choice = trials.estimates() ? place_by_and_by(placer, runs, ops, planned, plan.goal, plan.ends_early)
                                         : place(placer, relaxed_epochs(ops, planned, plan.goal));
        if (choice) {
          Trial trial = trials.rated(std::move(*choice));
          fits = fits || !trial.fails;
          if (trials.estimates()) edges.learn(trial.choice);
          add_trial(std::move(trial), out);
        } else {
          failure = std::move(choice).failure();
        }
      }
      again =
          trials.estimates() && !fits && !out.empty() && out.front().fails && price.raise_for(ops, chip, plan, placement.space().device());
    }
  }
  if (out.empty()) return failure;
  return out;
}

std::optional<Trial> first_buildable(PacedPlacer& placer, Trials& trials, const std::vector<RelaxedOp>& ops, const RelaxedChip& chip) {
  const device::DeviceDescriptor& device = placer.placement().space().device();
  for (double price : kQueuePrices)
    for (const Plan& plan : plans_of(trials, chip.inputs_per_epoch, device)) {
      auto choice = place(placer, relaxed_epochs(ops, planned_chip(chip, plan, price, device), plan.goal));
      if (!choice) continue;
      Trial trial = trials.rated(std::move(*choice));
      if (!trial.fails) trial = trials.estimated(std::move(trial));
      if (!trial.fails) return trial;
    }
  return std::nullopt;
}

}  // namespace buda::balance
