// SPDX-License-Identifier: Apache-2.0
// Parameters of a model's programs: what the balancer declares and the host gives.
#pragma once

namespace buda::host_plan {

inline constexpr const char* kLoopCount = "$p_loop_count";  // batches that wait in the queues
// Of the programs of a training step: the slot of its state that is read, and that which the optimizer writes; 1 where sums of gradients
// begin anew.
inline constexpr const char* kStateSlot = "$p_state";
inline constexpr const char* kNextStateSlot = "$p_next_state";
inline constexpr const char* kZeroGradients = "$p_zero_grad";

}  // namespace buda::host_plan
