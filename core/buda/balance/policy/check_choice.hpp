// SPDX-License-Identifier: Apache-2.0
// Whether what a policy returns can be built on.
#pragma once

#include <buda/balance/policy/choice_space.hpp>
#include <buda/diag/diagnostic.hpp>

#include <vector>

namespace buda::balance {

// Code of the diagnostics about what a policy did wrong.
inline constexpr const char* kIllegalChoice = "BL030";

// Is every op placed once, with a legal model, inside the chip, overlapping nobody, not before its producers, at epoch breaks where the
// user wants them, and does every core fit with its neighbours? All findings. What a policy makes wrong is its author's bug, and says so.
std::vector<Diagnostic> check_choice(const ChoiceSpace& space, const Choice& choice);

}  // namespace buda::balance
