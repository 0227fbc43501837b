// SPDX-License-Identifier: Apache-2.0
// What connecting the pipes of an epoch, one after the other, reads and changes. Internal to the module.
#pragma once

#include <buda/overlay/plan/core_map.hpp>
#include <buda/overlay/plan/epoch_input.hpp>
#include <buda/overlay/plan/pipe_plan.hpp>
#include <buda/overlay/streams/allocation.hpp>
#include <buda/overlay/streams/dram_table.hpp>
#include <buda/overlay/streams/kernel_streams.hpp>
#include <buda/overlay/streams/queue_reads.hpp>
#include <buda/overlay/streams/shared_reads.hpp>
#include <buda/overlay/streams/stream_pool.hpp>
#include <buda/overlay/violations.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace buda::overlay {

struct ConnectionInput {
  const EpochInput& epoch;
  const CoreMap& cores;
  const PipePlans& plans;
  const SharedReads& sharing;
  const KernelStreams& kernel;
  const QueueReaders& readers;
};

struct ConnectionState {
  StreamPool& pool;
  DramTable& dram;
  Violations& violations;
  std::map<Id, StreamRef> relays;  // by buffer: one stream for all routes over it
  std::map<Id, StreamRef> stores;  // by buffer: the stream that reads it before the epoch
  std::set<Id> taken_outputs;      // whose own streams are in use
};

// A plan and its number, while its streams are made.
struct PlanInWork {
  const PipePlan& plan;
  std::size_t number = 0;
};

// Connects a sender with receivers, in order of their cores: one, or a row or column.
void link(StreamPool& pool, StreamRef sender, const std::vector<StreamRef>& receivers);

// The streams between senders and receivers of a target: relay buffers, then the multicast, or what forwards a shared read.
// `reader`: the streams of the plan that reads for this one, if another does.
std::optional<std::vector<StreamRef>> make_chain(const ConnectionInput& in, PlanInWork work, const PipeStreams& streams, std::size_t target,
                                                 const PipeStreams* reader, ConnectionState& state);

// Their first and last parts if the pipe leads over PCIe.
std::optional<std::vector<StreamRef>> make_pcie_ends(const ConnectionInput& in, PlanInWork work, const PipeStreams& streams,
                                                     std::size_t target, ConnectionState& state);
// Tiles of a chunk over PCIe of which all phases can be made, as many as buffers of relays hold in a half.
std::int64_t pcie_chunk_tiles(const EpochInput& in, const PipePlan& plan);
// Marks the streams that write over PCIe; the addresses of their receivers are known later.
void mark_pcie_writes(const EpochInput& in, const PipePlan& plan, const PipeStreams& streams, StreamPool& pool);

// Index of the core where the row or column of a target begins. OV002.
std::optional<std::int32_t> multicast_core(const ConnectionInput& in, PlanInWork work, const TargetStreams& target, Violations& violations);

// A stream for each source of the plan, on the core that has it; nothing if one has no stream.
std::optional<std::vector<StreamRef>> make_senders(const ConnectionInput& in, const PipePlan& plan, const PipeStreams& streams,
                                                   ConnectionState& state);

}  // namespace buda::overlay
