// SPDX-License-Identifier: Apache-2.0
// Lifetimes of dynamic queues, and how many bytes are alive at once.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::balance {

// Epochs, from the first to the last, which is included.
struct EpochSpan {
  std::int32_t first = 0, last = 0;
  friend bool operator==(const EpochSpan&, const EpochSpan&) = default;
};

// The epochs in which a buffer holds data; nothing: all of them, and between two runs of the program.
using Lifetime = std::optional<EpochSpan>;

struct SpanBytes {
  Lifetime life;
  double bytes = 0;
};

// The most bytes that are alive in one epoch. O(spans + epochs).
double peak_bytes(const std::vector<SpanBytes>& all, std::int32_t epochs);

}  // namespace buda::balance

#pragma GCC visibility pop
