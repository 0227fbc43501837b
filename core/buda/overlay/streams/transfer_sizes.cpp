// SPDX-License-Identifier: Apache-2.0
// Divisors.
#include <buda/overlay/streams/transfer_sizes.hpp>

#include <algorithm>

namespace buda::overlay {

std::int64_t divisor_up_to(std::int64_t n, std::int64_t max) {
  std::int64_t best = 1;
  for (std::int64_t d = 1; d * d <= n; ++d) {
    if (n % d != 0) continue;
    if (d <= max) best = std::max(best, d);
    if (n / d <= max) best = std::max(best, n / d);
  }
  return best;
}

}  // namespace buda::overlay
