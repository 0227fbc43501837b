// SPDX-License-Identifier: Apache-2.0
// Queues by themselves: buffer lists, aliases, ports, addresses within their memory, and overlaps.
#include <buda/netlist/check/check_context.hpp>

#include <algorithm>
#include <set>
#include <tuple>

namespace buda::netlist {
namespace {

std::int64_t elements(const Queue& q) { return q.grid.volume() * q.block.tiles() * q.entries * q.tile_dim.datums(); }

void check_alias(CheckContext& ctx, const Queue& q) {
  if (q.alias.empty()) return;
  const Queue* other = ctx.index.find_queue(q.alias);
  auto breach = [&](const char* code, std::string problem) {
    ctx.queue_error(code, q, Field::alias, cat("it cannot be an alias of '", q.alias, "': ", problem));
  };
  if (other == nullptr) return breach("NL106", "there is no such queue");
  if (other == &q) return breach("NL113", "that is itself");
  if (!other->alias.empty()) breach("NL114", cat("that is an alias too, of '", other->alias, '\''));
  if (q.kind != QueueKind::ram || other->kind != QueueKind::ram)
    breach("NL115", cat("both have to be rams, and '", q.kind != QueueKind::ram ? q.name : other->name, "' is a queue"));
  if (q.location != other->location || q.buffers != other->buffers) breach("NL116", "both must have the same addresses");
  if (elements(q) != elements(*other))
    breach("NL117", cat("it has ", elements(q), " numbers in all its entries, the other ", elements(*other)));
}

void check_ports(CheckContext& ctx, const Queue& q) {
  for (const auto* ports : {&q.read_ports, &q.write_ports}) {
    if (ports->empty()) continue;
    if (!ctx.device.features.dram_sub_channels) {
      ctx.queue_error("NL208", q, Field::ports,
                      cat(ctx.device.arch, " has one port per DRAM channel; read_ports and write_ports do not apply"));
      return;
    }
    if (ports->size() != q.buffers.size())
      ctx.queue_error("NL214", q, Field::ports, cat(ports->size(), " ports for ", q.buffers.size(), " buffers"));
    for (std::size_t i = 0; i < std::min(ports->size(), q.buffers.size()); ++i) {
      auto channel = static_cast<std::size_t>(q.buffers[i].channel);
      std::size_t there = channel < ctx.device.dram.channels.size() ? ctx.device.dram.channels[channel].ports.size() : 0;
      if ((*ports)[i] < 0 || static_cast<std::size_t>((*ports)[i]) >= there)
        ctx.queue_error("NL213", q, Field::ports,
                        cat("buffer ", i, " names port ", (*ports)[i], " of DRAM channel ", q.buffers[i].channel, ", which has ", there,
                            ", counted from 0"));
    }
  }
}

// End of a buffer, or nothing when it is beyond any memory.
std::optional<std::uint64_t> buffer_end(const CheckContext& ctx, const Queue& q, std::uint64_t address) {
  std::uint64_t bytes = buffer_bytes(q, ctx.device.tile_alignment, ctx.device.queue_header_bytes);
  std::uint64_t end = address + bytes;
  return end < address ? std::nullopt : std::optional(end);
}

// The buffers of one queue. Each rule is reported for the first buffer that breaks it; the others break it for the same reason.
class BufferChecker {
 public:
  BufferChecker(CheckContext& ctx, const Queue& queue) : ctx_(ctx), q_(queue) {}

  void run() {
    if (static_cast<std::int64_t>(q_.buffers.size()) != q_.grid.volume())
      ctx_.queue_error("NL201", q_, Field::buffers,
                       cat("a grid of ", q_.grid.rows, "x", q_.grid.cols, " has ", q_.grid.volume(), " buffers, but ", q_.buffers.size(),
                           " addresses are listed"));
    auto alignment = static_cast<std::uint64_t>(ctx_.device.tile_alignment);
    for (std::size_t i = 0; i < q_.buffers.size(); ++i) {
      const BufferAddress& b = q_.buffers[i];
      at_ = static_cast<int>(i);
      what_ = cat("buffer ", i, " at ", hex_text(b.address));
      if (b.address % alignment != 0 && first("NL203"))
        ctx_.queue_run_error("NL203", q_, Field::buffers, cat(what_, " is not aligned to ", alignment, " bytes"), at_);
      if (q_.location == QueueLocation::dram) {
        dram(b);
      } else {
        host(b);
      }
    }
  }

 private:
  bool first(std::string_view code) { return said_.insert(code).second; }

  void ends(std::string_view code, const BufferAddress& b, std::uint64_t limit, std::string_view memory) {
    auto end = buffer_end(ctx_, q_, b.address);
    if ((end && *end <= limit) || !first(code)) return;
    needs(ctx_.queue_run_error(code, q_, Field::buffers,
                               cat(what_, " ends at ", end ? hex_text(*end) : "no address", ", beyond the ", bytes_text(limit), " of ",
                                   memory, " channel ", b.channel),
                               at_),
          cat(memory, " bytes"), end.value_or(~std::uint64_t{0}), limit);
  }

  void dram(const BufferAddress& b) {
    const auto& dram = ctx_.device.dram;
    if (b.channel < 0 || static_cast<std::size_t>(b.channel) >= dram.channels.size()) {
      if (first("NL202"))
        needs(ctx_.queue_error("NL202", q_, Field::buffers,
                               cat(what_, " is in DRAM channel ", b.channel, ", but '", ctx_.device.name, "' has ", dram.channels.size(),
                                   ", counted from 0"),
                               "", at_),
              "DRAM channels", static_cast<std::uint64_t>(b.channel) + 1, dram.channels.size());
      return;
    }
    ends("NL204", b, dram.bank_bytes, "DRAM");
    // How far the runtime's own data reaches depends on its settings, so this is never an error.
    std::uint64_t lowest = dram.channels[static_cast<std::size_t>(b.channel)].lowest_usable;
    if (b.address < lowest && first("NL205"))
      ctx_.queue_warning("NL205", q_, Field::buffers,
                         cat(what_, " lies below ", hex_text(lowest), ", where the runtime keeps its own data in DRAM channel ", b.channel),
                         at_);
  }

  void host(const BufferAddress& b) {
    const auto& host = ctx_.device.host;
    if (b.channel < 0 || b.channel >= host.channels) {
      if (first("NL202"))
        needs(ctx_.queue_error("NL202", q_, Field::buffers,
                               cat(what_, " is in host channel ", b.channel, ", but '", ctx_.device.name, "' reaches ", host.channels,
                                   ", counted from 0"),
                               "", at_),
              "host channels", static_cast<std::uint64_t>(b.channel) + 1, static_cast<std::uint64_t>(host.channels));
      return;
    }
    if (b.address >= host.channel_bytes) {
      if (first("NL207"))
        needs(ctx_.queue_error("NL207", q_, Field::buffers,
                               cat(what_, " lies beyond the ", bytes_text(host.channel_bytes), " of a host channel"), "", at_),
              "host bytes", b.address, host.channel_bytes);
      return;
    }
    auto channel = static_cast<std::size_t>(b.channel);
    std::uint64_t reserved = channel < host.reserved_bytes.size() ? host.reserved_bytes[channel] : 0;
    ends("NL204", b, host.channel_bytes - reserved, "host");
  }

  CheckContext& ctx_;
  const Queue& q_;
  std::string what_;
  int at_ = 0;  // of the buffer among them
  std::set<std::string_view> said_;
};

// A chip that cannot read queues of another one writes them through the window that the host maps, too.
void check_remote_output(CheckContext& ctx, const Queue& q) {
  const auto& window = ctx.device.dram.host_window;
  auto producer = ctx.index.op(q.input);
  if (!producer || ctx.device.features.remote_input_queues || !window || q.location != QueueLocation::dram) return;
  const std::int32_t chip = ctx.netlist.graphs[producer->graph].target_device;
  if (chip == q.target_device) return;
  for (std::size_t i = 0; i < q.buffers.size(); ++i) {
    const BufferAddress& b = q.buffers[i];
    if (b.channel == window->channel && b.address >= window->begin) continue;
    ctx.queue_run_error("NL212", q, Field::buffers,
                        cat("op '", q.input, "' on chip ", chip, " writes it on chip ", q.target_device, ", which ", ctx.device.arch,
                            " does in DRAM channel ", window->channel, " from ", hex_text(window->begin), " on; buffer ", i,
                            " is in channel ", b.channel, " at ", hex_text(b.address)),
                        static_cast<int>(i));
    return;
  }
}

}  // namespace

void check_queues(CheckContext& ctx) {
  for (const Queue& q : ctx.netlist.queues) {
    if (ctx.full()) return;
    BufferChecker(ctx, q).run();
    check_remote_output(ctx, q);
    check_alias(ctx, q);
    check_ports(ctx, q);
    if (q.tile_dim != TileDim{} && !ctx.device.features.small_tiles)
      ctx.queue_error("NL209", q, Field::tile_dim, cat(ctx.device.arch, " has tiles of 32x32 only"));
    if (!ctx.device.supports(q.format))
      ctx.queue_error("NL210", q, Field::df, cat(ctx.device.arch, " has no format ", format_name(q.format)));
  }
}

namespace {
constexpr std::size_t kMaxComparisons = 20'000'000;  // about a tenth of a second
}

// Dynamic queues (named in an allocate_queue) live between their allocation and deallocation; two of them that are never alive together
// may share memory. Lifetimes are those of the text of the programs: from the first allocation to the last deallocation in instruction
// order, per program. Everything else lives always. Aliases share memory on purpose.
void check_memory(CheckContext& ctx) {
  struct Lifetime {
    std::size_t program = 0, begin = 0, end = ~std::size_t{0};
    bool dynamic = false;
  };
  std::vector<Lifetime> lives(ctx.netlist.queues.size());
  for (std::size_t p = 0; p < ctx.netlist.programs.size(); ++p) {
    const auto& instructions = ctx.netlist.programs[p].instructions;
    for (std::size_t i = 0; i < instructions.size(); ++i) {
      if (auto* a = std::get_if<instruction::Allocate>(&instructions[i].what)) {
        for (const auto& name : a->queues)
          if (auto q = ctx.index.queue(name); q && !lives[*q].dynamic) lives[*q] = {p, i, ~std::size_t{0}, true};
      } else if (auto* d = std::get_if<instruction::Deallocate>(&instructions[i].what)) {
        for (const auto& name : d->queues)
          if (auto q = ctx.index.queue(name); q && lives[*q].dynamic && lives[*q].program == p) lives[*q].end = i;
      }
    }
  }
  struct Range {
    std::int32_t device, channel;
    bool host;
    std::uint64_t begin, end;
    std::size_t queue, buffer;
  };
  std::vector<Range> ranges;
  for (std::size_t q = 0; q < ctx.netlist.queues.size(); ++q) {
    const Queue& queue = ctx.netlist.queues[q];
    if (!queue.alias.empty()) continue;
    for (std::size_t i = 0; i < queue.buffers.size(); ++i)
      if (auto end = buffer_end(ctx, queue, queue.buffers[i].address))
        ranges.push_back(
            {queue.target_device, queue.buffers[i].channel, queue.location == QueueLocation::host, queue.buffers[i].address, *end, q, i});
  }
  auto memory = [](const Range& r) { return std::tie(r.host, r.device, r.channel); };
  std::sort(ranges.begin(), ranges.end(), [&](const Range& a, const Range& b) {
    return std::tuple_cat(memory(a), std::tie(a.begin, a.queue, a.buffer)) <
           std::tuple_cat(memory(b), std::tie(b.begin, b.queue, b.buffer));
  });
  auto together = [&](std::size_t a, std::size_t b) {
    const Lifetime &x = lives[a], &y = lives[b];
    if (!x.dynamic || !y.dynamic) return true;
    return x.program == y.program && x.begin < y.end && y.begin < x.end;
  };
  std::set<std::pair<std::size_t, std::size_t>> reported;
  // Buffers that begin before the current one and may still reach it. Short in sane netlists; the bound on findings ends insane ones.
  std::vector<std::size_t> open;
  std::size_t comparisons = 0;
  for (std::size_t i = 0; i < ranges.size() && !ctx.full(); ++i) {
    const Range& r = ranges[i];
    std::erase_if(open, [&](std::size_t o) { return memory(ranges[o]) != memory(r) || ranges[o].end <= r.begin; });
    comparisons += open.size();
    if (comparisons > kMaxComparisons) {
      ctx.run_error("NL206", "", "", {}, "too many buffers are at the same addresses to compare them all");
      return;
    }
    for (std::size_t o : open) {
      const Range& other = ranges[o];
      if (!together(other.queue, r.queue) || !reported.emplace(std::min(other.queue, r.queue), std::max(other.queue, r.queue)).second)
        continue;
      const Queue& q = ctx.netlist.queues[r.queue];
      Diagnostic& d =
          ctx.queue_run_error("NL206", q, Field::buffers,
                              cat("buffer ", r.buffer, " at ", hex_text(r.begin), " overlaps buffer ", other.buffer, " of '",
                                  ctx.netlist.queues[other.queue].name, "' (", hex_text(other.begin), " to ", hex_text(other.end), ") in ",
                                  r.host ? "host" : "DRAM", " channel ", r.channel, " of chip ", r.device));
      d.notes.push_back({ctx.netlist.loc(ctx.netlist.queues[other.queue].places.of(Field::buffers)), "the other buffer"});
    }
    open.push_back(i);
  }
}

}  // namespace buda::netlist
