// SPDX-License-Identifier: Apache-2.0
// The policy `minimize_grid`: every op on as few cores as it can stand on, even if that takes an epoch more. It compiles what can be
// compiled at all, in few epochs; it does not look at speed beyond taking the largest steps of the inner dimension and keeping parameters
// in L1.
#include <buda/plugin/plugin.hpp>
#include <buda/plugin/policy.hpp>

namespace {

using namespace buda;

class MinimizeGrid final : public balance::Policy {
 public:
  Result<balance::Choice> choose(balance::Placement placement, const balance::Estimator&) override {
    for (balance::OpId op : placement.schedule()) BUDA_TRY(placement.place_best(op, smaller, has_fewer_cores));
    return placement.choice();
  }

 private:
  static bool has_fewer_cores(const balance::OpModel& a, const balance::OpModel& b) { return a.cores() < b.cores(); }

  static bool smaller(const balance::OpModel& a, const balance::OpModel& b) {
    if (a.cores() != b.cores()) return a.cores() < b.cores();
    // Of equal grids: the one that reads the least from DRAM while it runs, then the faster one.
    if (__builtin_popcount(a.resident) != __builtin_popcount(b.resident))
      return __builtin_popcount(a.resident) > __builtin_popcount(b.resident);
    return a.kernel_cycles < b.kernel_cycles;
  }
};

}  // namespace

BUDA_PLUGIN(.name = "minimize_grid", .version = "1.0", .description = "the smallest legal grid for every op", .license = "Apache-2.0") {
  registrar.add_policy({.name = "minimize_grid",
                        .summary = "the smallest legal number of cores for each op, and so few epochs",
                        .options = {},
                        .make = [](const schema::OptionValues&, Host&) -> Result<std::unique_ptr<balance::Policy>> {
                          return std::unique_ptr<balance::Policy>(std::make_unique<MinimizeGrid>());
                        }});
}
