// The last look at a netlist before it is written: what later stages would refuse is refused here.
#pragma once

#include <buda/balance/balance.hpp>
#include <buda/diag/result.hpp>

#include <string>

namespace buda::balance {

// Reads the text back, compares it, and applies every rule of netlists to it. A breach of a rule about what the graph itself says (formats,
// attributes, manipulations) is the graph's fault and told of its node; any other finding is a bug of ours.
Result<void> check_product(const Balanced& balanced, const std::string& text);

}  // namespace buda::balance
