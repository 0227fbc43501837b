// Trial placements of one epoch after the other.
#include <buda/balance/solve/tighten_epochs.hpp>

#include <algorithm>

namespace buda::balance {
namespace {

// Parts of an epoch's interval that are tried: the middle one, then the one beside it.
constexpr double kMiddle = 0.75, kShorter = 0.6, kLonger = 0.88;

// Whether ops [begin, end) stand in one epoch, none slower than `interval`; otherwise they are taken back.
bool fits_within(PolicyContext& context, std::size_t begin, std::size_t end, double interval) {
  const auto& schedule = context.schedule();
  for (std::size_t i = begin; i < end; ++i) {
    const bool stands = place_within(context, i, i + 1, interval).ok() && context.placed(schedule[i]).epoch == context.placed(schedule[begin]).epoch &&
                        context.placed(schedule[i]).model.cycles <= interval;
    if (stands) continue;
    context.rewind(schedule[begin]);
    context.next_epoch();
    return false;
  }
  return true;
}

}  // namespace

Result<void> place_within(PolicyContext& context, std::size_t begin, std::size_t end, double interval) {
  auto preferred = [&](const OpModel& a, const OpModel& b) {
    const bool keeps_up = a.cycles <= interval;
    if (keeps_up != (b.cycles <= interval)) return keeps_up;
    if (!keeps_up) return a.cycles != b.cycles ? a.cycles < b.cycles : a.cores() < b.cores();
    if (a.cores() != b.cores()) return a.cores() < b.cores();
    if (a.stream.parts != b.stream.parts) return a.stream.parts < b.stream.parts;
    return a.cycles < b.cycles;
  };
  for (std::size_t i = begin; i < end; ++i) BUDA_TRY(context.place_best(context.schedule()[i], preferred));
  return success();
}

Result<Choice> tightened(PolicyContext& context, const Choice& choice) {
  const auto& schedule = context.schedule();
  auto epoch_of = [&](std::size_t i) { return choice.ops[schedule[i].index()].epoch; };
  if (!schedule.empty()) context.rewind(schedule.front());
  for (std::size_t begin = 0, end = 0; begin < schedule.size(); begin = end) {
    double interval = 0;
    for (end = begin; end < schedule.size() && epoch_of(end) == epoch_of(begin); ++end)
      interval = std::max(interval, choice.ops[schedule[end].index()].model.cycles);
    context.next_epoch();
    const bool middle = fits_within(context, begin, end, kMiddle * interval);
    if (middle) {
      context.rewind(schedule[begin]);
      context.next_epoch();
    }
    const double other = middle ? kShorter : kLonger;
    if (fits_within(context, begin, end, other * interval)) continue;
    BUDA_TRY(place_within(context, begin, end, middle ? kMiddle * interval : interval));
  }
  return context.choice();
}

}  // namespace buda::balance
