// SPDX-License-Identifier: Apache-2.0
// Reads queues.
#include <buda/netlist/text/parse_context.hpp>

#include <buda/base/checked.hpp>

namespace buda::netlist {
namespace {

struct ParsedQueue : QueueDraft {
  const io::Node* dram = nullptr;
  const io::Node* host = nullptr;
};

constexpr std::size_t kMaxPlaces = 1024;  // a grid of buffers is no larger than a chip's workers

bool read_address(ParseContext& ctx, const io::Node& node, std::uint64_t& out) {
  auto value = node.kind() == io::Node::Kind::integer ? parse_uint(node.text()) : std::nullopt;
  if (value) {
    out = *value;
    return true;
  }
  ctx.error("NL003", node, cat("an address is an integer number of bytes, not ", node.describe()));
  return false;
}

// `[channel, address]`, or in host memory also `address` for channel 0.
void read_buffers(ParseContext& ctx, const io::Node& node, bool host, Queue& queue) {
  if (!ctx.list(node, host ? "host" : "dram")) return;
  std::vector<BufferAddress>& out = queue.buffers;
  for (const auto& item : node.items()) {
    BufferAddress buffer;
    if (out.size() < kMaxPlaces) queue.places.set(Field::buffers, location_of(item), static_cast<int>(out.size()));
    if (host && item.is_scalar()) {
      if (read_address(ctx, item, buffer.address)) out.push_back(buffer);
    } else if (!item.is_list() || item.size() != 2) {
      ctx.error("NL003", item, cat("a buffer is [channel, address], not ", item.describe()));
    } else {
      bool fine = ctx.integer(item.items()[0], "channel", buffer.channel);
      if (read_address(ctx, item.items()[1], buffer.address) && fine) out.push_back(buffer);
    }
  }
}

void read_tile_dim(ParseContext& ctx, const io::Node& node, TileDim& out) {
  TileDim dim;
  if (!ctx.pair(node, "tile_dim", dim.rows, dim.cols, 1, 32)) return;
  if (is_valid_tile_dim(dim)) {
    out = dim;
  } else {
    ctx.error("NL004", node, cat("there are no tiles of ", dim.rows, "x", dim.cols),
              "tiles are 32x32, 16x32, 32x16, 8x32, 4x32, 2x32 or 1x32");
  }
}

const std::vector<FieldRow<ParsedQueue>>& queue_rows() {
  using C = ParseContext;
  using N = io::Node;
  static const std::vector<FieldRow<ParsedQueue>> table = {
      {"type", Field::type, true, [](C& c, const N& n, ParsedQueue& d) { c.word(n, "type", d.queue.kind); }},
      {"input", Field::input, true, [](C& c, const N& n, ParsedQueue& d) { c.name(n, "input", d.queue.input); }},
      {"input_tms", Field::input_tms, false, [](C& c, const N& n, ParsedQueue& d) { parse_tms(c, n, "input_tms", d.queue.input_tms); }},
      {"entries", Field::entries, true, [](C& c, const N& n, ParsedQueue& d) { c.integer(n, "entries", d.queue.entries); }},
      {"grid_size", Field::grid_size, true,
       [](C& c, const N& n, ParsedQueue& d) { c.pair(n, "grid_size", d.queue.grid.rows, d.queue.grid.cols, 1, kMaxDimension); }},
      {"t", Field::t, true, [](C& c, const N& n, ParsedQueue& d) { c.dimension(n, "t", d.queue.block.t); }},
      {"mblock", Field::mblock, true,
       [](C& c, const N& n, ParsedQueue& d) { c.pair(n, "mblock", d.queue.block.mblock_m, d.queue.block.mblock_n, 1, kMaxDimension); }},
      {"ublock", Field::ublock, true,
       [](C& c, const N& n, ParsedQueue& d) { c.pair(n, "ublock", d.queue.block.ublock_rt, d.queue.block.ublock_ct, 1, kMaxDimension); }},
      {"ublock_order", Field::ublock_order, false,
       [](C& c, const N& n, ParsedQueue& d) { c.word(n, "ublock_order", d.queue.ublock_order); }},
      {"df", Field::df, true, [](C& c, const N& n, ParsedQueue& d) { c.format(n, "df", d.queue.format); }},
      {"tile_dim", Field::tile_dim, false, [](C& c, const N& n, ParsedQueue& d) { read_tile_dim(c, n, d.queue.tile_dim); }},
      {"target_device", Field::target_device, true,
       [](C& c, const N& n, ParsedQueue& d) { d.listed = read_devices(c, n, d.devices) && n.is_list(); }},
      {"loc", Field::loc, true, [](C& c, const N& n, ParsedQueue& d) { c.word(n, "loc", d.queue.location); }},
      {"dram", Field::buffers, false, [](C&, const N& n, ParsedQueue& d) { d.dram = &n; }},
      {"host", Field::buffers, false, [](C&, const N& n, ParsedQueue& d) { d.host = &n; }},
      {"read_ports", Field::ports, false, [](C& c, const N& n, ParsedQueue& d) { c.integers(n, "read_ports", d.queue.read_ports); }},
      {"write_ports", Field::ports, false, [](C& c, const N& n, ParsedQueue& d) { c.integers(n, "write_ports", d.queue.write_ports); }},
      {"layout", Field::layout, false, [](C& c, const N& n, ParsedQueue& d) { c.word(n, "layout", d.queue.layout); }},
      {"alias", Field::alias, false, [](C& c, const N& n, ParsedQueue& d) { c.name(n, "alias", d.queue.alias); }},
  };
  return table;
}

// Only the list that `loc` asks for is looked at, as in the original.
void read_location(ParseContext& ctx, const io::Node& node, ParsedQueue& d) {
  if (node.find("loc") == nullptr) return;
  bool host = d.queue.location == QueueLocation::host;
  const io::Node* list = host ? d.host : d.dram;
  if (list == nullptr) {
    ctx.error("NL002", node, cat("'", host ? "host" : "dram", "' is missing: the queue is in ", host ? "host memory" : "DRAM"));
  } else {
    read_buffers(ctx, *list, host, d.queue);
  }
}

void check_size(ParseContext& ctx, const io::Node& node, const Queue& q) {
  auto tiles = checked_product<std::int64_t>(std::vector<std::int64_t>{q.block.t, q.grid.rows, q.grid.cols, q.block.mblock_m,
                                                                       q.block.mblock_n, q.block.ublock_rt, q.block.ublock_ct});
  if (tiles && *tiles <= kMaxTiles) tiles = checked_mul(*tiles, std::int64_t{q.entries});
  if (!tiles || *tiles > kMaxQueueTiles) ctx.error("NL004", node, "it has more tiles than any memory can hold");
}

}  // namespace

QueueDraft parse_queue(ParseContext& ctx, const std::string& name, const io::Node& node) {
  ctx.enter("queue", name);
  ParsedQueue d;
  d.queue.name = name;
  d.queue.places.self = location_of(node);
  d.devices.assign(1, 0);
  if (!ctx.map(node, name)) return d;
  read_fields(ctx, node, queue_rows(), d, d.queue.places, [](const std::string&, const io::Node&) { return false; });
  read_location(ctx, node, d);
  check_size(ctx, node, d.queue);
  d.queue.target_device = d.devices.front();
  return d;
}

}  // namespace buda::netlist
