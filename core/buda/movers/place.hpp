// SPDX-License-Identifier: Apache-2.0
// Other places for the rings of an op's cores. Internal to the module.
#pragma once

#include <buda/movers/space.hpp>
#include <buda/movers/tables.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace buda::movers {

struct NoPlace {
  std::uint64_t wanted = 0, free = 0;  // bytes
};

// The largest first, and those of a stream at one address in all of the cores, since what is multicast arrives everywhere at the same one.
std::optional<NoPlace> place_rings(const std::vector<CoreTables*>& cores, FreeSpace space);

}  // namespace buda::movers
