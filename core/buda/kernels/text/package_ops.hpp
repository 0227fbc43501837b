// SPDX-License-Identifier: Apache-2.0
// What ops compute where kernels of others replace theirs (package.hpp): for targets that compute without kernels.
#pragma once

#include <buda/arith/op.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/netlist/model/netlist.hpp>

#include <functional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::kernels {

using RunOp = std::function<arith::Outcome(const arith::OpCall&)>;

// Ops of the netlist, with the functions of the packages in these folders in Mode::bits.
Result<RunOp> ops_with_packages(const netlist::Netlist& netlist, const std::vector<std::string>& folders, Host& host);

}  // namespace buda::kernels

#pragma GCC visibility pop
