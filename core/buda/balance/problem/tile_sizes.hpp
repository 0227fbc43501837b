// SPDX-License-Identifier: Apache-2.0
// In how many sizes the tiles of a model's ops come. A worker keeps the headers of its tiles in a buffer for each size; TT-Buda's pipegen2
// gives every worker of a chip a buffer for each size that any of them uses, which op it may be, and a netlist is to fit both ways.
#pragma once

#include <buda/balance/problem/problem.hpp>

#include <span>

namespace buda::balance {

// Sets OpSpec::tile_sizes of all.
void set_tile_sizes(std::span<OpSpec> ops, const device::DeviceDescriptor& device);

}  // namespace buda::balance
