// SPDX-License-Identifier: Apache-2.0
// Reads programs.
#include <buda/netlist/text/parse_context.hpp>

namespace buda::netlist {
namespace {

bool read_variable(ParseContext& ctx, const io::Node& node, std::string& out) {
  if (node.is_string() && node.text().size() > 1 && node.text().front() == '$') {
    ctx.check_length(node, node.text());
    out = node.text();
    return true;
  }
  ctx.error("NL006", node, cat("a variable is written $name, not ", node.describe()));
  return false;
}

bool read_value(ParseContext& ctx, const io::Node& node, Value& out) {
  if (node.kind() == io::Node::Kind::boolean) {
    out = Value::number(node.text() == "true" ? 1 : 0);
    return true;
  }
  if (node.kind() == io::Node::Kind::integer) return ctx.integer(node, "value", out.immediate, std::numeric_limits<std::int32_t>::min());
  if (node.is_string() && node.text().starts_with('$')) return read_variable(ctx, node, out.variable);
  ctx.error("NL006", node, cat("a value is a number, true, false or a $variable, not ", node.describe()));
  return false;
}

std::vector<SourceLocation> places_of_items(const io::Node& node) {
  std::vector<SourceLocation> out;
  for (const auto& item : node.items()) out.push_back(location_of(item));
  return out;
}

void read_param(ParseContext& ctx, const io::Node& node, Instruction& out) {
  instruction::Param param;
  if (ctx.list(node, "param")) {
    out.parts = places_of_items(node);
    for (const auto& item : node.items()) {
      param.names.emplace_back();
      read_variable(ctx, item, param.names.back());
    }
  }
  out.what = std::move(param);
}

// A list of names, all 0, or a map from names to their first values.
void read_var(ParseContext& ctx, const io::Node& node, Instruction& out, bool is_static) {
  instruction::Var var;
  var.is_static = is_static;
  if (node.is_list() || node.is_map()) out.parts = places_of_items(node);
  if (node.is_list()) {
    for (const auto& item : node.items()) {
      var.values.emplace_back();
      read_variable(ctx, item, var.values.back().first);
    }
  } else if (node.is_map()) {
    for (std::size_t i = 0; i < node.size(); ++i) {
      const std::string& name = node.keys()[i];
      ctx.check_length(node.items()[i], name);
      if (name.size() < 2 || name.front() != '$') ctx.error("NL006", node.items()[i], cat("a variable is written $name, not '", name, "'"));
      Value value;
      if (read_value(ctx, node.items()[i], value) && value.is_variable())
        ctx.error("NL006", node.items()[i], cat("'", name, "' begins with a number, not with another variable"));
      var.values.emplace_back(name, value.immediate);
    }
  } else {
    ctx.error("NL003", node, cat("variables are a list of names or a map from names to numbers, not ", node.describe()));
  }
  out.what = std::move(var);
}

std::size_t arity(VarOp op) { return op == VarOp::set || op == VarOp::inc ? 1 : 2; }

void read_varinst(ParseContext& ctx, const io::Node& node, Instruction& out) {
  instruction::VarInst inst;
  if (!node.is_list() || node.size() < 3) {
    ctx.error("NL006", node, "'varinst' is [$out, operation, arguments...]");
  } else {
    const auto& items = node.items();
    out.parts = places_of_items(node);
    out.parts.erase(out.parts.begin() + 1);  // the operation
    read_variable(ctx, items[0], inst.out);
    bool known = ctx.word(items[1], "varinst", inst.op);
    for (std::size_t i = 2; i < items.size(); ++i) {
      inst.args.emplace_back();
      read_value(ctx, items[i], inst.args.back());
    }
    if (known && inst.args.size() != arity(inst.op))
      ctx.error("NL006", node, cat("'", name_of(inst.op), "' takes ", arity(inst.op), " arguments, not ", inst.args.size()));
  }
  out.what = std::move(inst);
}

void read_loop(ParseContext& ctx, const io::Node& node, Instruction& out) {
  instruction::Loop loop;
  out.parts = {location_of(node)};
  if (read_value(ctx, node, loop.count) && !loop.count.is_variable() && loop.count.immediate < 1)
    ctx.error("NL006", node, cat("a loop runs at least once, not ", loop.count.immediate, " times"));
  out.what = std::move(loop);
}

struct SettingRow {
  std::string_view key;
  Field field;
  std::optional<Value> QueueSetting::*member;
};
constexpr SettingRow kSettings[] = {
    {"prologue", Field::prologue, &QueueSetting::prologue},
    {"epilogue", Field::epilogue, &QueueSetting::epilogue},
    {"zero", Field::zero, &QueueSetting::zero},
    {"rd_ptr_local", Field::rd_ptr_local, &QueueSetting::rd_ptr_local},
    {"rd_ptr_global", Field::rd_ptr_global, &QueueSetting::rd_ptr_global},
    {"wr_ptr_global", Field::wr_ptr_global, &QueueSetting::wr_ptr_global},
    {"rd_ptr_autoinc", Field::rd_ptr_autoinc, &QueueSetting::rd_ptr_autoinc},
    {"global_rdptr_autoinc", Field::global_rdptr_autoinc, &QueueSetting::global_rdptr_autoinc},
    {"global_wrptr_autoinc", Field::global_wrptr_autoinc, &QueueSetting::global_wrptr_autoinc},
    {"read_only", Field::read_only, &QueueSetting::read_only},
};

QueueSetting read_setting(ParseContext& ctx, const std::string& queue, const io::Node& node) {
  QueueSetting out;
  out.queue = queue;
  out.places.self = location_of(node);
  if (node.is_null() || !ctx.map(node, queue)) return out;
  for (std::size_t i = 0; i < node.size(); ++i) {
    const SettingRow* row = nullptr;
    for (const auto& r : kSettings)
      if (r.key == node.keys()[i]) row = &r;
    if (row == nullptr) {
      std::vector<std::string> known;
      for (const auto& r : kSettings) known.emplace_back(r.key);
      ctx.unknown("NL001", node.items()[i], "queue setting", node.keys()[i], known);
      continue;
    }
    Value value;
    if (!read_value(ctx, node.items()[i], value)) continue;
    out.*(row->member) = std::move(value);
    out.places.set(row->field, location_of(node.items()[i]));
  }
  return out;
}

void read_execute(ParseContext& ctx, const io::Node& node, Instruction& out) {
  instruction::Execute execute;
  if (ctx.map(node, "execute")) {
    for (std::size_t i = 0; i < node.size(); ++i) {
      const io::Node& value = node.items()[i];
      if (node.keys()[i] == "graph_name") {
        ctx.name(value, "graph_name", execute.graph);
        out.parts = {location_of(value)};
      } else if (node.keys()[i] == "queue_settings") {
        if (value.is_null() || !ctx.map(value, "queue_settings")) continue;
        check_unique_keys(ctx, value, "queue");
        execute.settings.reserve(value.size());
        for (std::size_t q = 0; q < value.size(); ++q) execute.settings.push_back(read_setting(ctx, value.keys()[q], value.items()[q]));
      } else {
        ctx.unknown("NL001", value, "key", node.keys()[i], {"graph_name", "queue_settings"});
      }
    }
    if (execute.graph.empty()) ctx.error("NL002", node, "'graph_name' is missing");
  }
  out.what = std::move(execute);
}

const std::vector<std::string> kInstructions = {"param",   "var",     "staticvar",      "varinst",         "loop",
                                                "endloop", "execute", "allocate_queue", "deallocate_queue"};

Instruction read_instruction(ParseContext& ctx, const io::Node& node) {
  Instruction out;
  out.place = location_of(node);
  if (node.is_string()) {
    if (node.text() != "endloop") ctx.unknown("NL006", node, "instruction", node.text(), {"endloop"});
    out.what = instruction::EndLoop{};
    return out;
  }
  if (!node.is_map() || node.size() != 1) {
    ctx.error("NL006", node, cat("an instruction is 'endloop' or a map with one key, not ", node.describe()));
    return out;
  }
  const std::string& key = node.keys()[0];
  const io::Node& value = node.items()[0];
  if (key == "param") {
    read_param(ctx, value, out);
  } else if (key == "var" || key == "staticvar") {
    read_var(ctx, value, out, key == "staticvar");
  } else if (key == "varinst") {
    read_varinst(ctx, value, out);
  } else if (key == "loop") {
    read_loop(ctx, value, out);
  } else if (key == "endloop") {
    out.what = instruction::EndLoop{};
  } else if (key == "allocate_queue") {
    instruction::Allocate allocate;
    if (ctx.names(value, key, allocate.queues)) out.parts = places_of_items(value);
    out.what = std::move(allocate);
  } else if (key == "deallocate_queue") {
    instruction::Deallocate deallocate;
    if (ctx.names(value, key, deallocate.queues)) out.parts = places_of_items(value);
    out.what = std::move(deallocate);
  } else if (key == "execute") {
    read_execute(ctx, value, out);
  } else {
    ctx.unknown("NL006", value, "instruction", key, kInstructions);
  }
  return out;
}

}  // namespace

Program parse_program(ParseContext& ctx, const std::string& name, const io::Node& node) {
  ctx.enter("program", name);
  Program out;
  out.name = name;
  out.places.self = location_of(node);
  if (node.is_null()) return out;
  if (!ctx.list(node, name)) return out;
  out.instructions.reserve(node.size());
  for (const auto& item : node.items()) out.instructions.push_back(read_instruction(ctx, item));
  return out;
}

}  // namespace buda::netlist
