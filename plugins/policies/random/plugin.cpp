// SPDX-License-Identifier: Apache-2.0
// The policy `random`: every op gets one of its legal models, drawn by the seed (--seed). It tries what no other policy would choose, and
// so finds mistakes in the stages behind the balancer.
#include <buda/base/rng.hpp>
#include <buda/plugin/plugin.hpp>
#include <buda/plugin/policy.hpp>

#include <utility>
#include <vector>

namespace {

using namespace buda;

// The numbers 0 to count - 1 in an order that is drawn (Fisher and Yates).
std::vector<std::size_t> drawn_order(std::size_t count, Rng& rng) {
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
  return order;
}

class Random final : public balance::Policy {
 public:
  Result<balance::Choice> choose(balance::Placement placement, const balance::Estimator&) override {
    Rng rng(placement.space().seed);
    for (balance::OpId op : placement.schedule()) {
      const auto models = placement.space().models_of(op);
      const std::vector<std::size_t> rank = drawn_order(models.size(), rng);
      const auto first_drawn = [&](const balance::OpModel& a, const balance::OpModel& b) {
        return rank[static_cast<std::size_t>(&a - models.data())] < rank[static_cast<std::size_t>(&b - models.data())];
      };
      BUDA_TRY(placement.place_best(op, first_drawn));
    }
    return placement.choice();
  }
};

}  // namespace

BUDA_PLUGIN(.name = "random", .version = "1.0", .description = "legal implementations at random", .license = "Apache-2.0") {
  registrar.add_policy({.name = "random",
                        .summary = "one of the legal implementations of each op, drawn by --seed; to test other stages",
                        .options = {},
                        .make = [](const schema::OptionValues&, Host&) -> Result<std::unique_ptr<balance::Policy>> {
                          return std::unique_ptr<balance::Policy>(std::make_unique<Random>());
                        }});
}
