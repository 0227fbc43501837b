// What each pipe of the file asks for: sources and sinks, the blocks of one pass, the number of passes.
//
// A pass is one run through a pipe's list; it begins when its producers' windows have been filled anew (docs/formats/pipegen.md). How many
// there are follows from each source: tiles in the epoch by tiles of its window. All sources of a pipe must agree.
#include <buda/overlay/builder.hpp>
#include <buda/overlay/usage.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace buda::overlay {
namespace {

// Sizes from a file are held against these before anything is multiplied or allocated.
constexpr std::int64_t kMostTiles = std::int64_t{1} << 40;
constexpr std::int64_t kMostBlocks = std::int64_t{1} << 20;  // of a pipe
constexpr std::int64_t kMostBlocksInAll = std::int64_t{1} << 24;

bool sane(std::int64_t v) { return v >= 0 && v <= kMostTiles; }

// The padding that a group gets in its turn instead of tiles, by the pipe where the turns part; and at which relay buffer of the way.
std::pair<Id, std::size_t> padding_of(const Way& way, std::size_t turn) {
  auto listed = [](const Pipe& pipe, std::size_t group) { return group < pipe.output_padding.size() ? pipe.output_padding[group] : Id{0}; };
  for (std::size_t h = 0; h < way.hops.size(); ++h)
    if (Id id = listed(*way.hops[h].pipe, way.hops[h].pipe->outputs.size() > 1 ? turn : 0); id != 0) return {id, h};
  return {listed(*way.last, way.group), Padding::kBehind};
}

std::string operand_text(const Buffer& b) {
  if (b.type == BufferType::unpacker) return cat("input ", b.operand);
  if (b.type == BufferType::packer) return "output";
  if (b.type == BufferType::intermediate || b.type == BufferType::gradient_op) return cat("intermediate ", b.operand);
  return std::string(pipes::buffer_type_name(b.type));
}

}  // namespace

std::string Builder::place_text(const Core& c) const {
  std::string at = c.ethernet ? cat("ethernet channel ", *c.ethernet) : cat("core [", c.core.row, ", ", c.core.col, ']');
  return cat(at, device_.chips > 1 || c.ethernet ? cat(" of chip ", c.chip) : std::string());
}

void Builder::error(std::string code, const Pipe* pipe, const Buffer* buffer, std::string message, std::string hint) {
  constexpr std::size_t kMost = 20;
  if (failure_.diagnostics().size() >= kMost) return;
  std::string where;
  if (buffer != nullptr) where = cat("op '", buffer->op, "', ", operand_text(*buffer), ": ");
  if (buffer != nullptr && buffer->is_queue()) where = cat("queue '", buffer->op, "': ");
  if (pipe != nullptr) where += cat("pipe_", pipe->id, ": ");
  Diagnostic d = input_error(std::move(code), {}, where + message);
  d.hint = std::move(hint);
  if (pipe != nullptr) d.data.emplace_back("pipe", cat(pipe->id));
  if (buffer != nullptr) {
    d.node = buffer->op;
    d.data.emplace_back("buffer", cat(buffer->id));
    d.data.emplace_back(buffer->is_queue() ? "queue" : "op", buffer->op);
    if (!buffer->is_queue()) {
      d.data.emplace_back("operand", operand_text(*buffer));
      d.data.emplace_back("core", cat('[', buffer->core.row, ", ", buffer->core.col, ']'));
    }
  }
  failure_.add(std::move(d));
}

void Builder::unsupported(const Pipe* pipe, const Buffer* buffer, const std::string& feature) {
  error("OV001", pipe, buffer, cat(feature, " is not supported yet"));
  if (!failure_.empty()) failure_.diagnostics().back().data.emplace_back("feature", feature);
}

std::int32_t Builder::core_at(std::int32_t chip, GridCoord core) const {
  auto it = core_index_.find({chip, core.row, core.col});
  return it == core_index_.end() ? -1 : it->second;
}

void Builder::check_device_description() {
  if (auto missing = missing_description(device_)) failure_.add(std::move(*missing));
}

// Relays tell of their whole size, others that are scattered of a block's share. The output of an ethernet core is what came to its input,
// where it came: files differ in what size they give it. It is handed out by windows, so both have room for whole ones.
std::int64_t Builder::buffer_tiles(const Buffer& b) const {
  const Buffer* input = b.type == BufferType::packer && is_on_ethernet(b) ? index_.find(b.buffer_space_shared.value_or(0)) : nullptr;
  if (input == nullptr) return b.size_tiles * (b.is_scatter && !is_relay(b) ? b.replicate : 1);
  const std::int64_t window = std::max<std::int64_t>(b.is_scatter ? b.window_tiles() : 1, 1);
  return std::max(input->size_tiles / window, std::int64_t{1}) * window;
}

// Cores of the epoch: where buffers lie.
void Builder::collect_cores() {
  std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, const Buffer*> seen;
  auto note = [&](std::int32_t chip, GridCoord at, const Buffer* b) {
    if (!device_.grid().contains(at) || chip < 0) return false;
    auto [it, fresh] = seen.emplace(std::tuple{chip, at.row, at.col}, b);
    bool kernel = b != nullptr && (b->type == BufferType::unpacker || b->type == BufferType::packer);
    if (!fresh && kernel) {
      bool known = it->second != nullptr && (it->second->type == BufferType::unpacker || it->second->type == BufferType::packer);
      if (known && it->second->op != b->op)
        error("OV002", nullptr, b, cat("op '", it->second->op, "' stands on core [", at.row, ", ", at.col, "] too"));
      if (!known) it->second = b;
    }
    return true;
  };
  for (const Buffer& b : graph_.buffers) {
    if (b.core.row == pipes::kNoCore || is_on_ethernet(b)) continue;
    if (!note(b.chip, b.core, &b))
      error("OV010", nullptr, &b,
            cat("core [", b.core.row, ", ", b.core.col, "] of chip ", b.chip, " is outside of '", device_.name, "', which has ",
                device_.grid().rows, " x ", device_.grid().cols, " workers"),
            "give the device for which the netlist was made with --device");
  }
  for (const auto& [at, b] : seen) {
    auto [chip, row, col] = at;
    Core core;
    core.chip = chip;
    core.core = {row, col};
    core.noc = device_.noc_of_worker(core.core);
    if (b != nullptr && !b->is_queue()) core.op = b->op;
    core.blob_bytes = static_cast<std::int64_t>(device_.l1.overlay_blob_default);
    core_index_[at] = static_cast<std::int32_t>(blob_.cores.size());
    blob_.cores.push_back(std::move(core));
  }
  collect_link_cores();
  streams_.resize(blob_.cores.size());
}

void Builder::collect_link_cores() {
  for (const Buffer& b : graph_.buffers) {
    if (!is_on_ethernet(b)) continue;
    std::int32_t channel = b.ethernet_chan.value_or(-1);
    if (b.chip < 0 || channel < 0 || static_cast<std::size_t>(channel) >= device_.eth.size())
      return error("OV010", nullptr, &b,
                   cat("buffer_", b.id, " is at ", channel < 0 ? std::string("no ethernet channel") : cat("ethernet channel ", channel),
                       "; '", device_.name, "' has ", device_.eth.size()));
    if (eth_core_.streams <= 0)
      return error("OV003", nullptr, &b, cat("nothing is said of the ethernet cores of '", device_.name, "' (eth_core of its cluster)"));
    link_core_.emplace(std::pair{b.chip, channel}, 0);
  }
  for (auto& [at, number] : link_core_) {
    Core core;
    core.chip = at.first;
    core.ethernet = at.second;
    core.noc = device_.eth[static_cast<std::size_t>(at.second)];
    core.core = {core.noc.y, core.noc.x};
    core.blob_bytes = eth_core_.overlay_blob;
    number = static_cast<std::int32_t>(blob_.cores.size());
    blob_.cores.push_back(std::move(core));
  }
}

void Builder::refuse_buffers() {
  for (const Buffer& b : graph_.buffers) {
    for (std::int64_t v :
         {b.epoch_tiles, b.size_tiles, b.scatter_gather_num_tiles, b.replicate, b.tiles_per_input, b.tile_clear_granularity}) {
      if (sane(v)) continue;
      error("OV002", nullptr, &b, cat("buffer_", b.id, " has a count of ", v, " tiles"));
      return;
    }
    auto whole = checked_mul(b.size_tiles, std::max<std::int64_t>(b.replicate, 1)),
         all = checked_mul(b.epoch_tiles, std::max<std::int64_t>(b.replicate, 1)),
         window = checked_mul(b.scatter_gather_num_tiles, std::max<std::int64_t>(b.replicate, 1));
    if (!whole || !all || !window || !sane(*whole) || !sane(*all) || !sane(*window))
      error("OV002", nullptr, &b, cat("buffer_", b.id, " has too many tiles"));
    if (b.tile_size < 0 || b.tile_size > (1 << 24))
      error("OV002", nullptr, &b, cat("buffer_", b.id, " has tiles of ", b.tile_size, " bytes"));
    std::string feature;
    if (b.type == BufferType::dram_epilog) feature = "a queue that is written after the epoch, other than a gradient's";
    if (b.dram_buf_streaming) feature = "dram_buf_streaming";
    if (b.use_shadow_rd_ptr) feature = "a shadow read pointer";
    if (!feature.empty()) unsupported(nullptr, &b, feature);
  }
}

bool Builder::resolve_outputs(const Pipe& pipe, PipePlan& plan) {
  if (pipe.outputs.empty() || pipe.outputs.front().empty() || pipe.inputs.empty()) {
    error("OV002", &pipe, nullptr, "it has no inputs or no outputs");
    return false;
  }
  for (const auto& ids : pipe.outputs) {
    plan.groups.emplace_back();
    if (!resolve_group(pipe, ids, plan.groups.back())) return false;
  }
  return true;
}

bool Builder::resolve_group(const Pipe& pipe, const std::vector<Id>& ids, std::vector<const Buffer*>& group) {
  for (Id id : ids) {
    const Buffer* b = index_.find(id);
    if (b == nullptr || b->id != id) {
      error("OV002", &pipe, nullptr, cat("it leads to ", id, ", which is no buffer"));
      return false;
    }
    group.push_back(b);
  }
  if (group.empty()) {
    error("OV002", &pipe, nullptr, "one of its output groups is empty");
    return false;
  }
  return true;
}

// Padding that is kept on the chip where its group is joins behind all relays, wherever the file would have it join.
bool Builder::resolve_padding_of(PipePlan& plan, const Part& part, std::size_t group, Id id, Padding& out) {
  const Way& way = plan.ways[group];
  const Buffer* b = index_.find(id);
  if (b == nullptr || !b->is_padding || b->scatter_gather_num_tiles < 1 || part.tiles % b->scatter_gather_num_tiles != 0) {
    error("OV002", way.last, plan.groups[group].front(),
          cat("output_padding_list has ", id, ", which is no padding of which ", part.tiles, " tiles could be made"));
    return false;
  }
  if (out.hop != Padding::kBehind && b->chip != way.hops[out.hop].buffer->chip) out.hop = Padding::kBehind;
  if (out.hop == Padding::kBehind && b->chip != plan.groups[group].front()->chip) {
    error("OV002", way.last, plan.groups[group].front(),
          cat("its padding buffer_", id, " is on chip ", b->chip, ", where nobody takes it"));
    return false;
  }
  out.group = group;
  out.tiles = part.tiles;
  auto at = std::find(plan.buffers.begin(), plan.buffers.end(), b);
  out.source = static_cast<std::int32_t>(at - plan.buffers.begin());
  if (at == plan.buffers.end()) plan.buffers.push_back(b);
  return true;
}

// Groups that get padding take no turn of a pass; theirs follow that of the group before them, or go before the first that takes one.
bool Builder::resolve_padding(PipePlan& plan) {
  for (Part& part : plan.parts) {
    std::vector<std::size_t> taking;
    const std::size_t first = plan.padding.size();
    for (std::size_t turn = 0; turn < part.groups.size(); ++turn) {
      Padding pads;
      const auto [id, hop] = padding_of(plan.ways[part.groups[turn]], turn);
      if (id == 0) {
        taking.push_back(part.groups[turn]);
        continue;
      }
      pads.hop = hop;
      pads.before = taking.empty();
      if (!pads.before) pads.beside = taking.back();
      if (!resolve_padding_of(plan, part, part.groups[turn], id, pads)) return false;
      plan.padding.push_back(pads);
    }
    if (taking.empty()) {
      error("OV002", plan.pipe, &plan.first_output(), "all of its receivers get padding, and none gets what it brings");
      return false;
    }
    for (std::size_t k = first; k < plan.padding.size(); ++k)
      if (plan.padding[k].before) plan.padding[k].beside = taking.front();
    part.groups = std::move(taking);
  }
  return true;
}

bool Builder::resolve_inputs(const Pipe& pipe, PipePlan& plan) {
  std::map<Id, std::int32_t> known;
  for (Id id : pipe.inputs) {
    const Buffer* b = index_.find(id);
    if (b == nullptr) {
      error("OV002", &pipe, nullptr, cat("it takes from ", id, ", which is no buffer"));
      return false;
    }
    if (known.emplace(b->id, static_cast<std::int32_t>(plan.buffers.size())).second) plan.buffers.push_back(b);
  }
  auto blocks = checked_mul(static_cast<std::int64_t>(pipe.inputs.size()), pipe.repeats());
  if (!blocks || *blocks > kMostBlocks) {
    error("OV002", &pipe, &plan.first_output(),
          cat("its list, repeated ", pipe.repeats(), " times, has more than ", kMostBlocks, " blocks"));
    return false;
  }
  blocks_ += *blocks;
  if (blocks_ > kMostBlocksInAll) {
    error("OV002", &pipe, &plan.first_output(),
          cat("the lists of all pipes up to this one, repeated, have more than ", kMostBlocksInAll, " blocks"));
    return false;
  }
  for (std::int64_t r = 0; r < pipe.repeats(); ++r)
    for (Id id : pipe.inputs) {
      const Buffer* b = index_.find(id);
      auto offset = static_cast<std::int64_t>(id - b->id);
      std::int64_t tiles = b->scatter_gather_num_tiles;
      if (!b->is_scatter && tiles > total_tiles(*b) && b->type == BufferType::packer) tiles = total_tiles(*b);  // less than a window in all
      if (b->type == BufferType::prolog_relay) tiles = buffer_tiles(*b);
      std::int64_t window = b->is_padding || !b->is_scatter ? std::max(tiles, b->window_tiles()) : b->window_tiles();
      if (tiles < 1 || offset % tiles != 0 || offset + tiles > window) {
        error("OV002", &pipe, &plan.first_output(),
              cat("it takes ", id, ", which is not the beginning of a block of ", tiles, " tiles of buffer_", b->id));
        return false;
      }
      plan.blocks.push_back({known.at(b->id), offset, tiles});
    }
  for (const Block& b : plan.blocks) plan.pass_tiles += b.tiles;
  if (!sane(plan.pass_tiles)) {
    error("OV002", plan.pipe, &plan.first_output(), "it moves too many tiles at once");
    return false;
  }
  return true;
}

// Which kinds of buffers meet in a pipe decides how it is made.
bool Builder::classify(PipePlan& plan) {
  const Pipe& pipe = *plan.pipe;
  const Buffer& out = plan.first_output();
  for (const auto& group : plan.groups)
    for (const Buffer* b : group)
      if (b->type != out.type) {
        error("OV002", &pipe, b, cat("it leads to a ", pipes::buffer_type_name(b->type), " and to a ", pipes::buffer_type_name(out.type)));
        return false;
      }
  if (out.type == BufferType::unpacker) {
    plan.sink = SinkKind::kernel;
  } else if (out.type == BufferType::prolog_relay) {
    plan.sink = SinkKind::share;
  } else if (out.type == BufferType::dram_io) {
    plan.sink = SinkKind::queue;
  } else {
    error("OV002", &pipe, &out, cat("it leads to a ", pipes::buffer_type_name(out.type), ", which takes nothing"));
    return false;
  }
  int outputs = 0, stores = 0, streamed = 0, kept = 0;
  for (const Buffer* b : plan.buffers) {
    if (b->type == BufferType::packer)
      ++outputs;
    else if (b->type == BufferType::prolog_relay)
      ++stores;
    else if (b->is_padding)
      (b->dram_buf_flag && b->core.row != pipes::kNoCore) ? ++stores : ++streamed;
    else if (b->type == BufferType::dram_prolog)
      (plan.sink == SinkKind::share || b->prefetch_type == pipes::PrefetchType::post_tm) ? ++kept : ++stores;
    else if (b->type == BufferType::dram_io)
      ++streamed;
    else {
      error("OV002", &pipe, b, cat("it takes from a ", pipes::buffer_type_name(b->type), ", which hands out nothing"));
      return false;
    }
  }
  // What is read before the epoch is padded from DRAM like the rest of it.
  if (kept > 0 && outputs == 0 && streamed == 0 && stores > 0 && std::all_of(plan.buffers.begin(), plan.buffers.end(), [](const Buffer* b) {
        return b->is_padding || b->type == BufferType::dram_prolog;
      }))
    stores = 0;
  int kinds = (outputs > 0 || stores > 0) + (streamed > 0) + (kept > 0);
  if (kinds != 1) {
    unsupported(&pipe, &out, "a pipe that takes from L1 and from DRAM at once");
    return false;
  }
  plan.source = outputs > 0 ? SourceKind::output : stores > 0 ? SourceKind::store : SourceKind::dram;
  plan.before_epoch = kept > 0;
  if (plan.sink == SinkKind::share && !plan.before_epoch) {
    error("OV002", &pipe, &out, "a share of a prologue has to be read from a queue's prologue");
    return false;
  }
  if (plan.sink == SinkKind::queue && plan.source != SourceKind::output) {
    unsupported(&pipe, &out, "copying from queue to queue");
    return false;
  }
  if (plan.source == SourceKind::dram && plan.takes_turns()) {
    unsupported(&pipe, &out, "a queue whose entries go to receivers in turns");
    return false;
  }
  if (plan.over_pcie() && !check_over_pcie(plan)) return false;
  for (std::size_t g = 0; g < plan.groups.size() && !plan.over_pcie(); ++g)
    for (const Buffer* b : plan.groups[g])
      for (const Buffer* s : plan.buffers)
        if (s->chip != b->chip && !s->is_padding && plan.ways[g].hops.empty() &&
            s->dram_io_flag_is_remote + b->dram_io_flag_is_remote == 0) {
          error("OV002", &pipe, b, cat("it leads from chip ", s->chip, " to chip ", b->chip, " without ethernet or PCIe between"));
          return false;
        }
  plan.multicast = plan.sink == SinkKind::kernel && !plan.before_epoch &&
                   std::any_of(plan.groups.begin(), plan.groups.end(), [](const auto& g) { return g.size() > 1; });
  if (plan.sink != SinkKind::kernel && (plan.takes_turns() || plan.groups.front().size() > 1)) {
    unsupported(&pipe, &out, "writing the same tiles to several places");
    return false;
  }
  return true;
}

bool Builder::make_blocks(PipePlan& plan) {
  plan.ring = plan.source == SourceKind::dram && plan.parts.size() == 1;
  if (plan.source == SourceKind::dram) return true;
  std::vector<Block> joined;
  for (const Block& b : plan.blocks) {
    if (!joined.empty() && joined.back().source == b.source && joined.back().offset + joined.back().tiles == b.offset) {
      joined.back().tiles += b.tiles;
    } else {
      joined.push_back(b);
    }
  }
  plan.blocks = std::move(joined);
  if (plan.sink == SinkKind::queue && plan.buffers.front()->untilized.on) {
    // Each core hands out its rows by itself.
    plan.ring = plan.blocks.size() == plan.buffers.size();
    if (!plan.ring)
      error("OV002", plan.pipe, plan.buffers.front(), "an output without tiles goes to its queue as a whole, core after core");
    return plan.ring;
  }
  if (plan.blocks.size() == 1 && plan.groups.size() == 1) {
    const Buffer& b = *plan.buffers.front();
    std::int64_t window = std::min(b.window_tiles(), total_tiles(b));
    std::int64_t whole = plan.source == SourceKind::output ? std::max<std::int64_t>(buffer_tiles(b), 1) : plan.pass_tiles;
    plan.ring = plan.source == SourceKind::output
                    ? plan.blocks.front().tiles == window && whole % window == 0
                    : plan.blocks.front().offset == 0 && (b.is_padding || plan.pass_tiles == b.window_tiles());
  }
  return true;
}

// Nothing where the buffer does not know: padding is read as often as what it pads.
std::optional<std::int64_t> Builder::passes_of(const Buffer& b) const {
  if (b.is_padding) return std::nullopt;
  std::int64_t total = total_tiles(b);
  if (b.type == BufferType::packer) return ceil_div(total, std::max<std::int64_t>(1, std::min(b.window_tiles(), total)));
  if (b.type == BufferType::prolog_relay) {
    auto feeds = feeds_.find(b.id);
    if (feeds == feeds_.end() || plans_[feeds->second.front()].buffers.empty()) return std::nullopt;
    for (const Buffer* source : plans_[feeds->second.front()].buffers)
      if (source->type != BufferType::prolog_relay)
        if (auto passes = passes_of(*source)) return passes;
    return std::nullopt;
  }
  std::int64_t entry = b.tiles_per_input > 0 ? b.tiles_per_input : b.window_tiles();
  return std::max<std::int64_t>(1, total / std::max<std::int64_t>(1, entry));
}

bool Builder::count_passes(PipePlan& plan) {
  if (plan.sink == SinkKind::share) {
    plan.passes = 1;
    return true;
  }
  for (const Buffer* b : plan.buffers) {
    auto passes = passes_of(*b);
    if (!passes) continue;
    if (plan.passes != 0 && plan.passes != *passes) {
      error("OV002", plan.pipe, &plan.first_output(),
            cat("it would have to run ", plan.passes, " times for '", plan.buffers.front()->op, "', and ", *passes, " times for '", b->op,
                "' (buffer_", b->id, ")"));
      return false;
    }
    plan.passes = *passes;
  }
  if (plan.passes == 0) {
    error("OV002", plan.pipe, &plan.first_output(), "it brings nothing but padding, so that nobody knows how often");
    return false;
  }
  auto all = checked_mul(plan.passes, plan.pass_tiles);
  if (!all || !sane(*all)) {
    error("OV002", plan.pipe, &plan.first_output(), "it moves too many tiles in the epoch");
    return false;
  }
  return true;
}

void Builder::plan_pipe(const Pipe& pipe) {
  PipePlan plan;
  plan.pipe = &pipe;
  if (!resolve_outputs(pipe, plan) || !resolve_inputs(pipe, plan) || !place_rows(plan) || !follow_relays(plan) || !resolve_padding(plan) ||
      !classify(plan) || !make_blocks(plan))
    return;
  for (const auto& group : plan.groups)
    for (const Buffer* b : group)
      for (const Buffer* s : plan.buffers)
        if (s->tile_size != b->tile_size) {
          error("OV002", &pipe, b,
                cat("it brings tiles of ", s->tile_size, " bytes from buffer_", s->id, " and should bring tiles of ", b->tile_size));
          return;
        }
  std::size_t number = plans_.size();
  std::vector<Id> seen;
  for (const auto& group : plan.groups)
    for (const Buffer* b : group) seen.push_back(b->id);
  std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  for (Id id : seen) feeds_[id].push_back(number);
  plans_.push_back(std::move(plan));
}

void Builder::plan_pipes() {
  index_relays();
  for (const Pipe& pipe : graph_.pipes)
    if (!starts_at_relay(pipe)) plan_pipe(pipe);
  if (failure_.empty()) check_relays();
  if (!failure_.empty()) return;
  for (PipePlan& plan : plans_) count_passes(plan);
}

}  // namespace buda::overlay
