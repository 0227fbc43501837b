// SPDX-License-Identifier: Apache-2.0
// The streams of an epoch and their connections: the result of the second step. Internal to the module.
#pragma once

#include <buda/overlay/blob/blob.hpp>
#include <buda/overlay/plan/pipe_plan.hpp>
#include <buda/overlay/streams/per_stream.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace buda::overlay {

// Buffers that receive the same tiles over the same route, and the streams through which they receive them.
struct TargetStreams {
  std::vector<const Buffer*> buffers;
  const RelayRoute* route = nullptr;
  std::vector<StreamRef> chain;      // between senders and receivers, in order; the last one may be a multicast
  std::vector<StreamRef> receivers;  // of kernels, by core; empty if the sink is a queue or a share
};

// The streams that carry a pipe.
struct PipeStreams {
  std::vector<TargetStreams> targets;
  std::vector<std::size_t> target_of;  // per group of the plan: index in `targets`
  std::vector<StreamRef> senders;      // per source of the plan; empty if the source is DRAM
};

// Of the streams on the route to its target, the one at which padding joins; the number of all of them if it joins after the relays.
inline std::size_t joint_of(const PipePlan& plan, const PipeStreams& streams, const Padding& p) {
  if (p.hop != Padding::kAfterRelays) return p.hop;
  return streams.targets[streams.target_of[p.group]].chain.size() - (plan.multicast ? 1 : 0);
}

// The padding that a source brings to a target, if it brings nothing but padding; or null.
const Padding* only_padding(const PipePlan& plan, const PipeStreams& streams, std::int32_t source, std::size_t target);

struct StreamAllocation {
  // Numbers, connections, sizes, reads and writes. Phases and addresses are empty; sizes of transport buffers and of transfers are upper
  // bounds, which L1 may reduce.
  PerStream<Stream> streams;
  std::vector<PipeStreams> pipes;  // in step with PipePlans::pipes
  std::vector<DramBuffer> dram;
  // Per core: bytes of the stream program, if the op says how many they may be (overlay_size).
  std::vector<std::optional<std::int64_t>> program_bytes;
};

}  // namespace buda::overlay
