// SPDX-License-Identifier: Apache-2.0
// The two levels of graphs.
#pragma once

#include <cstdint>
#include <string_view>

#pragma GCC visibility push(default)

namespace buda::graph {

// tensor: ops on tensors of any rank, as a framework has them. device: ops of the chip on (w, z, r, c) tensors of tiles.
enum class Level : std::uint8_t { tensor, device };

std::string_view level_name(Level level);

}  // namespace buda::graph

#pragma GCC visibility pop
