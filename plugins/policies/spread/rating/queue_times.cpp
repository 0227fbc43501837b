// SPDX-License-Identifier: Apache-2.0
// Times of reading and writing queues.
#include "queue_times.hpp"

#include <buda/balance/cost/cost.hpp>
#include <buda/balance/policy/neighbours.hpp>
#include "link_loads.hpp"
#include "moved_queues.hpp"

#include <algorithm>
#include <limits>

namespace buda::balance {
namespace {

// A result that a reader takes so many times over is spread over channels.
constexpr double kManyTimes = 4;

// `is_apart(other)`: whether op `other` runs in another epoch.
template <class IsApart>
QueueWays ways(const OpSpec& spec, IsApart is_apart) {
  QueueWays out;
  for (std::size_t i = 0; i < spec.operands.size() && i < 32; ++i) {
    const Operand& operand = spec.operands[i];
    if (operand.from.op.valid() && (operand.queued || is_apart(operand.from.op))) out.read |= std::uint32_t{1} << i;
  }
  out.written = std::any_of(spec.users.begin(), spec.users.end(), [&](const OpUse& use) { return is_apart(use.op); });
  return out;
}

// The number of a model among those of its op.
std::size_t number_of(const OpModel& model, std::span<const OpModel> all) {
  for (std::size_t i = 0; i < all.size(); ++i)
    if (&all[i] == &model) return i;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].grid == model.grid && shape_of(all[i]) == shape_of(model)) return i;
  return 0;
}

}  // namespace

QueueWays ways_in_epoch(const Placement& placement, OpId op, std::size_t end) {
  return ways(placement.space().op(op), [&](OpId other) {
    return placement.is_placed(other) ? placement.placed(other).epoch != placement.epoch() : other.index() >= end;
  });
}

QueueWays ways_in_choice(const Placement& placement, const Choice& choice, OpId op) {
  const std::int32_t epoch = choice.ops[op.index()].epoch;
  return ways(placement.space().op(op), [&](OpId other) { return choice.ops[other.index()].epoch != epoch; });
}

double QueueTimes::cycles(OpId op, const OpModel& model, QueueWays ways) {
  double out = model.cycles;
  if (ways.read == 0 && !ways.written) return out;
  const Times& times = this->times(op, model);
  if (ways.written) out = std::max(out, times.written);
  for (std::size_t i = 0; i < times.read.size() && i < 32; ++i)
    if ((ways.read >> i & 1) != 0) out = std::max(out, times.read[i]);
  return out;
}

double QueueTimes::read_again(OpId op, const OpModel& model) {
  std::optional<ReadAgain>& known = read_again_[op.index()];
  if (!known) {
    const OpSpec& spec = placement_.space().op(op);
    known = ReadAgain{};
    for (const OpUse& use : spec.users) {
      double least = std::numeric_limits<double>::infinity();
      for (const OpModel& reader : placement_.space().models_of(use.op))
        least = std::min(least, queue_bytes(placement_, with_model(placement_.space().op(use.op), reader), reader, use.input));
      known->bytes = std::max(known->bytes, least);
    }
    if (known->bytes < kManyTimes * tensor_bytes(spec.out, spec.op.out_format, placement_.space().device())) known->bytes = 0;
    const auto channels = static_cast<std::int64_t>(placement_.space().device().dram.channels.size());
    for (const OpModel& m : placement_.space().models_of(op)) known->buffers = std::max(known->buffers, std::min(m.cores(), channels));
  }
  if (known->bytes == 0 || model.cores() >= known->buffers) return 0;
  return channel_cycles(known->bytes / static_cast<double>(model.cores()), placement_.space().device());
}

const std::vector<QueueTimes::SourceReads>& QueueTimes::source_reads(OpId op) {
  std::vector<SourceReads>& out = reads_[placement_.space().kind_of(op)];
  if (!out.empty()) return out;
  const OpSpec& spec = placement_.space().op(op);
  const bool any = std::any_of(spec.operands.begin(), spec.operands.end(), [](const Operand& o) { return o.from.source.valid(); });
  out.resize(placement_.space().models_of(op).size());
  for (std::size_t k = 0; any && k < out.size(); ++k) {
    const OpModel& model = placement_.space().models_of(op)[k];
    const netlist::Op blocked = with_model(spec, model);
    for (std::size_t i = 0; i < spec.operands.size(); ++i) {
      if (!spec.operands[i].from.source.valid()) continue;
      const double bytes = queue_bytes(placement_, blocked, model, i);
      const auto buffers = static_cast<double>(queue_buffers(placement_, op, model, i, nullptr));
      out[k].bytes += bytes;
      out[k].cycles = std::max(out[k].cycles, channel_cycles(bytes / buffers, placement_.space().device()));
    }
  }
  return out;
}

const QueueTimes::Times& QueueTimes::times(OpId op, const OpModel& model) {
  const auto models = placement_.space().models_of(op);
  std::vector<Times>& all = times_[placement_.space().kind_of(op)];
  if (all.empty()) {
    const OpSpec& spec = placement_.space().op(op);
    Traffic traffic;
    traffic.input_from_dram.assign(spec.operands.size(), true);
    traffic.output_to_dram = true;
    for (const OpModel& m : models) {
      OpCycles cycles = estimate(with_model(spec, m), m.kernel_cycles, traffic, placement_.space().device());
      all.push_back({std::move(cycles.inputs), cycles.output});
    }
  }
  return all[number_of(model, models)];
}

}  // namespace buda::balance
