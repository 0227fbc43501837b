// SPDX-License-Identifier: Apache-2.0
// The passes that make fused ops, and the marks by which a user guides it.
#pragma once

#include <buda/passes/pipeline/pass.hpp>

namespace buda::passes {

extern const Pass kFuseOps, kFuseUpdates, kFuseShifts;

// Ops with this tag fuse with those of the same value only; where any op has it, ops without it do not fuse.
inline constexpr const char* kFuseGroup = "fuse_group";

}  // namespace buda::passes
