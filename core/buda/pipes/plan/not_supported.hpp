// SPDX-License-Identifier: Apache-2.0
// The error for features that this version does not have.
#pragma once

#include <buda/diag/diagnostic.hpp>
#include <buda/netlist/model/netlist.hpp>

#include <string>

namespace buda::pipes {

// PP001, at the op, or at one of its inputs.
Diagnostic not_supported(const netlist::Netlist& netlist, const netlist::Op& op, std::string feature, int input = -1,
                         std::string hint = "");

}  // namespace buda::pipes
