// A policy: how every op of a model is laid out on the chip.
#include <buda/plugin/plugin.hpp>
#include <buda/plugin/policy.hpp>

namespace {

using namespace buda;

class Mine final : public balance::Policy {
 public:
  Result<balance::Choice> choose(balance::Placement placement, const balance::Estimator&) override {
    for (balance::OpId op : placement.schedule()) {
      // Say which of two legal implementations is to be tried first.
      BUDA_TRY(
          placement.place_best(op, [](const balance::OpModel& a, const balance::OpModel& b) { return a.kernel_cycles < b.kernel_cycles; }));
    }
    return placement.choice();
  }
};

}  // namespace

BUDA_PLUGIN(.name = "mine", .version = "0.1", .description = "what it is for", .license = "Apache-2.0") {
  registrar.add_policy({.name = "mine",
                        .summary = "the fastest implementation of every op that finds room",
                        .options = {},
                        .make = [](const schema::OptionValues&, Host&) -> Result<std::unique_ptr<balance::Policy>> {
                          return std::unique_ptr<balance::Policy>(std::make_unique<Mine>());
                        }});
}
