// SPDX-License-Identifier: Apache-2.0
// Decides whether an epoch ends, tile by tile, from its pipes alone: simple, slow, and without anything of the module that it judges.
#pragma once

#include "unit/pipes/built.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace buda::liveness {

// True where every kernel has taken and given all of its tiles. For ops without an own class of kernel here (all but elementwise ops,
// reductions along z and products) it throws. `room`: entries that a queue takes; others take all.
bool judge_ends(const pipes::Built& epoch, const std::map<std::string, std::int64_t>& room = {});

}  // namespace buda::liveness
