// SPDX-License-Identifier: Apache-2.0
// Streams of kernels, then pipe by pipe what connects them.
#include <buda/overlay/streams/allocator.hpp>

#include <buda/base/text.hpp>
#include <buda/overlay/streams/connection.hpp>
#include <buda/overlay/streams/queue_writes.hpp>
#include <buda/overlay/streams/transfer_sizes.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace buda::overlay {
namespace {

std::vector<StreamRef> kernel_inputs(const KernelStreams& kernel, const std::vector<const Buffer*>& buffers) {
  std::vector<StreamRef> out;
  for (const Buffer* b : buffers)
    if (const StreamRef* ref = kernel.find(b->id)) out.push_back(*ref);
  std::sort(out.begin(), out.end());
  return out;
}

// Groups with the same buffers are one target, if the route to them is the same.
PipeStreams group_targets(const KernelStreams& kernel, const PipePlan& plan) {
  PipeStreams out;
  std::map<std::pair<std::vector<const Buffer*>, const Buffer*>, std::size_t> known;  // looked up only
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    const RelayRoute& route = plan.routes[g];
    const Buffer* first_relay = route.hops.empty() ? nullptr : route.hops.front().buffer;
    auto [it, fresh] = known.emplace(std::pair{plan.groups[g], first_relay}, out.targets.size());
    if (fresh) out.targets.push_back({plan.groups[g], &route, {}, kernel_inputs(kernel, plan.groups[g])});
    out.target_of.push_back(it->second);
  }
  return out;
}

// The chain's streams with each other and with the receivers; what its first one reads and its last one writes.
void connect_chain(const ConnectionInput& in, PlanInWork work, const TargetStreams& target, ConnectionState& state) {
  const auto& chain = target.chain;
  if (chain.empty()) return;
  for (std::size_t i = 0; i + 1 < chain.size(); ++i) link(state.pool, chain[i], {chain[i + 1]});
  if (work.plan.sink == SinkKind::kernel && !target.receivers.empty()) {
    for (StreamRef r : target.receivers) state.pool[r].noc_in = state.pool[chain.back()].noc_out;
    link(state.pool, chain.back(), target.receivers);
  }
  const Buffer& receiver = *target.buffers.front();
  Stream& first = state.pool[chain.front()];
  if (work.plan.source == SourceKind::dram && !first.read && !in.sharing.reader[work.number]) {
    const std::int64_t room = static_cast<std::int64_t>(first.bytes) / std::max(receiver.tile_size, 1);
    first.read = read_of_plan(in.readers, work.plan, receiver, room, state.dram, state.violations);
  }
  if (work.plan.sink != SinkKind::queue) return;
  Stream& last = state.pool[chain.back()];
  if (auto write = write_of_plan(work.plan, 0, receiver, last, true, state.dram, state.violations)) last.write = std::move(write);
}

bool make_chains(const ConnectionInput& in, PlanInWork work, const std::vector<PipeStreams>& before, PipeStreams& out,
                 ConnectionState& state) {
  const auto reader = in.sharing.reader[work.number];
  for (std::size_t t = 0; t < out.targets.size(); ++t) {
    auto chain = make_chain(in, work, out, t, reader ? &before[*reader] : nullptr, state);
    if (!chain) return false;
    out.targets[t].chain = std::move(*chain);
    connect_chain(in, work, out.targets[t], state);
  }
  return true;
}

// Inputs that read DRAM themselves.
void connect_reading_inputs(const ConnectionInput& in, const PipePlan& plan, const TargetStreams& target, ConnectionState& state) {
  for (const Buffer* b : target.buffers) {
    const StreamRef* ref = in.kernel.find(b->id);
    if (ref == nullptr) continue;
    if (in.plans.feeds.at(b->id).size() > 1)
      return state.violations.unsupported(plan.pipe, b, "an input that several pipes bring from queues");
    Stream& s = state.pool[*ref];
    s.pipe = plan.pipe->id;
    s.noc_in = plan.pipe->incoming_noc;
    s.read = read_of_plan(in.readers, plan, *b, buffer_tiles(*b, in.epoch.buffers), state.dram, state.violations);
    // What is kept for the epoch needs no space for more to come.
    if (plan.before_epoch) s.bytes = bytes_of(plan.pass_tiles, b->tile_size);
  }
}

// Each sender with the streams to which its tiles go: the first of a chain, or where its padding joins it, or the receivers.
void link_senders(const PipePlan& plan, const PipeStreams& streams, StreamPool& pool) {
  for (std::size_t i = 0; i < streams.senders.size(); ++i)
    for (std::size_t t = 0; t < streams.targets.size(); ++t) {
      const TargetStreams& target = streams.targets[t];
      const auto source = static_cast<std::int32_t>(i);
      const Padding* padding = only_padding(plan, streams, source, t);
      if (padding == nullptr && !plan.padding.empty() && !plan.has_blocks_of(source)) continue;  // padding for other targets
      const std::size_t first = padding != nullptr ? joint_of(plan, streams, *padding) : 0;
      const auto receivers = first == target.chain.size() ? target.receivers : std::vector<StreamRef>{target.chain[first]};
      if (receivers.empty()) continue;
      for (StreamRef r : receivers) pool[r].noc_in = pool[streams.senders[i]].noc_out;
      link(pool, streams.senders[i], receivers);
    }
}

PipeStreams connect_pipe(const ConnectionInput& in, PlanInWork work, const std::vector<PipeStreams>& before, ConnectionState& state) {
  const PipePlan& plan = work.plan;
  PipeStreams out = group_targets(in.kernel, plan);
  if (plan.sink == SinkKind::share) return out;  // read by the stream that sends the share
  if (!make_chains(in, work, before, out, state) || !state.violations.empty()) return out;
  if (plan.source == SourceKind::dram) {
    if (out.targets.front().chain.empty()) connect_reading_inputs(in, plan, out.targets.front(), state);
    return out;
  }
  auto senders = make_senders(in, plan, out, state);
  if (!senders || !state.violations.empty()) return out;
  out.senders = std::move(*senders);
  link_senders(plan, out, state.pool);
  if (plan.over_pcie()) mark_pcie_writes(in.epoch, plan, out, state.pool);
  return out;
}

// Inputs have the same size in all cores of an op, as multicasts need it.
void equalize_inputs(const CoreMap& cores, PerStream<Stream>& streams) {
  std::map<std::tuple<std::int32_t, std::string, std::int32_t>, std::uint64_t> max_bytes;
  auto for_each_input = [&](auto&& visit) {
    for (std::size_t i = 0; i < streams.cores(); ++i) {
      const Core& core = cores.cores()[i];
      for (auto& [number, s] : streams.of_core(i))
        if (s.kind == StreamKind::input && !core.ethernet) visit(s, max_bytes[{core.chip, core.op, number}]);
    }
  };
  for_each_input([](Stream& s, std::uint64_t& bytes) { bytes = std::max(bytes, s.bytes); });
  for_each_input([](Stream& s, std::uint64_t& bytes) { s.bytes = bytes; });
}

}  // namespace

void link(StreamPool& pool, StreamRef sender, const std::vector<StreamRef>& receivers) {
  const Destination d{receivers.front(), receivers.back().core};
  auto& destinations = pool[sender].destinations;
  if (std::find(destinations.begin(), destinations.end(), d) == destinations.end()) destinations.push_back(d);
  for (StreamRef r : receivers) {
    auto& sources = pool[r].sources;
    if (std::find(sources.begin(), sources.end(), sender) == sources.end()) sources.push_back(sender);
  }
}

StreamAllocation allocate_streams(const EpochInput& in, const CoreMap& cores, const PipePlans& plans, const SharedReads& sharing,
                                  Violations& violations) {
  StreamPool pool(in, cores, plans, violations);
  DramTable dram(in, violations);
  KernelStreams kernel = make_kernel_streams(in, cores, pool, dram, violations);
  StreamAllocation out{PerStream<Stream>(0), {}, {}, {}};
  if (!violations.empty()) return out;
  const QueueReaders readers{number_readers(in, plans, sharing), index_row_lookups(plans, kernel.by_buffer)};
  const ConnectionInput input{in, cores, plans, sharing, kernel, readers};
  ConnectionState state{pool, dram, violations, {}, {}, {}};
  for (std::size_t i = 0; i < plans.pipes.size(); ++i) out.pipes.push_back(connect_pipe(input, {plans.pipes[i], i}, out.pipes, state));
  if (!violations.empty()) return out;
  equalize_inputs(cores, pool.streams());
  out.streams = std::move(pool.streams());
  out.dram = std::move(dram).take();
  out.program_bytes = std::move(kernel.program_bytes);
  return out;
}

}  // namespace buda::overlay
