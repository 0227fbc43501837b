// SPDX-License-Identifier: Apache-2.0
// Sums in Float32 where that costs next to nothing: in an epoch the slowest op sets the pace, and most others have time to spare.
//
// A destination register of 32 bits has room for half as many tiles, so that an op has smaller blocks and takes longer; what it saves is
// the rounding of every step of 16 terms. Which ops have the time is known only when all of them are placed. Then those of which the graph
// says that they round their sums (sum_roundings.hpp) get wider ones, in the places that they have, as far as their epochs stay as fast:
// all of an epoch together if that works, else the half that rounds more, and so on. Ops that set the pace of an epoch are tried one by
// one, as far as the whole bears it. What is left is chosen and placed anew with wide sums, which takes as long as the first time, and
// stays if the whole is hardly slower.
#pragma once

#include <buda/balance/policy/choice_space.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace buda::balance {

// Cycles of all epochs of a choice for a problem; nothing where it cannot be built.
using EstimateOf = std::function<std::optional<std::vector<double>>(const Problem&, const Choice&)>;
// A choice for a problem whose models are given; nothing where there is none.
using Choose = std::function<std::optional<Choice>(const ChoiceSpace& space)>;

struct WidenedPlan {
  std::shared_ptr<const Problem> problem;
  Choice choice;
  double cycles = 0;  // of all epochs
};

// The plan with such ops; nothing where there are none. Ops of which the user says how they add up (OpOverride::wide_sums) stay as they
// are. Whatever the number of ops, there are some tens of estimates and at most two further choices.
std::optional<WidenedPlan> with_wider_sums(const ChoiceSpace& space, const Choice& choice, const EstimateOf& estimate, const Choose& choose,
                                           unsigned threads);

}  // namespace buda::balance
