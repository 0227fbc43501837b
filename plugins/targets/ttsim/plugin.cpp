// SPDX-License-Identifier: Apache-2.0
// Target `ttsim`: runs the kernels of a netlist on the cores of Tenstorrent's simulator, which the user has to have.
#include "chip_bus.hpp"
#include "run_op.hpp"

#include <buda/base/text.hpp>
#include <buda/chip/device.hpp>
#include <buda/functional/device.hpp>
#include <buda/io/host.hpp>
#include <buda/kernels/compile/target_kernels.hpp>
#include <buda/plugin/plugin.hpp>
#include <buda/plugin/target.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace buda;

struct Options {
  std::string library, dest;
  bool chip = false;
  kernels::KernelSource source;
};

// A file that is there when its owner has ended.
class DestFile {
 public:
  DestFile(std::unique_ptr<io::OutputFile> file, Host& host) : file_(std::move(file)), host_(host) {}
  DestFile(const DestFile&) = delete;
  ~DestFile() { tell(file_->commit()); }
  void write(const std::string& bytes) { tell(file_->write(bytes)); }

 private:
  void tell(const Result<void>& result) {
    if (result) return;
    for (const Diagnostic& d : result.failure().diagnostics()) host_.report(d);
  }
  std::unique_ptr<io::OutputFile> file_;
  Host& host_;
};

class TtsimTarget final : public runtime::Target {
 public:
  explicit TtsimTarget(Options options) : options_(std::move(options)) {}
  runtime::Needs needs() const override { return {.streams = options_.chip, .kernels = true}; }

  Result<std::unique_ptr<runtime::Device>> open(const runtime::Program& program, const device::DeviceDescriptor& descriptor,
                                                Host& host) override {
    if (options_.chip) BUDA_TRY(chip::check_program(program));
    if (options_.library.empty() || !host.fs().exists(options_.library)) return no_library();
    BUDA_ASSIGN(auto set, kernels::kernels_for(program.netlist, program.kernels, options_.source, host));
    if (options_.chip) {
      chip::DeviceOptions options;
      options.build = options_.source.build;
      BUDA_ASSIGN(auto bus, ttsim::open_chip(options_.library, descriptor.pcie));
      return chip::make_device(program, descriptor, std::move(set), std::move(bus), options, host);
    }
    functional::DeviceOptions options;
    options.mode = arith::Mode::bits;
    std::function<void(std::string)> dest;
    if (!options_.dest.empty()) {
      BUDA_ASSIGN(auto file, host.fs().create(options_.dest, host.write_mode));
      dest = [to = std::make_shared<DestFile>(std::move(file), host)](const std::string& bytes) { to->write(bytes); };
    }
    options.run_op = [library = options_.library, l1 = descriptor.l1, kernels = std::make_shared<const kernels::KernelSet>(std::move(set)),
                      dest](const arith::OpCall& call) { return ttsim::run_op(library, *kernels, l1, call, dest); };
    return functional::make_device(program, options, host);
  }

 private:
  Diagnostic no_library() const {
    Diagnostic d = input_error("TT001", {},
                               options_.library.empty() ? std::string("target ttsim needs Tenstorrent's simulator, and no library is named")
                                                        : cat("there is no library '", options_.library, "'"));
    d.hint = "--set target.ttsim.library=FOLDER/libttsim.so, a build of the public repository tenstorrent/ttsim for Wormhole";
    return d;
  }

  Options options_;
};

std::vector<schema::OptionSpec> options() {
  schema::OptionSpec library;
  library.name = "library";
  library.type = schema::OptionType::text;
  library.summary = "Tenstorrent's simulator for Wormhole, a shared library";
  library.value_name = "FILE";
  schema::OptionSpec dest;
  dest.name = "dest";
  dest.type = schema::OptionType::text;
  dest.summary = "write what the destination register of each core holds in the end to a file";
  dest.value_name = "FILE";
  schema::OptionSpec chip;
  chip.name = "chip";
  chip.type = schema::OptionType::flag;
  chip.summary = "run whole epochs on all cores of one chip, tiles moved by programs of its own, instead of op by op";
  std::vector<schema::OptionSpec> all = {library, dest, chip};
  for (schema::OptionSpec& option : kernels::source_options()) all.push_back(std::move(option));
  return all;
}

}  // namespace

BUDA_PLUGIN(.name = "ttsim", .version = "1.0", .description = "runs kernels on Tenstorrent's simulator", .license = "Apache-2.0") {
  registrar.add_target({.name = "ttsim",
                        .summary = "kernels on cores of Tenstorrent's simulator, which is not part of OpenBuda",
                        .options = options(),
                        .make = [](const schema::OptionValues& values, Host&) -> Result<std::unique_ptr<runtime::Target>> {
                          return std::unique_ptr<runtime::Target>(new TtsimTarget(
                              {values.text("library"), values.text("dest"), values.flag("chip"), kernels::source_of(values)}));
                        }});
}
