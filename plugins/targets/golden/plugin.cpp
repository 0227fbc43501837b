// SPDX-License-Identifier: Apache-2.0
// Target `golden`: executes a netlist on the host, with the number formats of the device.
#include <buda/functional/device.hpp>
#include <buda/kernels/text/package_ops.hpp>
#include <buda/plugin/plugin.hpp>
#include <buda/plugin/target.hpp>

namespace {

using namespace buda;

class GoldenTarget final : public runtime::Target {
 public:
  // `packages`: folders of kernels whose functions ops have instead of their own.
  GoldenTarget(const functional::DeviceOptions& options, std::vector<std::string> packages)
      : options_(options), packages_(std::move(packages)) {}

  Result<std::unique_ptr<runtime::Device>> open(const runtime::Program& program, const device::DeviceDescriptor&, Host& host) override {
    if (packages_.empty()) return functional::make_device(program, options_, host);
    functional::DeviceOptions options = options_;
    BUDA_ASSIGN(options.run_op, kernels::ops_with_packages(program.netlist, packages_, host));
    return functional::make_device(program, options, host);
  }

 private:
  functional::DeviceOptions options_;
  std::vector<std::string> packages_;
};

schema::OptionSpec packages_option() {
  schema::OptionSpec spec;
  spec.name = "kernel-path";
  spec.type = schema::OptionType::path;
  spec.summary = "folder with a kernel.yaml, whose function replaces that of some ops; with mode=bits";
  spec.value_name = "DIR";
  spec.repeatable = true;
  return spec;
}

schema::OptionSpec choice(std::string name, std::string summary, std::string value_name, std::string standard,
                          std::vector<std::string> choices) {
  schema::OptionSpec spec;
  spec.name = std::move(name);
  spec.type = schema::OptionType::choice;
  spec.summary = std::move(summary);
  spec.value_name = std::move(value_name);
  spec.default_text = std::move(standard);
  spec.choices = std::move(choices);
  return spec;
}

schema::OptionSpec flag(std::string name, std::string summary) {
  schema::OptionSpec spec;
  spec.name = std::move(name);
  spec.type = schema::OptionType::flag;
  spec.summary = std::move(summary);
  return spec;
}

}  // namespace

BUDA_PLUGIN(.name = "golden", .version = "1.0", .description = "executes netlists on the host with the number formats of the device",
            .license = "Apache-2.0") {
  registrar.add_target({.name = "golden",
                        .summary = "functional execution on the host; formats exact at every buffer, or plain fp32",
                        .options = {choice("mode",
                                           "exact: device formats at every boundary; bits: the arithmetic of a Tensix core, bit by bit; "
                                           "fp32: floating-point formats are ignored",
                                           "MODE", "exact", {"exact", "bits", "fp32"}),
                                    flag("check-nan", "count NaN, infinities and saturated numbers by op, and warn of the first of each"),
                                    packages_option()},
                        .make = [](const schema::OptionValues& values, Host&) -> Result<std::unique_ptr<runtime::Target>> {
                          functional::DeviceOptions options;
                          const std::string& mode = values.text("mode");
                          options.mode = mode == "fp32" ? arith::Mode::fp32 : mode == "bits" ? arith::Mode::bits : arith::Mode::exact;
                          options.check_nan = values.flag("check-nan");
                          auto packages = values.texts("kernel-path");
                          if (!packages.empty() && options.mode != arith::Mode::bits) {
                            Diagnostic d = usage_error("KC009", "kernels of others are executed with mode=bits only");
                            d.hint = "--set target.golden.mode=bits";
                            return d;
                          }
                          return std::unique_ptr<runtime::Target>(new GoldenTarget(options, std::move(packages)));
                        }});
}
