// SPDX-License-Identifier: Apache-2.0
// Memory for tensors.
#pragma once

#include <cstddef>
#include <memory>

namespace buda {

// Uninitialised memory that is aligned for every element type, for vector registers and for cache lines; null when there is not enough.
std::shared_ptr<char> allocate_aligned(std::size_t bytes);

}  // namespace buda
