// SPDX-License-Identifier: Apache-2.0
// Rounds of pipes between chips: which receiver gets how many, and whether receivers can have routes of their own.
#pragma once

#include <buda/pipes/interchip/transfer.hpp>

#include <cstdint>
#include <vector>

namespace buda::pipes {

// Rounds that each output group of a pipe gets in so many passes. Groups whose round is padding get theirs with the group before them.
std::vector<std::int64_t> rounds_per_group(const Pipe& pipe, std::int64_t passes);

// The buffers of one or several equal output groups of a pipe.
struct Receiver {
  std::vector<std::size_t> groups;  // ascending
  std::int64_t rounds = 0;          // of all its groups in the epoch
};

// Each receiver once, in order of the first group.
std::vector<Receiver> receivers_of(const InterChipPipe& pipe);

// Whether the receivers of a phased pipe can have routes of their own from the producer on: the tiles come from kernels, there are several
// receivers, no buffer belongs to two of them, and each gets whole inputs.
bool can_separate_receivers(const InterChipPipe& pipe);

}  // namespace buda::pipes
