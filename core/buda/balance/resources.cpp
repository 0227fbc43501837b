// Sizes of buffers and counts of streams (see the header for the model).
#include <buda/balance/resources.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>

#include <algorithm>
#include <bit>
#include <set>

namespace buda::balance {
namespace {

using netlist::Dim;
using netlist::Op;
using netlist::OpClass;

std::int64_t tile_size(DataFormat format, TileDim dim, const device::DeviceDescriptor& device) {
  return tile_bytes(format, dim, device.tile_alignment);
}

// The number of tiles that make up kHideCycles * kHideBytesPerCycle, with the size of a tile rounded to the nearest power of two: the
// original counts like this, and a netlist's buffers have to be the same on both sides.
std::int64_t hide_tiles(std::int64_t tile) {
  auto low = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(tile)));
  std::int64_t power = 2 * low - tile < tile - low ? 2 * low : low;
  return std::max<std::int64_t>(kHideCycles * kHideBytesPerCycle / power, 1);
}

bool is_matmul_operand(const Op& op, std::size_t input) {
  auto c = netlist::op_class(op.type);
  return (c == OpClass::matmul || c == OpClass::depthwise) && input < 2;
}

// Rows and columns of ublocks that the kernel holds of a matmul operand; min_buffer_input drops them to one.
std::int64_t held_ublocks(const Op& op, std::int32_t input, std::int32_t ublocks) {
  return op.attributes.min_buffer_input == input ? 1 : ublocks;
}

std::int64_t reduce_clear(const Op& op) {
  if (op.attributes.reduce_dim == Dim::r) return std::int64_t{op.block.ublock_ct} * op.attributes.u_kt;
  if (op.attributes.reduce_dim == Dim::c) return std::int64_t{op.block.ublock_rt} * op.attributes.u_kt;
  return op.block.ublock_tiles();
}

std::int64_t matmul_clear(const Op& op, std::size_t input) {
  const auto& a = op.attributes;
  const auto& b = op.block;
  if (a.identity) {
    if (input == 0) return std::max(a.sparse.num_sparse_tiles, 1);
    if (input == 1) return std::int64_t{b.mblock_n} * b.ublock_ct * a.u_kt;
    return input == 2 ? 1 : b.ublock_tiles();
  }
  if (input == 0) return held_ublocks(op, 0, b.mblock_m) * b.ublock_rt * a.u_kt;
  if (input == 1) return held_ublocks(op, 1, b.mblock_n) * b.ublock_ct * a.u_kt;
  return b.ublock_tiles();
}

// Buffers without the "hide" minimum: what they hold is not a stream of new tiles.
bool has_no_hide(const Op& op, std::size_t input) {
  if (op.inputs[input].kernel_broadcast.tiles > 0) return true;
  return op.attributes.identity && (input == 0 || input == 2);
}

std::uint64_t as_count(std::int64_t v) { return static_cast<std::uint64_t>(std::max<std::int64_t>(v, 0)); }

std::string tiles_text(std::int64_t tiles, std::int64_t bytes) { return cat(tiles, tiles == 1 ? " tile of " : " tiles of ", bytes, " B"); }

std::int64_t inner_steps(const Op& op) {
  return std::int64_t{op.attributes.m_k} * std::max(op.attributes.accumulate ? op.attributes.z : 1, 1) + (op.attributes.bias ? 1 : 0) +
         (op.attributes.requant || op.attributes.dequant ? 1 : 0) + (op.gradient_op ? 1 : 0);
}

// Half of an overlay blob is for phases; the rest describes streams, DRAM buffers and the epoch.
constexpr std::uint64_t kHalves = 2;

std::uint64_t phases_in(std::uint64_t blob, const device::DeviceDescriptor& device) {
  return blob / as_count(std::max(device.streams.bytes_per_phase, 1)) / kHalves;
}

// Whether several cores receive the same tiles.
bool is_shared(const Op& op, std::size_t input) {
  Reach r = reach(op, input);
  return (r == Reach::row && op.grid.cols > 1) || (r == Reach::column && op.grid.rows > 1);
}

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
             {"intermediate", intermediate_bytes(op, device) > 0 ? 1u : 0u}};
  for (const auto& p : u.parts) u.used += p.amount;
  return u;
}

Usage multicast_usage(const Op& op, const device::DeviceDescriptor& device) {
  Usage u{Resource::multicasts, 0, as_count(device.streams.multicast_per_core), {}};
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    if (is_shared(op, i)) u.parts.push_back({cat("input ", i), 1});
  }
  u.used = u.parts.size();
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

std::int64_t clear_tiles(const Op& op, std::size_t input) {
  if (op.inputs[input].kernel_broadcast.tiles > 0) return op.inputs[input].kernel_broadcast.tiles;
  const auto& b = op.block;
  const auto& a = op.attributes;
  switch (netlist::op_class(op.type)) {
    case OpClass::matmul:
      return matmul_clear(op, input);
    case OpClass::depthwise:
      if (input == 0) return held_ublocks(op, 0, b.mblock_m) * b.ublock_tiles();
      return input == 1 ? std::int64_t{b.mblock_n} * b.ublock_ct * a.u_kt : b.ublock_tiles();
    case OpClass::reduce:
      return reduce_clear(op);
    case OpClass::embedding:
      return input == 0 ? op.tile_dim.rows : 1;
    case OpClass::tilizer:
      return std::int64_t{b.ublock_rt} * op.tile_dim.rows;
    case OpClass::topk:
      return std::int64_t{b.ublock_rt} * std::max(a.u_kt, 1);
    default:
      return b.ublock_tiles();
  }
}

std::int64_t input_tiles(const Op& op, std::size_t input) {
  const auto& b = op.block;
  std::int64_t inner = std::max<std::int64_t>(op.inner_tiles(), 1);
  std::int64_t sums = std::max(op.attributes.z, 1);
  if (is_matmul_operand(op, input)) {
    std::int64_t t = std::int64_t{b.t} * (op.attributes.accumulate ? sums : 1);
    return input == 0 ? t * b.mblock_m * b.ublock_rt * inner : t * inner * b.mblock_n * b.ublock_ct;
  }
  if (netlist::op_class(op.type) == OpClass::reduce) {
    if (op.attributes.reduce_dim == Dim::r) return b.t * inner * b.mblock_n * b.ublock_ct;
    if (op.attributes.reduce_dim == Dim::c) return b.t * inner * b.mblock_m * b.ublock_rt;
    return b.tiles() * sums;
  }
  return b.tiles();
}

TileDim input_tile_dim(const Op& op, std::size_t input) {
  bool whole = netlist::op_class(op.type) == OpClass::matmul && !op.attributes.identity && input != 0;
  return whole ? TileDim{} : op.tile_dim;
}

InputBuffer input_buffer(const Op& op, std::size_t input, const device::DeviceDescriptor& device) {
  InputBuffer out;
  std::int64_t tile = std::max<std::int64_t>(tile_size(op.inputs[input].format, input_tile_dim(op, input), device), 1);
  out.clear_tiles = clear_tiles(op, input);
  std::int64_t hide = has_no_hide(op, input) ? 0 : hide_tiles(tile);
  // Ops of many inputs share what three would have.
  auto inputs = static_cast<std::int64_t>(op.inputs.size());
  auto c = netlist::op_class(op.type);
  if (inputs > 3 && (c == OpClass::splice || c == OpClass::fused)) hide = hide * 3 / inputs;
  std::int64_t least = std::max(2 * out.clear_tiles, hide);
  std::int64_t wanted = op.inputs[input].min_buffer_tiles;
  out.tiles = wanted > least ? align_up(wanted, out.clear_tiles) : align_up(least, 2 * out.clear_tiles);
  out.bytes = as_count(out.tiles * tile);
  return out;
}

std::uint64_t output_bytes(const Op& op, const device::DeviceDescriptor& device) {
  return as_count(op.block.mblock_tiles() * std::max(op.buf_size_mb, 1) * tile_size(op.out_format, op.tile_dim, device));
}

std::uint64_t intermediate_bytes(const Op& op, const device::DeviceDescriptor& device) {
  auto c = netlist::op_class(op.type);
  bool spills = op.gradient_op || ((c == OpClass::matmul || c == OpClass::depthwise) && inner_steps(op) > 1) ||
                (c == OpClass::reduce && op.attributes.reduce_dim == Dim::z);
  if (!spills || op.intermed_format == op.out_format) return 0;
  return as_count(op.block.mblock_tiles() * tile_size(op.intermed_format, op.tile_dim, device));
}

Reach reach(const Op& op, std::size_t input) {
  auto c = netlist::op_class(op.type);
  if (c == OpClass::matmul && op.attributes.identity) return input == 1 ? Reach::column : Reach::core;
  if (is_matmul_operand(op, input)) return input == 0 ? Reach::row : Reach::column;
  return Reach::core;
}

std::uint64_t relay_bytes(const Op& op, std::size_t input, const device::DeviceDescriptor& device) {
  if (!is_shared(op, input)) return 0;
  // Half of the receiver's buffer is what travels at a time; of inputs that are held as a whole it is no more than a stream would need.
  InputBuffer b = input_buffer(op, input, device);
  std::int64_t tile = tile_size(op.inputs[input].format, input_tile_dim(op, input), device);
  return as_count(std::min(b.tiles / 2, std::max(b.clear_tiles, hide_tiles(std::max<std::int64_t>(tile, 1)))) * tile);
}

std::uint64_t header_bytes(const Op& op, const device::DeviceDescriptor& device) {
  std::set<std::int64_t> sizes;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) sizes.insert(tile_size(op.inputs[i].format, input_tile_dim(op, i), device));
  sizes.insert(op.untilize_output ? tile_datum_bytes(op.out_format, op.tile_dim) : tile_size(op.out_format, op.tile_dim, device));
  if (intermediate_bytes(op, device) > 0) sizes.insert(tile_size(op.intermed_format, op.tile_dim, device));
  return (sizes.size() - 1) * device.l1.tile_headers_bytes;
}

Usage l1_usage(const Op& op, const Links& links, const device::DeviceDescriptor& device) {
  Usage u{Resource::l1, 0, device.l1.operand_bytes(), {}};
  auto add = [&u](std::string what, std::uint64_t bytes) {
    if (bytes == 0) return;
    u.used += bytes;
    u.parts.push_back({std::move(what), bytes});
  };
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    InputBuffer b = input_buffer(op, i, device);
    std::int64_t tile = tile_size(op.inputs[i].format, input_tile_dim(op, i), device);
    bool prologue = i < links.inputs.size() && links.inputs[i].prologue;
    add(cat("input ", i, ": ", tiles_text(b.tiles, tile), prologue ? ", held for the whole epoch" : ""), b.bytes);
    add(cat("relay of input ", i), relay_bytes(op, i, device));
    if (prologue && reach(op, i) == Reach::column && op.grid.rows > 1)
      add(cat("prologue of input ", i), as_count(ceil_div<std::int64_t>(input_tiles(op, i), op.grid.rows) * tile));
  }
  add(cat("output: ", op.buf_size_mb, op.buf_size_mb == 1 ? " mblock of " : " mblocks of ",
          tiles_text(op.block.mblock_tiles(), tile_size(op.out_format, op.tile_dim, device))),
      output_bytes(op, device));
  add("intermediate", intermediate_bytes(op, device));
  add("headers of further sizes of tiles", header_bytes(op, device));
  if (op.overlay_size > 0 && as_count(op.overlay_size) > device.l1.overlay_blob_included)
    add("overlay beyond the default", as_count(op.overlay_size) - device.l1.overlay_blob_included);
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

std::vector<Usage> usages(const Op& op, const Links& links, const device::DeviceDescriptor& device) {
  std::vector<Usage> out;
  out.push_back(l1_usage(op, links, device));
  out.push_back({Resource::dest, as_count(op.block.ublock_tiles()), as_count(device.dest_tiles(op.acc_format)), {}});
  out.push_back(stream_usage(op, links, device));
  out.push_back(multicast_usage(op, device));
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

const Usage* first_misfit(const std::vector<Usage>& all) {
  auto it = std::find_if(all.begin(), all.end(), [](const Usage& u) { return !u.fits(); });
  return it == all.end() ? nullptr : &*it;
}

Diagnostic misfit(const std::string& op, const Usage& usage, std::string remedy) {
  bool bytes = usage.resource == Resource::l1 || usage.resource == Resource::dram;
  auto amount = [bytes](std::uint64_t v) { return bytes ? cat(v, " (", bytes_text(v), ')') : cat(v); };
  Diagnostic d = does_not_fit("BL010", op, std::string(resource_key(usage.resource)), usage.used, usage.available,
                              cat("op '", op, "' does not fit: ", resource_name(usage.resource), ": ", amount(usage.used), " needed, ",
                                  amount(usage.available), " available"),
                              std::move(remedy));
  for (const auto& p : usage.parts)
    if (p.amount > 0) d.notes.push_back({{}, cat(p.what, ": ", amount(p.amount))});
  return d;
}

}  // namespace buda::balance
