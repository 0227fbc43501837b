// The policy `single_op_per_epoch`: every op alone in an epoch, on as many cores as it can use. What a run measures for an epoch then
// belongs to one op.
#include <buda/plugin/plugin.hpp>
#include <buda/plugin/policy.hpp>

namespace {

using namespace buda;

class SingleOpPerEpoch final : public balance::Policy {
 public:
  Result<balance::Choice> choose(balance::PolicyContext& context) override {
    for (balance::OpId op : context.schedule()) {
      context.next_epoch();
      BUDA_TRY(context.place_best(op, larger));
    }
    return context.choice();
  }

 private:
  static bool larger(const balance::OpModel& a, const balance::OpModel& b) {
    if (a.cores() != b.cores()) return a.cores() > b.cores();
    return a.cycles < b.cycles;
  }
};

}  // namespace

BUDA_PLUGIN(.name = "single_op_per_epoch", .version = "1.0", .description = "every op in an epoch of its own", .license = "Apache-2.0") {
  registrar.add_policy({.name = "single_op_per_epoch",
                        .summary = "every op alone in an epoch, on the largest grid; to measure ops one by one",
                        .options = {},
                        .make = [](const schema::OptionValues&, Host&) -> Result<std::unique_ptr<balance::Policy>> {
                          return std::unique_ptr<balance::Policy>(std::make_unique<SingleOpPerEpoch>());
                        }});
}
