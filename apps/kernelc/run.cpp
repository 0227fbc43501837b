// SPDX-License-Identifier: Apache-2.0
// Reads a netlist, compiles its kernels, writes them.
#include "apps/kernelc/run.hpp"

#include <buda/device/load.hpp>
#include <buda/kernels/programs/disassembly.hpp>
#include <buda/kernels/text/kernel_set.hpp>
#include <buda/netlist/check/require_rules.hpp>
#include <buda/netlist/check/validate.hpp>
#include <buda/netlist/text/parse.hpp>

#include <algorithm>
#include <utility>

namespace buda::kernelc {

namespace {

// The architecture whose cores kernels are for.
constexpr const char* kArch = "wormhole_b0";

Result<void> check(const netlist::Netlist& netlist, Host& host) {
  BUDA_ASSIGN(auto device, device::load_device(host, kArch));
  device.chips = std::max(device.chips, netlist::chips_used(netlist));
  return netlist::require_rules(netlist, device, host);
}

}  // namespace

Result<void> run(Options& o, Host& host) {
  const std::string file = o.input == io::kStdStream ? "<stdin>" : o.input;
  BUDA_ASSIGN(const auto bytes, host.fs().read(o.input));
  if (o.disassemble) {
    BUDA_ASSIGN(const std::string text, kernels::disassembly(bytes.view(), file));
    return host.fs().write(std::string(io::kStdStream), text);
  }
  BUDA_ASSIGN(const auto netlist, netlist::parse_netlist(bytes.view(), file, {kArch}));
  BUDA_TRY(check(netlist, host));
  kernels::BuildOptions options;
  options.compiler = o.cxx == "gcc" ? kernels::Compiler::gcc : o.cxx == "clang" ? kernels::Compiler::clang : kernels::Compiler::any;
  options.path = o.compiler;
  options.store = o.cache;
  options.seconds = o.compile_timeout;
  options.packages = o.kernel_path;
  options.prints = o.dprint;
  options.zones = o.zones;
  host.progress("compiling kernels", 0, 0);
  BUDA_ASSIGN(const auto set, kernels::build_kernels(netlist, options, host));
  const std::string folder = folder_of(o);
  BUDA_TRY(kernels::write_kernels(set, folder, host));
  o.products = {folder + "/manifest.json"};
  return success();
}

}  // namespace buda::kernelc
