// Target `ttsim`: runs the kernels of a netlist on the cores of Tenstorrent's simulator, which the user has to have.
#include "run_op.hpp"

#include <buda/base/text.hpp>
#include <buda/functional/device.hpp>
#include <buda/kernels/target_kernels.hpp>
#include <buda/plugin/plugin.hpp>
#include <buda/plugin/target.hpp>

#include <utility>

namespace {

using namespace buda;

struct Options {
  std::string library;
  kernels::KernelSource source;
};

class TtsimTarget final : public runtime::Target {
 public:
  explicit TtsimTarget(Options options) : options_(std::move(options)) {}
  runtime::Needs needs() const override { return {.kernels = true}; }

  Result<std::unique_ptr<runtime::Device>> open(const runtime::Program& program, const device::DeviceDescriptor& descriptor,
                                                Host& host) override {
    if (options_.library.empty() || !host.fs().exists(options_.library)) return no_library();
    BUDA_ASSIGN(auto set, kernels::kernels_for(program.netlist, program.kernels, options_.source, host));
    functional::DeviceOptions options;
    options.mode = arith::Mode::bits;
    options.run_op = [library = options_.library, l1 = descriptor.l1, kernels = std::make_shared<const kernels::KernelSet>(std::move(set))](
                         const arith::OpCall& call) { return ttsim::run_op(library, *kernels, l1, call); };
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
  std::vector<schema::OptionSpec> all = {library};
  for (schema::OptionSpec& option : kernels::source_options()) all.push_back(std::move(option));
  return all;
}

}  // namespace

BUDA_PLUGIN(.name = "ttsim", .version = "1.0", .description = "runs kernels on Tenstorrent's simulator", .license = "Apache-2.0") {
  registrar.add_target({.name = "ttsim",
                        .summary = "kernels on cores of Tenstorrent's simulator, which is not part of OpenBuda",
                        .options = options(),
                        .make = [](const schema::OptionValues& values, Host&) -> Result<std::unique_ptr<runtime::Target>> {
                          return std::unique_ptr<runtime::Target>(new TtsimTarget({values.text("library"), kernels::source_of(values)}));
                        }});
}
