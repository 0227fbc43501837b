// SPDX-License-Identifier: Apache-2.0
// Pipes over PCIe, between chips without Ethernet.
//
// A stream of one chip writes chunks of tiles as it would write them to a queue in DRAM; the destination is the buffer of a stream on the
// other chip, which receives them as if it had read a queue. So there is one stream at either end:
//
//   outputs ─▶ relay ═PCIe═▶ input
//   outputs ─▶ relay ═PCIe═▶ multicast ─▶ inputs
//   outputs ─▶ relay ═PCIe═▶ relay ─▶ input, which receives tiles from other streams too
//
// A single output that sends its whole buffer in order needs no relay and writes itself. Round-robin receivers have a route each. Relays
// are on cores of the sources and of the receivers; those of several rounds on several cores.
#include <buda/overlay/streams/connection.hpp>

#include <buda/base/text.hpp>
#include <buda/overlay/streams/transfer_sizes.hpp>
#include <buda/tiling/buffer_sizes.hpp>

#include <algorithm>
#include <numeric>

namespace buda::overlay {
namespace {

constexpr std::int32_t kPcieWriteChannel = 0;

std::optional<StreamRef> pcie_relay(const ConnectionInput& in, const PipePlan& plan, const TargetStreams& target, std::int32_t core,
                                    ConnectionState& state) {
  const Buffer& receiver = *target.buffers.front();
  if (core == kNotInEpoch) {
    state.violations.error("OV002", plan.pipe, &receiver, "one end of it is in no core");
    return std::nullopt;
  }
  const auto ref = state.pool.take_free(plan, core, StreamKind::relay);
  if (!ref) return std::nullopt;
  Stream& s = state.pool[*ref];
  s.operand = receiver.operand;
  s.pipe = plan.pipe->id;
  s.message_bytes = receiver.tile_size;
  s.bytes = bytes_of(2 * pcie_chunk_tiles(in.epoch, plan), receiver.tile_size);
  return ref;
}

// The source on whose core a target's relay is: another one for each target.
const Buffer& relay_source(const PipePlan& plan, std::size_t target) {
  std::size_t source = target % plan.sources.size();
  while (plan.sources[source]->is_padding) source = (source + 1) % plan.sources.size();
  return *plan.sources[source];
}

// Whether the receivers get tiles from one stream only, which can be the one that writes over PCIe.
bool has_one_sender(const ConnectionInput& in, const PipePlan& plan, const PipeStreams& streams, std::size_t t) {
  if (std::any_of(plan.padding.begin(), plan.padding.end(), [&](const Padding& p) { return streams.target_of[p.group] == t; }))
    return false;
  for (const Buffer* b : streams.targets[t].buffers) {
    if (in.plans.feeds.at(b->id).size() != 1) return false;
    std::size_t reached = 0;  // targets with this buffer
    for (const TargetStreams& other : streams.targets)
      reached += static_cast<std::size_t>(std::count(other.buffers.begin(), other.buffers.end(), b));
    if (reached != 1) return false;
  }
  return true;
}

}  // namespace

std::int64_t pcie_chunk_tiles(const EpochInput& in, const PipePlan& plan) {
  const std::int64_t max_phase = in.device.streams.max_tiles_per_phase;
  std::int64_t tiles = 0;
  for (const Block& b : plan.blocks) {
    tiles = std::gcd(tiles, b.tiles);
    if (b.tiles > max_phase) tiles = std::gcd(tiles, max_phase);
  }
  return divisor_up_to(tiles, tiling::latency_tiles(plan.first_output().tile_size));
}

std::optional<std::vector<StreamRef>> make_pcie_ends(const ConnectionInput& in, PlanInWork work, const PipeStreams& streams, std::size_t t,
                                                     ConnectionState& state) {
  const PipePlan& plan = work.plan;
  const TargetStreams& target = streams.targets[t];
  const Pipe& pipe = *plan.pipe;
  std::vector<StreamRef> ends;
  if (!plan.flows) {
    const auto ref = pcie_relay(in, plan, target, in.cores.of(relay_source(plan, t)), state);
    if (!ref) return std::nullopt;
    state.pool[*ref].noc_out = pipe.outgoing_noc;
    ends.push_back(*ref);
  }
  if (has_one_sender(in, plan, streams, t)) return ends;
  const auto core =
      plan.multicast ? multicast_core(in, work, target, state.violations) : std::optional(in.cores.of(*target.buffers.front()));
  if (!core) return std::nullopt;
  const auto ref = pcie_relay(in, plan, target, *core, state);
  if (!ref) return std::nullopt;
  Stream& s = state.pool[*ref];
  s.noc_out = plan.multicast ? pipe.incoming_noc : pipe.outgoing_noc;
  s.vc = plan.multicast ? pipe.incoming_vc : pipe.outgoing_vc;
  ends.push_back(*ref);
  return ends;
}

void mark_pcie_writes(const EpochInput& in, const PipePlan& plan, const PipeStreams& streams, StreamPool& pool) {
  const std::uint64_t region = in.cluster.peers->region_bytes * (*plan.pipe->mmio_downstream != 0 ? 2 : 1);
  for (const TargetStreams& target : streams.targets) {
    Stream& s = pool[plan.flows ? streams.senders.front() : target.chain.front()];
    s.vc = kPcieWriteChannel;
    s.pcie = PcieWrite{*in.device.pcie, region, 1};
  }
}

}  // namespace buda::overlay
