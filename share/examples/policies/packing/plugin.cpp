// SPDX-License-Identifier: Apache-2.0
// A policy on the scope interface: it fills one epoch after the other, takes back what was placed, and keeps the best of what it tried.
#include <buda/plugin/plugin.hpp>
#include <buda/plugin/policy.hpp>

#include <algorithm>
#include <vector>

namespace {

using namespace buda;
using balance::Estimator;
using balance::OpId;
using balance::OpModel;
using balance::Placement;

// An epoch whose ops all keep within `cycles`, and what it does for its time.
struct Epoch {
  double cycles = 0, value = 0;
  std::size_t ops = 0;
};

// What an op would take on all cores, at the least.
double least_work(const Placement& placement, OpId op) {
  double least = 1e300;
  for (const OpModel& m : placement.space().models_of(op)) least = std::min(least, m.cycles * static_cast<double>(m.cores()));
  return least / static_cast<double>(placement.space().device().grid().volume());
}

// Places the next ops, each on the fewest cores on which it keeps within the cycles, until one objects or finds no room.
Epoch fill(Placement& placement, std::size_t next, double cycles) {
  Epoch out{cycles};
  double work = 0;
  for (const auto& schedule = placement.schedule(); next + out.ops < schedule.size(); ++out.ops) {
    const OpId op = schedule[next + out.ops];
    const auto models = placement.space().models_of(op);  // those with fewer cores first
    if (std::none_of(models.begin(), models.end(), [&](const OpModel& m) { return m.cycles <= cycles && placement.place(op, m); })) break;
    work += least_work(placement, op);
  }
  out.value = work / cycles;
  return out;
}

class Packing final : public balance::Policy {
  Result<balance::Choice> choose(Placement placement, const Estimator&) override {
    constexpr int kSteps = 12;
    constexpr double kStep = 1.5;
    const auto& schedule = placement.schedule();
    for (std::size_t next = 0; next < schedule.size();) {
      placement.next_epoch();
      double cycles = 1e300;
      for (const OpModel& m : placement.space().models_of(schedule[next])) cycles = std::min(cycles, m.cycles);
      Epoch best;
      for (int step = 0; step < kSteps; ++step, cycles *= kStep) {
        const Epoch tried = fill(placement, next, cycles);
        if (tried.ops > 0 && tried.value > best.value) best = tried;
        if (tried.ops == 0) continue;
        placement.rewind(schedule[next]);
        placement.next_epoch();
      }
      if (best.ops > 0) fill(placement, next, best.cycles);
      if (best.ops == 0) BUDA_TRY(placement.place_best(schedule[next], [](const auto& a, const auto& b) { return a.cycles < b.cycles; }));
      next += std::max<std::size_t>(best.ops, 1);
    }
    return placement.choice();
  }
};

}  // namespace

BUDA_PLUGIN(.name = "packing", .version = "0.1", .description = "a policy that fills epochs and takes back", .license = "Apache-2.0") {
  registrar.add_policy({.name = "packing",
                        .summary = "epochs one after the other, each the best of twelve",
                        .options = {},
                        .make = [](const schema::OptionValues&, Host&) -> Result<std::unique_ptr<balance::Policy>> {
                          return std::unique_ptr<balance::Policy>(std::make_unique<Packing>());
                        }});
}
