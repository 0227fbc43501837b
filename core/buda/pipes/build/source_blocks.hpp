// SPDX-License-Identifier: Apache-2.0
// Blocks in the buffers of an input's source.
#pragma once

#include <buda/pipes/build/placed_epoch.hpp>

#include <cstdint>
#include <vector>

namespace buda::pipes {

// Buffers of the op or queue that an input comes from, as its routes number them: one per core, or per buffer of the queue; of a prologue
// those of the op's own copy.
std::vector<Id> source_buffers(const PlacedEpoch& epoch, std::size_t op, const InputPlan& input);

// Tiles of a block of these buffers.
std::int64_t source_granularity(const EpochPlan& plan, const InputPlan& input);

// Which reader of a prologue queue the op is.
std::size_t reader_number(const QueuePlan& queue, std::size_t op);

// How often an op's output buffer is filled in an epoch: passes of the pipes that read it.
std::int64_t windows_of(const netlist::Op& op, std::int64_t input_count);

// The blocks of `granularity` tiles that a route takes, in order; `padding` for those that are constants.
std::vector<Id> blocks_of(const PipeRoute& route, std::int64_t granularity, const std::vector<Id>& buffers, Id padding);

}  // namespace buda::pipes
