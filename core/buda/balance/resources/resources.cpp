// SPDX-License-Identifier: Apache-2.0
// Sizes of buffers and counts of streams (see the header for the model).
#include <buda/balance/resources/resources.hpp>

#include <buda/balance/resources/fused_blocks.hpp>
#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>
#include <buda/netlist/model/op_shapes.hpp>
#include <buda/tiling/flat_rows.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace buda::balance {
namespace {

using netlist::Op;
using tiling::MulticastAxis;

std::uint64_t as_count(std::int64_t v) { return static_cast<std::uint64_t>(std::max<std::int64_t>(v, 0)); }

std::string tiles_text(std::int64_t tiles, std::int64_t bytes) { return cat(tiles, tiles == 1 ? " tile of " : " tiles of ", bytes, " B"); }

// Half of an overlay blob is for phases; the rest describes streams, DRAM buffers and the epoch.
constexpr std::uint64_t kHalves = 2;

std::uint64_t phases_in(std::uint64_t blob, const device::DeviceDescriptor& device) {
  return blob / as_count(std::max(device.streams.bytes_per_phase, 1)) / kHalves;
}

tiling::OpContext context_of(const Op& op, const device::DeviceDescriptor& device, const netlist::FusedOp* fused = nullptr) {
  return {op, fused, 1, device.tile_alignment};
}

// An output that is handed out in order: no smaller than one that is not.
tiling::OutputBuffer output_of(const Op& op, const device::DeviceDescriptor& device) {
  return tiling::output_buffer(context_of(op, device), false, 1);
}

// Of all intermediates that have memory of their own.
std::int64_t intermediate_bytes(const Op& op, const tiling::OutputBuffer& output, const device::DeviceDescriptor& device) {
  if (!tiling::has_intermediates(op) || tiling::shares_output(op)) return 0;
  std::int64_t bytes = 0;
  for (const auto& buffer : tiling::intermediate_buffers(context_of(op, device), output)) bytes += buffer.bytes();
  return bytes;
}

// What an input of a splice brings, which takes rows or columns of ublocks, or matrices, of all inputs in turn.
netlist::TileShape spliced_input(const Op& op, std::size_t input) {
  netlist::TileShape shape = op.shape();
  std::int64_t round = 0;
  for (const auto& in : op.inputs) round += in.splice ? in.splice->length : 0;
  const std::int64_t own = op.inputs[input].splice ? op.inputs[input].splice->length : 0;
  auto& side = op.attributes.granularity == netlist::Granularity::t ? shape.t
               : op.ublock_order == netlist::UblockOrder::r         ? shape.ct
                                                                    : shape.rt;
  if (round > 0) side = side / round * own;
  return shape;
}

// Whether an input is multicast.
bool is_shared(const Op& op, std::size_t input) { return input_order(op, input).cores_per_destination() > 1; }

Usage stream_usage(const Op& op, const Links& links, const device::DeviceDescriptor& device) {
  Usage u{Resource::streams, 0, as_count(device.streams.per_core), {}};
  std::int64_t gathers = 0, fan_out = 0;
  for (const auto& in : links.inputs)
    if (in.sources > 1) gathers += std::min<std::int64_t>(in.sources, device.streams.max_gather_inputs);
  for (const auto& out : links.outputs) fan_out += out.fan_out;
  std::int64_t shared = 0;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) shared += is_shared(op, i) ? 1 : 0;
  u.parts = {{"inputs", op.inputs.size()},
             {"outputs", as_count(fan_out)},
             {"gathers", as_count(gathers)},
             {"multicasts", as_count(shared)},
             {"intermediate", intermediate_bytes(op, output_of(op, device), device) > 0 ? 1u : 0u}};
  for (const auto& p : u.parts) u.used += p.amount;
  return u;
}

Usage multicast_usage(const Op& op, const Links& links, const device::DeviceDescriptor& device) {
  Usage u{Resource::multicasts, 0, as_count(device.streams.multicast_per_core), {}};
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    if (!is_shared(op, i)) continue;
    u.parts.push_back({cat("input ", i), i < links.inputs.size() ? as_count(links.inputs[i].pipes) : 1});
    u.used += u.parts.back().amount;
  }
  return u;
}

void append_dram(std::vector<Usage>& out, const Op& op, const Links& links, const device::DeviceDescriptor& device) {
  const auto& limits = device.streams;
  Usage inputs{Resource::dram_inputs, 0, as_count(limits.dram_input_per_core), {}};
  Usage buffers{Resource::dram_buffers, 0, as_count(limits.max_dram_input_queues), {}};
  Usage outputs{Resource::dram_outputs, 0, as_count(limits.dram_output_per_core), {}};
  Usage reads{Resource::dram_reads, 0, as_count(limits.max_dram_reads_per_input), {}};
  for (std::size_t i = 0; i < links.inputs.size(); ++i) {
    const auto& in = links.inputs[i];
    if (!in.from_queue) continue;
    std::string what = cat("input ", i, i < op.inputs.size() ? cat(" ('", op.inputs[i].name, "')") : std::string());
    inputs.parts.push_back({what, 1});
    buffers.parts.push_back({what, as_count(in.sources)});
    buffers.used += as_count(in.sources);
    if (as_count(in.reads) > reads.used) {
      reads.used = as_count(in.reads);
      reads.parts = {{what, reads.used}};
    }
  }
  for (std::size_t i = 0; i < links.outputs.size(); ++i)
    if (links.outputs[i].to_queue) outputs.parts.push_back({cat("reader ", i), 1});
  inputs.used = inputs.parts.size();
  outputs.used = outputs.parts.size();
  for (auto* u : {&inputs, &buffers, &outputs, &reads}) out.push_back(std::move(*u));
}

// Bytes that pipegen2 allocates for a receive buffer of `tiles` that DRAM is read into, for an op's input buffer of `op_tiles`: the
// smallest multiple of at least 26 KiB that divides a phase (at most 2,048 tiles), else the largest below 52 KiB. Larger buffers are
// doubled, up to 100 KiB, if a phase is a multiple of the result.
std::int64_t pipegen2_dram_bytes(std::int64_t tiles, std::int64_t op_tiles, std::int64_t tile_bytes) {
  constexpr std::int64_t kMaxTilesPerPhase = 2048;
  constexpr std::int64_t kSmallReadBytes = 52 * 1024, kMaxDoubled = 100 * 1024;
  const std::int64_t bytes = tiles * tile_bytes, phase = kMaxTilesPerPhase / op_tiles * op_tiles;
  std::int64_t factor = 1;
  while ((factor + 1) * bytes < kSmallReadBytes && !(factor * bytes >= kSmallReadBytes / 2 && phase % (factor * tiles) == 0)) ++factor;
  if (factor == 1 && 2 * bytes <= kMaxDoubled && phase % (2 * tiles) == 0) factor = 2;
  return factor * bytes;
}

// TT-Buda's pipegen2 uses up to three relay streams for a pipe that gathers from several cores, and larger buffers for reads from DRAM.
void append_pipegen2(std::vector<Usage>& out, std::uint64_t l1_bytes, const Op& op, const Links& links,
                     const device::DeviceDescriptor& device) {
  // An op that gathers nothing is not held to it: alone in its epoch it must fit where our own buffers do.
  const auto gathers = [](const InputLink& in) { return !in.from_queue && in.sources > 1; };
  if (std::none_of(links.inputs.begin(), links.inputs.end(), gathers)) return;
  constexpr std::int64_t kTilesOfAGather = 12;  // over all of its streams
  Usage u{Resource::l1_pipegen2, l1_bytes, device.l1.operand_bytes(), {{"as we lay it out", l1_bytes}}};
  const auto add = [&u](std::string what, std::int64_t bytes) {
    if (bytes == 0) return;
    u.parts.push_back({std::move(what), as_count(bytes)});
    u.used += as_count(bytes);
  };
  for (std::size_t i = 0; i < links.inputs.size() && i < op.inputs.size(); ++i) {
    const tiling::InputBuffer buffer = input_buffer(op, i, device);
    if (gathers(links.inputs[i]))
      add(cat("gather of input ", i, ": ", tiles_text(kTilesOfAGather, buffer.tile_bytes)), kTilesOfAGather * buffer.tile_bytes);
    if (!links.inputs[i].from_queue || links.inputs[i].prologue) continue;
    const bool relayed = is_shared(op, i);
    const std::int64_t tiles = relayed ? tiling::staging_tiles(buffer.size, buffer.clear, buffer.tile_bytes) : buffer.size;
    add(cat(relayed ? "larger relay of input " : "larger buffer of input ", i),
        pipegen2_dram_bytes(tiles, buffer.size, buffer.tile_bytes) - tiles * buffer.tile_bytes);
  }
  out.push_back(std::move(u));
}

Usage fan_out_usage(const Links& links, const device::DeviceDescriptor& device) {
  Usage u{Resource::fan_out, 0, as_count(device.streams.max_fan_out), {}};
  for (std::size_t i = 0; i < links.outputs.size(); ++i) {
    u.parts.push_back({cat("reader ", i), as_count(links.outputs[i].fan_out)});
    u.used += u.parts.back().amount;
  }
  return u;
}

}  // namespace

std::string_view resource_name(Resource r) {
  switch (r) {
    case Resource::l1:
      return "L1 bytes";
    case Resource::l1_pipegen2:
      return "L1 bytes in TT-Buda's pipegen2";
    case Resource::dest:
      return "tiles of the destination register";
    case Resource::streams:
      return "streams per core";
    case Resource::multicasts:
      return "multicast streams per core";
    case Resource::dram_inputs:
      return "DRAM input streams per core";
    case Resource::dram_outputs:
      return "DRAM output streams per core";
    case Resource::dram_buffers:
      return "DRAM buffers read by one core";
    case Resource::dram_reads:
      return "DRAM reads per input";
    case Resource::fan_out:
      return "pipes fed by one core";
    case Resource::phases:
      return "stream phases per core";
    case Resource::workers:
      return "workers";
    case Resource::dram:
      return "DRAM bytes";
  }
  return "";
}

std::string_view resource_key(Resource r) {
  switch (r) {
    case Resource::l1:
      return "l1";
    case Resource::l1_pipegen2:
      return "l1_pipegen2";
    case Resource::dest:
      return "dest";
    case Resource::streams:
      return "streams";
    case Resource::multicasts:
      return "multicasts";
    case Resource::dram_inputs:
      return "dram_inputs";
    case Resource::dram_outputs:
      return "dram_outputs";
    case Resource::dram_buffers:
      return "dram_buffers";
    case Resource::dram_reads:
      return "dram_reads";
    case Resource::fan_out:
      return "fan_out";
    case Resource::phases:
      return "phases";
    case Resource::workers:
      return "workers";
    case Resource::dram:
      return "dram";
  }
  return "";
}

TileDim input_tile_dim(const Op& op, std::size_t input) {
  const bool whole = op.type == netlist::OpType::matmul && !op.attributes.identity && input != 0;
  return whole ? TileDim{} : op.tile_dim;
}

tiling::TileOrder input_order(const Op& op, std::size_t input) {
  netlist::TileShape arriving = op.shape();
  if (op.attributes.identity) arriving.t = std::max(op.attributes.sparse.act_t, 1);
  if (op.type == netlist::OpType::embedding) arriving = {1, 1, 1};
  if (op.type == netlist::OpType::splice) arriving = spliced_input(op, input);
  auto order = tiling::tile_order_of(op, nullptr, input, arriving);
  return std::holds_alternative<tiling::TileOrder>(order) ? std::get<tiling::TileOrder>(order) : tiling::elementwise_order(op);
}

// Rows come in pieces as wide as the op's ublocks, which is how their queue is laid out.
tiling::InputBuffer input_buffer(const Op& op, std::size_t input, const device::DeviceDescriptor& device) {
  const TileDim dim = input_tile_dim(op, input);
  if (tiling::takes_rows(op, input)) {
    auto cut = tiling::cut_rows(tiling::layout_of(op, 1), dim, op);
    if (const auto* rows = std::get_if<tiling::RowCut>(&cut)) return tiling::input_buffer(context_of(op, device), input, *rows, dim);
  }
  return tiling::input_buffer(context_of(op, device), input, input_order(op, input), dim, 0);
}

namespace {

// The intermediates of a fused op, as large as its blocks make them.
void add_fused_intermediates(Usage& l1, const Op& op, const netlist::FusedOp& schedules, const device::DeviceDescriptor& device) {
  const netlist::FusedOp fused = with_blocks(schedules, op);
  std::int64_t tiles = 0, bytes = 0;
  for (const auto& buffer : tiling::intermediate_buffers(context_of(op, device, &fused), output_of(op, device))) {
    tiles += buffer.size;
    bytes += buffer.bytes();
  }
  if (tiles == 0) return;
  l1.used += as_count(bytes);
  l1.parts.push_back({cat("intermediates of the fused op: ", tiles, " tiles"), as_count(bytes)});
}

}  // namespace

Usage l1_usage(const Op& op, const Links& links, const device::DeviceDescriptor& device, const netlist::FusedOp* fused) {
  Usage u{Resource::l1, 0, device.l1.operand_bytes(), {}};
  auto add = [&u](std::string what, std::uint64_t bytes) {
    if (bytes == 0) return;
    u.used += bytes;
    u.parts.push_back({std::move(what), bytes});
  };
  std::set<std::int64_t> tile_sizes;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const tiling::InputBuffer b = input_buffer(op, i, device);
    const tiling::TileOrder order = input_order(op, i);
    tile_sizes.insert(b.tile_bytes);
    const std::int64_t tile = b.tile_bytes;
    const bool prologue = i < links.inputs.size() && links.inputs[i].prologue;
    add(cat("input ", i, ": ", tiles_text(b.size, tile), prologue ? ", held for the whole epoch" : ""), as_count(b.bytes()));
    if (order.cores_per_destination() > 1) add(cat("relay of input ", i), as_count(tiling::staging_tiles(b.size, b.clear, tile) * tile));
    // Such a queue lies in L1 beside the buffer that its pipe fills; a part of it for each destination, or fewer.
    const bool as_in_queue = prologue && netlist::operand_use(op, fused, i).operand->preload == ops::Preload::as_in_queue;
    if (as_in_queue) add(cat("queue of input ", i, " as it is"), as_count(order.tiles() * tile));
    if (prologue && !as_in_queue && order.axis == MulticastAxis::column && op.grid.rows > 1)
      add(cat("prologue of input ", i), as_count(ceil_div<std::int64_t>(order.tiles(), op.grid.rows) * tile));
  }
  const tiling::OutputBuffer output = output_of(op, device);
  add(cat("output: ", op.buf_size_mb, op.buf_size_mb == 1 ? " mblock of " : " mblocks of ",
          tiles_text(op.block.mblock_tiles(), output.tile_bytes)),
      as_count(output.bytes()));
  tile_sizes.insert(output.tile_bytes);
  if (const std::int64_t bytes = intermediate_bytes(op, output, device); bytes > 0) {
    add("intermediate", as_count(bytes));
    tile_sizes.insert(tile_bytes(op.intermed_format, op.tile_dim, device.tile_alignment));
  }
  // Cores keep the headers of tiles of one size for free.
  add("headers of further sizes of tiles", (std::max(tile_sizes.size(), links.tile_sizes) - 1) * device.l1.tile_headers_bytes);
  if (op.overlay_size > 0 && as_count(op.overlay_size) > device.l1.overlay_blob_included)
    add("overlay beyond the default", as_count(op.overlay_size) - device.l1.overlay_blob_included);
  if (fused != nullptr) add_fused_intermediates(u, op, *fused, device);
  return u;
}

Usage phase_usage(const Op& op, const Links& links, const device::DeviceDescriptor& device) {
  std::uint64_t blob = op.overlay_size > 0 ? as_count(op.overlay_size) : device.l1.overlay_blob_default;
  Usage u{Resource::phases, 0, phases_in(blob, device), {}};
  for (std::size_t i = 0; i < links.inputs.size(); ++i) u.parts.push_back({cat("input ", i), as_count(links.inputs[i].phases)});
  for (std::size_t i = 0; i < links.outputs.size(); ++i) u.parts.push_back({cat("reader ", i), as_count(links.outputs[i].phases)});
  for (const auto& p : u.parts) u.used += p.amount;
  return u;
}

std::vector<Usage> usages(const Op& op, const Links& links, const device::DeviceDescriptor& device, const netlist::FusedOp* fused) {
  std::vector<Usage> out;
  out.push_back(l1_usage(op, links, device, fused));
  if (links.for_pipegen2) append_pipegen2(out, out.front().used, op, links, device);
  out.push_back({Resource::dest, as_count(op.block.ublock_tiles()), as_count(device.dest_tiles(op.acc_format)), {}});
  out.push_back(stream_usage(op, links, device));
  out.push_back(multicast_usage(op, links, device));
  append_dram(out, op, links, device);
  out.push_back(fan_out_usage(links, device));
  out.push_back(phase_usage(op, links, device));
  return out;
}

std::int32_t overlay_size_for(const Usage& phases, const device::DeviceDescriptor& device) {
  if (phases.used <= phases_in(device.l1.overlay_blob_default, device)) return -1;
  constexpr std::uint64_t kStep = 4096;
  std::uint64_t bytes = align_up<std::uint64_t>(kHalves * phases.used * as_count(device.streams.bytes_per_phase), kStep);
  return static_cast<std::int32_t>(std::min<std::uint64_t>(bytes, 1u << 30));
}

void bound_dram_reads(Op& op, const Links& links, const device::DeviceDescriptor& device, const netlist::FusedOp* fused) {
  // For a relay we allocate half of the input buffer. pipegen2 allocates twice the buffer for inputs from DRAM, three quarters of it for
  // others.
  constexpr std::int64_t kOfQueue = 3, kOfCores = 1;
  std::uint64_t bytes = l1_usage(op, links, device, fused).used;
  std::vector<std::pair<std::size_t, std::int64_t>> from_queues;  // inputs, and tiles that we have under way
  for (std::size_t i = 0; i < links.inputs.size() && i < op.inputs.size(); ++i) {
    const InputLink& in = links.inputs[i];
    if (in.prologue) continue;
    const tiling::InputBuffer buffer = input_buffer(op, i, device);
    if (!is_shared(op, i)) {
      const std::int64_t more = pipegen2_dram_bytes(buffer.size, buffer.size, buffer.tile_bytes) - buffer.size * buffer.tile_bytes;
      if (!in.from_queue || more == 0) continue;
      bytes += as_count(more);
      from_queues.emplace_back(i, buffer.size);
      continue;
    }
    const std::int64_t tiles = tiling::staging_tiles(buffer.size, buffer.clear, buffer.tile_bytes);
    bytes += as_count(tiles * buffer.tile_bytes * (in.from_queue ? kOfQueue : kOfCores));
    if (in.from_queue) from_queues.emplace_back(i, tiles);
  }
  if (bytes <= device.l1.operand_bytes()) return;
  for (const auto& [i, tiles] : from_queues) op.inputs[i].dram_io_tiles = static_cast<std::int32_t>(tiles);
}

const Usage* first_misfit(const std::vector<Usage>& all) {
  auto it = std::find_if(all.begin(), all.end(), [](const Usage& u) { return !u.fits(); });
  return it == all.end() ? nullptr : &*it;
}

Diagnostic misfit(const std::string& node, const std::string& label, const Usage& usage, std::string remedy) {
  bool bytes = usage.resource == Resource::l1 || usage.resource == Resource::l1_pipegen2 || usage.resource == Resource::dram;
  auto amount = [bytes](std::uint64_t v) { return bytes ? cat(v, " (", bytes_text(v), ')') : cat(v); };
  Diagnostic d = does_not_fit("BL010", node, std::string(resource_key(usage.resource)), usage.used, usage.available,
                              cat("op '", label, "' does not fit: ", resource_name(usage.resource), ": ", amount(usage.used), " needed, ",
                                  amount(usage.available), " available"),
                              std::move(remedy));
  for (const auto& p : usage.parts)
    if (p.amount > 0) d.notes.push_back({{}, cat(p.what, ": ", amount(p.amount))});
  return d;
}

}  // namespace buda::balance
