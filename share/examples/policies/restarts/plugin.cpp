// SPDX-License-Identifier: Apache-2.0
// A policy that searches: whole plans drawn at random are estimated, until one is close to the lower bound or the budget is used up.
#include <buda/base/rng.hpp>
#include <buda/plugin/plugin.hpp>
#include <buda/plugin/policy.hpp>

#include <cmath>
#include <numeric>
#include <optional>

namespace {

using namespace buda;
using balance::Estimator;
using balance::OpModel;
using balance::Placement;

// Every op on the fewest cores on which it keeps within the cycles; if it cannot, the fastest model.
Result<balance::Choice> plan(Placement& placement, double cycles) {
  for (balance::OpId op : placement.schedule())
    BUDA_TRY(placement.place_best(op, [&](const OpModel& a, const OpModel& b) {
      const bool a_keeps = a.cycles <= cycles, b_keeps = b.cycles <= cycles;
      if (a_keeps != b_keeps) return a_keeps;
      return a_keeps ? a.cores() < b.cores() : a.cycles < b.cycles;
    }));
  return placement.choice();
}

class Restarts final : public balance::Policy {
 public:
  explicit Restarts(std::int64_t plans) : plans_(plans) {}

  Result<balance::Choice> choose(Placement placement, const Estimator& estimator) override {
    constexpr double kNear = 1.1;  // times the bound, at which the search ends
    constexpr double kLeast = 1e3, kMost = 1e6;
    const std::optional<double> bound = estimator.bound();
    const auto ops = static_cast<std::int64_t>(placement.schedule().size());
    Rng rng(placement.space().seed);
    std::optional<balance::Choice> best;
    double least = 0;
    for (std::int64_t i = 0; i < plans_ && (i == 0 || placement.placements_left() > ops); ++i) {
      Placement fresh = placement;
      auto tried = plan(fresh, std::exp(rng.uniform(std::log(kLeast), std::log(kMost))));
      if (!tried) return tried;
      if (!best) best = *tried;
      const auto epochs = estimator.estimates() ? estimator.estimate(*tried) : std::nullopt;
      if (!epochs) continue;  // it cannot be built
      const double cycles = std::accumulate(epochs->begin(), epochs->end(), 0.0);
      if (least == 0 || cycles < least) best = std::move(*tried), least = cycles;
      if (bound && least <= kNear * *bound) break;
    }
    return std::move(*best);
  }

 private:
  std::int64_t plans_;
};

}  // namespace

BUDA_PLUGIN(.name = "restarts", .version = "0.1", .description = "a policy that searches at random", .license = "Apache-2.0") {
  schema::OptionSpec plans;
  plans.name = "plans";
  plans.type = schema::OptionType::integer;
  plans.summary = "plans that are tried at most";
  plans.value_name = "N";
  plans.default_text = "20";
  plans.least = 1;
  registrar.add_policy({.name = "restarts",
                        .summary = "the best of some random plans",
                        .options = {plans},
                        .make = [](const schema::OptionValues& options, Host&) -> Result<std::unique_ptr<balance::Policy>> {
                          return std::unique_ptr<balance::Policy>(std::make_unique<Restarts>(options.integer("plans")));
                        }});
}
