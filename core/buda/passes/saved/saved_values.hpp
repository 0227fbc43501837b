// SPDX-License-Identifier: Apache-2.0
// Which values of the forward phase a training step keeps for its backward phase, and which it computes again there. Internal to the passes
// module.
#pragma once

#include <buda/passes/saved/forward_values.hpp>

#include <cstdint>
#include <vector>

namespace buda::passes {

// By place in the list of values.
struct SavedValues {
  std::vector<bool> is_kept;
  std::vector<bool> is_repeated;  // by the backward phase, which needs it
  std::int64_t bytes = 0;         // of those that are kept
};

SavedValues all_saved(const std::vector<ForwardValue>& values);

// The fewest bytes from which all can be computed that the backward phase reads. `may_repeat`, by place, says what it may compute again; of
// equal bytes those are kept that leave least to repeat.
SavedValues fewest_saved(const std::vector<ForwardValue>& values, const std::vector<bool>& may_repeat);

// As the options ask for: a mode, and a limit that takes more than the mode repeats where it has to.
SavedValues choose_saved_values(const std::vector<ForwardValue>& values, const SavedOptions& options);

}  // namespace buda::passes
