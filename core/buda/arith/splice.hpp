// SPDX-License-Identifier: Apache-2.0
// Which units of its inputs a splice copies.
#pragma once

#include <buda/netlist/model/op.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace buda::arith {

// For each unit of a core's output, in order: the input, and the number of its unit. Units are ublocks of a t, or whole t.
std::vector<std::pair<std::size_t, std::int64_t>> splice_sources(const netlist::Op& op);
bool splices_whole_t(const netlist::Op& op);

}  // namespace buda::arith
