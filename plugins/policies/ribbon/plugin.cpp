// SPDX-License-Identifier: Apache-2.0
// The policy `ribbon`, and `cnn`, the name of its predecessor in PyBuda.
#include "ribbon.hpp"

#include <buda/plugin/plugin.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace {

using namespace buda;

class Ribbon final : public balance::Policy {
 public:
  explicit Ribbon(ribbon::Options options) : options_(options) {}
  Result<balance::Choice> choose(balance::Placement placement, const balance::Estimator&) override {
    return ribbon::choose(placement, options_);
  }

 private:
  ribbon::Options options_;
};

std::vector<schema::OptionSpec> option_specs() {
  schema::OptionSpec rows, target;
  rows.name = "rows";
  rows.type = schema::OptionType::integer;
  rows.summary = "rows of cores of all ops; 0: in each epoch the number with which its cores are used best";
  rows.value_name = "N";
  rows.default_text = "0";
  rows.least = 0;
  target.name = "target-cycles";
  target.type = schema::OptionType::integer;
  target.summary = "cycles that an op may take for one input before it gets more columns";
  target.value_name = "N";
  target.default_text = "95000";
  target.least = 1;
  return {rows, target};
}

std::unique_ptr<balance::Policy> make_ribbon(const schema::OptionValues& options) {
  return std::make_unique<Ribbon>(
      ribbon::Options{static_cast<std::int32_t>(options.integer("rows")), static_cast<double>(options.integer("target-cycles"))});
}

}  // namespace

BUDA_PLUGIN(.name = "ribbon", .version = "1.0", .description = "epochs of ops with the same rows of cores", .license = "Apache-2.0") {
  registrar.add_policy({.name = "ribbon",
                        .summary = "the same number of rows of cores for all ops of an epoch: PyBuda's policy for convolutional networks",
                        .options = option_specs(),
                        .make = [](const schema::OptionValues& options, Host&) -> Result<std::unique_ptr<balance::Policy>> {
                          return make_ribbon(options);
                        }});
  registrar.add_policy({.name = "cnn",
                        .summary = "ribbon, under the name of a policy that PyBuda gave up for it",
                        .options = option_specs(),
                        .make = [](const schema::OptionValues& options, Host& host) -> Result<std::unique_ptr<balance::Policy>> {
                          Diagnostic replaced = warning("BL044", {}, "policy 'cnn' was replaced by 'ribbon', which is used");
                          replaced.hint = "--policy ribbon";
                          host.report(std::move(replaced));
                          return make_ribbon(options);
                        }});
}
