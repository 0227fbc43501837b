// SPDX-License-Identifier: Apache-2.0
// Plans an input of an op: which tiles go to which core, in which order, and the kernel's buffer for them.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/pipes/plan/epoch_plan.hpp>

namespace buda::pipes {

// All but the ids, from an op whose sources are listed (list_ops()). Whether a prologue is read in the order of consumption is the choice
// for this input alone; agree_on_prologues() follows. Errors as of check_source() and multicast_of(); PP002, PP003 and PP020 where the
// input has no order or no routes.
Result<InputPlan> plan_input(const EpochPlan& plan, const OpPlan& op, std::size_t input);

}  // namespace buda::pipes
