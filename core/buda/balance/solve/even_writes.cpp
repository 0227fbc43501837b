// One epoch after the other, each uneven writer with its smallest even model.
#include <buda/balance/solve/even_writes.hpp>

#include <buda/balance/queues/dram.hpp>
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
  std::int64_t cores = 0;  // of which none writes more than a channel's share
};

// Cycles per input of the slowest op of the context's present epoch.
double slowest_op(const PolicyContext& context, LinkModel& links, std::size_t end) {
  double out = 0;
  for (OpId id : context.in_epoch()) out = std::max(out, links.times.cycles(id, context.placed(id).model, ways_in_epoch(context, id, end)));
  return out;
}

// Of how many cores each op's result should come, so that none of its buffers is too large; by OpId, 0 where that is so already.
std::vector<std::int64_t> cores_wanted(PolicyContext& context, LinkModel& links, const Choice& choice, Unevenness which) {
  std::vector<std::int64_t> out(choice.ops.size(), 0);
  const auto banks =
      static_cast<double>(std::max<std::size_t>(context.device().dram.channels.size(), 1)) * halves_of_channel(context.device());
  auto visited = for_each_epoch(context, choice, [&](std::size_t end) {
    const std::vector<MovedQueue> queues = moved_queues(context, end);
    double all = 0;
    for (const MovedQueue& queue : queues) all += queue.bytes;
    if (all * std::max(context.problem().microbatch, 1) < kFewBytes) return;
    double most = kMostOfAShare * all / banks;
    if (which == Unevenness::holds_up)
      most = std::max(most, slowest_op(context, links, end) / std::max(channel_cycles(1, context.device()), 1e-9));
    for (const MovedQueue& queue : queues) {
      if (!queue.op.valid() || queue.bytes <= most * static_cast<double>(queue.buffers)) continue;
      std::int64_t& wanted = out[queue.op.index()];
      wanted = std::max(wanted, static_cast<std::int64_t>(queue.bytes / most) + 1);
    }
  });
  if (!visited) out.assign(out.size(), 0);
  return out;
}

// Of the context's present epoch, in the order of the schedule.
std::vector<Writer> uneven_writers(const PolicyContext& context, const std::vector<std::int64_t>& wanted) {
  std::vector<Writer> out;
  for (OpId id : context.in_epoch())
    if (wanted[id.index()] > context.placed(id).model.cores()) out.push_back({id, wanted[id.index()]});
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

std::optional<Choice> with_even_writes(PolicyContext& context, LinkModel& links, Choice choice, Unevenness which) {
  const std::vector<std::size_t> bounds = bounds_of(context, choice);
  const std::vector<std::int64_t> wanted = cores_wanted(context, links, choice, which);
  if (std::all_of(wanted.begin(), wanted.end(), [](std::int64_t cores) { return cores == 0; })) return std::nullopt;
  bool changed = false;
  if (!context.schedule().empty()) context.rewind(context.schedule().front());
  for (std::size_t e = 0; e + 1 < bounds.size(); ++e) {
    const std::size_t begin = bounds[e], end = bounds[e + 1];
    context.next_epoch();
    if (!stand_as_in(context, begin, end, choice)) return std::nullopt;
    for (const Writer& writer : uneven_writers(context, wanted))
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
