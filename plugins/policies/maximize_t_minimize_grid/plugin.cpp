// SPDX-License-Identifier: Apache-2.0
// The policy `maximize_t_minimize_grid`: results pass through the grid in as many parts as possible, on small grids. It puts streaming to
// the test; nobody would choose it for speed.
#include <buda/plugin/plugin.hpp>
#include <buda/plugin/policy.hpp>

namespace {

using namespace buda;

class MaximizeTMinimizeGrid final : public balance::Policy {
 public:
  bool streams_all() const override { return true; }

  Result<balance::Choice> choose(balance::Placement placement, const balance::Estimator&) override {
    for (balance::OpId op : placement.schedule()) BUDA_TRY(placement.place_best(op, more_parts, has_more_parts));
    return placement.choice();
  }

 private:
  // More parts are worth an epoch.
  static bool has_more_parts(const balance::OpModel& a, const balance::OpModel& b) { return a.block.t > b.block.t; }

  static bool more_parts(const balance::OpModel& a, const balance::OpModel& b) {
    if (a.block.t != b.block.t) return a.block.t > b.block.t;
    const auto half_perimeter = [](const balance::OpModel& m) { return m.grid.rows + m.grid.cols; };
    if (half_perimeter(a) != half_perimeter(b)) return half_perimeter(a) < half_perimeter(b);
    if (a.grid.rows != b.grid.rows) return a.grid.rows < b.grid.rows;
    return a.kernel_cycles < b.kernel_cycles;
  }
};

}  // namespace

BUDA_PLUGIN(.name = "maximize_t_minimize_grid", .version = "1.0", .description = "results in many parts on small grids",
            .license = "Apache-2.0") {
  registrar.add_policy({.name = "maximize_t_minimize_grid",
                        .summary = "as many parts along t as each op can have, then the smallest grid; to test streaming",
                        .options = {},
                        .make = [](const schema::OptionValues&, Host&) -> Result<std::unique_ptr<balance::Policy>> {
                          return std::unique_ptr<balance::Policy>(std::make_unique<MaximizeTMinimizeGrid>());
                        }});
}
