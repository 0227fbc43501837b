// SPDX-License-Identifier: Apache-2.0
// Which phases of a training step the ops of an epoch belong to. Where phases have no programs of their own, an epoch may have ops of
// several.
#pragma once

#include <buda/balance/policy/choice_space.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace buda::balance {

// By epoch; ascending.
std::vector<std::vector<std::int32_t>> phases_of_epochs(const Problem& problem, const Choice& choice);

// "forward" or "backward, optimizer".
std::string phases_text(const std::vector<std::int32_t>& phases);

// By epoch the names of graphs: "fwd_0_3", "bwd_0_4", "bwd_opt_0_5"; without a training step "fwd_0_3".
std::vector<std::string> graph_names(const Problem& problem, const Choice& choice);

// Of the program of a segment: "run_fwd_0", of the second phase "run_bwd_0", of the second segment of a model in several "run_fwd_1".
std::string program_name(const Problem& problem, std::int32_t segment);

}  // namespace buda::balance
