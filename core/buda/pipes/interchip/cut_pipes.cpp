// SPDX-License-Identifier: Apache-2.0
// First segments: gather what shares a route, or separate receivers.
#include <buda/pipes/interchip/cut_pipes.hpp>

#include <buda/pipes/interchip/rounds.hpp>

#include <numeric>
#include <span>
#include <utility>

namespace buda::pipes {
namespace {

// A phased pipe over a route for each receiver.
void cut_at_producers(InterChipPipe& pipe, const std::vector<ChipRoute>& routes, RelayAllocator& relays, Segments& out) {
  Transfer transfer = pipe.transfer;
  const std::vector<Receiver> receivers = receivers_of(pipe);
  const auto groups = pipe.pipe.outputs;
  Pipe gather = relays.pipe(std::move(pipe.pipe.inputs), 0, {transfer.from, {}});
  gather.periodic_repeat = std::exchange(pipe.pipe.periodic_repeat, 0);
  gather.consumer_repeat = std::exchange(pipe.pipe.consumer_repeat, 1);
  gather.outputs.assign(groups.size(), {});
  gather.mcast_core.assign(groups.size(), {});
  gather.output_padding = std::exchange(pipe.pipe.output_padding, {});
  std::vector<Id> first_relays;
  for (const Receiver& receiver : receivers) {
    transfer.passes = receiver.rounds;
    const CoreCoord at{transfer.from, relays.gathering_worker(transfer)};
    first_relays.push_back(out.relays.emplace_back(relays.relay(BufferType::relay, at, transfer)).id);
    for (std::size_t g : receiver.groups) {
      gather.outputs[g] = {first_relays.back()};
      gather.mcast_core[g] = at;
    }
  }
  out.pipes.push_back(std::move(gather));
  for (std::size_t k = 0; k < receivers.size(); ++k) {
    transfer.passes = receivers[k].rounds;
    InterChipPipe last{pipe.pipe, transfer};
    if (k > 0) last.pipe.id = relays.new_id();
    const std::size_t group = receivers[k].groups.front();
    last.pipe.outputs = {groups[group]};
    last.pipe.mcast_core = {pipe.pipe.mcast_core[group]};
    const Id relay = cross_links({first_relays[k]}, routes[k], transfer, relays, out);
    terminate(std::move(last), {relay}, routes[k], relays, out);
  }
}

// What several pipes transfer in a pass, one after the other.
struct Merged {
  std::vector<Id> inputs;
  std::int64_t repeat = 0;  // periodic repeat of `inputs`
  Transfer transfer;
  std::int64_t part_tiles = 0;  // divides the pass of each pipe
};

void append_repeated(std::vector<Id>& list, const std::vector<Id>& part, std::int64_t times) {
  list.reserve(list.size() + part.size() * static_cast<std::size_t>(std::max<std::int64_t>(times, 1)));
  for (std::int64_t r = 0; r < std::max<std::int64_t>(times, 1); ++r) list.insert(list.end(), part.begin(), part.end());
}

// Takes the inputs out of the pipes.
Merged merge(std::span<InterChipPipe> pipes) {
  Merged out;
  out.transfer = pipes.front().transfer;
  out.part_tiles = out.transfer.pass_tiles;
  if (pipes.size() == 1) {
    out.inputs = std::move(pipes.front().pipe.inputs);
    out.repeat = std::exchange(pipes.front().pipe.periodic_repeat, 0);
    return out;
  }
  out.transfer.pass_tiles = 0;
  for (InterChipPipe& p : pipes) {
    append_repeated(out.inputs, p.pipe.inputs, std::exchange(p.pipe.periodic_repeat, 0));
    out.transfer.pass_tiles += p.transfer.pass_tiles;
    out.part_tiles = std::gcd(out.part_tiles, p.transfer.pass_tiles);
  }
  return out;
}

// A relay on a worker with all that a pass transfers, and the pipe to it.
Id gather(Merged merged, std::int32_t dram_io_tiles, RelayAllocator& relays, Segments& out) {
  const Transfer& transfer = merged.transfer;
  const CoreCoord at{transfer.from, relays.gathering_worker(transfer)};
  Buffer relay = relays.relay(BufferType::relay, at, transfer);
  if (transfer.rows) {
    relay.rows.tilize_row_col_offset = static_cast<std::int32_t>(transfer.rows->offset);
    relay.size_tiles = transfer.rows->buffer;
  }
  Pipe pipe = relays.pipe(std::move(merged.inputs), relay.id, at);
  pipe.periodic_repeat = merged.repeat;
  pipe.op_input_dram_io_buf_size_tiles = dram_io_tiles;
  out.pipes.push_back(std::move(pipe));
  out.relays.push_back(std::move(relay));
  return out.relays.back().id;
}

// Pipes of an edge over one route.
void cut_at_links(std::span<InterChipPipe> pipes, const ChipRoute& route, RelayAllocator& relays, Segments& out) {
  if (route.empty()) {
    std::vector<Id> from = std::move(pipes.front().pipe.inputs);
    return terminate(std::move(pipes.front()), std::move(from), route, relays, out);
  }
  Merged merged = merge(pipes);
  const Transfer transfer = merged.transfer;
  const std::int64_t part_tiles = merged.part_tiles;
  std::vector<Id> from;
  if (transfer.from_queue || merged.inputs.size() > 1 || merged.repeat > 0) {
    from = {gather(std::move(merged), std::exchange(pipes.front().pipe.op_input_dram_io_buf_size_tiles, 0), relays, out)};
  } else {
    from = std::move(merged.inputs);
  }
  const Id last = cross_links(std::move(from), route, transfer, relays, out);
  if (pipes.size() == 1) return terminate(std::move(pipes.front()), {last}, route, relays, out);
  Buffer& shared = out.relays.back();
  shared.is_scatter = true;
  shared.scatter_gather_num_tiles = part_tiles;
  shared.replicate = transfer.pass_tiles / part_tiles;
  shared.epoch_tiles /= shared.replicate;
  std::int64_t at = 0;
  for (InterChipPipe& p : pipes) {
    std::vector<Id> blocks;
    for (std::int64_t end = at + p.transfer.pass_tiles; at < end; at += part_tiles) blocks.push_back(last + static_cast<Id>(at));
    terminate(std::move(p), std::move(blocks), route, relays, out);
  }
}

}  // namespace

Segments cut_pipes(std::vector<InterChipPipe> pipes, const std::vector<RouteGroup>& groups, RelayAllocator& relays) {
  Segments out;
  for (const RouteGroup& group : groups) {
    if (group.routes.size() > 1) {
      cut_at_producers(pipes[group.first], group.routes, relays, out);
    } else {
      cut_at_links(std::span(pipes).subspan(group.first, group.count), group.routes.front(), relays, out);
    }
  }
  return out;
}

}  // namespace buda::pipes
