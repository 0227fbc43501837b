// SPDX-License-Identifier: Apache-2.0
// Target `tensix`: executes compiled kernels instruction by instruction.
#include "debug/growing_file.hpp"
#include "debug/named_places.hpp"
#include "kernel_cycles.hpp"
#include "simulated_core.hpp"

#include <buda/base/text.hpp>
#include <buda/functional/device.hpp>
#include <buda/kernels/compile/target_kernels.hpp>
#include <buda/plugin/plugin.hpp>
#include <buda/plugin/target.hpp>
#include <buda/runtime/device/forwarding_device.hpp>
#include <buda/timed/device.hpp>

#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace {

using namespace buda;

// What ops are run with; lives as long as the device.
struct Cores {
  kernels::KernelSet kernels;
  device::L1Map l1;
  tensix::Counts counts;
  std::atomic<bool> failed = false;  // an op, by its kernel or by a debugger
};

// A device whose ops are on cores: that of functional/, or that of timed/.
class TensixDevice final : public runtime::ForwardingDevice {
 public:
  TensixDevice(std::unique_ptr<runtime::Device> device, std::shared_ptr<const Cores> cores, tensix::DebugSettings debug, Host& host)
      : ForwardingDevice(std::move(device)), cores_(std::move(cores)), debug_(std::move(debug)), host_(host) {}
  // What is waited for ends a run.
  ~TensixDevice() override {
    if (cores_->counts.cores == 0 || cores_->failed) return;
    for (const auto& [option, place] : tensix::awaited(debug_))
      host_.report(warning("TX007", {}, cat("target.tensix.", option, '=', place, ": nothing happened there until the end of the run")));
  }

  runtime::Telemetry telemetry() const override {
    runtime::Telemetry all = ForwardingDevice::telemetry();
    all["cores"] = static_cast<double>(cores_->counts.cores);
    all["riscv_instructions"] = static_cast<double>(cores_->counts.riscv);
    all["coprocessor_instructions"] = static_cast<double>(cores_->counts.coprocessor);
    return all;
  }

 private:
  std::shared_ptr<const Cores> cores_;
  tensix::DebugSettings debug_;
  Host& host_;
};

class TensixTarget final : public runtime::Target {
 public:
  TensixTarget(kernels::KernelSource source, bool streams, bool measures, tensix::RunOptions run)
      : source_(std::move(source)), streams_(streams), measures_(measures), run_(std::move(run)) {}
  runtime::Needs needs() const override { return {.streams = streams_, .kernels = true}; }

  Result<std::unique_ptr<runtime::Device>> open(const runtime::Program& program, const device::DeviceDescriptor& descriptor,
                                                Host& host) override {
    BUDA_ASSIGN(auto kernels, kernels::kernels_for(program.netlist, program.kernels, source_, host));
    if (streams_ && kernels::prints(kernels)) {
      Diagnostic d = input_error("TX004", {}, "DPRINT changes the time of kernels, of which streams=true reports");
      d.hint = "--set target.tensix.streams=false";
      return d;
    }
    BUDA_TRY(check_zones(kernels));
    BUDA_TRY(tensix::check_named_places(run_.debug, program.netlist, kernels));
    auto cores = std::make_shared<Cores>();
    cores->kernels = std::move(kernels);
    cores->l1 = descriptor.l1;
    tensix::RunOptions run = run_;
    for (const auto& [name, write] : {std::pair{&run_.debug.trace, &run.trace}, std::pair{&run_.debug.dest, &run.dest}}) {
      if (name->empty()) continue;
      BUDA_ASSIGN(auto file, host.fs().create(*name, host.write_mode));
      *write = [file = std::make_shared<tensix::GrowingFile>(std::move(file), host)](const std::string& text) { file->write(text); };
    }
    std::map<std::string, std::int32_t> chips;
    for (const auto& graph : program.netlist.graphs)
      for (const netlist::Op& op : graph.ops) chips[op.name] = graph.target_device;
    run.chip_of = [chips = std::move(chips)](const std::string& op) { return chips.at(op); };
    run.print = [&host](const std::string& text) { host.log(0, text); };
    run.warn = [&host](std::string what) { host.report(warning("TX001", {}, std::move(what))); };
    const auto run_op = [cores, run = std::move(run)](const arith::OpCall& call) {
      auto outcome = tensix::run_op(cores->kernels, cores->l1, call, cores->counts, run);
      if (std::holds_alternative<std::string>(outcome)) cores->failed = true;
      return outcome;
    };
    BUDA_ASSIGN(auto device, make_device(program, descriptor, *cores, run_op, host));
    return std::unique_ptr<runtime::Device>(new TensixDevice(std::move(device), std::move(cores), run_.debug, host));
  }

 private:
  // Zones are parts of the times that kernels take in an epoch.
  Result<void> check_zones(const kernels::KernelSet& kernels) const {
    if (!kernels::has_zones(kernels) || (streams_ && measures_)) return success();
    Diagnostic d = input_error("TX005", {}, "the zones of kernels are in the log of simulated times, and this run has no times of kernels");
    d.hint = "--set target.tensix.streams=true --set target.tensix.time=kernels --perf DIR";
    return d;
  }

  using RunOp = std::function<arith::Outcome(const arith::OpCall&)>;

  Result<std::unique_ptr<runtime::Device>> make_device(const runtime::Program& program, const device::DeviceDescriptor& descriptor,
                                                       const Cores& cores, RunOp run_op, Host& host) const {
    if (streams_) {
      timed::DeviceOptions options;
      options.computes = timed::Computing{arith::Mode::bits, std::move(run_op)};
      if (measures_) {
        const auto warn = [&host](std::string what) { host.report(warning("TX006", {}, std::move(what))); };
        BUDA_ASSIGN(auto cycles, tensix::KernelCycles::make(program.netlist, cores.kernels, cores.l1, warn, run_.most_cycles));
        options.kernel_cycles = [cycles](const netlist::Op& op) { return cycles->of(op); };
        options.kernel_marks = [cycles](const netlist::Op& op) { return cycles->marks_of(op); };
      }
      return timed::make_device(program, descriptor, options, host);
    }
    functional::DeviceOptions options;
    options.mode = arith::Mode::bits;
    options.run_op = std::move(run_op);
    return functional::make_device(program, options, host);
  }

  kernels::KernelSource source_;
  bool streams_;
  bool measures_;
  tensix::RunOptions run_;
};

Result<tensix::RunOptions> run_options(const schema::OptionValues& values) {
  tensix::RunOptions run;
  run.checks = values.text("checks") == "error";
  run.most_cycles = static_cast<tensix::Cycle>(values.integer("max-cycles", tensix::SimulatedCore::kMaxCycles));
  BUDA_ASSIGN(run.debug, tensix::debug_settings(values));
  return run;
}

std::vector<schema::OptionSpec> options() {
  std::vector<schema::OptionSpec> all = kernels::source_options();
  schema::OptionSpec streams;
  streams.name = "streams";
  streams.type = schema::OptionType::flag;
  streams.summary = "feed the cores through the stream programs of each epoch, in simulated time, instead of op by op";
  all.push_back(std::move(streams));
  schema::OptionSpec zones;
  zones.name = "zones";
  zones.type = schema::OptionType::flag;
  zones.summary = "compile ZONE in kernels: with streams, the device log of a run has the times of these parts";
  all.push_back(std::move(zones));
  schema::OptionSpec checks;
  checks.name = "checks";
  checks.type = schema::OptionType::choice;
  checks.summary =
      "what a chip leaves undefined is an error; off: it is put up with where that is possible, and a warning says what it was";
  checks.default_text = "error";
  checks.choices = {"error", "off"};
  all.push_back(std::move(checks));
  for (schema::OptionSpec& debug : tensix::debug_options()) all.push_back(std::move(debug));
  schema::OptionSpec cycles;
  cycles.name = "max-cycles";
  cycles.type = schema::OptionType::integer;
  cycles.value_name = "N";
  cycles.least = 1;
  cycles.default_text = std::to_string(tensix::SimulatedCore::kMaxCycles);
  cycles.summary = "end a run in which a core takes more cycles for an input of its op";
  all.push_back(std::move(cycles));
  schema::OptionSpec time;
  time.name = "time";
  time.type = schema::OptionType::choice;
  time.choices = {"kernels", "cost"};
  time.default_text = "kernels";
  time.summary = "with streams, how long ops take: the cycles of their kernels' instructions, or those of the cost model";
  all.push_back(std::move(time));
  return all;
}

}  // namespace

BUDA_PLUGIN(.name = "tensix", .version = "1.0", .description = "executes compiled kernels instruction by instruction",
            .license = "Apache-2.0") {
  registrar.add_target({.name = "tensix",
                        .summary = "kernels on cores of wormhole_b0, instruction by instruction, with the hardware's arithmetic",
                        .options = options(),
                        .make = [](const schema::OptionValues& values, Host&) -> Result<std::unique_ptr<runtime::Target>> {
                          BUDA_ASSIGN(auto run, run_options(values));
                          kernels::KernelSource source = kernels::source_of(values);
                          source.build.zones = values.flag("zones");
                          return std::unique_ptr<runtime::Target>(
                              new TensixTarget(std::move(source), values.flag("streams"), values.text("time") != "cost", std::move(run)));
                        }});
}
