// SPDX-License-Identifier: Apache-2.0
// Results whose buffers make one channel of DRAM move more than the others, made by another number of cores. (What the host fills is
// divided when the netlist is built.)
#pragma once

#include <buda/balance/policy/placement.hpp>
#include "rating/link_loads.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>

namespace buda::balance {

// Which results: those of which one buffer alone holds an epoch up, or all that make a channel move more than its share.
enum class Unevenness : std::uint8_t { holds_up, any };

struct EvenRules {
  Unevenness which = Unevenness::any;
  double slower = 1;                     // how many times as long as now an op may take
  std::optional<std::size_t> kind = {};  // only ops of this kind (Placement::kind)
};

// The choice with other models for ops with such results, be it that their own epoch moves them or one that reads them: where their epoch
// has idle cores. Nothing where no op has one. What the placement holds is replaced.
std::optional<Choice> with_even_channels(Placement& placement, LinkModel& links, Choice choice, const EvenRules& rules);

// The kinds of ops with such results.
std::set<std::size_t> uneven_kinds(Placement& placement, LinkModel& links, const Choice& choice);

}  // namespace buda::balance
