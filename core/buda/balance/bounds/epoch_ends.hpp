// SPDX-License-Identifier: Apache-2.0
// Why the epochs of a choice end where they do.
#pragma once

#include <buda/balance/policy/choice_space.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace buda::balance {

// Of each epoch what keeps the next op of the schedule out of it, as a sentence: an epoch break of the user, no room, the limits of its
// neighbours, or that it would be slower than the epoch's interval (`intervals`: by epoch, cycles); of the last epoch that it is the last.
// Nothing is said (empty texts) of choices whose epochs are no sections of the schedule.
std::vector<std::string> epoch_ends(const ChoiceSpace& space, const Choice& choice, const std::vector<double>& intervals);

}  // namespace buda::balance
