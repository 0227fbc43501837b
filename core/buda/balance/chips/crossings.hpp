// SPDX-License-Identifier: Apache-2.0
// Values that pass from chip to chip between ops that run together: in one temporal epoch, so that they need no queue between them.
#pragma once

#include <buda/balance/policy/choice_space.hpp>
#include <buda/balance/policy/epoch_span.hpp>
#include <buda/balance/problem/problem.hpp>

#include <cstdint>
#include <set>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::balance {

// An op and one that takes its result.
struct OpEdge {
  OpId writer;
  OpUse reader;
};

// Epochs that take what other chips make at the same time over Ethernet directly, not from queues.
using DirectEpochs = std::set<std::int32_t>;

// The runs of epochs that programs execute together.
std::vector<EpochSpan> temporal_epochs_of(const Problem& problem, const Choice& choice);

// Whether copies of one chip take it from another in the same temporal epoch, and the user wants no queue between them. Copies write to
// queues with room for all, so that such an edge can block nothing.
bool crosses_within_temporal_epoch(const Problem& problem, const Choice& choice, const OpEdge& edge);

// All epochs that could be direct.
DirectEpochs possibly_direct(const Problem& problem, const Choice& choice);

}  // namespace buda::balance

#pragma GCC visibility pop
