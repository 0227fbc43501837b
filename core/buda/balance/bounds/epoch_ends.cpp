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

std::string no_room_text(const Placement& placement, OpId next) {
  const std::int64_t idle = placement.placer().free_cores(), least = placement.space().models_of(next).front().cores();
  return cat("op '", placement.space().op(next).label, "' has no room: its smallest grid takes ", least, least == 1 ? " core" : " cores",
             ", and ", idle, idle == 1 ? " core is idle" : " cores are idle");
}

// What keeps op `next` out of the placement's epoch.
std::string why_apart(const Placement& placement, OpId next, double interval) {
  const std::string& label = placement.space().op(next).label;
  if (placement.space().overrides[next.index()].epoch_break == true) return cat("op '", label, "' was requested to begin an epoch");
  std::optional<double> fastest;
  std::optional<Diagnostic> objection;
  std::size_t tried = 0;
  for (const OpModel& model : placement.space().models_of(next)) {
    if (!placement.placer().find(model.grid, placement.space().place_rule(next))) continue;
    if (++tried > kTriedModels && (fastest || objection)) break;
    auto found = placement.objection(next, model);
    if (!found) fastest = std::min(fastest.value_or(model.cycles), model.cycles);
    if (found && !objection) objection = std::move(found);
  }
  if (fastest && *fastest > interval)
    return cat("op '", label, "' would take ", std::llround(*fastest), " cycles on the idle cores, and the interval of the epoch is ",
               std::llround(interval), " cycles");
  if (fastest) return cat("op '", label, "' would fit; the policy began an epoch with it");
  if (objection) return cat("op '", label, "' cannot be placed next to its neighbours: ", objection->message);
  return no_room_text(placement, next);
}

}  // namespace

std::vector<std::string> epoch_ends(const ChoiceSpace& space, const Choice& choice, const std::vector<double>& intervals) {
  std::vector<std::string> out(static_cast<std::size_t>(choice.epochs()));
  if (!follows_schedule(choice)) return out;
  Placement placement(space);
  std::size_t epoch = 0;
  auto visited = for_each_epoch(placement, choice, [&](std::size_t end) {
    const auto& schedule = placement.schedule();
    if (epoch < out.size())
      out[epoch] = end < schedule.size() ? why_apart(placement, schedule[end], intervals[epoch]) : "the schedule ends";
    ++epoch;
  });
  if (!visited) std::fill(out.begin(), out.end(), std::string());
  return out;
}

}  // namespace buda::balance
