// Trial placements of one epoch after the other.
#include <buda/balance/solve/tighten_epochs.hpp>

#include <buda/balance/cost/cost.hpp>

#include <algorithm>

namespace buda::balance {
namespace {

// Parts of an epoch's interval that are tried: the middle one, then the one beside it.
constexpr double kMiddle = 0.75, kShorter = 0.6, kLonger = 0.88;

// Takes back the ops of an epoch from `begin` on, to place them anew.
void begin_again(PolicyContext& context, std::size_t begin) {
  context.rewind(context.schedule()[begin]);
  context.next_epoch();
}

// Whether ops [begin, end) stand in one epoch, none slower than it may be; otherwise they are taken back.
bool fits_within(PolicyContext& context, std::size_t begin, std::size_t end, std::span<const double> cycles) {
  const auto& schedule = context.schedule();
  for (std::size_t i = begin; i < end; ++i) {
    const bool stands = place_within(context, i, i + 1, cycles.subspan(i - begin, 1)).ok() &&
                        context.placed(schedule[i]).epoch == context.placed(schedule[begin]).epoch &&
                        context.placed(schedule[i]).model.cycles <= cycles[i - begin];
    if (stands) continue;
    begin_again(context, begin);
    return false;
  }
  return true;
}

// Whether ops [begin, end) stand as a choice has them; otherwise they are taken back.
bool stand_as_in(PolicyContext& context, std::size_t begin, std::size_t end, const Choice& choice) {
  const auto& schedule = context.schedule();
  for (std::size_t i = begin; i < end; ++i) {
    const PlacedOp& op = choice.ops[schedule[i].index()];
    if (context.place_at(schedule[i], op.model, op.place)) continue;
    if (i > begin) begin_again(context, begin);
    return false;
  }
  return true;
}

// Where the epochs of a choice begin in the schedule, and its end.
std::vector<std::size_t> bounds_of(const PolicyContext& context, const Choice& choice) {
  const auto& schedule = context.schedule();
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < schedule.size(); ++i)
    if (i == 0 || choice.ops[schedule[i].index()].epoch != choice.ops[schedule[i - 1].index()].epoch) out.push_back(i);
  out.push_back(schedule.size());
  return out;
}

// Of ops [begin, end) of a choice.
std::vector<double> cycles_of(const PolicyContext& context, const Choice& choice, std::size_t begin, std::size_t end) {
  std::vector<double> out;
  for (std::size_t i = begin; i < end; ++i) out.push_back(choice.ops[context.schedule()[i].index()].model.cycles);
  return out;
}

}  // namespace

double source_bytes(const PolicyContext& context, OpId op, const OpModel& model) {
  const OpSpec& spec = context.op(op);
  const auto inputs = static_cast<double>(std::max(context.problem().microbatch, 1));
  double out = 0;
  for (std::size_t i = 0; i < spec.operands.size(); ++i) {
    if (!spec.operands[i].from.source.valid()) continue;
    const double bytes = static_cast<double>(spec.operands[i].shape.volume()) *
                         tile_bytes(spec.op.inputs[i].format, TileDim{}, context.device().tile_alignment);
    out += model.is_resident(i) ? bytes / inputs : bytes;
  }
  return out;
}

Result<void> place_within(PolicyContext& context, std::size_t begin, std::size_t end, std::span<const double> cycles) {
  const auto cores = static_cast<double>(context.device().grid().volume());
  for (std::size_t i = begin; i < end; ++i) {
    const OpId op = context.schedule()[i];
    const double most = cycles[i - begin], bytes = std::max(most, 1.0) * dram_rate(context.device());
    // What is compared often is counted once.
    const auto models = context.models(op);
    std::vector<double> shares;
    for (const OpModel& m : models) shares.push_back(static_cast<double>(m.cores()) / cores + source_bytes(context, op, m) / bytes);
    auto preferred = [&](const OpModel& a, const OpModel& b) {
      const bool keeps_up = a.cycles <= most;
      if (keeps_up != (b.cycles <= most)) return keeps_up;
      if (!keeps_up) return a.cycles != b.cycles ? a.cycles < b.cycles : a.cores() < b.cores();
      const double of_a = shares[static_cast<std::size_t>(&a - models.data())], of_b = shares[static_cast<std::size_t>(&b - models.data())];
      if (of_a != of_b) return of_a < of_b;
      if (a.stream.parts != b.stream.parts) return a.stream.parts < b.stream.parts;
      return a.cycles < b.cycles;
    };
    BUDA_TRY(context.place_best(op, preferred));
  }
  return success();
}

Result<Choice> tightened(PolicyContext& context, const Choice& choice) {
  const auto bounds = bounds_of(context, choice);
  if (!context.schedule().empty()) context.rewind(context.schedule().front());
  for (std::size_t e = 0; e + 1 < bounds.size(); ++e) {
    const std::size_t begin = bounds[e], end = bounds[e + 1];
    const auto own = cycles_of(context, choice, begin, end);
    const double interval = *std::max_element(own.begin(), own.end());
    auto at = [&](double part) { return std::vector<double>(end - begin, part * interval); };
    context.next_epoch();
    const bool middle = fits_within(context, begin, end, at(kMiddle));
    if (middle) begin_again(context, begin);
    if (fits_within(context, begin, end, at(middle ? kShorter : kLonger))) continue;
    BUDA_TRY(place_within(context, begin, end, at(middle ? kMiddle : 1)));
  }
  return context.choice();
}

Result<Choice> paced(PolicyContext& context, const Choice& choice, const Pace& pace) {
  const auto bounds = bounds_of(context, choice);
  if (!context.schedule().empty()) context.rewind(context.schedule().front());
  for (std::size_t e = 0; e + 1 < bounds.size(); ++e) {
    const std::size_t begin = bounds[e], end = bounds[e + 1];
    const auto own = cycles_of(context, choice, begin, end);
    const double interval = *std::max_element(own.begin(), own.end());
    std::vector<double> cycles;
    for (double c : own) cycles.push_back(pace(c, interval));
    context.next_epoch();
    if (fits_within(context, begin, end, cycles) || stand_as_in(context, begin, end, choice)) continue;
    BUDA_TRY(place_within(context, begin, end, std::vector<double>(end - begin, interval)));
  }
  return context.choice();
}

Result<Choice> joined(PolicyContext& context, const std::vector<const Choice*>& choices, const std::vector<std::size_t>& from) {
  const auto bounds = bounds_of(context, *choices.front());
  if (!context.schedule().empty()) context.rewind(context.schedule().front());
  for (std::size_t e = 0; e + 1 < bounds.size(); ++e) {
    const std::size_t begin = bounds[e], end = bounds[e + 1];
    context.next_epoch();
    if (stand_as_in(context, begin, end, *choices[from[e]]) || stand_as_in(context, begin, end, *choices.front())) continue;
    BUDA_TRY(place_within(context, begin, end, cycles_of(context, *choices.front(), begin, end)));
  }
  return context.choice();
}

}  // namespace buda::balance
