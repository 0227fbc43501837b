// SPDX-License-Identifier: Apache-2.0
// Streams that send what is in L1: an output's own for the first pipe that takes from it, a fork for each further one, and stores for what
// is read into L1 before the epoch.
#include <buda/overlay/streams/connection.hpp>

#include <buda/base/text.hpp>
#include <buda/overlay/streams/queue_writes.hpp>
#include <buda/overlay/streams/transfer_sizes.hpp>

#include <algorithm>

namespace buda::overlay {
namespace {

// A share is read in the order in which its pipe brings it, other stores as they are in DRAM.
std::optional<DramRead> store_read(const ConnectionInput& in, const Buffer& b, ConnectionState& state) {
  if (b.type != BufferType::prolog_relay) return read_of_buffer(b, state.dram);
  auto feeds = in.plans.feeds.find(b.id);
  if (feeds == in.plans.feeds.end() || feeds->second.size() != 1) {
    state.violations.error("OV002", nullptr, &b, cat("buffer_", b.id, " is not filled by one pipe"));
    return std::nullopt;
  }
  const PipePlan& plan = in.plans.pipes[feeds->second.front()];
  const std::int64_t tiles = buffer_tiles(b, in.epoch.buffers);
  if (plan.pass_tiles == tiles) return read_of_plan(in.readers, plan, b, tiles, state.dram, state.violations);
  state.violations.error("OV002", plan.pipe, &b, cat("it brings ", plan.pass_tiles, " tiles to a share of ", tiles));
  return std::nullopt;
}

std::optional<StreamRef> extra_sender(const ConnectionInput& in, const PipePlan& plan, const Buffer& b, const StreamRef* output,
                                      ConnectionState& state) {
  const auto ref = state.pool.take_free(plan, in.cores.of(b), output != nullptr ? StreamKind::fork : StreamKind::store);
  if (!ref) return std::nullopt;
  Stream& s = state.pool[*ref];
  s.buffer = b.id;
  s.operand = b.operand;
  s.message_bytes = b.tile_size;
  const bool is_own_size = output != nullptr || b.type == BufferType::prolog_relay;
  s.bytes = bytes_of(is_own_size ? buffer_tiles(b, in.epoch.buffers) : b.window_tiles(), b.tile_size);
  if (output != nullptr) {
    s.fork_of = output->stream;
  } else if (auto [first, fresh] = state.stores.emplace(b.id, *ref); !fresh) {
    s.fork_of = first->second.stream;
  } else {
    s.read = store_read(in, b, state);
    s.noc_in = plan.pipe->incoming_noc;
  }
  return ref;
}

std::optional<StreamRef> sender_of(const ConnectionInput& in, const PipePlan& plan, const Buffer& b, ConnectionState& state) {
  if (in.cores.of(b) == kNotInEpoch) {
    state.violations.error("OV002", plan.pipe, &b, cat("buffer_", b.id, " is in no core"));
    return std::nullopt;
  }
  const StreamRef* output = in.kernel.find(b.id);
  if (output != nullptr && state.taken_outputs.insert(b.id).second) return *output;
  return extra_sender(in, plan, b, output, state);
}

}  // namespace

std::optional<std::vector<StreamRef>> make_senders(const ConnectionInput& in, const PipePlan& plan, const PipeStreams& streams,
                                                   ConnectionState& state) {
  const Pipe& pipe = *plan.pipe;
  const bool to_transport = plan.over_pcie() ? !plan.flows : plan.multicast && plan.routes.front().hops.empty();
  std::vector<StreamRef> senders;
  for (std::size_t i = 0; i < plan.sources.size(); ++i) {
    const auto ref = sender_of(in, plan, *plan.sources[i], state);
    if (!ref) return std::nullopt;
    Stream& s = state.pool[*ref];
    s.pipe = pipe.id;
    s.scattered = !plan.flows;
    s.noc_out = to_transport ? pipe.incoming_noc : pipe.outgoing_noc;
    s.vc = to_transport ? pipe.incoming_vc : pipe.outgoing_vc;
    senders.push_back(*ref);
    if (plan.sink != SinkKind::queue || !streams.targets.front().chain.empty()) continue;
    if (auto write = write_of_plan(plan, i, plan.first_output(), s, false, state.dram, state.violations)) s.write = std::move(write);
  }
  return senders;
}

}  // namespace buda::overlay
