// SPDX-License-Identifier: Apache-2.0
// What the user asks of pass choose-saved.
#pragma once

#include <cstdint>
#include <optional>

namespace buda::passes {

// What a training step computes again in its backward phase, so that less of the forward phase is kept (choose-saved).
enum class Recompute : std::uint8_t {
  none,      // nothing
  formulas,  // values of elements, where that saves something
  segments,  // parts of the model as a whole
};
struct SavedOptions {
  Recompute recompute = Recompute::none;
  std::optional<std::int64_t> limit = {};  // bytes for one batch; more is computed again where less is not enough
};

}  // namespace buda::passes
