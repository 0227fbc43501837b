// SPDX-License-Identifier: Apache-2.0
// Ops on chips that the user gives them: the parts of fracture groups, which several chips compute beside each other, and single ops
// (op.NAME.chip). All other ops run where what they take comes from.
#pragma once

#include <buda/balance/policy/choice_space.hpp>
#include <buda/balance/problem/problem.hpp>
#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/graph/node_id.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace buda::balance {

// The chips that tags of the graph (graph::kChip) and overrides name, by op; empty where the user gives none. `overrides`: of the ops of
// the problem, as BalanceOptions has them. BL050: a chip that the device does not have.
Result<std::map<graph::NodeId, std::int32_t>> given_chips(const graph::Graph& graph, const Problem& problem,
                                                          const std::map<std::string, std::string>& overrides);

// Where an op runs, and in which order of ops. A value passes from chip to chip between two levels.
struct PlacedOnChip {
  std::int32_t segment = 0;
  std::int32_t level = 0;  // of its segment
  std::size_t chip = 0;    // its place in the order of chips
  bool copies = false;     // what another chip has made, for its own
  friend auto operator<=>(const PlacedOnChip&, const PlacedOnChip&) = default;
};

// Gives every op of `order` a chip: an op that has none runs on that of the last of its operands' ops that comes from one, of those before
// which there is none on `chips.front()`. Adds a nop for each value that is made on one chip, or read there first, and read on another.
// `order` becomes one in which the ops of a chip stand together, level by level, so that chips work beside each other. `chips`: in the
// order in which the model goes through them, with all that are given. O(edges * chips).
std::map<graph::NodeId, PlacedOnChip> place_on_given_chips(graph::Graph& graph, std::vector<graph::NodeId>& order,
                                                           const std::map<graph::NodeId, std::int32_t>& given,
                                                           const std::vector<std::int32_t>& chips);

// Numbers the epochs of a choice for these ops so that those of a level follow one another chip by chip in turn: neighbours on different
// chips run at the same time.
void alternate_chips(const Problem& problem, const std::map<graph::NodeId, PlacedOnChip>& places, Choice& choice);

}  // namespace buda::balance
