// SPDX-License-Identifier: Apache-2.0
// The period of a pipe's input list.
#pragma once

#include <buda/pipes/graph/pipe_graph.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace buda::pipes {

// The number of entries after which a list of more than 64 entries repeats itself to its end, as the reference chooses it: at least 32 if
// possible, and the smallest such; `period * block_tiles` is a multiple of `clear_tiles`. O(entries).
std::optional<std::size_t> list_period(const std::vector<Id>& list, std::int64_t block_tiles, std::int64_t clear_tiles);

}  // namespace buda::pipes
