// SPDX-License-Identifier: Apache-2.0
// The streams between senders and receivers: of relay buffers, of multicasts, and those that forward shared reads.
#include <buda/overlay/streams/connection.hpp>

#include <buda/base/text.hpp>
#include <buda/overlay/streams/transfer_sizes.hpp>
#include <buda/tiling/buffer_sizes.hpp>

#include <algorithm>

namespace buda::overlay {
namespace {

void set_transport(Stream& stream, const Buffer& receiver, const Pipe& pipe, std::int64_t tiles) {
  stream.operand = receiver.operand;
  stream.pipe = pipe.id;
  stream.message_bytes = receiver.tile_size;
  stream.bytes = bytes_of(tiles, receiver.tile_size);
}

void set_network(Stream& stream, std::int32_t noc_in, std::int32_t noc_out, std::int32_t vc) {
  stream.noc_in = noc_in;
  stream.noc_out = noc_out;
  stream.vc = vc;
}

// The buffer of a multicast, or of a stream that forwards shared reads.
std::int64_t transport_tiles(const EpochInput& in, const PipePlan& plan, const Buffer& receiver, const Pipe& last) {
  if (plan.source == SourceKind::dram && last.op_input_dram_io_buf_size_tiles > 0) return last.op_input_dram_io_buf_size_tiles;
  return tiling::staging_tiles(buffer_tiles(receiver, in.buffers), receiver.tile_clear_granularity, receiver.tile_size);
}

// The stream of a relay buffer; one for all routes over it.
std::optional<StreamRef> hop_stream(const ConnectionInput& in, const PipePlan& plan, const RelayRoute& route, std::size_t number,
                                    ConnectionState& state) {
  const RelayHop& hop = route.hops[number];
  const Buffer& b = *hop.buffer;
  if (auto known = state.relays.find(b.id); known != state.relays.end()) return known->second;
  auto refuse = [&](const std::string& why) {
    state.violations.error("OV002", hop.pipe, &b, why);
    return std::nullopt;
  };
  const std::int32_t core = in.cores.of(b);
  if (core == kNotInEpoch) return refuse(cat("buffer_", b.id, " is in no core"));
  if (const std::int32_t bytes = plan.first_output().tile_size; b.tile_size != bytes)
    return refuse(cat("tiles of ", bytes, " bytes pass through buffer_", b.id, ", and its own have ", b.tile_size));
  const bool over_link = b.type == BufferType::ethernet_relay && !b.use_ethernet_fw_stream;
  const auto ref = over_link ? state.pool.take_link(core, StreamKind::relay, cat("pipe_", plan.pipe->id))
                             : state.pool.take_free(plan, core, StreamKind::relay);
  if (!ref) return std::nullopt;
  const bool is_last = number + 1 == route.hops.size();
  const Pipe& onwards = is_last ? *route.last : *route.hops[number + 1].pipe;
  const bool to_multicast = is_last && plan.multicast;
  Stream& s = state.pool[*ref];
  set_transport(s, b, onwards, std::max<std::int64_t>(buffer_tiles(b, in.epoch.buffers), 1));
  s.buffer = b.id;
  s.firmware = b.use_ethernet_fw_stream;
  set_network(s, hop.pipe->outgoing_noc, to_multicast ? onwards.incoming_noc : onwards.outgoing_noc,
              to_multicast ? onwards.incoming_vc : onwards.outgoing_vc);
  state.relays[b.id] = *ref;
  return ref;
}

// Cores side by side in a row or column, and the same operand everywhere.
bool is_line(const std::vector<const Buffer*>& receivers) {
  std::vector<GridCoord> cores;
  for (const Buffer* b : receivers) {
    if (b->chip != receivers.front()->chip || b->operand != receivers.front()->operand) return false;
    cores.push_back(b->core);
  }
  std::sort(cores.begin(), cores.end());
  const GridCoord first = cores.front();
  const bool is_row = cores.back().row == first.row;
  for (std::size_t i = 0; i < cores.size(); ++i) {
    const auto step = static_cast<std::int32_t>(i);
    if (cores[i] != (is_row ? GridCoord{first.row, first.col + step} : GridCoord{first.row + step, first.col})) return false;
  }
  return true;
}

std::optional<StreamRef> multicast_stream(const ConnectionInput& in, PlanInWork work, const TargetStreams& target, ConnectionState& state) {
  const Buffer& receiver = *target.buffers.front();
  if (target.buffers.size() > 1 && !is_line(target.buffers)) {
    state.violations.unsupported(work.plan.pipe, &receiver, "a multicast to cores that are not a row or column");
    return std::nullopt;
  }
  const auto core = multicast_core(in, work, target, state.violations);
  if (!core) return std::nullopt;
  const Pipe& last = *target.route->last;
  const auto ref = state.pool.take_multicast(*core, last);
  if (!ref) return std::nullopt;
  Stream& s = state.pool[*ref];
  set_transport(s, receiver, last, transport_tiles(in.epoch, work.plan, receiver, last));
  set_network(s, last.incoming_noc, last.outgoing_noc, last.outgoing_vc);
  return ref;
}

// A shared read that leads to one core: what would else go directly into its input is sent there, too.
std::optional<StreamRef> forwarding_stream(const ConnectionInput& in, PlanInWork work, ConnectionState& state) {
  const Buffer& receiver = work.plan.first_output();
  const Pipe& pipe = *work.plan.pipe;
  const auto reader = in.sharing.reader[work.number];
  const auto ref = state.pool.take_free(work.plan, reading_core(in.cores, reader ? in.plans.pipes[*reader] : work.plan), StreamKind::relay);
  if (!ref) return std::nullopt;
  Stream& s = state.pool[*ref];
  set_transport(s, receiver, pipe, transport_tiles(in.epoch, work.plan, receiver, pipe));
  set_network(s, pipe.incoming_noc, pipe.outgoing_noc, pipe.outgoing_vc);
  return ref;
}

}  // namespace

std::optional<std::int32_t> multicast_core(const ConnectionInput& in, PlanInWork work, const TargetStreams& target,
                                           Violations& violations) {
  if (const auto reader = in.sharing.reader[work.number]) return reading_core(in.cores, in.plans.pipes[*reader]);
  const Buffer& receiver = *target.buffers.front();
  const Pipe& last = *target.route->last;
  const auto& corners = last.mcast_core;
  pipes::CoreCoord at{receiver.chip, receiver.core};
  if (!corners.empty() && !last.ethernet_chan) at = corners[std::min(target.route->group, corners.size() - 1)];
  const std::int32_t core = in.cores.worker(at.chip, at.core);
  if (core != kNotInEpoch && at.chip == receiver.chip) return core;
  violations.error("OV002", &last, &receiver,
                   cat("mcast_core_rc is [", at.chip, ", ", at.core.row, ", ", at.core.col, "], where no op is"));
  return std::nullopt;
}

std::optional<std::vector<StreamRef>> make_chain(const ConnectionInput& in, PlanInWork work, const PipeStreams& streams, std::size_t t,
                                                 const PipeStreams* reader, ConnectionState& state) {
  const PipePlan& plan = work.plan;
  const TargetStreams& target = streams.targets[t];
  std::vector<StreamRef> chain;
  if (plan.over_pcie()) {
    auto ends = make_pcie_ends(in, work, streams, t, state);
    if (!ends) return std::nullopt;
    chain = std::move(*ends);
  }
  for (std::size_t h = 0; h < target.route->hops.size(); ++h) {
    const auto ref = hop_stream(in, plan, *target.route, h, state);
    if (!ref) return std::nullopt;
    chain.push_back(*ref);
  }
  if (!plan.multicast && !in.sharing.is_shared(work.number)) return chain;
  const auto ref = plan.multicast ? multicast_stream(in, work, target, state) : forwarding_stream(in, work, state);
  if (!ref) return std::nullopt;
  chain.push_back(*ref);
  Stream& last = state.pool[*ref];
  // What arrives over PCIe arrives in chunks.
  if (plan.over_pcie()) last.bytes = bytes_of(2 * pcie_chunk_tiles(in.epoch, plan), last.message_bytes);
  if (reader == nullptr) return chain;
  // The reader may have had no stream left.
  if (reader->targets.empty() || reader->targets.front().chain.empty()) return std::nullopt;
  const StreamRef shared = reader->targets.front().chain.front();
  Stream& first = state.pool[chain.front()];
  first.fork_of = shared.stream;
  first.bytes = state.pool[shared].bytes;
  return chain;
}

}  // namespace buda::overlay
