// SPDX-License-Identifier: Apache-2.0
// Long loops in parts.
#pragma once

#include <buda/base/parallel.hpp>

#include <algorithm>
#include <cstddef>

namespace buda::arith {

// Calls body(begin, end) for consecutive parts of [0, count), in parallel where there is enough to do. Every part but the last is a
// multiple of `grain` long.
template <class Body>
void in_parts(unsigned threads, std::size_t count, std::size_t grain, Body&& body) {
  constexpr std::size_t kPart = 1u << 15;
  const std::size_t part = std::max<std::size_t>(kPart / std::max<std::size_t>(grain, 1), 1) * std::max<std::size_t>(grain, 1);
  parallel_for(threads, (count + part - 1) / part, [&](std::size_t i) { body(i * part, std::min(count, (i + 1) * part)); });
}

}  // namespace buda::arith
