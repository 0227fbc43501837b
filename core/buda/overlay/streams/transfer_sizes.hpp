// SPDX-License-Identifier: Apache-2.0
// Sizes of the buffers that only transport tiles, and of what is transferred at once. Internal to the module.
#pragma once

#include <buda/overlay/blob/blob.hpp>

#include <cstdint>

namespace buda::overlay {

// The largest divisor of n that is at most `max`; 1 at least. O(sqrt n).
std::int64_t divisor_up_to(std::int64_t n, std::int64_t max);

// Streams whose buffers can be smaller: that costs time, not correctness.
inline bool is_transport(const Stream& s) { return s.kind == StreamKind::relay || s.kind == StreamKind::multicast; }

inline std::uint64_t bytes_of(std::int64_t tiles, std::int32_t tile_bytes) {
  return static_cast<std::uint64_t>(tiles) * static_cast<std::uint64_t>(tile_bytes);
}

}  // namespace buda::overlay
