// From relaxed epochs to placed ops.
#include <buda/balance/solve/spread.hpp>

#include <buda/balance/cost/cost.hpp>
#include <buda/balance/solve/relaxed_epochs.hpp>
#include <buda/balance/solve/relieve_links.hpp>
#include <buda/balance/solve/tighten_epochs.hpp>
#include <buda/balance/solve/trials.hpp>

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

namespace buda::balance {
namespace {

// Shares of the chip's cores that are planned with.
constexpr double kShares[] = {1.0, 0.9, 0.8, 0.7, 0.55};
// Parts of what queues could move, where their tensors do not fit DRAM.
constexpr double kQueueRates[] = {1.0, 0.25, 0.05, 0.01};
// An op that takes so many times what it may belongs to the next epoch.
constexpr double kLate = 1.1;
// Ops that are looked at to end the next epoch well.
constexpr std::size_t kOpsAhead = 160;
// Of fewer inputs, the way of the first through an epoch counts as well as the interval between them.
constexpr double kFewInputs = 16;

double bytes_of(const netlist::TileShape& shape, DataFormat format, const device::DeviceDescriptor& device) {
  return static_cast<double>(shape.volume()) * tile_bytes(format, TileDim{}, device.tile_alignment);
}

RelaxedOp relaxed(const PolicyContext& context, OpId id, double inputs) {
  const OpSpec& spec = context.op(id);
  RelaxedOp out;
  std::vector<CoreCost> choices;
  for (const OpModel& m : context.models(id)) choices.push_back({m.cores(), m.cycles});
  out.choices = best_choices(std::move(choices));
  out.begins_epoch = context.overrides()[id.index()].epoch_break == true;
  out.last_user = id.index();
  for (const OpUse& use : spec.users) out.last_user = std::max(out.last_user, use.op.index());
  out.result_bytes = bytes_of(spec.out, spec.op.out_format, context.device());
  if (spec.outputs > 0) out.dram_bytes += out.result_bytes;
  const auto& best = context.models(id).back();
  for (std::size_t i = 0; i < spec.operands.size(); ++i) {
    const double bytes = bytes_of(spec.operands[i].shape, spec.op.inputs[i].format, context.device());
    if (spec.operands[i].from.op.valid()) {
      out.operands.push_back({spec.operands[i].from.op.index(), bytes});
    } else {
      out.dram_bytes += best.is_resident(i) ? bytes / inputs : bytes;
    }
  }
  return out;
}

// The place in the schedule of the op's producer that comes last; that of the op itself if it has none.
std::size_t last_producer(const PolicyContext& context, std::size_t place) {
  const auto& schedule = context.schedule();
  const OpSpec& spec = context.op(schedule[place]);
  for (std::size_t i = place; i-- > 0;)
    if (std::any_of(spec.operands.begin(), spec.operands.end(), [&](const Operand& o) { return o.from.op == schedule[i]; })) return i;
  return place;
}

// A producer may have spread its result over more queue buffers than a core can read; then its reader cannot begin an epoch, and the epoch
// begins with the producer.
Result<Choice> place(PacedPlacer& placer, const std::vector<RelaxedEpoch>& epochs) {
  PolicyContext& context = placer.context();
  if (!context.schedule().empty()) context.rewind(context.schedule().front());
  for (const RelaxedEpoch& epoch : epochs) {
    const std::span<const double> cycles = epoch.cycles;
    context.next_epoch();
    placer.expect_end(epoch.end);
    for (std::size_t i = epoch.begin; i < epoch.end; ++i) {
      auto placed = placer.place(i, i + 1, cycles.subspan(i - epoch.begin, 1));
      if (placed) continue;
      const std::size_t from = last_producer(context, i);
      if (from == i) return std::move(placed).failure();
      context.rewind(context.schedule()[from]);
      context.next_epoch();
      BUDA_TRY(placer.place(from, i + 1, std::vector<double>(i + 1 - from, epoch.interval)));
    }
  }
  return context.choice();
}

// The next ops from number `begin` on as a schedule of their own: what they take from ops before comes through queues. So many are more
// than an epoch holds.
std::vector<RelaxedOp> next_ops(const std::vector<RelaxedOp>& ops, std::size_t begin) {
  const std::size_t end = std::min(begin + kOpsAhead, ops.size());
  std::vector<RelaxedOp> out(ops.begin() + static_cast<std::ptrdiff_t>(begin), ops.begin() + static_cast<std::ptrdiff_t>(end));
  for (RelaxedOp& op : out) {
    std::vector<RelaxedOp::Edge> operands;
    for (const RelaxedOp::Edge& operand : op.operands) {
      if (operand.other < begin) {
        op.dram_bytes += operand.bytes;
      } else {
        operands.push_back({operand.other - begin, operand.bytes});
      }
    }
    op.operands = std::move(operands);
    op.last_user -= begin;
  }
  return out;
}

// Epoch by epoch: where an op finds no room in which it keeps up, the epoch ends, and what follows is cut anew.
Result<Choice> place_by_and_by(PacedPlacer& placer, const std::vector<RelaxedOp>& ops, const RelaxedChip& chip, RelaxedGoal goal) {
  PolicyContext& context = placer.context();
  const auto& schedule = context.schedule();
  if (!schedule.empty()) context.rewind(schedule.front());
  for (std::size_t begin = 0, end = 0; begin < ops.size(); begin = end) {
    const RelaxedEpoch epoch = relaxed_epochs(next_ops(ops, begin), chip, goal).front();
    context.next_epoch();
    placer.expect_end(begin + epoch.end);
    for (end = begin; end < begin + epoch.end; ++end) {
      const double most = epoch.cycles[end - begin];
      BUDA_TRY(placer.place(end, end + 1, std::span(&most, 1)));
      const PlacedOp& placed = context.placed(schedule[end]);
      const bool keeps_up = placed.epoch == context.placed(schedule[begin]).epoch && placed.model.cycles <= kLate * most;
      if (keeps_up || end == begin) continue;
      context.rewind(schedule[end]);
      break;
    }
  }
  return context.choice();
}

// How the cores of the chip are shared out.
struct Plan {
  RelaxedGoal goal = RelaxedGoal::interval;
  double share = 1;            // of the chip's cores
  double bytes_per_cycle = 0;  // of queues
};

// Those that differ most come first.
std::vector<Plan> plans_of(const Trials& trials, double inputs, const device::DeviceDescriptor& device) {
  std::vector<double> rates{queue_rate(device)};
  if (trials.estimates() && rates.front() < dram_rate(device)) rates.push_back(dram_rate(device));
  std::vector<Plan> out;
  for (double share : kShares)
    for (double rate : rates)
      for (RelaxedGoal goal : {RelaxedGoal::latency, RelaxedGoal::interval})
        if (goal == RelaxedGoal::interval || (inputs < kFewInputs && trials.estimates())) out.push_back({goal, share, rate});
  return out;
}

// Keeps what differs, best first.
void add_trial(Trial trial, std::vector<Trial>& out) {
  if (std::any_of(out.begin(), out.end(), [&](const Trial& t) { return t.choice == trial.choice; })) return;
  out.insert(std::upper_bound(out.begin(), out.end(), trial, [](const Trial& a, const Trial& b) { return a.is_better(b); }),
             std::move(trial));
}

// Placements of the plans, in turns by all placers.
Result<std::vector<Trial>> first_trials(std::vector<PacedPlacer>& placers, Trials& trials, const std::vector<RelaxedOp>& ops,
                                        RelaxedChip chip) {
  std::vector<Trial> out;
  Failure failure;
  const device::DeviceDescriptor& device = placers.front().context().device();
  const auto cores = static_cast<double>(device.grid().volume());
  const std::size_t least = trials.placements_left() / 2;
  for (const Plan& plan : plans_of(trials, chip.inputs_per_epoch, device)) {
    chip.cores = std::max<std::int64_t>(static_cast<std::int64_t>(cores * plan.share), 1);
    chip.dram_bytes_per_cycle = plan.bytes_per_cycle;
    for (PacedPlacer& placer : placers) {
      if (!out.empty() && trials.estimates() && trials.placements_left() <= least) return out;
      auto choice =
          trials.estimates() ? place_by_and_by(placer, ops, chip, plan.goal) : place(placer, relaxed_epochs(ops, chip, plan.goal));
      if (choice) {
        add_trial(trials.rated(std::move(*choice)), out);
      } else {
        failure = std::move(choice).failure();
      }
    }
  }
  if (out.empty()) return failure;
  return out;
}

// The plans placed in the first free places, until one can be built: with cuts through smaller and smaller tensors, so that their queues
// fit DRAM.
void estimate_plain(PacedPlacer& placer, Trials& trials, const std::vector<RelaxedOp>& ops, RelaxedChip chip) {
  const device::DeviceDescriptor& device = placer.context().device();
  for (double part : kQueueRates)
    for (const Plan& plan : plans_of(trials, chip.inputs_per_epoch, device)) {
      chip.cores = std::max<std::int64_t>(static_cast<std::int64_t>(static_cast<double>(device.grid().volume()) * plan.share), 1);
      chip.dram_bytes_per_cycle = part * plan.bytes_per_cycle;
      auto choice = place(placer, relaxed_epochs(ops, chip, plan.goal));
      if (!choice) continue;
      Trial trial;
      trial.choice = std::move(*choice);
      trials.estimate(std::move(trial));
      if (!trials.best()->fails) return;
    }
}

// Of each epoch the best of several trials of the same epochs.
std::optional<Choice> join_best(PacedPlacer& placer, const std::vector<Trial>& several) {
  std::vector<const Choice*> choices;
  for (const Trial& t : several) choices.push_back(&t.choice);
  std::vector<std::size_t> from(several.front().epochs.size(), 0);
  for (std::size_t e = 0; e < from.size(); ++e)
    for (std::size_t k = 1; k < several.size(); ++k)
      if (several[k].epochs[e] < several[from[e]].epochs[e]) from[e] = k;
  auto choice = joined(placer, choices, from);
  if (!choice) return std::nullopt;
  return std::move(*choice);
}

// The epochs of a trial placed at other paces; of each epoch the best that is found. The rounds end when none is better.
Trial improved(std::vector<PacedPlacer>& placers, Trials& trials, Trial start, bool few) {
  std::vector<Pace> paces;
  for (double part : {0.8, 1.0, 0.6, 1.3, 0.9, 0.45, 0.7}) {
    paces.push_back([part](double, double interval) { return part * interval; });
    if (few) paces.push_back([part](double own, double) { return part * own; });
    // Those that do not hold the epoch up: the first input comes through sooner.
    if (part < 0.75) paces.push_back([part](double own, double interval) { return own > 0.8 * interval ? own : part * own; });
  }
  for (bool is_better = true; is_better && trials.placements_left() > 0;) {
    std::vector<Trial> others{start};
    for (const Pace& pace : paces)
      for (PacedPlacer& placer : placers) {
        if (trials.placements_left() == 0) break;
        auto choice = paced(placer, start.choice, pace);
        if (choice && choice->epochs() == start.choice.epochs()) others.push_back(trials.rated(std::move(*choice)));
      }
    auto choice = join_best(placers.front(), others);
    is_better = false;
    if (choice) others.push_back(trials.rated(std::move(*choice)));
    for (Trial& other : others)
      if (other.is_better(start)) {
        start = std::move(other);
        is_better = true;
      }
  }
  return start;
}

}  // namespace

Result<Choice> spread(PolicyContext& context, const SpreadOptions& options) {
  RelaxedChip chip;
  chip.inputs_per_epoch = options.inputs_per_epoch > 0 ? options.inputs_per_epoch : static_cast<double>(context.problem().microbatch);
  chip.cycles_per_epoch = kEpochChangeCycles;
  std::vector<RelaxedOp> ops;
  for (OpId id : context.schedule()) ops.push_back(relaxed(context, id, chip.inputs_per_epoch));
  LinkModel links(context);
  Trials trials(context, links, chip.inputs_per_epoch);
  std::vector<PlaceGoal> goals{PlaceGoal::first};
  // Where choices are not estimated, nothing tells whether links hold an epoch up.
  if (trials.estimates()) goals = {PlaceGoal::pairs, PlaceGoal::first};
  std::vector<PacedPlacer> placers;
  for (PlaceGoal goal : goals) placers.emplace_back(context, goal, &links);
  BUDA_ASSIGN(std::vector<Trial> first, first_trials(placers, trials, ops, chip));
  if (!trials.estimates()) {
    auto choice = tightened(placers.front(), first.front().choice);
    if (choice) add_trial(trials.rated(std::move(*choice)), first);
    return std::move(first.front().choice);
  }
  const Trial start = first.front();
  trials.estimate(improved(placers, trials, start, chip.inputs_per_epoch < kFewInputs));
  for (Trial& trial : first)
    if (trials.left() > 0 || trials.best()->fails) trials.estimate(std::move(trial));
  // Without any care for links, ops stand elsewhere.
  if (trials.best()->fails) estimate_plain(placers.back(), trials, ops, chip);
  return trials.take().choice;
}

}  // namespace buda::balance
