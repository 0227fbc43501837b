// SPDX-License-Identifier: Apache-2.0
// What is said of overrides that leave an op without a model.
#pragma once

#include <buda/balance/legalize/nearest_legal.hpp>
#include <buda/balance/policy/choice_space.hpp>
#include <buda/diag/result.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <vector>

namespace buda::balance {

// Whether a plan can be built from a space.
using CanBuild = std::function<bool(const ChoiceSpace&)>;

// ChoiceSpace::kinds. Ops with overrides are alone, and so are those that have other models because of their neighbours.
std::vector<std::size_t> kinds_of(const Problem& problem, const ChoiceSpace& space);

// Adds an error for each op that an override leaves without a model, with the nearest choices that a plan can be made of. `illegal`: what
// is legal near the override, by number of the op; the others of them have what is nearest to theirs while one is tried.
void explain_overrides(Problem problem, ChoiceSpace space, const std::map<std::size_t, std::vector<NearChoice>>& illegal,
                       const CanBuild& can_build, Failure& failure);

}  // namespace buda::balance
