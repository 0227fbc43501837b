// Ratings of choices.
#include <buda/balance/solve/trials.hpp>

#include <buda/balance/cost/cost.hpp>
#include <buda/balance/queues/dram.hpp>
#include <buda/balance/queues/queues.hpp>
#include <buda/balance/solve/relieve_links.hpp>
#include <buda/balance/solve/spread.hpp>
#include <buda/balance/solve/tighten_epochs.hpp>

#include <algorithm>
#include <numeric>

namespace buda::balance {
namespace {

// Ops that are placed in all trials together, about a second's worth, and the most trials; the same for estimates. Larger problems are
// rated by their ops.
constexpr std::size_t kPlacedOps = 6'000, kFewestPlacements = 6, kMostPlacements = 42;
constexpr std::size_t kEstimatedOps = 2'000, kFewestEstimates = 2, kMostEstimates = 6;
constexpr std::size_t kLargestProblem = 2'000;
// The part of DRAM that queues between epochs may take.
constexpr double kFullDram = 0.85;

// What queues move passes those links that are near the ports of DRAM: about so many links' worth at a time.
constexpr double kLinksOfQueues = 2.5;

double tensor_bytes(const netlist::TileShape& shape, DataFormat format, const device::DeviceDescriptor& device) {
  return static_cast<double>(shape.volume()) * tile_bytes(format, TileDim{}, device.tile_alignment);
}

// Cycles per input that DRAM needs for each epoch: at least for the mean of its channels, and for the largest buffer.
std::vector<double> dram_cycles(const PolicyContext& context, const Choice& choice) {
  const auto epochs = static_cast<std::size_t>(choice.epochs());
  std::vector<double> bytes(epochs, 0), largest(epochs, 0), out;
  for (OpId id : context.schedule()) {
    const OpSpec& spec = context.op(id);
    const PlacedOp& op = choice.ops[id.index()];
    const auto e = static_cast<std::size_t>(op.epoch);
    auto is_elsewhere = [&](OpId other) { return choice.ops[other.index()].epoch != op.epoch; };
    auto add = [&](double moved, std::int64_t buffers) {
      bytes[e] += moved;
      largest[e] = std::max(largest[e], moved / static_cast<double>(std::max<std::int64_t>(buffers, 1)));
    };
    const netlist::Op blocked = with_model(spec, op.model);
    for (std::size_t i = 0; i < spec.operands.size(); ++i) {
      const OpId from = spec.operands[i].from.op;
      if (from.valid() && !is_elsewhere(from)) continue;
      add(queue_bytes(context, blocked, op.model, i),
          queue_buffers(context, id, op.model, i, from.valid() ? &choice.ops[from.index()].model : nullptr));
    }
    if (spec.outputs > 0 || std::any_of(spec.users.begin(), spec.users.end(), [&](const OpUse& use) { return is_elsewhere(use.op); }))
      add(tensor_bytes(spec.out, spec.op.out_format, context.device()), op.model.cores());
  }
  for (std::size_t e = 0; e < epochs; ++e)
    out.push_back(std::max(bytes[e] / dram_rate(context.device()), channel_cycles(largest[e], context.device())));
  return out;
}

// Whether the queues between epochs would fill DRAM, before anything else is in it. Some of it remains unused where buffers are large.
bool fills_dram(const PolicyContext& context, const Choice& choice) {
  const DramAllocator dram(context.device());
  const auto channels = static_cast<double>(context.device().dram.channels.size());
  const auto largest = static_cast<double>(dram.largest_block());
  double all = 0, most = 0;
  for (OpId id : context.schedule()) {
    const OpSpec& spec = context.op(id);
    const PlacedOp& op = choice.ops[id.index()];
    if (std::none_of(spec.users.begin(), spec.users.end(), [&](const OpUse& u) { return choice.ops[u.op.index()].epoch != op.epoch; }))
      continue;
    const double bytes =
        static_cast<double>(epoch_entries(context.problem())) * tensor_bytes(spec.out, spec.op.out_format, context.device());
    all += bytes;
    most = std::max(most, bytes / static_cast<double>(op.model.cores()));
  }
  return all > kFullDram * largest * channels || most > largest;
}

// Cycles of the slowest op of each epoch.
std::vector<double> slowest_ops(const Choice& choice) {
  std::vector<double> out(static_cast<std::size_t>(choice.epochs()), 0);
  for (const PlacedOp& op : choice.ops) {
    double& cycles = out[static_cast<std::size_t>(op.epoch)];
    cycles = std::max(cycles, op.model.cycles);
  }
  return out;
}

}  // namespace

double queue_rate(const device::DeviceDescriptor& device) {
  return std::min(dram_rate(device), kLinksOfQueues * std::max(device.cost.noc_bytes_per_cycle, 1e-9));
}

double pipelined_cycles(const Choice& choice) {
  const std::vector<double> slowest = slowest_ops(choice);
  return std::accumulate(slowest.begin(), slowest.end(), 0.0);
}

Trials::Trials(PolicyContext& context, LinkModel& links, double inputs)
    : context_(context), links_(links), inputs_(inputs), estimates_(context.estimates() && context.schedule().size() <= kLargestProblem) {
  const std::size_t ops = std::max<std::size_t>(context.schedule().size(), 1);
  placements_ = estimates_ ? std::clamp(kPlacedOps / ops, kFewestPlacements, kMostPlacements) : kFewestPlacements;
  left_ = estimates_ ? std::clamp(kEstimatedOps / ops, kFewestEstimates, kMostEstimates) : 0;
}

void Trials::sum_up(Trial& trial) const {
  const double sum = std::accumulate(trial.epochs.begin(), trial.epochs.end(), 0.0);
  trial.cycles = sum / static_cast<double>(std::max(context_.problem().microbatch, 1)) +
                 static_cast<double>(trial.epochs.size()) * kEpochChangeCycles / inputs_;
}

Trial Trials::rated(Choice choice) {
  if (placements_ > 0) --placements_;
  Trial out;
  std::vector<double> links(static_cast<std::size_t>(choice.epochs()), 0), latency = links;
  if (estimates_) {
    if (auto better = relieved(context_, links_, choice)) {
      choice = std::move(better->choice);
      links = std::move(better->links);
      latency = std::move(better->latency);
    }
  }
  const std::vector<double> slowest = slowest_ops(choice), dram = dram_cycles(context_, choice);
  const auto more = static_cast<double>(std::max(context_.problem().microbatch, 1) - 1);
  for (std::size_t e = 0; e < slowest.size(); ++e) {
    const double path = std::max(dram[e], links[e]), interval = std::max(slowest[e], path);
    out.epochs.push_back(std::max({latency[e], slowest[e], path}) + more * interval);
  }
  out.fails = fills_dram(context_, choice);
  out.choice = std::move(choice);
  sum_up(out);
  return out;
}

void Trials::estimate(Trial trial) {
  if (left_ > 0) --left_;
  if (auto epochs = context_.estimate(trial.choice)) {
    trial.epochs = std::move(*epochs);
    sum_up(trial);
  } else {
    trial.fails = true;
  }
  if (!best_ || trial.is_better(*best_)) best_ = std::move(trial);
}

}  // namespace buda::balance
