// SPDX-License-Identifier: Apache-2.0
// The policy `spread`: every epoch's work is spread over the chip so that its ops take about the same time.
#include "spread.hpp"

#include <buda/plugin/plugin.hpp>
#include <buda/plugin/policy.hpp>

namespace {

using namespace buda;

class Spread final : public balance::Policy {
 public:
  explicit Spread(balance::SpreadOptions options) : options_(options) {}
  Result<balance::Choice> choose(balance::Placement placement, const balance::Estimator& estimator) override {
    return balance::spread(placement, estimator, options_);
  }

 private:
  balance::SpreadOptions options_;
};

}  // namespace

BUDA_PLUGIN(.name = "spread", .version = "1.0", .description = "even op times in every epoch", .license = "Apache-2.0") {
  schema::OptionSpec inputs;
  inputs.name = "inputs-per-epoch";
  inputs.type = schema::OptionType::integer;
  inputs.summary = "inputs that an epoch is expected to process before the next one begins; 0: as --microbatch says";
  inputs.value_name = "N";
  inputs.default_text = "0";
  inputs.least = 0;
  registrar.add_policy({.name = "spread",
                        .summary = "the fewest cores with which each op keeps up with its epoch",
                        .options = {inputs},
                        .make = [](const schema::OptionValues& options, Host&) -> Result<std::unique_ptr<balance::Policy>> {
                          balance::SpreadOptions o;
                          o.inputs_per_epoch = static_cast<double>(options.integer("inputs-per-epoch"));
                          return std::unique_ptr<balance::Policy>(std::make_unique<Spread>(o));
                        }});
}
