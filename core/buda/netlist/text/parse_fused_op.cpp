// SPDX-License-Identifier: Apache-2.0
// Reads fused ops.
#include <buda/netlist/text/parse_context.hpp>

namespace buda::netlist {
namespace {

struct SubOpDraft {
  SubOp sub;
  const io::Node* inputs = nullptr;
  const io::Node* attributes = nullptr;
  const io::Node* unknown_type = nullptr;
};

bool read_operand(ParseContext& ctx, const io::Node& node, std::string_view field, SubOperand& out) {
  std::string word;
  if (!ctx.name(node, field, word)) return false;
  auto numbered = [&](std::string_view prefix, SubOperand::Kind kind) {
    if (!word.starts_with(prefix)) return false;
    auto index = parse_uint(std::string_view(word).substr(prefix.size()));
    if (!index || *index > 1000) return false;
    out = {kind, static_cast<std::int32_t>(*index)};
    return true;
  };
  if (word == "dest") {
    out = {SubOperand::Kind::dest, 0};
  } else if (word == "output") {
    out = {SubOperand::Kind::output, 0};
  } else if (!numbered("intermed", SubOperand::Kind::intermed) && !numbered("input", SubOperand::Kind::input)) {
    ctx.error("NL003", node, cat("'", field, "': '", word, "' is no operand; there are inputN, intermedN, dest and output"));
    return false;
  }
  return true;
}

// With the place of each in `places`.
void read_operands(ParseContext& ctx, const io::Node& node, std::string_view key, Field field, std::vector<SubOperand>& out,
                   SourceLocations& places) {
  if (node.is_null() || !ctx.list(node, key)) return;
  for (const auto& item : node.items()) {
    SubOperand operand;
    if (!read_operand(ctx, item, key, operand)) continue;
    places.set(field, location_of(item), static_cast<int>(out.size()));
    out.push_back(operand);
  }
}

void read_sub_op_type(ParseContext& ctx, const io::Node& node, SubOpDraft& d) {
  std::string word;
  if (!ctx.name(node, "type", word)) return;
  auto type = op_type_from_name(word);
  if (type && info(*type).sub_op) {
    d.sub.type = *type;
    return;
  }
  d.unknown_type = &node;
}

// A type that does not exist is an error, but the rest of the schedule is looked at as if a plain op with as many operands stood there.
void replace_unknown_sub_op_type(ParseContext& ctx, SubOpDraft& d) {
  if (d.unknown_type == nullptr) return;
  std::vector<std::string> known;
  for (const auto& row : all_op_types())
    if (row.sub_op) known.emplace_back(row.name);
  ctx.unknown_finding("NL003", *d.unknown_type, "sub-op type", d.unknown_type->text(), known);
  d.sub.type = d.sub.inputs.size() == 2 ? OpType::add : OpType::nop;
}

const std::vector<FieldRow<SubOpDraft>>& sub_op_rows() {
  using C = ParseContext;
  using N = io::Node;
  using D = SubOpDraft;
  static const std::vector<FieldRow<SubOpDraft>> table = {
      {"type", Field::type, true, read_sub_op_type},
      {"inputs", Field::inputs, true, [](C&, const N& n, D& d) { d.inputs = &n; }},
      {"output", Field::output, true, [](C& c, const N& n, D& d) { read_operand(c, n, "output", d.sub.output); }},
      {"mblock", Field::mblock, true,
       [](C& c, const N& n, D& d) { c.pair(n, "mblock", d.sub.block.mblock_m, d.sub.block.mblock_n, 1, kMaxDimension); }},
      {"ublock", Field::ublock, true,
       [](C& c, const N& n, D& d) { c.pair(n, "ublock", d.sub.block.ublock_rt, d.sub.block.ublock_ct, 1, kMaxDimension); }},
      {"pop", Field::pop, false, [](C& c, const N& n, D& d) { read_operands(c, n, "pop", Field::pop, d.sub.pop, d.sub.places); }},
      {"pop_last", Field::pop_last, false,
       [](C& c, const N& n, D& d) { read_operands(c, n, "pop_last", Field::pop_last, d.sub.pop_last, d.sub.places); }},
      {"zero_point", Field::zero_point, false, [](C& c, const N& n, D& d) { c.real(n, "zero_point", d.sub.attributes.zero_point); }},
      {"attributes", Field::attributes, false, [](C&, const N& n, D& d) { d.attributes = &n; }},
  };
  return table;
}

void read_inputs(ParseContext& ctx, const io::Node& node, SubOp& sub) {
  std::vector<SubOperand> operands;
  read_operands(ctx, node, "inputs", Field::inputs, operands, sub.places);
  for (const auto& operand : operands) sub.inputs.push_back({operand, {}});
}

SubOp parse_sub_op(ParseContext& ctx, const std::string& id, const std::string& name, const io::Node& node) {
  ctx.enter("fused op", cat(id, "/", name));
  SubOpDraft d;
  d.sub.name = name;
  d.sub.places.self = location_of(node);
  if (!ctx.map(node, name)) return std::move(d.sub);
  std::vector<std::pair<InputKey, const io::Node*>> tms;
  read_fields(ctx, node, sub_op_rows(), d, d.sub.places, [&](const std::string& key, const io::Node& value) {
    auto parts = split_input_key(key);
    if (!parts || parts->what != "tms") return false;
    tms.emplace_back(*parts, &value);
    return true;
  });
  if (d.inputs != nullptr) read_inputs(ctx, *d.inputs, d.sub);
  replace_unknown_sub_op_type(ctx, d);
  for (const auto& [parts, value] : tms) {
    if (parts.index >= d.sub.inputs.size()) {
      ctx.error("NL004", *value, cat("'input_", parts.index, "_tms', but there are ", d.sub.inputs.size(), " inputs"));
      continue;
    }
    d.sub.places.set(Field::tms, location_of(*value), static_cast<int>(parts.index));
    parse_tms(ctx, *value, "tms", d.sub.inputs[parts.index].tms);
  }
  if (d.attributes != nullptr) {
    parse_attributes(ctx, *d.attributes, d.sub.type, d.sub.attributes, nullptr, d.sub.places, d.unknown_type == nullptr);
  } else if (d.sub.type == OpType::reduce) {
    ctx.error("NL002", node, "attributes 'dim' and 'type' are missing");
  }
  return std::move(d.sub);
}

void read_schedules(ParseContext& ctx, const io::Node& node, FusedOp& out) {
  if (!ctx.list(node, "schedules")) return;
  for (const auto& schedule : node.items()) {
    ctx.enter("fused op", out.id);
    if (!ctx.list(schedule, "a schedule")) continue;
    out.schedules.emplace_back();
    for (const auto& step : schedule.items()) {
      ctx.enter("fused op", out.id);
      if (!step.is_map() || step.size() != 1) {
        ctx.error("NL003", step, cat("a step of a schedule is a map {name: {...}}, not ", step.describe()));
        continue;
      }
      ctx.check_length(step, step.keys()[0]);
      out.schedules.back().push_back(parse_sub_op(ctx, out.id, step.keys()[0], step.items()[0]));
    }
  }
  ctx.enter("fused op", out.id);
}

const std::vector<FieldRow<FusedOp>>& fused_rows() {
  using C = ParseContext;
  using N = io::Node;
  static const std::vector<FieldRow<FusedOp>> table = {
      {"inputs", Field::inputs, true, [](C& c, const N& n, FusedOp& f) { c.integer(n, "inputs", f.inputs, 1, 1000); }},
      {"intermediates", Field::intermediates, true,
       [](C& c, const N& n, FusedOp& f) { c.integer(n, "intermediates", f.intermediates, 0, 1000); }},
      {"custom_kernel_path", std::nullopt, false,
       [](C& c, const N& n, FusedOp& f) { c.name(n, "custom_kernel_path", f.custom_kernel_path); }},
      {"schedules", Field::schedules, true, read_schedules},
  };
  return table;
}

}  // namespace

FusedOp parse_fused_op(ParseContext& ctx, const std::string& id, const io::Node& node) {
  ctx.enter("fused op", id);
  FusedOp out;
  out.id = id;
  out.places.self = location_of(node);
  if (!ctx.map(node, id)) return out;
  SourceLocations places;
  read_fields(ctx, node, fused_rows(), out, places, [](const std::string&, const io::Node&) { return false; });
  places.self = out.places.self;
  out.places = std::move(places);
  return out;
}

}  // namespace buda::netlist
