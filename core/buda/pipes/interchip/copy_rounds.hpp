// SPDX-License-Identifier: Apache-2.0
// Inputs of ethernet_datacopy ops whose cores receive in rounds.
//
// Each core has a route of its own. In front of its first link there is a relay to which all pipes of the edge transfer what is for this
// core, padding included; so the rounds end before the link.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/pipes/interchip/core_positions.hpp>
#include <buda/pipes/interchip/segments.hpp>
#include <buda/pipes/interchip/transfer.hpp>
#include <buda/pipes/plan/epoch_plan.hpp>

#include <vector>

namespace buda::pipes {

// Whether a core of the op receives from several pipes, or a pipe leads to several cores.
bool copies_in_rounds(const OpPlan& op, const InputPlan& input);

// `pipes`: one for each of the input's routes, in their order. `kernel_inputs`: the input buffer of each core. PP001 where a core would
// receive rounds of different sizes.
Result<Segments> cut_copy(const EpochPlan& plan, const CorePositions& cores, std::size_t op, std::vector<InterChipPipe> pipes,
                          const std::vector<Id>& kernel_inputs, RelayAllocator& relays);

}  // namespace buda::pipes
