// SPDX-License-Identifier: Apache-2.0
// Places the choice again, epoch by epoch, and tries the next op beside each.
#include <buda/balance/bounds/epoch_ends.hpp>

#include <buda/balance/bounds/bounds.hpp>
#include <buda/balance/policy/replay.hpp>
#include <buda/base/text.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace buda::balance {
namespace {

// Models whose objections are looked at before the epoch counts as one that its neighbours close: the smallest that have room.
constexpr std::size_t kTriedModels = 24;

std::string no_room_text(const PolicyContext& context, OpId next) {
  const std::int64_t idle = context.placer().free_cores(), least = context.models(next).front().cores();
  return cat("op '", context.op(next).label, "' has no room: its smallest grid takes ", least, least == 1 ? " core" : " cores", ", and ",
             idle, idle == 1 ? " core is idle" : " cores are idle");
}

// What keeps op `next` out of the context's epoch.
std::string why_apart(const PolicyContext& context, OpId next, double interval) {
  const std::string& label = context.op(next).label;
  if (context.overrides()[next.index()].epoch_break == true) return cat("op '", label, "' was requested to begin an epoch");
  std::optional<double> fastest;
  std::optional<Diagnostic> objection;
  std::size_t tried = 0;
  for (const OpModel& model : context.models(next)) {
    if (!context.placer().find(model.grid, context.place_rule(next))) continue;
    if (++tried > kTriedModels && (fastest || objection)) break;
    auto found = context.objection(next, model);
    if (!found) fastest = std::min(fastest.value_or(model.cycles), model.cycles);
    if (found && !objection) objection = std::move(found);
  }
  if (fastest && *fastest > interval)
    return cat("op '", label, "' would take ", std::llround(*fastest), " cycles on the idle cores, and the interval of the epoch is ",
               std::llround(interval), " cycles");
  if (fastest) return cat("op '", label, "' would fit; the policy began an epoch with it");
  if (objection) return cat("op '", label, "' cannot be placed next to its neighbours: ", objection->message);
  return no_room_text(context, next);
}

}  // namespace

std::vector<std::string> epoch_ends(const ChoiceSpace& space, const Choice& choice, const std::vector<double>& intervals) {
  std::vector<std::string> out(static_cast<std::size_t>(choice.epochs()));
  if (!follows_schedule(choice)) return out;
  PolicyContext context(space, 0);
  std::size_t epoch = 0;
  auto visited = for_each_epoch(context, choice, [&](std::size_t end) {
    const auto& schedule = context.schedule();
    if (epoch < out.size()) out[epoch] = end < schedule.size() ? why_apart(context, schedule[end], intervals[epoch]) : "the schedule ends";
    ++epoch;
  });
  if (!visited) std::fill(out.begin(), out.end(), std::string());
  return out;
}

}  // namespace buda::balance
