// SPDX-License-Identifier: Apache-2.0
// The last look at a netlist before it is written: what later stages would refuse is refused here.
#pragma once

#include <buda/balance/balance.hpp>
#include <buda/diag/result.hpp>

#include <string>

namespace buda::compiler {

// Reads the text back, compares it, and applies every rule of netlists to it. A violation of a rule about the computation (RuleSubject) is
// a mistake of the graph and is reported for its node; any other violation is a bug of the balancer.
Result<void> check_product(const balance::Balanced& balanced, const std::string& text);

}  // namespace buda::compiler
