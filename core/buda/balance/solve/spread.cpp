// From relaxed epochs to placed ops.
#include <buda/balance/solve/spread.hpp>

#include <buda/balance/cost/cost.hpp>
#include <buda/balance/solve/relaxed_epochs.hpp>
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
Result<Choice> place(PolicyContext& context, const std::vector<RelaxedEpoch>& epochs) {
  if (!context.schedule().empty()) context.rewind(context.schedule().front());
  for (const RelaxedEpoch& epoch : epochs) {
    const std::span<const double> cycles = epoch.cycles;
    context.next_epoch();
    for (std::size_t i = epoch.begin; i < epoch.end; ++i) {
      auto placed = place_within(context, i, i + 1, cycles.subspan(i - epoch.begin, 1));
      if (placed) continue;
      const std::size_t from = last_producer(context, i);
      if (from == i) return std::move(placed).failure();
      context.rewind(context.schedule()[from]);
      context.next_epoch();
      BUDA_TRY(place_within(context, from, i + 1, std::vector<double>(i + 1 - from, epoch.interval)));
    }
  }
  return context.choice();
}

// Placements of the cuts for several shares of the chip, and each with its epochs tightened; the best by their ops first.
Result<std::vector<Trial>> first_trials(PolicyContext& context, const Trials& trials, const std::vector<RelaxedOp>& ops, RelaxedChip chip) {
  std::vector<Trial> out;
  Failure failure;
  auto add = [&](Choice choice) {
    if (std::none_of(out.begin(), out.end(), [&](const Trial& t) { return t.choice == choice; }))
      out.push_back(trials.rated(std::move(choice)));
  };
  const bool few = chip.inputs_per_epoch < kFewInputs && trials.estimates();
  const auto cores = static_cast<double>(context.device().grid().volume());
  for (RelaxedGoal goal : {RelaxedGoal::interval, RelaxedGoal::latency}) {
    if (goal == RelaxedGoal::latency && !few) continue;
    for (double share : kShares) {
      chip.cores = std::max<std::int64_t>(static_cast<std::int64_t>(cores * share), 1);
      if (auto choice = place(context, relaxed_epochs(ops, chip, goal))) {
        add(std::move(*choice));
      } else {
        failure = std::move(choice).failure();
      }
    }
  }
  if (out.empty()) return failure;
  auto better = [](const Trial& a, const Trial& b) { return a.is_better(b); };
  std::stable_sort(out.begin(), out.end(), better);
  const std::size_t placed = trials.estimates() ? out.size() : 1;
  for (std::size_t i = 0; i < placed; ++i)
    if (auto choice = tightened(context, out[i].choice)) add(std::move(*choice));
  std::stable_sort(out.begin(), out.end(), better);
  return out;
}

// The epochs of a trial placed at other paces; of each epoch the best that is found. The rounds end when none is better.
void improve(PolicyContext& context, Trials& trials, bool few) {
  std::vector<Pace> paces;
  for (double part : {0.8, 0.6, 1.3, 0.9, 0.45, 1.7, 0.7, 2.5}) {
    paces.push_back([part](double, double interval) { return part * interval; });
    if (few) paces.push_back([part](double own, double) { return part * own; });
  }
  for (bool is_better = true; is_better && trials.left() > 1;) {
    const Trial start = *trials.best();
    std::vector<Trial> others{start};
    for (const Pace& pace : paces) {
      if (trials.left() <= 1) break;
      auto choice = paced(context, start.choice, pace);
      if (!choice || choice->epochs() != start.choice.epochs() || *choice == start.choice) continue;
      Trial other = trials.estimated(std::move(*choice));
      if (!other.fails) others.push_back(std::move(other));
    }
    std::vector<const Choice*> choices;
    for (const Trial& t : others) choices.push_back(&t.choice);
    std::vector<std::size_t> from(start.epochs.size(), 0);
    for (std::size_t e = 0; e < from.size(); ++e)
      for (std::size_t k = 1; k < others.size(); ++k)
        if (others[k].epochs[e] < others[from[e]].epochs[e]) from[e] = k;
    if (auto choice = joined(context, choices, from)) trials.estimated(std::move(*choice));
    is_better = trials.best()->is_better(start);
  }
}

}  // namespace

double pipelined_cycles(const Choice& choice) {
  std::vector<double> slowest(static_cast<std::size_t>(choice.epochs()), 0);
  for (const PlacedOp& op : choice.ops) {
    double& cycles = slowest[static_cast<std::size_t>(op.epoch)];
    cycles = std::max(cycles, op.model.cycles);
  }
  double sum = 0;
  for (double cycles : slowest) sum += cycles;
  return sum;
}

Result<Choice> spread(PolicyContext& context, const SpreadOptions& options) {
  const auto& device = context.device();
  RelaxedChip chip;
  chip.inputs_per_epoch = options.inputs_per_epoch > 0 ? options.inputs_per_epoch : static_cast<double>(context.problem().microbatch);
  chip.cycles_per_epoch = kEpochChangeCycles;
  chip.dram_bytes_per_cycle = dram_rate(device);
  std::vector<RelaxedOp> ops;
  for (OpId id : context.schedule()) ops.push_back(relaxed(context, id, chip.inputs_per_epoch));
  Trials trials(context, chip.inputs_per_epoch);
  BUDA_ASSIGN(std::vector<Trial> first, first_trials(context, trials, ops, chip));
  if (!trials.estimates()) return std::move(first.front().choice);
  const std::size_t most = std::max<std::size_t>(trials.left() / 2, 1);
  for (std::size_t i = 0; i < first.size() && trials.left() > 0; ++i)
    if (i < most || trials.best()->fails) trials.estimated(std::move(first[i].choice));
  if (!trials.best()->fails) improve(context, trials, chip.inputs_per_epoch < kFewInputs);
  return trials.take().choice;
}

}  // namespace buda::balance
