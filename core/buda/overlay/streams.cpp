// Which streams there are, what they are connected to.
//
// Kernels have streams of their own: an input's receives, an output's sends. An output that several pipes take from sends once with its own
// stream, and once with a fork for each further pipe. A pipe that reaches several cores passes through a multicast stream on the core where
// its row or column begins, which receives from the producers in turn. What is read into L1 before the epoch is sent from there by a stream
// for each pipe. Queues are read into the stream that needs the tiles: the kernel's input, or the multicast; and written by the one that
// has them.
#include <buda/overlay/builder.hpp>

#include <buda/base/text.hpp>
#include <buda/tiling/buffer_sizes.hpp>

#include <algorithm>
#include <bit>

namespace buda::overlay {

// Null when the core has a stream of that number already.
Stream* Builder::add_stream(StreamRef ref) {
  auto [it, fresh] = streams_[static_cast<std::size_t>(ref.core)].try_emplace(ref.stream);
  it->second.number = ref.stream;
  return fresh ? &it->second : nullptr;
}

void Builder::make_kernel_stream(const Buffer& b) {
  const auto& limits = device_.streams;
  std::int32_t first = limits.first_input, end = limits.first_output, operand = b.operand;
  StreamKind kind = StreamKind::input;
  if (b.type == BufferType::packer) {
    first = limits.first_output, end = limits.first_intermediate, operand -= pipes::kOutputOperand;
    kind = StreamKind::output;
  } else if (b.type != BufferType::unpacker) {
    first = limits.first_intermediate, end = limits.first_extra, operand -= pipes::kIntermediateOperand;
    kind = StreamKind::intermediate;
  }
  StreamRef ref{core_of_buffer(b), kind == StreamKind::input ? limits.input(operand) : first + operand};
  if (ref.core < 0) return error("OV002", nullptr, &b, cat("buffer_", b.id, " is in no core"));
  if (operand < 0 || operand >= end - first)
    return error("OV002", nullptr, &b,
                 cat("operand ", b.operand, " has no stream; '", device_.name, "' has ", end - first, " for this kind of operand"));
  if (is_on_ethernet(b)) {
    auto taken = kind == StreamKind::input ? take_link_stream(ref.core, cat("op '", b.op, "'"))
                                           : take_ethernet_stream(ref.core, cat("op '", b.op, "'"));
    if (!taken) return;
    streams_[static_cast<std::size_t>(taken->core)].erase(taken->stream);
    ref = *taken;
  }
  if (b.tile_size < 1) return error("OV002", nullptr, &b, cat("buffer_", b.id, " has tiles of ", b.tile_size, " bytes"));
  Stream* s = add_stream(ref);
  if (s == nullptr) return error("OV002", nullptr, &b, cat("core [", b.core.row, ", ", b.core.col, "] has this operand twice"));
  s->kind = kind;
  s->operand = b.operand;
  s->buffer = b.id;
  s->message_bytes = b.tile_size;
  s->bytes = static_cast<std::uint64_t>(buffer_tiles(b)) * static_cast<std::uint64_t>(b.tile_size);
  kernel_streams_[b.id] = ref;
  if (b.type == BufferType::gradient_op && (b.dram_buf_flag || b.write_dram_buf_flag)) make_gradient(b, *s);
  Core& core = core_of(ref);
  if (b.overlay_blob_size <= 0) return;
  core.blob_bytes =
      asked_blobs_.insert(ref.core).second ? b.overlay_blob_size : std::max<std::int64_t>(core.blob_bytes, b.overlay_blob_size);
}

void Builder::make_kernel_streams() {
  for (const Buffer& b : graph_.buffers)
    if (b.type == BufferType::unpacker || b.type == BufferType::packer || b.type == BufferType::intermediate ||
        b.type == BufferType::gradient_op)
      make_kernel_stream(b);
  for (const Buffer& b : graph_.buffers) {
    auto one = kernel_streams_.find(b.id), other = kernel_streams_.find(b.buffer_space_shared.value_or(0));
    if (one == kernel_streams_.end() || other == kernel_streams_.end() || one->second.core != other->second.core) continue;
    Stream &a = stream_of(one->second), &c = stream_of(other->second);
    a.bytes = c.bytes = is_on_ethernet(b) ? a.bytes : std::max(a.bytes, c.bytes);
  }
}

std::optional<StreamRef> Builder::take_extra(const PipePlan& plan, std::int32_t core, StreamKind kind) {
  if (blob_.cores[static_cast<std::size_t>(core)].ethernet) {
    auto ref = take_ethernet_stream(core, cat("pipe_", plan.pipe->id));
    if (ref) stream_of(*ref).kind = kind;
    return ref;
  }
  auto& streams = streams_[static_cast<std::size_t>(core)];
  std::int32_t first = device_.streams.first_extra, number = std::max(first, streams.empty() ? 0 : streams.rbegin()->first + 1);
  if (number >= device_.streams.per_core) {
    const Core& c = blob_.cores[static_cast<std::size_t>(core)];
    std::uint64_t needed = 1;
    for (const Buffer& b : graph_.buffers) needed += b.type == BufferType::relay && core_of_buffer(b) == core ? 1 : 0;
    for (const PipePlan& p : plans_)
      for (const Buffer* b : p.buffers) needed += p.source != SourceKind::dram && core_of_buffer(*b) == core ? 1 : 0;
    misfit("OV012", c, "extra streams", needed, static_cast<std::uint64_t>(device_.streams.per_core - first),
           cat("pipes send from here, and one of them, pipe_", plan.pipe->id, ", has no stream left"),
           cat("put a nop between '", c.op, "' and some of its readers, or choose blockings with which fewer cores take from each core"));
    return std::nullopt;
  }
  StreamRef ref{core, number};
  add_stream(ref)->kind = kind;
  return ref;
}

void Builder::link(StreamRef sender, const std::vector<StreamRef>& receivers) {
  Destination d{receivers.front(), receivers.back().core};
  auto& destinations = stream_of(sender).destinations;
  if (std::find(destinations.begin(), destinations.end(), d) == destinations.end()) destinations.push_back(d);
  for (StreamRef r : receivers) {
    auto& sources = stream_of(r).sources;
    if (std::find(sources.begin(), sources.end(), sender) == sources.end()) sources.push_back(sender);
  }
}

std::int64_t Builder::destination_index(StreamRef sender, StreamRef receiver) const {
  const auto& all = stream_of(sender).destinations;
  auto leads_there = [&](const Destination& d) { return d.first == receiver; };
  return std::find_if(all.begin(), all.end(), leads_there) - all.begin();
}

// Cores side by side in a row or column, and the same operand everywhere.
bool Builder::is_line(const std::vector<const Buffer*>& target) const {
  std::vector<GridCoord> cores;
  for (const Buffer* b : target) {
    if (b->chip != target.front()->chip || b->operand != target.front()->operand) return false;
    cores.push_back(b->core);
  }
  std::sort(cores.begin(), cores.end());
  auto n = static_cast<std::int32_t>(cores.size());
  for (std::int32_t i = 0; i < n; ++i) {
    GridCoord at = cores[static_cast<std::size_t>(i)], first = cores.front();
    bool in_row = at == GridCoord{first.row, first.col + i}, in_column = at == GridCoord{first.row + i, first.col};
    bool row = cores.back().row == first.row;
    if (row ? !in_row : !in_column) return false;
  }
  return true;
}

std::vector<StreamRef> Builder::receivers_of(const PipePlan& plan, std::size_t target) const {
  std::vector<StreamRef> out;
  for (const Buffer* b : plan.targets[target])
    if (auto it = kernel_streams_.find(b->id); it != kernel_streams_.end()) out.push_back(it->second);
  std::sort(out.begin(), out.end());
  return out;
}

std::optional<StreamRef> Builder::take_link_stream(std::int32_t core, const std::string& what_for) {
  auto& streams = streams_[static_cast<std::size_t>(core)];
  const auto& possible = eth_core_.link_streams;
  for (std::int32_t number : possible)
    if (!streams.contains(number)) {
      StreamRef ref{core, number};
      add_stream(ref)->kind = StreamKind::relay;
      return ref;
    }
  misfit("OV018", blob_.cores[static_cast<std::size_t>(core)], "streams over the link", possible.size() + 1, possible.size(),
         cat(what_for, " has none left"),
         "let fewer cores of one chip take from cores of the other: through a nop with a smaller grid, or blockings that fit each other");
  return std::nullopt;
}

// One that need not reach over the link: those above the links first.
std::optional<StreamRef> Builder::take_ethernet_stream(std::int32_t core, const std::string& what_for) {
  auto& streams = streams_[static_cast<std::size_t>(core)];
  const auto& links = eth_core_.link_streams;
  const std::int32_t all = eth_core_.streams, above = links.empty() ? 0 : *std::max_element(links.begin(), links.end()) + 1;
  for (std::int32_t i = 0; i < all; ++i) {
    const std::int32_t number = (above + i) % all;
    if (streams.contains(number) || std::find(links.begin(), links.end(), number) != links.end()) continue;
    StreamRef ref{core, number};
    add_stream(ref);
    return ref;
  }
  const auto available = static_cast<std::uint64_t>(std::max<std::int64_t>(eth_core_.streams - static_cast<std::int64_t>(links.size()), 0));
  misfit("OV012", blob_.cores[static_cast<std::size_t>(core)], "streams beside those for the link", available + 1, available,
         cat(what_for, " has none left"), "let fewer ops take from the ethernet_datacopy ops on this core: through a nop");
  return std::nullopt;
}

// The stream of a relay buffer; one for all ways that lead over it.
std::optional<StreamRef> Builder::make_hop(const PipePlan& plan, const Way& way, std::size_t number) {
  const Hop& hop = way.hops[number];
  const Buffer& b = *hop.buffer;
  if (auto known = relay_streams_.find(b.id); known != relay_streams_.end()) return known->second;
  std::int32_t core = core_of_buffer(b);
  if (core < 0) {
    error("OV002", hop.pipe, &b, cat("buffer_", b.id, " is in no core"));
    return std::nullopt;
  }
  if (const std::int32_t bytes = plan.first_output().tile_size; b.tile_size != bytes) {
    error("OV002", hop.pipe, &b, cat("tiles of ", bytes, " bytes pass through buffer_", b.id, ", and its own have ", b.tile_size));
    return std::nullopt;
  }
  const bool over_link = b.type == BufferType::ethernet_relay && !b.use_ethernet_fw_stream;
  auto ref = over_link ? take_link_stream(core, cat("pipe_", plan.pipe->id)) : take_extra(plan, core, StreamKind::relay);
  if (!ref) return std::nullopt;
  const Pipe* onwards = number + 1 < way.hops.size() ? way.hops[number + 1].pipe : way.last;
  Stream& s = stream_of(*ref);
  s.operand = b.operand;
  s.buffer = b.id;
  s.pipe = onwards->id;
  s.firmware = b.use_ethernet_fw_stream;
  s.message_bytes = b.tile_size;
  s.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(buffer_tiles(b), 1)) * static_cast<std::uint64_t>(b.tile_size);
  bool to_multicast = number + 1 == way.hops.size() && plan.multicast;
  s.noc_in = hop.pipe->outgoing_noc;
  s.noc_out = to_multicast ? onwards->incoming_noc : onwards->outgoing_noc;
  s.vc = to_multicast ? onwards->incoming_vc : onwards->outgoing_vc;
  relay_streams_[b.id] = *ref;
  return ref;
}

// Where the row or column of a target begins.
std::optional<std::int32_t> Builder::multicast_core(const PipePlan& plan, std::size_t t) {
  if (plan.reads_with) return reading_core(plans_[*plan.reads_with]);
  const auto& target = plan.targets[t];
  const Way& way = plan.target_ways[t];
  const auto& places = way.last->mcast_core;
  pipes::CoreCoord at{target.front()->chip, target.front()->core};
  if (!places.empty() && !way.last->ethernet_chan) at = places[std::min(way.group, places.size() - 1)];
  const std::int32_t core = core_at(at.chip, at.core);
  if (core >= 0 && at.chip == target.front()->chip) return core;
  error("OV002", way.last, target.front(), cat("mcast_core_rc is [", at.chip, ", ", at.core.row, ", ", at.core.col, "], where no op is"));
  return std::nullopt;
}

void set_passing(Stream& stream, const Buffer& target, const Pipe& pipe, std::int64_t tiles) {
  stream.operand = target.operand;
  stream.pipe = pipe.id;
  stream.message_bytes = target.tile_size;
  stream.bytes = static_cast<std::uint64_t>(tiles) * static_cast<std::uint64_t>(target.tile_size);
}

std::optional<StreamRef> Builder::make_multicast(PipePlan& plan, std::size_t t) {
  const auto& target = plan.targets[t];
  const Way& way = plan.target_ways[t];
  if (target.size() > 1 && !is_line(target)) {
    unsupported(plan.pipe, target.front(), "a multicast to cores that are not a row or column");
    return std::nullopt;
  }
  auto place = multicast_core(plan, t);
  if (!place) return std::nullopt;
  const std::int32_t core = *place;
  std::int32_t number = 0;
  auto& streams = streams_[static_cast<std::size_t>(core)];
  while (streams.contains(number)) ++number;
  std::int32_t available = std::min(device_.streams.multicast_per_core, device_.streams.input(0));
  if (number >= available) {
    const Core& c = blob_.cores[static_cast<std::size_t>(core)];
    misfit("OV013", c, "multicasts", static_cast<std::uint64_t>(number) + 1, static_cast<std::uint64_t>(available),
           cat("pipe_", way.last->id, " would be one multicast more than this core can send"),
           cat("give '", c.op, "' a grid of one row or column, so that fewer of its inputs are multicast"));
    return std::nullopt;
  }
  StreamRef ref{core, number};
  Stream& s = *add_stream(ref);
  const Buffer& b = *target.front();
  s.kind = StreamKind::multicast;
  set_passing(s, b, *way.last, staged_tiles(plan, b, *way.last));
  s.noc_in = way.last->incoming_noc;
  s.noc_out = way.last->outgoing_noc;
  s.vc = way.last->outgoing_vc;
  return ref;
}

// Of a multicast, or of a stream that forwards shared reads.
std::int64_t Builder::staged_tiles(const PipePlan& plan, const Buffer& target, const Pipe& last) const {
  if (plan.source == SourceKind::dram && last.op_input_dram_io_buf_size_tiles > 0) return last.op_input_dram_io_buf_size_tiles;
  return tiling::staging_tiles(buffer_tiles(target), target.tile_clear_granularity, target.tile_size);
}

// Shared reads that lead to one core: what else would go right into its input is sent there, too.
std::optional<StreamRef> Builder::make_passing_on(const PipePlan& plan) {
  const Buffer& target = plan.first_output();
  const std::int32_t core = reading_core(plan.reads_with ? plans_[*plan.reads_with] : plan);
  auto ref = take_extra(plan, core, StreamKind::relay);
  if (!ref) return std::nullopt;
  Stream& s = stream_of(*ref);
  set_passing(s, target, *plan.pipe, staged_tiles(plan, target, *plan.pipe));
  s.noc_in = plan.pipe->incoming_noc;
  s.noc_out = plan.pipe->outgoing_noc;
  s.vc = plan.pipe->outgoing_vc;
  return ref;
}

// Relay buffers, then the multicast, connected with each other and with the receivers.
void Builder::link_line(PipePlan& plan, std::size_t t) {
  const auto& line = plan.lines[t];
  for (std::size_t i = 0; i + 1 < line.size(); ++i) link(line[i], {line[i + 1]});
  if (line.empty() || plan.sink != SinkKind::kernel) return;
  auto receivers = receivers_of(plan, t);
  for (StreamRef r : receivers) stream_of(r).noc_in = stream_of(line.back()).noc_out;
  if (!receivers.empty()) link(line.back(), receivers);
}

void Builder::make_lines(PipePlan& plan) {
  const std::map<Id, int> reached = plan.over_pcie() ? plan.targets_by_buffer() : std::map<Id, int>{};
  for (std::size_t t = 0; t < plan.targets.size(); ++t) {
    const Way& way = plan.target_ways[t];
    std::vector<StreamRef> line;
    if (plan.over_pcie() && !make_pcie_ends(plan, t, reached, line)) return;
    for (std::size_t h = 0; h < way.hops.size(); ++h) {
      auto ref = make_hop(plan, way, h);
      if (!ref) return;
      line.push_back(*ref);
    }
    if (plan.multicast || plan.reads_for_others || plan.reads_with) {
      auto ref = plan.multicast ? make_multicast(plan, t) : make_passing_on(plan);
      if (!ref) return;
      line.push_back(*ref);
      // What comes over PCIe comes in chunks.
      if (plan.over_pcie()) stream_of(*ref).bytes = static_cast<std::uint64_t>(2 * pcie_tiles(plan) * stream_of(*ref).message_bytes);
    }
    if (plan.reads_with) {
      const auto& reader = plans_[*plan.reads_with].lines;
      if (reader.empty()) return;  // and said so
      Stream& s = stream_of(line.front());
      s.fork_of = reader.front().front().stream;
      s.bytes = stream_of(reader.front().front()).bytes;
    }
    plan.lines.push_back(std::move(line));
    link_line(plan, t);
    if (plan.lines.back().empty()) continue;
    StreamRef first = plan.lines.back().front(), last = plan.lines.back().back();
    const Buffer& b = *plan.targets[t].front();
    if (plan.source == SourceKind::dram && !stream_of(first).read && !plan.reads_with)
      make_read(plan, stream_of(first), b, static_cast<std::int64_t>(stream_of(first).bytes) / std::max(b.tile_size, 1));
    if (plan.sink == SinkKind::queue) make_write(plan, stream_of(last), 0, b);
  }
}

// A stream for each source, on the core that has it.
void Builder::make_senders(PipePlan& plan) {
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer& b = *plan.buffers[i];
    std::int32_t core = core_of_buffer(b);
    if (core < 0) return error("OV002", plan.pipe, &b, cat("buffer_", b.id, " is in no core"));
    StreamRef ref;
    if (auto own = kernel_streams_.find(b.id); own != kernel_streams_.end() && taken_.insert(b.id).second) {
      ref = own->second;
    } else {
      bool output = own != kernel_streams_.end();
      auto extra = take_extra(plan, core, output ? StreamKind::fork : StreamKind::store);
      if (!extra) return;
      ref = *extra;
      Stream& s = stream_of(ref);
      s.buffer = b.id;
      s.operand = b.operand;
      s.message_bytes = b.tile_size;
      std::int64_t tiles = output || b.type == BufferType::prolog_relay ? buffer_tiles(b) : b.window_tiles();
      s.bytes = static_cast<std::uint64_t>(tiles) * static_cast<std::uint64_t>(b.tile_size);
      if (output) {
        s.fork_of = own->second.stream;
      } else if (auto [first, fresh] = stores_.emplace(b.id, ref); !fresh) {
        s.fork_of = first->second.stream;
      } else {
        make_stored_read(b, s);
        s.noc_in = plan.pipe->incoming_noc;
      }
    }
    Stream& s = stream_of(ref);
    s.pipe = plan.pipe->id;
    s.scattered = !plan.ring;
    bool relayed = plan.over_pcie() ? !plan.flows : plan.multicast && plan.ways.front().hops.empty();
    s.noc_out = relayed ? plan.pipe->incoming_noc : plan.pipe->outgoing_noc;
    s.vc = relayed ? plan.pipe->incoming_vc : plan.pipe->outgoing_vc;
    plan.senders.push_back(ref);
    if (plan.sink == SinkKind::queue && plan.lines.front().empty()) make_write(plan, s, i, plan.first_output());
  }
}

void Builder::connect_dram(PipePlan& plan) {
  for (const Buffer* b : plan.targets.front()) {
    auto it = kernel_streams_.find(b->id);
    if (it == kernel_streams_.end()) continue;
    Stream& s = stream_of(it->second);
    if (feeds_.at(b->id).size() > 1) return unsupported(plan.pipe, b, "an input that several pipes bring from queues");
    s.pipe = plan.pipe->id;
    s.noc_in = plan.pipe->incoming_noc;
    make_read(plan, s, *b, buffer_tiles(*b));
    // What is kept for the epoch needs no room for more to come.
    if (plan.before_epoch) s.bytes = static_cast<std::uint64_t>(plan.pass_tiles) * static_cast<std::uint64_t>(b->tile_size);
  }
}

// Inputs have the same size in all cores of an op, as multicasts need it.
void Builder::level_inputs() {
  std::map<std::tuple<std::int32_t, std::string, std::int32_t>, std::uint64_t> most;
  for (bool set : {false, true})
    for (std::size_t i = 0; i < streams_.size(); ++i)
      for (auto& [n, s] : streams_[i]) {
        if (s.kind != StreamKind::input || blob_.cores[i].ethernet) continue;
        std::uint64_t& bytes = most[{blob_.cores[i].chip, blob_.cores[i].op, n}];
        (set ? s.bytes : bytes) = std::max(bytes, s.bytes);
      }
}

void Builder::connect(PipePlan& plan) {
  // Groups that are alike are one target, if the way to them is the same.
  std::map<std::pair<std::vector<const Buffer*>, const Buffer*>, std::size_t> known;  // looked up only
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    const Way& way = plan.ways[g];
    auto [it, fresh] = known.emplace(std::pair{plan.groups[g], way.hops.empty() ? nullptr : way.hops.front().buffer}, plan.targets.size());
    if (fresh) {
      plan.targets.push_back(plan.groups[g]);
      plan.target_ways.push_back(way);
    }
    plan.target_of.push_back(it->second);
  }
  if (plan.sink == SinkKind::share) return;  // read by the stream that sends the share
  make_lines(plan);
  if (!failure_.empty()) return;
  if (plan.source == SourceKind::dram) {
    if (plan.lines.front().empty()) connect_dram(plan);
    return;
  }
  make_senders(plan);
  if (!failure_.empty()) return;
  for (std::size_t i = 0; i < plan.senders.size(); ++i)
    for (std::size_t t = 0; t < plan.targets.size(); ++t) {
      const auto& line = plan.lines[t];
      const auto number = static_cast<std::int32_t>(i);
      const Padding* pads = plan.only_pads(number, t);
      if (pads == nullptr && !plan.padding.empty() && !plan.brings_blocks(number)) continue;  // padding for other targets
      const std::size_t first = pads != nullptr ? plan.joins(*pads) : 0;
      auto receivers = first == line.size() ? receivers_of(plan, t) : std::vector<StreamRef>{line[first]};
      if (receivers.empty()) continue;
      for (StreamRef r : receivers) stream_of(r).noc_in = stream_of(plan.senders[i]).noc_out;
      link(plan.senders[i], receivers);
    }
  if (plan.over_pcie()) mark_pcie(plan);
}

// A kernel would wait for ever for an input that nobody brings.
void Builder::check_fed_inputs() {
  for (const Buffer& b : graph_.buffers)
    if (b.type == BufferType::unpacker && !feeds_.contains(b.id)) error("OV002", nullptr, &b, cat("no pipe leads to buffer_", b.id));
}

// And for room in an output that nobody takes.
void Builder::check_taken_outputs() {
  for (const Buffer& b : graph_.buffers)
    if (b.type == BufferType::packer && !taken_.contains(b.id)) error("OV002", nullptr, &b, cat("no pipe takes from buffer_", b.id));
}

}  // namespace buda::overlay
