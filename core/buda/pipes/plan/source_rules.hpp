// SPDX-License-Identifier: Apache-2.0
// What an input may come from.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/pipes/plan/epoch_plan.hpp>

namespace buda::pipes {

// The chip where an input of an op on `chip` comes from. Chips without Ethernet access the host's memory themselves.
std::int32_t source_chip(const EpochPlan& plan, const Source& source, std::int32_t chip);

// The numbers that an embedding looks up are words, whichever layout their queue names.
bool is_index_list(const netlist::Op& op, std::size_t input);

// PP001 for combinations that are not supported; PP013 to PP015 for epilogues that are read, tiles where rows are needed and the reverse,
// outputs that only go to queues, and formats that differ; PP034 as of check_ring().
Result<void> check_source(const EpochPlan& plan, const OpPlan& op, std::size_t input);

}  // namespace buda::pipes
