// SPDX-License-Identifier: Apache-2.0
// Functions of packages, executed as golden executes those of ops.
#include <buda/kernels/text/package_ops.hpp>

#include <buda/arith/bits.hpp>
#include <buda/base/text.hpp>
#include <buda/kernels/text/package.hpp>

#include <memory>
#include <utility>

namespace buda::kernels {

Result<RunOp> ops_with_packages(const netlist::Netlist& netlist, const std::vector<std::string>& folders, Host& host) {
  BUDA_ASSIGN(auto packages, read_packages(netlist, folders, host));
  return RunOp([packages = std::make_shared<const Packages>(std::move(packages))](const arith::OpCall& call) -> arith::Outcome {
    const Package* package = package_of(*packages, call.op);
    if (package == nullptr || !package->function) return arith::op_kind(call.op.type).run(call);
    if (call.inputs[0]->integer()) return cat("kernel '", package->name, "' is a function of floating-point numbers");
    return arith::bits::unary_with(call, *package->function);
  });
}

}  // namespace buda::kernels
