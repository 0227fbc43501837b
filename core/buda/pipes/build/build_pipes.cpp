// The pipes of an epoch.
#include <buda/pipes/build/graph_builder.hpp>

#include <buda/base/text.hpp>
#include <buda/pipes/build/period.hpp>
#include <buda/pipes/interchip/ring.hpp>

#include <algorithm>
#include <bit>

namespace buda::pipes {

using netlist::Op;
using netlist::Queue;

std::vector<Id> GraphBuilder::blocks_of(const PipeRoute& route, std::int64_t granularity, const std::vector<Id>& buffers,
                                        Id padding) const {
  std::vector<Id> out;
  out.reserve(static_cast<std::size_t>(route.tiles.tiles() / granularity));
  for (const Run& run : route.tiles.runs())
    for (std::int64_t i = 0; i < run.count; i += granularity)
      out.push_back(run.core == kPaddingCore ? padding : buffers[static_cast<std::size_t>(run.core)] + static_cast<Id>(run.first + i));
  return out;
}

std::vector<Id> GraphBuilder::source_buffers(std::size_t o, const InputPlan& input) const {
  if (!input.source.is_queue()) return plan_.ops[input.source.op].output_buffers;
  const QueuePlan& q = plan_.queue_plan(input.source.queue);
  if (q.use.prologue) {
    auto reader = std::find(q.readers.begin(), q.readers.end(), o) - q.readers.begin();
    return q.prologue_buffers[static_cast<std::size_t>(reader)];
  }
  std::vector<Id> out;
  for (std::size_t b = 0; b < netlist().queues[q.queue].buffers.size(); ++b) out.push_back(plan_.index->queue_buffer(q.queue, b));
  return out;
}

std::int64_t GraphBuilder::source_granularity(const InputPlan& input) const {
  return input.source.is_queue() ? plan_.queue_plan(input.source.queue).granularity : plan_.ops[input.source.op].granularity;
}

// How often an op's buffer is filled in an epoch.
static std::int64_t windows_of(const Op& op, std::int64_t input_count) {
  return std::max<std::int64_t>(1, input_count * op.block.t / tiling::layout_of(op, input_count).buffered_t);
}

// A constant block, read from DRAM like the queue that it pads, or kept in the core that the pipe stands on.
Id GraphBuilder::padding_buffer(std::size_t o, std::size_t number, const CoreCoord& at, std::int64_t times) {
  OpPlan& p = plan_.ops[o];
  const InputPlan& input = p.inputs[number];
  bool streamed = input.source.is_queue() && !input.prologue;
  std::int64_t block = source_granularity(input);
  for (std::int64_t most = PaddingTable::kTiles; block > PaddingTable::kTiles; --most)
    if (block % most == 0) block = most;
  auto [it, fresh] = padding_index_.emplace(PaddingKey{o, number, at.chip, at.core.row, at.core.col}, padding_buffers_.size());
  if (!fresh) {
    Buffer& known = padding_buffers_[it->second];
    if (!streamed) known.tiles_per_input += times * block;
    return known.id;
  }
  Buffer b;
  b.op = p.op->name;
  b.id = new_id();
  b.chip = at.chip;
  b.is_padding = b.is_scatter = true;
  b.scatter_gather_num_tiles = block;
  b.tile_size = input.sizes.tile_bytes;
  b.dram_addr = padding_.address(p.op->inputs[number].format, input.pad_value);
  if (streamed) {
    const Queue& q = netlist().queues[input.source.queue];
    b.size_tiles = b.tiles_per_input = q.block.tiles();
    b.replicate = q.block.tiles() / block;
    b.epoch_tiles = p.graph->input_count * block;
    b.q_slots = q.entries;
    b.dram_io_flag = true;
    b.prefetch_type = PrefetchType::none;
  } else {
    std::int64_t windows =
        input.source.is_queue() ? std::int64_t{p.graph->input_count} : windows_of(*plan_.ops[input.source.op].op, p.graph->input_count);
    b.core = at.core;
    b.size_tiles = block;
    b.tiles_per_input = times * block;
    b.replicate = 1;
    b.epoch_tiles = windows * block;
    b.q_slots = 1;
    b.dram_buf_flag = true;
    b.prefetch_type = input.post_tm ? PrefetchType::post_tm : PrefetchType::pre_tm;
  }
  padding_buffers_.push_back(std::move(b));
  return padding_buffers_.back().id;
}

// The core of all tiles of a route, or nothing when there are several.
static std::optional<std::int32_t> only_core(const PipeRoute& route) {
  const auto& runs = route.tiles.runs();
  for (const Run& run : runs)
    if (run.core != runs.front().core) return std::nullopt;
  return runs.front().core;
}

// How often each group is followed by itself, when it is so all along and no group comes again later; else 1.
static std::int64_t consumer_repeat(const std::vector<std::vector<Id>>& groups) {
  std::size_t repeat = 1;
  while (repeat < groups.size() && groups[repeat] == groups[0]) ++repeat;
  if (repeat < 2 || groups.size() % repeat != 0) return 1;
  for (std::size_t i = 0; i < groups.size(); i += repeat) {
    for (std::size_t j = i + 1; j < i + repeat; ++j)
      if (groups[j] != groups[i]) return 1;
    for (std::size_t j = 0; j < i; j += repeat)
      if (groups[j] == groups[i]) return 1;
  }
  return static_cast<std::int64_t>(repeat);
}

// Constants for tiles of an op wait in a worker: the one that the pipe stands on, or of its producer where that is an ethernet core.
GridCoord GraphBuilder::padding_worker(const OpPlan& p, const InputPlan& input, const Pipe& pipe) const {
  if (!EpochPlan::is_ethernet(p) || input.source.is_queue()) return pipe.mcast_core.front().core;
  return worker_of(*plan_.ops[input.source.op].op, 0);
}

// Where a pipe's work is done: at the core that all tiles come from, if there is just one and nothing is multicast; else at the consumer,
// for multicasts at the end of the row or column where the network begins.
void GraphBuilder::place_input_pipe(const OpPlan& p, const InputPlan& input, const PipeRoute& route, const Multicast& multicast,
                                    Pipe& pipe) const {
  const Op& op = *p.op;
  bool by_rows = input.routes.axis == MulticastAxis::row && op.grid.cols > 1,
       by_columns = input.routes.axis == MulticastAxis::column && op.grid.rows > 1;
  bool from_core = !input.source.is_queue() || (input.prologue && !input.post_tm);
  auto core = only_core(route);
  for (std::int32_t d : route.destinations) {
    std::int32_t chip = p.chip;
    GridCoord worker;
    bool from_ethernet = !input.source.is_queue() && EpochPlan::is_ethernet(plan_.ops[input.source.op]);
    if (from_core && !from_ethernet && core && !by_rows && !by_columns && pipe.consumer_repeat == 1) {
      if (input.source.is_queue()) {
        const QueuePlan& q = plan_.queue_plan(input.source.queue);
        auto reader = std::find(q.readers.begin(), q.readers.end(), static_cast<std::size_t>(&p - plan_.ops.data())) - q.readers.begin();
        worker = prologue_worker(q, static_cast<std::size_t>(*core), static_cast<std::size_t>(reader));
      } else {
        chip = input.from_chip;
        worker = worker_of(*plan_.ops[input.source.op].op, static_cast<std::size_t>(*core));
      }
    } else {
      std::int32_t row = input.routes.axis == MulticastAxis::column ? 0 : input.routes.axis == MulticastAxis::row ? d : d / op.grid.cols;
      std::int32_t col = input.routes.axis == MulticastAxis::column ? d : input.routes.axis == MulticastAxis::row ? 0 : d % op.grid.cols;
      if (by_columns && multicast.noc1) row = op.grid.rows - 1;
      if (by_rows && multicast.noc1) col = op.grid.cols - 1;
      worker = place_of_core(p, static_cast<std::size_t>(row) * static_cast<std::size_t>(op.grid.cols) + static_cast<std::size_t>(col));
    }
    pipe.mcast_core.push_back({chip, worker});
  }
}

// Chips without ethernet write what they make to the next ones over PCIe; such a pipe stays in one piece.
void GraphBuilder::mark_over_pcie(const OpPlan& p, const InputPlan& input, Pipe& pipe) const {
  if (input.from_chip == p.chip || input.source.is_queue() || !device().eth.empty()) return;
  pipe.mmio_downstream = stands_after(plan_.index->chips(), *plan_.cluster, input.from_chip, p.chip).value_or(false) ? 1 : 0;
  pipe.incoming_vc = 0;
}

// Data leaves by the network that multicasts need, others alternate between inputs; it arrives by the nearer one, and where it waits in L1
// since before the epoch, by the one that is not used to leave.
void GraphBuilder::choose_nocs(const OpPlan& p, const InputPlan& input, std::size_t number, const Multicast& multicast, Pipe& pipe) const {
  bool shared = input.routes.axis != MulticastAxis::core && pipe.outputs.front().size() > 1;
  bool noc1 = multicast.noc1 || (multicast.axis == MulticastAxis::core && p.op->grid_transpose != (number % 2 == 1));
  pipe.outgoing_noc = noc1 ? 1 : 0;
  pipe.incoming_vc = kUnicastChannel;
  pipe.outgoing_vc = shared ? kMulticastChannel : kUnicastChannel;
  if (input.prologue) {
    pipe.incoming_noc = noc1 ? 0 : 1;
    return;
  }
  const auto& size = device().noc;
  device::NocCoord here = EpochPlan::is_ethernet(p) ? noc_of_core(p, 0) : device().noc_of_worker(pipe.mcast_core.front().core);
  if (input.source.is_queue()) {
    const QueuePlan& q = plan_.queue_plan(input.source.queue);
    const Queue& queue = netlist().queues[q.queue];
    if (queue.location != netlist::QueueLocation::dram) return;
    Place place{queue.buffers.front().channel, 0};
    const auto& ports = device().dram.channels[static_cast<std::size_t>(place.channel)].ports;
    pipe.incoming_noc = nearer_noc(ports[static_cast<std::size_t>(sub_channel(q, queue, 0, place))], here, size);
  } else {
    pipe.incoming_noc = nearer_noc(noc_of_core(plan_.ops[input.source.op], 0), noc_of_core(p, 0), size);
  }
}

// Long lists that repeat themselves are written once, if the kernel's steps do not straddle the repetition.
void GraphBuilder::shorten_periodic(const InputPlan& input, std::int64_t granularity, Pipe& pipe) const {
  if (auto period = list_period(pipe.inputs, granularity, input.sizes.clear)) {
    pipe.periodic_repeat = static_cast<std::int64_t>(pipe.inputs.size() / *period);
    pipe.inputs.resize(*period);
  }
}

GraphBuilder::Freight GraphBuilder::freight_into(const OpPlan& p, const InputPlan& input, const PipeRoute& route) const {
  Freight f;
  f.op = p.op;
  f.from = input.from_chip;
  f.to = p.chip;
  f.edge = edges_;
  if (auto ways = ethernet_ways_.find(&p); ways != ethernet_ways_.end())
    f.given_way = &ways->second[static_cast<std::size_t>(route.destinations.front())];
  f.from_queue = input.source.is_queue();
  f.tile_bytes = input.sizes.tile_bytes;
  f.pass_tiles = route.tiles.tiles();
  f.passes = f.input_count = p.graph->input_count;
  const std::int32_t core = route.destinations.front();
  if (input.rows) f.rows = RowsOnTheWay{input.rows->offset_bytes(core / p.op->grid.cols, core % p.op->grid.cols), input.sizes.size};
  if (f.from_queue) return f;
  const OpPlan& from = plan_.ops[input.source.op];
  const Op& producer = *from.op;
  f.passes = windows_of(producer, p.graph->input_count);
  f.from_ethernet = EpochPlan::is_ethernet(from);
  if (f.from_ethernet) return f;
  for (const Run& run : route.tiles.runs())
    if (run.core != kPaddingCore) {
      f.source_worker = worker_of(producer, static_cast<std::size_t>(run.core));
      break;
    }
  return f;
}

GraphBuilder::Freight GraphBuilder::freight_out(const OpPlan& p, const QueuePlan& q) const {
  Freight f;
  f.op = p.op;
  f.from = f.to = p.chip;
  f.edge = edges_;
  f.from_ethernet = EpochPlan::is_ethernet(p);
  if (!device().eth.empty()) f.to = netlist().queues[q.queue].target_device;
  f.to_queue = true;
  f.tile_bytes = p.output.tile_bytes;
  f.passes = windows_of(*p.op, p.graph->input_count);
  f.input_count = p.graph->input_count;
  return f;
}

Result<void> GraphBuilder::add_input_pipes(std::size_t o, std::size_t number) {
  OpPlan& p = plan_.ops[o];
  InputPlan& input = p.inputs[number];
  const Op& op = *p.op;
  ++edges_;
  BUDA_ASSIGN(Multicast multicast, multicast_of(netlist(), op, number, input.order.axis));
  std::vector<Id> buffers = source_buffers(o, input);
  std::int64_t granularity = source_granularity(input);
  const bool copies_in_turns = EpochPlan::is_ethernet(p) && takes_turns(p, input);
  std::vector<Crossing> copies;
  for (const PipeRoute& route : input.routes.pipes) {
    Pipe pipe;
    pipe.id = new_id();
    for (std::int32_t d : route.destinations) {
      std::vector<Id> group;
      auto add = [&](std::int32_t row, std::int32_t col) {
        group.push_back(
            input.buffers[static_cast<std::size_t>(row) * static_cast<std::size_t>(op.grid.cols) + static_cast<std::size_t>(col)]);
      };
      if (input.chunks > 0) {
        group.push_back(input.relays[static_cast<std::size_t>(d)]);
      } else if (input.routes.axis == MulticastAxis::row) {
        for (std::int32_t c = 0; c < op.grid.cols; ++c) add(d, c);
      } else if (input.routes.axis == MulticastAxis::column) {
        for (std::int32_t r = 0; r < op.grid.rows; ++r) add(r, d);
      } else {
        add(d / op.grid.cols, d % op.grid.cols);
      }
      pipe.outputs.push_back(std::move(group));
    }
    note_sharing(o, number, pipe.id);
    pipe.consumer_repeat = route.padded.empty() ? consumer_repeat(pipe.outputs) : 1;
    place_input_pipe(p, input, route, multicast, pipe);
    bool pads = std::any_of(route.tiles.runs().begin(), route.tiles.runs().end(), [](const Run& r) { return r.core == kPaddingCore; });
    Id padding = 0;
    if (pads) {
      std::int64_t constants = 0;
      for (const Run& run : route.tiles.runs()) constants += run.core == kPaddingCore ? run.count / granularity : 0;
      padding = padding_buffer(o, number, {input.from_chip, padding_worker(p, input, pipe)}, constants);
    }
    pipe.inputs = blocks_of(route, granularity, buffers, padding);
    if (input.chunks > 0) {
      pipe.incoming_vc = pipe.outgoing_vc = kDramWriteChannel;
    } else {
      choose_nocs(p, input, number, multicast, pipe);
      pipe.op_input_dram_io_buf_size_tiles = op.inputs[number].dram_io_tiles;
      shorten_periodic(input, granularity, pipe);
      mark_over_pcie(p, input, pipe);
    }
    if (pipe.outputs.size() > 1) pipe.output_padding.assign(pipe.outputs.size(), 0);
    for (std::size_t g = 0; g < route.padded.size(); ++g)
      if (route.padded[g])
        pipe.output_padding[g] = padding_buffer(
            o, number,
            copies_in_turns ? CoreCoord{input.from_chip, padding_worker(p, input, pipe)} : CoreCoord{p.chip, pipe.mcast_core[g].core}, 1);
    if (copies_in_turns) {
      copies.push_back({std::move(pipe), freight_into(p, input, route)});
    } else {
      finish_pipe(std::move(pipe), freight_into(p, input, route));
    }
  }
  if (copies_in_turns) BUDA_TRY(lay_copy_turns(p, input, std::move(copies)));
  if (input.chunks > 0) add_gather_pipes(p, input, multicast);
  return success();
}

// The second step of a prologue: a column's shares, one after the other, to all cores of the column.
void GraphBuilder::add_gather_pipes(const OpPlan& p, const InputPlan& input, const Multicast& multicast) {
  const Op& op = *p.op;
  for (std::int32_t c = 0; c < op.grid.cols; ++c) {
    Pipe pipe;
    pipe.id = new_id();
    for (std::int64_t chunk = 0; chunk < input.chunks; ++chunk)
      pipe.inputs.push_back(input.relays[static_cast<std::size_t>(chunk * op.grid.cols + c)]);
    std::vector<Id> group;
    for (std::int32_t r = 0; r < op.grid.rows; ++r) group.push_back(input.buffers[static_cast<std::size_t>(r * op.grid.cols + c)]);
    bool shared = op.grid.rows > 1;
    pipe.outputs.push_back(std::move(group));
    pipe.mcast_core.push_back({p.chip, worker_of(op, shared && multicast.noc1 ? op.grid.rows - 1 : 0, c)});
    pipe.incoming_noc = multicast.noc1 ? 0 : 1;
    pipe.outgoing_noc = multicast.noc1 ? 1 : 0;
    pipe.incoming_vc = kUnicastChannel;
    pipe.outgoing_vc = shared ? kMulticastChannel : kUnicastChannel;
    graph_.pipes.push_back(std::move(pipe));
  }
}

Result<void> GraphBuilder::add_untilized_pipe(const OpPlan& p, const QueuePlan& q) {
  std::size_t buffers = netlist().queues[q.queue].buffers.size();
  for (std::size_t b = 0; b < buffers; ++b) {
    Pipe pipe;
    pipe.id = new_id();
    pipe.inputs = p.output_buffers;
    pipe.outputs.push_back({plan_.index->queue_buffer(q.queue, b)});
    pipe.mcast_core.push_back({p.chip, worker_of(*p.op, 0)});
    graph_.pipes.push_back(std::move(pipe));
  }
  return success();
}

Result<void> GraphBuilder::add_queue_pipes(const OpPlan& p, const QueuePlan& q) {
  if (p.op->gradient_op) return success();
  if (p.op->untilize_output) return add_untilized_pipe(p, q);
  const Queue& queue = netlist().queues[q.queue];
  ++edges_;
  for (const PipeRoute& route : q.from_writer.pipes) {
    Pipe pipe;
    pipe.id = new_id();
    pipe.inputs = blocks_of(route, p.granularity, p.output_buffers, 0);
    auto buffer = static_cast<std::size_t>(route.destinations.front());
    pipe.outputs.push_back({plan_.index->queue_buffer(q.queue, buffer)});
    const auto core = static_cast<std::size_t>(route.tiles.runs().front().core);
    GridCoord worker = place_of_core(p, core);
    pipe.mcast_core.push_back({p.chip, worker});
    if (queue.location == netlist::QueueLocation::dram) {
      Place place{queue.buffers[buffer].channel, 0};
      const auto& ports = device().dram.channels[static_cast<std::size_t>(place.channel)].ports;
      device::NocCoord port = ports[static_cast<std::size_t>(sub_channel(q, queue, buffer, place))];
      pipe.incoming_noc = pipe.outgoing_noc = nearer_noc(noc_of_core(p, core), port, device().noc);
    }
    pipe.incoming_vc = pipe.outgoing_vc = kDramWriteChannel;
    Freight freight = freight_out(p, q);
    if (!freight.from_ethernet) freight.source_worker = worker;
    freight.pass_tiles = route.tiles.tiles();
    finish_pipe(std::move(pipe), freight);
  }
  return success();
}

Result<void> GraphBuilder::add_pipes(std::size_t o) {
  for (std::size_t i = 0; i < plan_.ops[o].inputs.size(); ++i) BUDA_TRY(add_input_pipes(o, i));
  for (std::size_t q : plan_.ops[o].output_queues) BUDA_TRY(add_queue_pipes(plan_.ops[o], plan_.queue_plan(q)));
  return success();
}

Result<PipeGraph> GraphBuilder::run() {
  for (const auto* graph : plan_.epoch->graphs) graph_.graphs.push_back(graph->name);
  number_prologues();
  BUDA_TRY(place_ethernet_ops());
  for (std::size_t o = 0; o < plan_.ops.size(); ++o) BUDA_TRY(add_op(o));
  for (std::size_t o = 0; o < plan_.ops.size(); ++o) BUDA_TRY(add_pipes(o));
  BUDA_TRY(lay_crossings());
  for (Buffer& b : padding_buffers_) graph_.buffers.push_back(std::move(b));
  note_readers();
  return std::move(graph_);
}

Result<PaddingTable> PaddingTable::make(const netlist::Netlist& netlist, const std::vector<Epoch>& epochs, std::int32_t tile_alignment) {
  PaddingTable table;
  std::map<std::pair<std::uint8_t, std::uint64_t>, std::uint64_t> known;  // by format and the value's bits
  std::uint64_t next = kAddress;
  for (const Epoch& epoch : epochs)
    for (const auto* graph : epoch.graphs)
      for (const Op& op : graph->ops)
        for (const auto& input : op.inputs) {
          std::optional<double> value;
          for (const auto& tm : input.maps.tms)
            if (tm.kind == netlist::TmKind::pad) value = tm.pad_value;
          if (input.maps.pad) value = input.maps.pad->value;
          if (!value || !known.emplace(std::pair{format_code(input.format), std::bit_cast<std::uint64_t>(*value)}, next).second) continue;
          next += static_cast<std::uint64_t>(tile_bytes(input.format, {}, tile_alignment)) * kTiles;
          if (next <= kAddress + kBytes) continue;
          Diagnostic d = does_not_fit("PP032", op.name, "padding area", next - kAddress, kBytes,
                                      cat("op '", op.name, "': the constants that inputs are padded with take ",
                                          bytes_text(next - kAddress), " in each DRAM bank; there are ", bytes_text(kBytes)),
                                      "use fewer different pad values and formats");
          d.loc = netlist.loc(op.places.self);
          return d;
        }
  for (const auto& [key, address] : known)
    table.entries_.push_back({static_cast<DataFormat>(key.first), std::bit_cast<double>(key.second), address});
  return table;
}

std::uint64_t PaddingTable::address(DataFormat format, double value) const {
  for (const Entry& e : entries_)
    if (e.format == format && std::bit_cast<std::uint64_t>(e.value) == std::bit_cast<std::uint64_t>(value)) return e.address;
  return kAddress;
}

Result<PipeGraph> build_pipes(const NetlistIndex& index, const device::DeviceDescriptor& device, const Epoch& epoch,
                              const PaddingTable& padding, const device::Cluster& cluster) {
  BUDA_ASSIGN(EpochPlan plan, plan_epoch(index, device, epoch, cluster));
  return GraphBuilder(plan, padding).run();
}

}  // namespace buda::pipes
