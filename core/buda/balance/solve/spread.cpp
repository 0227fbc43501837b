// From relaxed epochs to placed ops.
#include <buda/balance/solve/spread.hpp>

#include <buda/balance/cost/cost.hpp>
#include <buda/balance/solve/relaxed_epochs.hpp>
#include <buda/balance/solve/tighten_epochs.hpp>

#include <algorithm>
#include <optional>

namespace buda::balance {
namespace {

// Shares of the chip's cores that are planned with.
constexpr double kShares[] = {1.0, 0.9, 0.8, 0.65};
// Cycles from the end of an epoch to the first input of the next: queue headers and stream programs are loaded.
constexpr double kCyclesPerEpoch = 50'000;

double bytes_of(const netlist::TileShape& shape, DataFormat format, const device::DeviceDescriptor& device) {
  return static_cast<double>(shape.volume()) * tile_bytes(format, TileDim{}, device.tile_alignment);
}

RelaxedOp relaxed(const PolicyContext& context, OpId id) {
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
    } else if (!best.is_resident(i)) {
      out.dram_bytes += bytes;
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
  for (const RelaxedEpoch& epoch : epochs) {
    context.next_epoch();
    for (std::size_t i = epoch.begin; i < epoch.end; ++i) {
      auto placed = place_within(context, i, i + 1, epoch.interval);
      if (placed) continue;
      const std::size_t from = last_producer(context, i);
      if (from == i) return std::move(placed).failure();
      context.rewind(context.schedule()[from]);
      context.next_epoch();
      BUDA_TRY(place_within(context, from, i + 1, epoch.interval));
    }
  }
  return context.choice();
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
  std::vector<RelaxedOp> ops;
  for (OpId id : context.schedule()) ops.push_back(relaxed(context, id));
  const auto& device = context.device();
  RelaxedChip chip;
  chip.inputs_per_epoch = options.inputs_per_epoch > 0 ? options.inputs_per_epoch : static_cast<double>(context.problem().microbatch);
  chip.cycles_per_epoch = kCyclesPerEpoch;
  chip.dram_bytes_per_cycle = dram_rate(device);
  std::optional<Choice> best;
  double least = 0;
  auto offer = [&](Choice choice) {
    const double cycles = pipelined_cycles(choice) + choice.epochs() * kCyclesPerEpoch / chip.inputs_per_epoch;
    if (best && cycles >= least) return;
    least = cycles;
    best = std::move(choice);
  };
  Failure failure;
  for (double share : kShares) {
    chip.cores = std::max<std::int64_t>(static_cast<std::int64_t>(static_cast<double>(device.grid().volume()) * share), 1);
    if (!context.schedule().empty()) context.rewind(context.schedule().front());
    if (auto choice = place(context, relaxed_epochs(ops, chip))) {
      offer(std::move(*choice));
    } else {
      failure = std::move(choice).failure();
    }
  }
  if (!best) return failure;
  if (auto choice = tightened(context, *best)) offer(std::move(*choice));
  return std::move(*best);
}

}  // namespace buda::balance
