// SPDX-License-Identifier: Apache-2.0
// Peaks by differences between neighbouring epochs.
#include <buda/balance/policy/epoch_span.hpp>

#include <algorithm>
#include <cstddef>

namespace buda::balance {

double peak_bytes(const std::vector<SpanBytes>& all, std::int32_t epochs) {
  std::vector<double> change(static_cast<std::size_t>(std::max(epochs, 0)) + 1, 0);
  double always = 0;
  for (const SpanBytes& one : all) {
    if (one.life) {
      change[static_cast<std::size_t>(one.life->first)] += one.bytes;
      change[static_cast<std::size_t>(one.life->last) + 1] -= one.bytes;
    } else {
      always += one.bytes;
    }
  }
  double now = 0, most = 0;
  for (double bytes : change) most = std::max(most, now += bytes);
  return always + most;
}

}  // namespace buda::balance
