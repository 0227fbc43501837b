// SPDX-License-Identifier: Apache-2.0
// Recursion over relays.
#include <buda/pipes/check/trace.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <numeric>

namespace buda::pipes {
namespace {

constexpr int kMaxRelays = 1024;  // in a row

// The groups that receive in pass number `pass`: the one whose round it is, and those after it (and, with the first, before it) that get
// padding instead. Empty when no group gets anything else.
std::vector<std::size_t> groups_of_pass(const Pipe& pipe, std::int64_t pass) {
  auto padded = [&](std::size_t g) { return g < pipe.output_padding.size() && pipe.output_padding[g] != 0; };
  std::int64_t unpadded = 0;
  for (std::size_t g = 0; g < pipe.outputs.size(); ++g) unpadded += padded(g) ? 0 : 1;
  std::vector<std::size_t> out;
  if (unpadded == 0) return out;
  std::int64_t round = -1;  // of the last group that is not padded
  for (std::size_t g = 0; g < pipe.outputs.size(); ++g) {
    round += padded(g) ? 0 : 1;
    if (std::max<std::int64_t>(round, 0) == pass % unpadded) out.push_back(g);
  }
  return out;
}

}  // namespace

std::string TracedTile::text(const netlist::Netlist& netlist) const {
  switch (kind) {
    case Owner::Kind::op:
      return cat("tile ", number, " of core ", core, " of op '", op->name, "'");
    case Owner::Kind::queue:
    case Owner::Kind::prologue:
      return cat("tile ", number, " of buffer ", core, " of queue '", netlist.queues[queue].name, "'");
    case Owner::Kind::padding:
      return cat("padding from address ", address);
    default:
      return "nothing known";
  }
}

bool Trace::add_block(const Pipe& pipe, Id block, std::int64_t pass, std::vector<TracedTile>& out, int depth) {
  const Buffer* b = epoch_.buffers.find(block);
  const Owner* owner = owners_.find(b);
  if (owner == nullptr || owner->kind == Owner::Kind::none) {
    findings_.error("PC008", "", cat("pipe_", pipe.id, " takes from ", block, ", which sends nothing"));
    return false;
  }
  auto offset = static_cast<std::int64_t>(block - b->id);
  if (owner->kind == Owner::Kind::relay) return add_relayed(*b, offset, pass, out, depth + 1);
  std::int64_t count = b->scatter_gather_num_tiles;
  if (count < 1 || offset % count != 0 || offset + count > b->window_tiles()) {
    findings_.error(
        "PC009", b->op,
        cat("pipe_", pipe.id, " takes ", block, ", which is not the beginning of a block of ", count, " tiles of buffer_", b->id));
    return false;
  }
  TracedTile tile{owner->kind, owner->op, owner->queue, owner->core, 0, 0, block};
  if (owner->kind == Owner::Kind::padding) tile.address = b->dram_addr;
  std::int64_t first = owner->kind == Owner::Kind::prologue ? offset : pass * b->window_tiles() + offset;
  for (std::int64_t i = 0; i < count; ++i) {
    tile.number = owner->kind == Owner::Kind::padding ? 0 : first + i;
    out.push_back(tile);
  }
  return true;
}

// A block of what a relay receives in a pass, which is all of it unless several pipes share it.
bool Trace::add_relayed(const Buffer& relay, std::int64_t offset, std::int64_t pass, std::vector<TracedTile>& out, int depth) {
  if (!relay.is_scatter) return add_pass(relay, pass, out, depth);
  if (shared_relay_ != relay.id || !shared_passes_.contains(pass)) {
    std::vector<TracedTile> received;
    if (!add_pass(relay, pass, received, depth)) return false;
    if (shared_relay_ != relay.id) shared_passes_.clear();
    shared_relay_ = relay.id;
    shared_passes_[pass] = std::move(received);
  }
  const auto& all = shared_passes_[pass];
  const std::int64_t count = relay.scatter_gather_num_tiles;
  if (count < 1 || offset % count != 0 || static_cast<std::int64_t>(all.size()) != relay.window_tiles() ||
      offset + count > relay.window_tiles()) {
    findings_.error("PC009", relay.op,
                    cat("tile ", offset, " of buffer_", relay.id, " is not the beginning of a block of ", count, " of the ", all.size(),
                        " tiles that come in a pass"));
    return false;
  }
  out.insert(out.end(), all.begin() + offset, all.begin() + offset + count);
  return true;
}

bool Trace::add_padding(const Pipe& pipe, Id padding, std::vector<TracedTile>& out) {
  const Buffer* b = epoch_.buffers.find(padding);
  const Owner* owner = owners_.find(b);
  if (owner == nullptr || owner->kind != Owner::Kind::padding) {
    findings_.error("PC008", "", cat("pipe_", pipe.id, " pads with ", padding, ", which is no padding"));
    return false;
  }
  std::int64_t tiles = 0;
  for (Id block : pipe.inputs)
    if (const Buffer* source = epoch_.buffers.find(block)) tiles += source->scatter_gather_num_tiles * pipe.repeats();
  if (b->scatter_gather_num_tiles < 1 || tiles % b->scatter_gather_num_tiles != 0) {
    findings_.error("PC009", b->op,
                    cat("pipe_", pipe.id, ": a round of ", tiles, " tiles does not consist of whole blocks of padding buffer_", b->id));
    return false;
  }
  TracedTile tile;
  tile.kind = Owner::Kind::padding;
  tile.address = b->dram_addr;
  tile.block = padding;
  out.insert(out.end(), static_cast<std::size_t>(tiles), tile);
  return true;
}

bool Trace::add_pass(const Buffer& target, std::int64_t pass, std::vector<TracedTile>& out, int depth) {
  auto feeds = feeds_.find(target.id);
  if (feeds == feeds_.end() || depth > kMaxRelays) {
    findings_.error(
        "PC010", target.op,
        cat("buffer_", target.id, " of '", target.op, "' is ", depth > kMaxRelays ? "fed by a cycle of relays" : "not fed by any pipe"));
    return false;
  }
  const Pipe* feeding = nullptr;
  const Pipe* last = nullptr;
  for (const Feed& f : feeds->second) {
    const Pipe& p = epoch_.graph.pipes[f.pipe];
    if (&p == last) continue;
    last = &p;
    for (std::size_t g : groups_of_pass(p, pass)) {
      if (std::find(p.outputs[g].begin(), p.outputs[g].end(), target.id) == p.outputs[g].end()) continue;
      if (feeding != nullptr && feeding != &p) {
        findings_.error(
            "PC011", target.op,
            cat("pipe_", feeding->id, " and pipe_", p.id, " both feed buffer_", target.id, " of '", target.op, "' at the same time"));
        return false;
      }
      feeding = &p;
      if (g < p.output_padding.size() && p.output_padding[g] != 0) {
        if (!add_padding(p, p.output_padding[g], out)) return false;
        continue;
      }
      for (std::int64_t i = 0; i < p.repeats(); ++i)
        for (Id block : p.inputs)
          if (!add_block(p, block, pass, out, depth)) return false;
    }
  }
  return true;
}

std::int64_t Trace::passes_of_a_cycle(const Buffer& target, int depth) const {
  std::int64_t passes = 1;
  auto feeds = feeds_.find(target.id);
  if (feeds == feeds_.end() || depth > kMaxRelays) return passes;
  auto repeat_after = [&](std::int64_t rounds) {
    const std::int64_t both = std::lcm(passes, rounds);
    passes = both > (1 << 20) ? passes : both;
  };
  for (const Feed& f : feeds->second) {
    const Pipe& p = epoch_.graph.pipes[f.pipe];
    auto padded = std::count_if(p.output_padding.begin(), p.output_padding.end(), [](Id id) { return id != 0; });
    repeat_after(std::max<std::int64_t>(1, static_cast<std::int64_t>(p.outputs.size()) - padded));
    const Buffer* source = p.inputs.empty() ? nullptr : epoch_.buffers.find(base_id(p.inputs.front()));
    if (owners_.is_relay(source)) repeat_after(passes_of_a_cycle(*source, depth + 1));
  }
  return passes;
}

}  // namespace buda::pipes
