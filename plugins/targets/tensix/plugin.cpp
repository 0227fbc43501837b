// Target `tensix`: executes compiled kernels instruction by instruction.
#include "op_runner.hpp"

#include <buda/base/text.hpp>
#include <buda/functional/device.hpp>
#include <buda/kernels/kernel_set.hpp>
#include <buda/plugin/plugin.hpp>
#include <buda/plugin/target.hpp>
#include <buda/runtime/forwarding_device.hpp>

#include <utility>

namespace {

using namespace buda;

struct Options {
  std::string kernels;  // folder; empty: they are compiled
  kernels::BuildOptions build;
};

// The device of functional/, with its ops on cores.
class TensixDevice final : public runtime::ForwardingDevice {
 public:
  TensixDevice(std::unique_ptr<runtime::Device> device, std::shared_ptr<tensix::OpRunner> runner)
      : ForwardingDevice(std::move(device)), runner_(std::move(runner)) {}

  runtime::Telemetry telemetry() const override {
    runtime::Telemetry all = ForwardingDevice::telemetry();
    const tensix::Counts& counts = runner_->counts();
    all["cores"] = static_cast<double>(counts.cores);
    all["riscv_instructions"] = static_cast<double>(counts.riscv);
    all["coprocessor_instructions"] = static_cast<double>(counts.coprocessor);
    return all;
  }

 private:
  std::shared_ptr<tensix::OpRunner> runner_;
};

Result<void> check_arch(const netlist::Netlist& netlist) {
  if (netlist.arch == "wormhole_b0") return success();
  Diagnostic d =
      input_error("TX001", {netlist.file}, cat("target tensix executes kernels for wormhole_b0, and the netlist is for ", netlist.arch));
  d.hint = "--target golden --set target.golden.mode=bits";
  return d;
}

class TensixTarget final : public runtime::Target {
 public:
  explicit TensixTarget(Options options) : options_(std::move(options)) {}

  Result<std::unique_ptr<runtime::Device>> open(const runtime::Program& program, const device::DeviceDescriptor& descriptor,
                                                Host& host) override {
    BUDA_TRY(check_arch(program.netlist));
    BUDA_ASSIGN(auto kernels, options_.kernels.empty() ? kernels::build_kernels(program.netlist, options_.build, host)
                                                       : kernels::read_kernels(options_.kernels, host));
    auto runner = std::make_shared<tensix::OpRunner>(std::move(kernels), descriptor.l1);
    functional::DeviceOptions options;
    options.mode = arith::Mode::bits;
    options.run_op = [runner](const arith::OpCall& call) { return runner->run(call); };
    BUDA_ASSIGN(auto device, functional::make_device(program, options, host));
    return std::unique_ptr<runtime::Device>(new TensixDevice(std::move(device), std::move(runner)));
  }

 private:
  Options options_;
};

schema::OptionSpec text(std::string name, std::string summary, std::string value_name) {
  schema::OptionSpec spec;
  spec.name = std::move(name);
  spec.type = schema::OptionType::text;
  spec.summary = std::move(summary);
  spec.value_name = std::move(value_name);
  return spec;
}

schema::OptionSpec compiler() {
  schema::OptionSpec spec = text("cxx", "compiler for kernels: any is gcc, or clang where there is no gcc", "COMPILER");
  spec.type = schema::OptionType::choice;
  spec.default_text = "any";
  spec.choices = {"any", "gcc", "clang"};
  return spec;
}

}  // namespace

BUDA_PLUGIN(.name = "tensix", .version = "1.0", .description = "executes compiled kernels instruction by instruction",
            .license = "Apache-2.0") {
  registrar.add_target({.name = "tensix",
                        .summary = "kernels on cores of wormhole_b0, instruction by instruction, with the hardware's arithmetic",
                        .options = {text("kernels", "folder of kernels, from kernelc; without it they are compiled", "DIR"), compiler(),
                                    text("cache", "store of compiled kernels", "DIR")},
                        .make = [](const schema::OptionValues& values, Host&) -> Result<std::unique_ptr<runtime::Target>> {
                          Options options;
                          options.kernels = values.text("kernels");
                          const std::string& cxx = values.text("cxx");
                          options.build.compiler = cxx == "gcc"     ? kernels::Compiler::gcc
                                                   : cxx == "clang" ? kernels::Compiler::clang
                                                                    : kernels::Compiler::any;
                          options.build.store = values.text("cache");
                          return std::unique_ptr<runtime::Target>(new TensixTarget(std::move(options)));
                        }});
}
