// The checker: finds whose buffer each buffer is, then follows the pipes backwards.
//
// A pass of a pipe is one run through its list of blocks; it begins when the producers' buffers have been filled anew. Pass number w sees
// of an op's output the tiles [w * window, (w + 1) * window) of each core, of a queue entry number w, and of what was read before the epoch
// the same tiles each time. The pass goes to output group w mod groups, where groups that get padding are not counted: these get as much of
// it when the turn is theirs, after the group before them. So the tiles that a kernel gets, in order, are those of all passes
// whose group it is in; they are compared with what the definitions say, over as many inputs as it takes until everything repeats.
#include <buda/pipes/check/checker.hpp>

#include <buda/base/text.hpp>
#include <buda/tiling/tile_order.hpp>

#include <numeric>

namespace buda::pipes {

using netlist::Op;
using netlist::OpClass;
using netlist::Queue;
using netlist::TileIndex;
using netlist::TileMap;
using netlist::TileShape;

namespace {

constexpr int kMostRelays = 1024;  // in a row

}  // namespace

std::string Checker::text(const Atom& a) const {
  switch (a.kind) {
    case Owner::Kind::op:
      return cat("tile ", a.number, " of core ", a.core, " of op '", a.op->name, "'");
    case Owner::Kind::queue:
    case Owner::Kind::prologue:
      return cat("tile ", a.number, " of buffer ", a.core, " of queue '", netlist().queues[a.queue].name, "'");
    case Owner::Kind::padding:
      return cat("padding from address ", a.address);
    default:
      return "nothing known";
  }
}

bool Checker::add_block(const Pipe& pipe, Id block, std::int64_t pass, std::vector<Atom>& out, int depth) {
  const Buffer* b = buffers_.find(block);
  auto owner = b == nullptr ? owners_.end() : owners_.find(b->id);
  if (owner == owners_.end() || owner->second.kind == Owner::Kind::none) {
    error("PC008", "", cat("pipe_", pipe.id, " takes from ", block, ", which hands out nothing"));
    return false;
  }
  const Owner& o = owner->second;
  auto offset = static_cast<std::int64_t>(block - b->id);
  if (o.kind == Owner::Kind::relay) return add_relayed(*b, offset, pass, out, depth + 1);
  std::int64_t count = b->scatter_gather_num_tiles;
  if (count < 1 || offset % count != 0 || offset + count > b->window_tiles()) {
    error("PC009", b->op,
          cat("pipe_", pipe.id, " takes ", block, ", which is not the beginning of a block of ", count, " tiles of buffer_", b->id));
    return false;
  }
  Atom a{o.kind, o.op, o.queue, o.core, 0, 0, block};
  if (o.kind == Owner::Kind::padding) a.address = b->dram_addr;
  std::int64_t first = o.kind == Owner::Kind::prologue ? offset : pass * b->window_tiles() + offset;
  for (std::int64_t i = 0; i < count; ++i) {
    a.number = o.kind == Owner::Kind::padding ? 0 : first + i;
    out.push_back(a);
  }
  return true;
}

// A block of what a relay gets in a pass, which is all of it unless several pipes share it.
bool Checker::add_relayed(const Buffer& relay, std::int64_t offset, std::int64_t pass, std::vector<Atom>& out, int depth) {
  if (!relay.is_scatter) return add_pass(relay, pass, out, depth);
  if (parted_ != relay.id || !parted_passes_.contains(pass)) {
    std::vector<Atom> brought;
    if (!add_pass(relay, pass, brought, depth)) return false;
    if (parted_ != relay.id) parted_passes_.clear();
    parted_ = relay.id;
    parted_passes_[pass] = std::move(brought);
  }
  const auto& all = parted_passes_[pass];
  const std::int64_t count = relay.scatter_gather_num_tiles;
  if (count < 1 || offset % count != 0 || static_cast<std::int64_t>(all.size()) != relay.window_tiles() ||
      offset + count > relay.window_tiles()) {
    error("PC009", relay.op,
          cat("tile ", offset, " of buffer_", relay.id, " is not the beginning of a block of ", count, " of the ", all.size(),
              " tiles that come in a pass"));
    return false;
  }
  out.insert(out.end(), all.begin() + offset, all.begin() + offset + count);
  return true;
}

// The turns of pass number `pass` of a pipe: the group that gets what the pass brings, and those after it (and, with the first, before it)
// that get padding instead. Empty when no group gets anything else.
static std::vector<std::size_t> turns_of(const Pipe& pipe, std::int64_t pass) {
  auto padded = [&](std::size_t g) { return g < pipe.output_padding.size() && pipe.output_padding[g] != 0; };
  std::int64_t taking = 0;
  for (std::size_t g = 0; g < pipe.outputs.size(); ++g) taking += padded(g) ? 0 : 1;
  std::vector<std::size_t> out;
  if (taking == 0) return out;
  std::int64_t before = -1;  // groups so far that take a pass, less one
  for (std::size_t g = 0; g < pipe.outputs.size(); ++g) {
    before += padded(g) ? 0 : 1;
    if (std::max<std::int64_t>(before, 0) == pass % taking) out.push_back(g);
  }
  return out;
}

bool Checker::add_padding(const Pipe& pipe, Id padding, std::vector<Atom>& out) {
  const Buffer* b = buffers_.find(padding);
  auto owner = b == nullptr ? owners_.end() : owners_.find(b->id);
  if (owner == owners_.end() || owner->second.kind != Owner::Kind::padding) {
    error("PC008", "", cat("pipe_", pipe.id, " pads with ", padding, ", which is no padding"));
    return false;
  }
  std::int64_t tiles = 0;
  for (Id block : pipe.inputs)
    if (const Buffer* source = buffers_.find(block)) tiles += source->scatter_gather_num_tiles * pipe.repeats();
  if (b->scatter_gather_num_tiles < 1 || tiles % b->scatter_gather_num_tiles != 0) {
    error("PC009", b->op, cat("pipe_", pipe.id, ": a turn of ", tiles, " tiles is not whole blocks of padding buffer_", b->id));
    return false;
  }
  Atom a;
  a.kind = Owner::Kind::padding;
  a.address = b->dram_addr;
  a.block = padding;
  out.insert(out.end(), static_cast<std::size_t>(tiles), a);
  return true;
}

// What a buffer gets in one pass: nothing, or what one pipe brings.
bool Checker::add_pass(const Buffer& target, std::int64_t pass, std::vector<Atom>& out, int depth) {
  auto feeds = feeds_.find(target.id);
  if (feeds == feeds_.end() || depth > kMostRelays) {
    error("PC010", target.op,
          cat("buffer_", target.id, " of '", target.op, "' is ", depth > kMostRelays ? "fed in a circle" : "not fed by any pipe"));
    return false;
  }
  const Pipe* bringing = nullptr;
  const Pipe* last = nullptr;
  for (const Feed& f : feeds->second) {  // the groups of a pipe one after the other
    const Pipe& p = graph_.pipes[f.pipe];
    if (&p == last) continue;
    last = &p;
    for (std::size_t g : turns_of(p, pass)) {
      if (std::find(p.outputs[g].begin(), p.outputs[g].end(), target.id) == p.outputs[g].end()) continue;
      if (bringing != nullptr && bringing != &p) {
        error("PC011", target.op,
              cat("pipe_", bringing->id, " and pipe_", p.id, " both feed buffer_", target.id, " of '", target.op, "' at the same time"));
        return false;
      }
      bringing = &p;
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

// How many passes it takes until the turns begin anew, those before relays included.
std::int64_t Checker::groups_of(const Buffer& target, int depth) const {
  std::int64_t groups = 1;
  auto feeds = feeds_.find(target.id);
  if (feeds == feeds_.end() || depth > kMostRelays) return groups;
  auto repeat_after = [&](std::int64_t turns) {
    const std::int64_t least = std::lcm(groups, turns);
    groups = least > (1 << 20) ? groups : least;
  };
  for (const Feed& f : feeds->second) {
    const Pipe& p = graph_.pipes[f.pipe];
    auto padded = std::count_if(p.output_padding.begin(), p.output_padding.end(), [](Id id) { return id != 0; });
    repeat_after(std::max<std::int64_t>(1, static_cast<std::int64_t>(p.outputs.size()) - padded));
    auto owner = p.inputs.empty() ? owners_.end() : owners_.find(base_id(p.inputs.front()));
    if (owner == owners_.end() || owner->second.kind != Owner::Kind::relay) continue;
    if (const Buffer* relay = buffers_.find(base_id(p.inputs.front()))) repeat_after(groups_of(*relay, depth + 1));
  }
  return groups;
}

bool Checker::compare(const std::string& what, const std::string& node, const Buffer& target, const Expected& e, std::int64_t input_count) {
  // Inputs until producers' buffers and output groups are where they began.
  std::int64_t groups = groups_of(target, 0);
  std::int64_t inputs = e.inputs * (groups / std::gcd(groups, e.passes));
  inputs = std::min(inputs, input_count);
  std::int64_t passes = std::max<std::int64_t>(1, e.passes * inputs / e.inputs);
  std::vector<Atom> got;
  std::int64_t pass = 0;
  std::size_t at = 0;
  for (std::int64_t input = 0; input < inputs; ++input) {
    for (std::size_t i = 0; i < e.tiles.size(); ++i, ++at) {
      while (at == got.size() && pass < passes) {
        got.clear();
        at = 0;
        if (!add_pass(target, pass++, got, 0)) return false;
      }
      Atom wanted = e.tiles[i];
      if (wanted.kind != Owner::Kind::padding) wanted.number += input * e.per_input;
      const TileIndex& w = e.where[i];
      auto tile = [&] { return cat(what, ", tile ", i, " of input ", input, " (t=", w.t, " r=", w.r, " c=", w.c, ")"); };
      if (at == got.size()) {
        error("PC012", node, cat(tile(), ": the pipes end; ", text(wanted), " is missing"));
        return false;
      }
      if (!(got[at] == wanted)) {
        error("PC013", node, cat(tile(), ": ", text(got[at]), " comes (block ", got[at].block, "); it should be ", text(wanted)));
        return false;
      }
      ++counts_.tiles;
    }
  }
  for (; at == got.size() && pass < passes; at = 0) {
    got.clear();
    if (!add_pass(target, pass++, got, 0)) return false;
    if (got.empty()) continue;
    break;
  }
  if (at < got.size()) {
    error("PC014", node, cat(what, ": more comes than is taken, first ", text(got[at])));
    return false;
  }
  ++counts_.buffers;
  return true;
}

Atom Checker::expected_atom(const Op* op, std::size_t queue, bool prologue, TilePlace place) const {
  Atom a;
  a.kind = op != nullptr ? Owner::Kind::op : prologue ? Owner::Kind::prologue : Owner::Kind::queue;
  a.op = op;
  a.queue = queue;
  a.core = place.core;
  a.number = place.number;
  return a;
}

// Only the first tiles come, and the kernel reads them again: what it then takes for the others must be the same tiles.
bool Checker::broadcast(const Op& op, std::size_t input, std::int64_t ts, Expected& e, const std::string& what) {
  const auto& b = op.inputs[input].kernel_broadcast;
  if (b.tiles <= 0) return true;
  auto period = static_cast<std::size_t>(b.tiles);
  std::size_t part = b.per_t ? e.tiles.size() / static_cast<std::size_t>(ts) : e.tiles.size();
  std::vector<Atom> tiles;
  std::vector<TileIndex> where;
  for (std::size_t start = 0; start < e.tiles.size(); start += part)
    for (std::size_t i = 0; i < part; ++i) {
      if (i >= period && !(e.tiles[start + i] == e.tiles[start + i % period])) {
        error("PC015", op.name,
              cat(what, ": kernel_broadcast reads ", text(e.tiles[start + i % period]), " again where ", text(e.tiles[start + i]),
                  " should be"));
        return false;
      }
      if (i >= period) continue;
      tiles.push_back(e.tiles[start + i]);
      where.push_back(e.where[start + i]);
    }
  e.tiles = std::move(tiles);
  e.where = std::move(where);
  return true;
}

void Checker::check_input(const Op& op, const netlist::Graph& graph, std::size_t input) {
  const auto& in = op.inputs[input];
  std::size_t q = index_.queue(in.name);
  const Op* producer = q == kNone ? index_.op(in.name).op : nullptr;
  if (q == kNone && producer == nullptr) return;  // diagnosed when the epoch was planned
  const Queue* queue = q == kNone ? nullptr : &netlist().queues[q];
  const bool lists_rows = op_class(op.type) == OpClass::embedding && input == 1;  // numbers of rows, perhaps without headers
  if (queue != nullptr && queue->layout == netlist::QueueLayout::flat && !lists_rows) return check_rows(op, graph, *queue);
  GridShape grid = queue != nullptr ? queue->grid : producer->grid;
  const netlist::BlockShape& block = queue != nullptr ? queue->block : producer->block;
  netlist::UblockOrder order = queue != nullptr ? queue->ublock_order : producer->ublock_order;
  TileDim dim = queue != nullptr ? queue->tile_dim : producer->tile_dim;
  bool prologue = queue != nullptr && epoch_.use_of(queue->name).prologue;
  auto made = TileMap::make(netlist::tensor_shape(grid, block), in.maps);
  if (!std::holds_alternative<TileMap>(made))
    return error("PC017", op.name, cat("op '", op.name, "', input ", input, ": the manipulations do not apply"));
  const TileMap& map = std::get<TileMap>(made);

  for (std::int64_t core = 0; core < op.grid.volume(); ++core) {
    std::string what = cat("op '", op.name, "', input ", input, ", core [", core / op.grid.cols, ", ", core % op.grid.cols, "]");
    auto found = kernel_.find({&op, core, static_cast<std::int32_t>(input)});
    if (found == kernel_.end()) {
      error("PC018", op.name, cat(what, ": there is no buffer"));
      continue;
    }
    const Buffer& target = *found->second;
    const bool bare = queue != nullptr && queue->layout == netlist::QueueLayout::flat;
    const std::int32_t bytes = bare ? tile_datum_bytes(in.format, dim) : tile_bytes(in.format, dim, device_.tile_alignment);
    if (target.tile_size != bytes) error("PC016", op.name, cat(what, ": tiles have ", bytes, " bytes, not ", target.tile_size));
    GridCoord coord{static_cast<std::int32_t>(core / op.grid.cols), static_cast<std::int32_t>(core % op.grid.cols)};
    Taken taken = tiles_taken(netlist(), op, input, map.shape(), coord);
    if (taken.tiles.empty()) return error("PC019", op.name, cat(what, ": the checker does not know this kind of input"));
    Expected e;
    e.where = std::move(taken.tiles);
    for (const TileIndex& tile : e.where) {
      if (tile.t >= map.shape().t || tile.r >= map.shape().rt || tile.c >= map.shape().ct)
        return error("PC017", op.name, cat(what, ": it takes more than the ", map.shape().text(), " that arrive"));
      netlist::TileSource s = map.source(tile);
      if (s.padding) {
        Atom a;
        a.kind = Owner::Kind::padding;
        a.address = padding_.address(in.format, s.pad_value);
        e.tiles.push_back(a);
      } else {
        e.tiles.push_back(expected_atom(producer, q, prologue, place_in(grid, block, order, s.tile)));
      }
    }
    if (!broadcast(op, input, taken.ts, e, what)) continue;
    e.per_input = prologue ? 0 : block.tiles();
    if (producer != nullptr) {
      std::int64_t window = window_of(*producer, graph.input_count);
      e.inputs = std::lcm(window, block.tiles()) / block.tiles();
      e.passes = e.inputs * block.tiles() / window;
      if (graph.input_count % e.inputs != 0)
        error("PC020", op.name,
              cat(what, ": the ", graph.input_count, " inputs of the epoch do not fill the buffers of op '", producer->name, "'"));
    }
    auto delivered = static_cast<std::int64_t>(e.tiles.size());
    if (compare(what, op.name, target, e, graph.input_count)) check_kernel_buffer(op, graph, input, target, delivered);
  }
}

void Checker::check_untilized(std::size_t q, const Op& op) {
  const Queue& queue = netlist().queues[q];
  for (const Buffer& b : graph_.buffers) {
    auto owner = owners_.find(b.id);
    if (owner == owners_.end() || owner->second.kind != Owner::Kind::queue || owner->second.queue != q) continue;
    auto feeds = feeds_.find(b.id);
    std::string what = cat("queue '", queue.name, "', buffer_", b.id);
    if (feeds == feeds_.end() || feeds->second.size() != 1) {
      error("PC010", queue.name, cat(what, ": it is not fed by one pipe"));
      continue;
    }
    const Pipe& pipe = graph_.pipes[feeds->second.front().pipe];
    std::vector<Id> wanted;
    for (std::int64_t core = 0; core < op.grid.volume(); ++core)
      if (auto packer = packers_.find({&op, core}); packer != packers_.end()) wanted.push_back(packer->second->id);
    if (pipe.inputs != wanted)
      error("PC013", queue.name, cat(what, ": pipe_", pipe.id, " does not bring the cores of op '", op.name, "' one after the other"));
    ++counts_.buffers;
  }
}

void Checker::check_queue(std::size_t q) {
  const Queue& queue = netlist().queues[q];
  auto [op, graph] = index_.op(queue.input);
  if (op->untilize_output) return check_untilized(q, *op);
  auto made = TileMap::make(op->shape(), {std::nullopt, queue.input_tms, std::nullopt});
  if (!std::holds_alternative<TileMap>(made)) return;
  const TileMap& map = std::get<TileMap>(made);
  std::map<std::int64_t, const Buffer*> buffers;
  for (const Buffer& b : graph_.buffers)
    if (auto o = owners_.find(b.id); o != owners_.end() && o->second.kind == Owner::Kind::queue && o->second.queue == q)
      buffers[o->second.core] = &b;
  for (std::int64_t i = 0; i < queue.grid.volume(); ++i) {
    std::string what = cat("queue '", queue.name, "', buffer ", i);
    auto found = buffers.find(i);
    if (found == buffers.end()) {
      error("PC018", queue.name, cat(what, ": there is no buffer"));
      continue;
    }
    Taken taken = tiles_stored(queue, {static_cast<std::int32_t>(i / queue.grid.cols), static_cast<std::int32_t>(i % queue.grid.cols)});
    Expected e;
    e.where = std::move(taken.tiles);
    for (const TileIndex& tile : e.where) {
      if (tile.t >= map.shape().t || tile.r >= map.shape().rt || tile.c >= map.shape().ct)
        return error("PC017", queue.name, cat(what, ": it takes more than the ", map.shape().text(), " that arrive"));
      e.tiles.push_back(expected_atom(op, kNone, false, place_in(op->grid, op->block, op->ublock_order, map.source(tile).tile)));
    }
    std::int64_t window = window_of(*op, graph->input_count);
    e.per_input = op->block.tiles();
    e.inputs = std::lcm(window, e.per_input) / e.per_input;
    e.passes = e.inputs * e.per_input / window;
    compare(what, queue.name, *found->second, e, graph->input_count);
  }
}

void Checker::check_op(const Op& op, const netlist::Graph& graph) {
  std::size_t inputs = std::min(op.inputs.size(), tiling::operand_count(op));
  for (std::size_t i = 0; i < inputs; ++i) check_input(op, graph, i);
  for (std::int64_t core = 0; core < op.grid.volume(); ++core) check_output(op, graph, core);
  if (op.gradient_op) {
    check_gradient(op);
  } else {
    for (std::size_t q : index_.queues_written_by(op.name)) check_queue(q);
  }
}

Result<CheckCounts> Checker::run() {
  find_owners();
  collect_feeds();
  for (const auto* graph : epoch_.graphs)
    for (const Op& op : graph->ops) check_op(op, *graph);
  check_readers();
  check_relays();
  if (!failure_.empty()) return std::move(failure_);
  return counts_;
}

Result<CheckCounts> check_pipes(const NetlistIndex& index, const device::DeviceDescriptor& device, const Epoch& epoch,
                                const PaddingTable& padding, const PipeGraph& graph, const device::Cluster& cluster) {
  return Checker(index, device, epoch, padding, graph, cluster).run();
}

}  // namespace buda::pipes
