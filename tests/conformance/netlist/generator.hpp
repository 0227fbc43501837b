// SPDX-License-Identifier: Apache-2.0
// Random netlists.
#pragma once

#include <cstdint>
#include <string>

namespace buda::judge {

// A netlist of one to four ops for wormhole_b0, of any type, with random blocks, manipulations, formats and programs. Most are legal; the
// validator sorts the others out. The same seed gives the same text everywhere.
std::string random_netlist(std::uint64_t seed);

// The text with one fault: a number, name or format changed, a field or line lost or doubled.
std::string with_fault(const std::string& text, std::uint64_t seed);

}  // namespace buda::judge
