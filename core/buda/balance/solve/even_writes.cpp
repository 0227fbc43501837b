// One epoch after the other, each uneven writer with its smallest even model.
#include <buda/balance/solve/even_writes.hpp>

#include <buda/balance/solve/moved_queues.hpp>
#include <buda/balance/solve/tighten_epochs.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace buda::balance {
namespace {

// Of a channel's share, what one buffer may have; and bytes that an epoch moves at least for it to matter.
constexpr double kMostOfAShare = 1.2, kFewBytes = 1e6;
// Models that are tried for an op.
constexpr std::size_t kMostTried = 4;

struct Writer {
  OpId op;
  std::int64_t cores = 0;  // of which each writes no more than a channel's share
};

// Of the context's present epoch, which ends before number `end` of the schedule.
std::vector<Writer> uneven_writers(const PolicyContext& context, std::size_t end) {
  const std::vector<MovedQueue> queues = moved_queues(context, end);
  double all = 0;
  for (const MovedQueue& queue : queues) all += queue.bytes;
  std::vector<Writer> out;
  if (all * std::max(context.problem().microbatch, 1) < kFewBytes) return out;
  const double most = kMostOfAShare * all / static_cast<double>(std::max<std::size_t>(context.device().dram.channels.size(), 1));
  for (const MovedQueue& queue : queues)
    if (queue.writer.valid() && queue.bytes > most * static_cast<double>(queue.buffers))
      out.push_back({queue.writer, static_cast<std::int64_t>(queue.bytes / most) + 1});
  return out;
}

// Those of enough cores that are no slower than the present one, the smallest first.
std::vector<const OpModel*> larger_models(const PolicyContext& context, LinkModel& links, const Writer& writer, std::size_t end) {
  const QueueWays ways = ways_in_epoch(context, writer.op, end);
  const OpModel& present = context.placed(writer.op).model;
  const double most = links.times.cycles(writer.op, present, ways);
  std::vector<const OpModel*> out;
  for (const OpModel& model : context.models(writer.op))
    if (model.cores() >= writer.cores && model.cores() <= present.cores() + context.placer().free_cores() &&
        links.times.cycles(writer.op, model, ways) <= most)
      out.push_back(&model);
  std::stable_sort(out.begin(), out.end(), [](const OpModel* a, const OpModel* b) { return a->cores() < b->cores(); });
  out.resize(std::min(out.size(), kMostTried));
  return out;
}

// A free place beside the other ops of the present epoch.
std::optional<Place> place_beside_others(const PolicyContext& context, OpId op, GridShape grid) {
  Placer chip(context.placer().chip());
  for (OpId other : context.in_epoch())
    if (other != op) chip.take(Placer::rect_of(context.placed(other).model.grid, context.placed(other).place));
  return chip.find(grid, context.place_rule(op));
}

}  // namespace

std::optional<Choice> with_even_writes(PolicyContext& context, LinkModel& links, Choice choice) {
  const std::vector<std::size_t> bounds = bounds_of(context, choice);
  bool changed = false;
  if (!context.schedule().empty()) context.rewind(context.schedule().front());
  for (std::size_t e = 0; e + 1 < bounds.size(); ++e) {
    const std::size_t begin = bounds[e], end = bounds[e + 1];
    context.next_epoch();
    if (!stand_as_in(context, begin, end, choice)) return std::nullopt;
    for (const Writer& writer : uneven_writers(context, end))
      for (const OpModel* model : larger_models(context, links, writer, end)) {
        const auto place = place_beside_others(context, writer.op, model->grid);
        if (!place) continue;
        Choice other = choice;
        other.ops[writer.op.index()].model = *model;
        other.ops[writer.op.index()].place = *place;
        begin_again(context, begin);
        const bool stands = stand_as_in(context, begin, end, other);
        if (stands) choice = std::move(other);
        changed = changed || stands;
        if (stands) break;
        if (!stand_as_in(context, begin, end, choice)) return std::nullopt;
      }
  }
  if (!changed) return std::nullopt;
  return choice;
}

}  // namespace buda::balance
