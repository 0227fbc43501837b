// SPDX-License-Identifier: Apache-2.0
// On which chip the epochs of a choice run, and where its queues have to lie for that.
#pragma once

#include <buda/balance/chips/chip_stages.hpp>
#include <buda/balance/policy/choice_space.hpp>

#include <cstdint>
#include <vector>

namespace buda::balance {

// A choice without chips runs on the first that the host reaches directly, or on the problem's first where there is none.
std::int32_t chip_of_epoch(const Problem& problem, const Choice& choice, std::int32_t epoch);
std::int32_t chip_of_op(const Problem& problem, const Choice& choice, OpId op);

// Chips of all epochs.
EpochChips chips_of_epochs(const Problem& problem, const Choice& choice);
// By the chips of the ops, where they have some; else empty.
EpochChips chips_of_ops(const Problem& problem, const Choice& choice);
// The segment of each epoch.
std::vector<std::int32_t> segments_of_epochs(const Problem& problem, const Choice& choice);

// What decides how the epochs of a choice are shared out.
StagedEpochs staged_epochs(const Problem& problem, const Choice& choice, std::vector<EpochTime> times);

// The chip through which queues in the memory of the host are reached: the first of the problem's that the host reaches directly, or the
// device's first.
std::int32_t host_chip(const Problem& problem);

// How many iterations the last of these chips is behind the first one.
std::int32_t chips_apart(const Problem& problem, const std::vector<std::int32_t>& chips);

}  // namespace buda::balance
