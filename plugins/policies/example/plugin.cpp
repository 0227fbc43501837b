// SPDX-License-Identifier: Apache-2.0
// The policy `one_row`: every op in one row of cores, as wide as possible. Small, but real: a start for policies of your own, next to
// docs/plugins/policy.md.
#include <buda/base/text.hpp>
#include <buda/plugin/plugin.hpp>
#include <buda/plugin/policy.hpp>

#include <algorithm>

namespace {

using namespace buda;

class OneRow final : public balance::Policy {
 public:
  OneRow(std::int64_t most_cores, Host& host) : most_cores_(most_cores), host_(host) {}

  // Called once. The placement hands out what is legal, and keeps the books of what was chosen; the policy only decides.
  Result<balance::Choice> choose(balance::Placement placement, const balance::Estimator&) override {
    // The schedule lists each op after those that it takes inputs from, which is the order in which they can be placed.
    for (balance::OpId op : placement.schedule()) {
      // models() are the legal implementations of this op, each a grid with a blocking. There is always at least one; this policy would
      // like those in one row, and says so when there is none.
      auto models = placement.space().models_of(op);
      if (std::none_of(models.begin(), models.end(), [this](const auto& m) { return wanted(m); }))
        host_.log(1, cat("one_row: ", placement.space().op(op).label, " fits no row of cores; it gets the grid nearest to one"));
      // place_best() tries the models in the order of a preference until one finds room beside the ops that stand already, and begins an
      // epoch when none does; one row of cores is worth an epoch, even if there is room for more rows in this one. A policy that needs more
      // control calls objection(), place() or place_at(), next_epoch() and rewind().
      BUDA_TRY(placement.place_best(
          op, [this](const auto& a, const auto& b) { return better(a, b); },
          [this](const auto& a, const auto& b) { return wanted(a) && !wanted(b); }));
    }
    // All ops are placed: this is the result. The balancer checks it once more.
    return placement.choice();
  }

 private:
  bool wanted(const balance::OpModel& m) const { return m.grid.rows == 1 && m.grid.cols <= most_cores_; }

  // Whether `a` is to be tried before `b`. It must be a strict order, as for std::sort; among equals the models' own order holds.
  bool better(const balance::OpModel& a, const balance::OpModel& b) const {
    if (wanted(a) != wanted(b)) return wanted(a);
    if (a.grid.rows != b.grid.rows) return a.grid.rows < b.grid.rows;
    // Wide is good among those that are wanted; what is too wide is better narrow.
    if (a.grid.cols != b.grid.cols) return wanted(a) ? a.grid.cols > b.grid.cols : a.grid.cols < b.grid.cols;
    return a.kernel_cycles < b.kernel_cycles;
  }

  std::int64_t most_cores_;
  Host& host_;
};

}  // namespace

// What the plugin is called, and what it offers. The option is set with --set policy.one_row.most-cores=4.
BUDA_PLUGIN(.name = "example", .version = "1.0", .description = "an example of a policy", .license = "Apache-2.0") {
  schema::OptionSpec most_cores;
  most_cores.name = "most-cores";
  most_cores.type = schema::OptionType::integer;
  most_cores.summary = "cores of one op at most";
  most_cores.value_name = "N";
  most_cores.default_text = "64";
  most_cores.least = 1;
  registrar.add_policy({.name = "one_row",
                        .summary = "every op in one row of cores, as wide as possible",
                        .options = {most_cores},
                        .make = [](const schema::OptionValues& options, Host& h) -> Result<std::unique_ptr<balance::Policy>> {
                          return std::unique_ptr<balance::Policy>(std::make_unique<OneRow>(options.integer("most-cores"), h));
                        }});
}
