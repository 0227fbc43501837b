// SPDX-License-Identifier: Apache-2.0
// What follows from a choice alone.
#include <buda/balance/policy/choice_space.hpp>

#include <algorithm>

namespace buda::balance {

std::int32_t Choice::epochs() const {
  std::int32_t last = -1;
  for (const auto& op : ops) last = std::max(last, op.epoch);
  return last + 1;
}

}  // namespace buda::balance
