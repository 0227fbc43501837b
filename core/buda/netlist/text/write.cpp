// SPDX-License-Identifier: Apache-2.0
// The canonical layout of a netlist.
#include <buda/netlist/text/write.hpp>

#include <buda/base/text.hpp>
#include <buda/io/yaml.hpp>
#include <buda/netlist/text/write_context.hpp>

#include <algorithm>

namespace buda::netlist {
namespace {

constexpr std::size_t kWidestName = 48;  // names are padded to the longest, but not beyond this

std::string pair_text(std::int32_t a, std::int32_t b) { return cat('[', a, ", ", b, ']'); }

template <class Range>
std::size_t name_width(const Range& elements) {
  std::size_t width = 0;
  for (const auto& e : elements) width = std::max(width, name_text(e.name).size());
  return std::min(width, kWidestName);
}

// "name:    " so that what follows is aligned in one column.
std::string padded(const std::string& name, std::size_t width) {
  std::string out = name_text(name) + ": ";
  if (out.size() < width + 2) out.append(width + 2 - out.size(), ' ');
  return out;
}

std::string buffers_text(const Queue& q) {
  // Bare addresses mean host channel 0 to every reader.
  bool bare = q.location == QueueLocation::host &&
              std::all_of(q.buffers.begin(), q.buffers.end(), [](const BufferAddress& b) { return b.channel == 0; });
  std::vector<std::string> parts;
  for (const auto& b : q.buffers) parts.push_back(bare ? hex_text(b.address) : cat('[', b.channel, ", ", hex_text(b.address), ']'));
  return list_text(parts);
}

}  // namespace

std::string chips_text(std::int32_t chip, const std::vector<std::int32_t>& instances) {
  return instances.empty() ? cat(chip) : list_text(instances);
}

FlowMap queue_fields(const Queue& q) {
  FlowMap map;
  map.add("input", name_text(q.input));
  if (!q.input_tms.empty()) map.add("input_tms", tms_text(q.input_tms));
  map.add("type", name_of(q.kind));
  map.add("entries", cat(q.entries));
  map.add("grid_size", pair_text(q.grid.rows, q.grid.cols));
  map.add("t", cat(q.block.t));
  map.add("mblock", pair_text(q.block.mblock_m, q.block.mblock_n));
  map.add("ublock", pair_text(q.block.ublock_rt, q.block.ublock_ct));
  map.add("ublock_order", name_of(q.ublock_order));
  if (q.tile_dim != TileDim{}) map.add("tile_dim", pair_text(q.tile_dim.rows, q.tile_dim.cols));
  map.add("df", format_name(q.format));
  if (q.layout != QueueLayout::tilized) map.add("layout", name_of(q.layout));
  if (!q.alias.empty()) map.add("alias", name_text(q.alias));
  map.add("target_device", chips_text(q.target_device, q.instances));
  map.add("loc", name_of(q.location));
  map.add(q.location == QueueLocation::host ? "host" : "dram", buffers_text(q));
  if (!q.read_ports.empty()) map.add("read_ports", list_text(q.read_ports));
  if (!q.write_ports.empty()) map.add("write_ports", list_text(q.write_ports));
  return map;
}

namespace {

// A list with one value per input, if any value differs from 0.
void add_per_input(FlowMap& map, const Op& op, std::string_view key, std::int32_t OpInput::*member) {
  std::vector<std::int32_t> values;
  for (const auto& input : op.inputs) values.push_back(input.*member);
  if (std::any_of(values.begin(), values.end(), [](std::int32_t v) { return v != 0; })) map.add(key, list_text(values));
}

}  // namespace

// Its placement and what it reads.
FlowMap op_placement(const Op& op) {
  FlowMap map;
  map.add("type", op_type_name(op.type));
  if (op.type != OpType::ethernet_datacopy) map.add("grid_loc", pair_text(op.grid_loc.row, op.grid_loc.col));
  map.add("grid_size", pair_text(op.grid.rows, op.grid.cols));
  if (op.grid_transpose) map.add("grid_transpose", "true");
  std::vector<std::string> inputs;
  for (const auto& input : op.inputs) inputs.push_back(name_text(input.name));
  map.add("inputs", list_text(inputs));
  return map;
}

// Block shapes and formats.
FlowMap op_blocks(const Op& op) {
  FlowMap map;
  map.add("t", cat(op.block.t));
  map.add("mblock", pair_text(op.block.mblock_m, op.block.mblock_n));
  map.add("ublock", pair_text(op.block.ublock_rt, op.block.ublock_ct));
  map.add("ublock_order", name_of(op.ublock_order));
  map.add("buf_size_mb", cat(op.buf_size_mb));
  if (op.tile_dim != TileDim{}) map.add("tile_dim", pair_text(op.tile_dim.rows, op.tile_dim.cols));
  std::vector<std::string> formats;
  for (const auto& input : op.inputs) formats.emplace_back(format_name(input.format));
  map.add("in_df", list_text(formats));
  map.add("out_df", format_name(op.out_format));
  map.add("intermed_df", format_name(op.intermed_format));
  map.add("acc_df", format_name(op.acc_format));
  map.add("math_fidelity", fidelity_name(op.fidelity));
  if (op.untilize_output) map.add("untilize_output", "true");
  if (op.gradient_op) map.add("gradient_op", "true");
  if (op.overlay_size != -1) map.add("overlay_size", cat(op.overlay_size));
  add_per_input(map, op, "input_buf_min_size_tiles", &OpInput::min_buffer_tiles);
  add_per_input(map, op, "input_dram_io_buf_size_tiles", &OpInput::dram_io_tiles);
  return map;
}

// What happens on the way from the producers, and attributes.
FlowMap op_edges(const Op& op) {
  FlowMap map;
  std::vector<std::string> forks;
  for (const auto& input : op.inputs)
    if (!input.forked_from.empty()) forks.push_back(cat(name_text(input.name), ": ", name_text(input.forked_from)));
  if (!forks.empty()) map.add("forked_dram_inputs", list_text(forks));
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const EdgeMaps& m = op.inputs[i].maps;
    if (m.unpad) map.add(cat("input_", i, "_unpad"), cat("{rt: ", m.unpad->rt, ", ct: ", m.unpad->ct, '}'));
    if (!m.tms.empty()) map.add(cat("input_", i, "_tms"), tms_text(m.tms));
    if (m.pad)
      map.add(cat("input_", i, "_pad"), cat("{rt: ", m.pad->rt, ", ct: ", m.pad->ct, ", pad_value: ", real_text(m.pad->value), '}'));
  }
  if (FlowMap attributes = attribute_fields(op.attributes, &op.inputs); !attributes.empty()) map.add("attributes", attributes.text());
  return map;
}

namespace {

void write_op(const Op& op, std::size_t width, std::string& out) {
  out += cat("    ", padded(op.name, width), '{', op_placement(op).members(), ",\n      ", op_blocks(op).members());
  if (FlowMap rest = op_edges(op); !rest.empty()) out += cat(",\n      ", rest.members());
  out += "}\n";
}

void write_graph(const Graph& graph, std::string& out) {
  out += cat("  ", name_text(graph.name), ":\n    target_device: ", chips_text(graph.target_device, graph.instances),
             "\n    input_count: ", graph.input_count, '\n');
  std::size_t width = name_width(graph.ops);
  for (const Op& op : graph.ops) write_op(op, width, out);
}

}  // namespace

std::string write_netlist(const Netlist& netlist) {
  std::string out = "# buda.netlist/1\ndevices:\n  arch: ";
  out += netlist.archs.size() == 1 ? netlist.archs.front() : list_text(netlist.archs.empty() ? std::vector{netlist.arch} : netlist.archs);
  out += netlist.queues.empty() ? "\n\nqueues: {}\n" : "\n\nqueues:\n";
  std::size_t width = name_width(netlist.queues);
  for (const Queue& q : netlist.queues) out += cat("  ", padded(q.name, width), queue_fields(q).text(), '\n');
  out += netlist.graphs.empty() ? "\ngraphs: {}\n" : "\ngraphs:\n";
  for (const Graph& g : netlist.graphs) write_graph(g, out);
  out += netlist.programs.empty() ? "\nprograms: []\n" : "\nprograms:\n";
  for (const Program& p : netlist.programs) write_program(p, out);
  if (!netlist.fused_ops.empty()) out += "\nfused_ops:\n";
  for (const FusedOp& f : netlist.fused_ops) write_fused_op(f, out);
  for (const auto& [key, node] : netlist.other) {
    bool inline_value = node.is_scalar() || node.size() == 0;
    out += cat('\n', name_text(key), ":", inline_value ? " " : "\n", io::yaml_block(node, inline_value ? 0 : 2));
  }
  return out;
}

}  // namespace buda::netlist
