// SPDX-License-Identifier: Apache-2.0
// Reads graphs and their ops.
#include <buda/netlist/text/parse_context.hpp>

#include <buda/base/checked.hpp>

#include <algorithm>
#include <set>

namespace buda::netlist {
namespace {

struct ParsedOp {
  Op op;
  std::vector<std::string> inputs;
  std::vector<DataFormat> in_df;
  std::vector<std::int32_t> min_buffer, dram_io;
  const io::Node* inputs_node = nullptr;
  const io::Node* in_df_node = nullptr;
  const io::Node* forked = nullptr;
  const io::Node* attributes = nullptr;
  const io::Node* unknown_type = nullptr;
};

void read_type(ParseContext& ctx, const io::Node& node, ParsedOp& d) {
  std::string word;
  if (!ctx.name(node, "type", word)) return;
  if (auto type = op_type_from_name(word)) {
    d.op.type = *type;
    return;
  }
  d.unknown_type = &node;
}

// A type that does not exist is an error, but the rest of the netlist is looked at as if a plain op with as many inputs stood there.
void replace_unknown_type(ParseContext& ctx, ParsedOp& d) {
  if (d.unknown_type == nullptr) return;
  std::vector<std::string> known;
  for (const auto& row : all_op_types()) known.emplace_back(row.name);
  if (d.inputs.size() > 2) {
    ctx.unknown("NL003", *d.unknown_type, "op type", d.unknown_type->text(), known);
    return;
  }
  ctx.unknown_finding("NL003", *d.unknown_type, "op type", d.unknown_type->text(), known);
  d.op.type = d.inputs.size() == 2 ? OpType::add : OpType::nop;
}

void read_fidelity(ParseContext& ctx, const io::Node& node, ParsedOp& d) {
  std::string word;
  if (!ctx.name(node, "math_fidelity", word)) return;
  if (auto fidelity = fidelity_from_name(word)) {
    d.op.fidelity = *fidelity;
  } else {
    ctx.unknown("NL003", node, "math_fidelity", word, names_of<MathFidelity>());
  }
}

void read_in_df(ParseContext& ctx, const io::Node& node, ParsedOp& d) {
  d.in_df_node = &node;
  if (!ctx.list(node, "in_df")) return;
  d.in_df.assign(node.size(), DataFormat::invalid);
  for (std::size_t i = 0; i < node.size(); ++i) ctx.format(node.items()[i], "in_df", d.in_df[i]);
}

void read_tile_dim(ParseContext& ctx, const io::Node& node, ParsedOp& d) {
  TileDim dim;
  if (!ctx.pair(node, "tile_dim", dim.rows, dim.cols, 1, 32)) return;
  if (is_valid_tile_dim(dim)) {
    d.op.tile_dim = dim;
  } else {
    ctx.error("NL004", node, cat("there are no tiles of ", dim.rows, "x", dim.cols),
              "tiles are 32x32, 16x32, 32x16, 8x32, 4x32, 2x32 or 1x32");
  }
}

const std::vector<FieldRow<ParsedOp>>& op_rows() {
  using C = ParseContext;
  using N = io::Node;
  using D = ParsedOp;
  static const std::vector<FieldRow<ParsedOp>> table = {
      {"type", Field::type, true, read_type},
      {"grid_loc", Field::grid_loc, false,
       [](C& c, const N& n, D& d) { c.pair(n, "grid_loc", d.op.grid_loc.row, d.op.grid_loc.col, 0, kMaxDimension); }},
      {"grid_size", Field::grid_size, true,
       [](C& c, const N& n, D& d) { c.pair(n, "grid_size", d.op.grid.rows, d.op.grid.cols, 1, kMaxDimension); }},
      {"grid_transpose", Field::grid_transpose, false, [](C& c, const N& n, D& d) { c.boolean(n, "grid_transpose", d.op.grid_transpose); }},
      {"inputs", Field::inputs, true,
       [](C& c, const N& n, D& d) {
         d.inputs_node = &n;
         c.names(n, "inputs", d.inputs);
       }},
      {"in_df", Field::in_df, true, read_in_df},
      {"out_df", Field::out_df, true, [](C& c, const N& n, D& d) { c.format(n, "out_df", d.op.out_format); }},
      {"intermed_df", Field::intermed_df, true, [](C& c, const N& n, D& d) { c.format(n, "intermed_df", d.op.intermed_format); }},
      {"acc_df", Field::acc_df, false, [](C& c, const N& n, D& d) { c.format(n, "acc_df", d.op.acc_format); }},
      {"math_fidelity", Field::math_fidelity, true, read_fidelity},
      {"t", Field::t, true, [](C& c, const N& n, D& d) { c.dimension(n, "t", d.op.block.t); }},
      {"mblock", Field::mblock, true,
       [](C& c, const N& n, D& d) { c.pair(n, "mblock", d.op.block.mblock_m, d.op.block.mblock_n, 1, kMaxDimension); }},
      {"ublock", Field::ublock, true,
       [](C& c, const N& n, D& d) { c.pair(n, "ublock", d.op.block.ublock_rt, d.op.block.ublock_ct, 1, kMaxDimension); }},
      {"ublock_order", Field::ublock_order, true, [](C& c, const N& n, D& d) { c.word(n, "ublock_order", d.op.ublock_order); }},
      {"buf_size_mb", Field::buf_size_mb, true, [](C& c, const N& n, D& d) { c.integer(n, "buf_size_mb", d.op.buf_size_mb); }},
      {"tile_dim", Field::tile_dim, false, read_tile_dim},
      {"untilize_output", Field::untilize_output, false,
       [](C& c, const N& n, D& d) { c.boolean(n, "untilize_output", d.op.untilize_output); }},
      {"gradient_op", Field::gradient_op, false, [](C& c, const N& n, D& d) { c.boolean(n, "gradient_op", d.op.gradient_op); }},
      {"overlay_size", Field::overlay_size, false,
       [](C& c, const N& n, D& d) { c.integer(n, "overlay_size", d.op.overlay_size, std::numeric_limits<std::int32_t>::min()); }},
      {"input_buf_min_size_tiles", Field::input_buf_min_size_tiles, false,
       [](C& c, const N& n, D& d) { c.integers(n, "input_buf_min_size_tiles", d.min_buffer); }},
      {"input_dram_io_buf_size_tiles", Field::input_dram_io_buf_size_tiles, false,
       [](C& c, const N& n, D& d) { c.integers(n, "input_dram_io_buf_size_tiles", d.dram_io); }},
      {"forked_dram_inputs", Field::forked_dram_inputs, false, [](C&, const N& n, D& d) { d.forked = &n; }},
      {"attributes", Field::attributes, false, [](C&, const N& n, D& d) { d.attributes = &n; }},
  };
  return table;
}

// {rt, ct} and {rt, ct, pad_value}.
void read_padding(ParseContext& ctx, const io::Node& node, bool with_value, Pad& out) {
  if (!ctx.map(node, with_value ? "pad" : "unpad")) return;
  for (std::size_t i = 0; i < node.size(); ++i) {
    const std::string& key = node.keys()[i];
    if (key == "rt") {
      ctx.integer(node.items()[i], "rt", out.rt, 0, kMaxDimension);
    } else if (key == "ct") {
      ctx.integer(node.items()[i], "ct", out.ct, 0, kMaxDimension);
    } else if (key == "pad_value" && with_value) {
      ctx.real(node.items()[i], "pad_value", out.value);
    } else {
      ctx.unknown("NL001", node.items()[i], "key", key,
                  with_value ? std::vector<std::string>{"rt", "ct", "pad_value"} : std::vector<std::string>{"rt", "ct"});
    }
  }
}

// input_N_tms, input_N_pad, input_N_unpad.
bool read_input_key(ParseContext& ctx, const std::string& key, const io::Node& node, Op& op) {
  auto parts = split_input_key(key);
  if (!parts || (parts->what != "tms" && parts->what != "pad" && parts->what != "unpad")) return false;
  if (parts->index >= op.inputs.size()) {
    ctx.error("NL004", node, cat("'", key, "', but there are ", op.inputs.size(), " inputs"));
    return true;
  }
  EdgeMaps& maps = op.inputs[parts->index].maps;
  int index = static_cast<int>(parts->index);
  if (parts->what == "tms") {
    op.places.set(Field::tms, location_of(node), index);
    parse_tms(ctx, node, key, maps.tms);
  } else {
    bool with_value = parts->what == "pad";
    op.places.set(with_value ? Field::pad : Field::unpad, location_of(node), index);
    Pad pad;
    read_padding(ctx, node, with_value, pad);
    if (with_value) {
      maps.pad = pad;
    } else {
      maps.unpad = Unpad{pad.rt, pad.ct};
    }
  }
  return true;
}

void read_forks(ParseContext& ctx, const io::Node& node, Op& op) {
  if (!ctx.list(node, "forked_dram_inputs")) return;
  for (const auto& item : node.items()) {
    std::string from;
    if (!item.is_map() || item.size() != 1) {
      ctx.error("NL003", item, cat("a forked input is a map {queue: op}, not ", item.describe()));
      continue;
    }
    if (!ctx.name(item.items()[0], "forked_dram_inputs", from)) continue;
    auto input = std::find_if(op.inputs.begin(), op.inputs.end(),
                              [&](const OpInput& i) { return i.name == item.keys()[0] && i.forked_from.empty(); });
    if (input == op.inputs.end()) {
      ctx.error("NL004", item, cat("forked_dram_inputs names '", item.keys()[0], "', which is not an input left to fork"));
    } else {
      input->forked_from = from;
    }
  }
}

// Puts the lists that go by input into the inputs.
void assemble_inputs(ParseContext& ctx, const io::Node& node, ParsedOp& d) {
  Op& op = d.op;
  op.inputs.resize(d.inputs.size());
  for (std::size_t i = 0; i < d.inputs.size(); ++i) op.inputs[i].name = d.inputs[i];
  std::string counts = cat("in_df lists ", d.in_df.size(), " formats for ", d.inputs.size(), " inputs");
  if (d.in_df_node != nullptr && d.inputs_node != nullptr) {
    if (d.in_df.size() < d.inputs.size())
      ctx.error("NL010", *d.in_df_node, std::move(counts));
    else if (d.in_df.size() > d.inputs.size())
      ctx.finding(Severity::error, "NL010", *d.in_df_node, std::move(counts));
  }
  for (std::size_t i = 0; i < std::min(d.in_df.size(), d.inputs.size()); ++i) op.inputs[i].format = d.in_df[i];
  auto places_of_items = [&](Field field, const io::Node* list) {
    for (std::size_t i = 0; list != nullptr && i < std::min(list->size(), op.inputs.size()); ++i)
      op.places.set(field, location_of(list->items()[i]), static_cast<int>(i));
  };
  places_of_items(Field::inputs, d.inputs_node);
  places_of_items(Field::in_df, d.in_df_node);
  auto spread = [&](const std::vector<std::int32_t>& values, std::string_view key, std::int32_t OpInput::*member) {
    if (values.size() > op.inputs.size())
      ctx.finding(Severity::warning, "NL010", node, cat("'", key, "' lists ", values.size(), " values for ", op.inputs.size(), " inputs"));
    for (std::size_t i = 0; i < std::min(values.size(), op.inputs.size()); ++i) op.inputs[i].*member = values[i];
  };
  spread(d.min_buffer, "input_buf_min_size_tiles", &OpInput::min_buffer_tiles);
  spread(d.dram_io, "input_dram_io_buf_size_tiles", &OpInput::dram_io_tiles);
}

// The original never looks whether acc_df is there. What it means without it is what its compiler writes most often.
void default_acc_format(ParseContext& ctx, const io::Node& node, Op& op) {
  if (node.find("acc_df") != nullptr) return;
  op.acc_format = exponent_family(op.intermed_format) == ExponentFamily::a ? DataFormat::float16 : DataFormat::float16_b;
  ctx.finding(Severity::warning, "NL016", node, cat("'acc_df' is missing; ", format_name(op.acc_format), " counts"));
}

void check_size(ParseContext& ctx, const io::Node& node, const Op& op) {
  const BlockShape& b = op.block;
  auto tiles = checked_product<std::int64_t>(
      std::vector<std::int64_t>{b.t, op.grid.rows, op.grid.cols, b.mblock_m, b.mblock_n, b.ublock_rt, b.ublock_ct});
  if (!tiles || *tiles > kMaxTiles) ctx.error("NL004", node, "its output has more tiles than any memory can hold");
}

}  // namespace

Op parse_op(ParseContext& ctx, const std::string& name, const io::Node& node) {
  ctx.enter("op", name);
  ParsedOp d;
  d.op.name = name;
  d.op.places.self = location_of(node);
  std::vector<std::pair<const std::string*, const io::Node*>> by_input;
  read_fields(ctx, node, op_rows(), d, d.op.places, [&](const std::string& key, const io::Node& value) {
    auto parts = split_input_key(key);
    if (!parts) return false;
    by_input.emplace_back(&key, &value);
    return true;
  });
  replace_unknown_type(ctx, d);
  if (d.op.type != OpType::ethernet_datacopy && node.find("grid_loc") == nullptr) ctx.error("NL002", node, "'grid_loc' is missing");
  default_acc_format(ctx, node, d.op);
  assemble_inputs(ctx, node, d);
  for (const auto& [key, value] : by_input)
    if (!read_input_key(ctx, *key, *value, d.op))
      ctx.error("NL001", *value, cat("key '", *key, "' is unknown; inputs take input_N_tms, input_N_pad and input_N_unpad"));
  if (d.forked != nullptr) read_forks(ctx, *d.forked, d.op);
  if (d.attributes != nullptr) {
    parse_attributes(ctx, *d.attributes, d.op.type, d.op.attributes, &d.op.inputs, d.op.places, d.unknown_type == nullptr);
  } else if (d.op.type == OpType::reduce) {
    ctx.error("NL002", node, "attributes 'dim' and 'type' are missing");
  }
  check_size(ctx, node, d.op);
  return std::move(d.op);
}

GraphDraft parse_graph(ParseContext& ctx, const std::string& name, const io::Node& node) {
  ctx.enter("graph", name);
  GraphDraft d;
  d.graph.name = name;
  d.graph.places.self = location_of(node);
  d.devices.assign(1, 0);
  if (!ctx.map(node, name)) return d;
  bool has_device = false, has_count = false;
  std::set<std::string_view> ops;
  for (std::size_t i = 0; i < node.size(); ++i) {
    const std::string& key = node.keys()[i];
    const io::Node& value = node.items()[i];
    ctx.enter("graph", name);
    ctx.check_length(value, key);
    if ((key == "target_device" && has_device) || (key == "input_count" && has_count)) ctx.repeated(value, key);
    if (key == "target_device") {
      has_device = true;
      d.graph.places.set(Field::target_device, location_of(value));
      d.listed = read_devices(ctx, value, d.devices) && value.is_list();
    } else if (key == "input_count") {
      has_count = true;
      d.graph.places.set(Field::input_count, location_of(value));
      ctx.integer(value, "input_count", d.graph.input_count, 1);
    } else if (value.is_map()) {
      if (!ops.insert(key).second) ctx.error("NL009", value, cat("duplicate name '", key, "'"));
      d.graph.ops.push_back(parse_op(ctx, key, value));
    } else {
      ctx.unknown("NL001", value, "key", key, {"target_device", "input_count"});
    }
  }
  ctx.enter("graph", name);
  if (!has_device) ctx.error("NL002", node, "'target_device' is missing");
  if (!has_count) ctx.error("NL002", node, "'input_count' is missing");
  d.graph.target_device = d.devices.empty() ? 0 : d.devices.front();
  return d;
}

}  // namespace buda::netlist
