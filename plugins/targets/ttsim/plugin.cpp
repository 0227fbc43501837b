// Target `ttsim`: runs the kernels of a netlist on the cores of Tenstorrent's simulator, which the user has to have.
#include "child.hpp"
#include "library.hpp"
#include "vendor_core.hpp"

#include <buda/base/text.hpp>
#include <buda/functional/device.hpp>
#include <buda/kernels/op_run.hpp>
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

kernels::CoreOutcome run_core(const std::string& path, const kernels::CoreWork& work) {
  return ttsim::in_child([&]() -> ttsim::Made {
    auto loaded = ttsim::Library::load(path);
    if (auto* why = std::get_if<std::string>(&loaded)) return cat("library '", path, "': ", *why);
    ttsim::VendorCore core(std::get<ttsim::Library>(loaded));
    return kernels::run_on(work, core);
  });
}

class TtsimTarget final : public runtime::Target {
 public:
  explicit TtsimTarget(Options options) : options_(std::move(options)) {}

  Result<std::unique_ptr<runtime::Device>> open(const runtime::Program& program, const device::DeviceDescriptor& descriptor,
                                                Host& host) override {
    if (options_.library.empty() || !host.fs().exists(options_.library)) return no_library();
    BUDA_ASSIGN(auto set, kernels::kernels_for(program.netlist, options_.source, host));
    functional::DeviceOptions options;
    options.mode = arith::Mode::bits;
    options.run_op = [library = options_.library, l1 = descriptor.l1,
                      kernels = std::make_shared<const kernels::KernelSet>(std::move(set))](const arith::OpCall& call) {
      // One after the other: a process that starts others has no other threads.
      arith::OpCall alone = call;
      alone.threads = 1;
      return kernels::run_op(*kernels, l1, alone, [&](const kernels::CoreWork& work, GridCoord) { return run_core(library, work); });
    };
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
