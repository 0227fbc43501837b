// SPDX-License-Identifier: Apache-2.0
// embedding: rows of a table by their numbers, at device level.
#pragma once

#include <buda/ops/table/op.hpp>

namespace buda::ops {

// Numbers that one op of the device looks up: those of a tile.
inline constexpr std::int64_t kMaxIndices = 1024;

OpDef device_embedding();

}  // namespace buda::ops
