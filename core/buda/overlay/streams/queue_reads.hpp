// SPDX-License-Identifier: Apache-2.0
// Reading of queues. Internal to the module.
//
// A read list has the blocks of one pass, which is one entry of each queue. Blocks are as long as the pipegen file has them, or a part of
// that where the buffer that receives them is smaller. A request is for at most half of that buffer, so that reading and consuming overlap.
#pragma once

#include <buda/overlay/blob/blob.hpp>
#include <buda/overlay/plan/pipe_plan.hpp>
#include <buda/overlay/streams/dram_table.hpp>
#include <buda/overlay/streams/shared_reads.hpp>
#include <buda/overlay/violations.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace buda::overlay {

// A pipe among the readers of a buffer, which free its slots together.
struct ReaderNumber {
  std::int32_t reader = 0, readers = 1;
};
// By pipe and buffer. Files count pipes that share their reads as one; where they do not share, they are numbered anew. Empty if the
// numbers of the file hold.
using ReaderNumbers = std::map<std::pair<Id, Id>, ReaderNumber>;
ReaderNumbers number_readers(const EpochInput& in, const PipePlans& plans, const SharedReads& sharing);

// By core (chip, row, column): the input that brings the numbers of the rows of an embedding table.
using RowLookups = std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, RowLookup>;
// `kernel_streams`: by buffer.
RowLookups index_row_lookups(const PipePlans& plans, const std::map<Id, StreamRef>& kernel_streams);

struct QueueReaders {
  ReaderNumbers numbers;
  RowLookups lookups;
};

// What the stream of `receiver` reads for a plan whose source is DRAM; its buffer has room for `room` tiles. OV002.
std::optional<DramRead> read_of_plan(const QueueReaders& readers, const PipePlan& plan, const Buffer& receiver, std::int64_t room,
                                     DramTable& dram, Violations& violations);

// A prologue or padding that is read as it is in DRAM.
DramRead read_of_buffer(const Buffer& buffer, DramTable& dram);

}  // namespace buda::overlay
