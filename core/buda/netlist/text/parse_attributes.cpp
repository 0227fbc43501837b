// SPDX-License-Identifier: Apache-2.0
// Reads the attributes of ops and sub-ops.
#include <buda/netlist/model/op_attributes.hpp>
#include <buda/netlist/text/parse_context.hpp>
#include <buda/ops/table/op_traits.hpp>

#include <algorithm>

namespace buda::netlist {
namespace {

struct Draft {
  OpType op;
  OpAttributes* a;
  std::vector<OpInput>* inputs;
  std::string reduce_type;
  bool srnd_fpu = false;
};

// "input_1" among the keys of kernel_broadcast.
std::optional<std::size_t> input_number(std::string_view key) {
  if (!key.starts_with("input_")) return std::nullopt;
  auto value = parse_uint(key.substr(6));
  if (!value || *value > 1000) return std::nullopt;
  return static_cast<std::size_t>(*value);
}

void set_broadcast(ParseContext& ctx, const io::Node& node, Draft& d, std::size_t input, KernelBroadcast value) {
  if (input >= d.inputs->size()) {
    ctx.error("NL004", node, cat("kernel_broadcast of input ", input, ", but there are ", d.inputs->size(), " inputs"));
  } else if ((*d.inputs)[input].kernel_broadcast.tiles != 0) {
    ctx.error("NL004", node, cat("kernel_broadcast of input ", input, " is given twice"));
  } else {
    (*d.inputs)[input].kernel_broadcast = value;
  }
}

void kernel_broadcast(ParseContext& ctx, const io::Node& node, Draft& d, bool per_t) {
  if (!ctx.map(node, "kernel_broadcast")) return;
  if (d.inputs == nullptr) {
    ctx.error("NL001", node, "a sub-op does not have kernel_broadcast; the fused op that uses it does");
    return;
  }
  for (std::size_t i = 0; i < node.size(); ++i) {
    const io::Node& item = node.items()[i];
    auto input = input_number(node.keys()[i]);
    std::int32_t tiles = 0;
    if (!input) {
      ctx.error("NL001", item, cat("kernel_broadcast names inputs as in input_0, not '", node.keys()[i], "'"));
    } else if (ctx.integer(item, "kernel_broadcast", tiles, 1)) {
      set_broadcast(ctx, item, d, *input, {tiles, per_t});
    }
  }
}

// The older spelling of a kernel_broadcast of one tile.
void single_tile(ParseContext& ctx, const io::Node& node, Draft& d) {
  std::vector<std::int32_t> inputs;
  if (!ctx.integers(node, "single_tile", inputs)) return;
  if (d.inputs == nullptr) {
    ctx.error("NL001", node, "a sub-op does not have single_tile; the fused op that uses it does");
    return;
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) set_broadcast(ctx, node.items()[i], d, static_cast<std::size_t>(inputs[i]), {1, false});
}

// input0: [index, length, stride] of splice.
bool splice_range(ParseContext& ctx, const std::string& key, const io::Node& node, Draft& d) {
  auto number = splice_input(key);
  if (!number || d.inputs == nullptr) return false;
  std::vector<std::int32_t> values;
  if (!ctx.integers(node, key, values)) return true;
  if (values.size() != 3) {
    ctx.error("NL003", node, cat("'", key, "' is [index, length, stride], not a list of ", values.size()));
  } else if (*number >= d.inputs->size()) {
    ctx.error("NL004", node, cat("attribute '", key, "', but there are ", d.inputs->size(), " inputs"));
  } else {
    (*d.inputs)[*number].splice = SpliceRange{values[0], values[1], values[2]};
  }
  return true;
}

using C = ParseContext;
using N = io::Node;
using Row = FieldRow<Draft>;

// The value of an attribute, into its member.
bool read(C& ctx, const N& node, const DeviceAttribute& row, bool& out) { return ctx.boolean(node, row.key, out); }
bool read(C& ctx, const N& node, const DeviceAttribute& row, double& out) { return ctx.real(node, row.key, out); }
bool read(C& ctx, const N& node, const DeviceAttribute& row, std::string& out) { return ctx.name(node, row.key, out); }
bool read(C& ctx, const N& node, const DeviceAttribute& row, std::vector<std::int32_t>& out) { return ctx.integers(node, row.key, out); }
bool read(C& ctx, const N& node, const DeviceAttribute& row, std::int32_t& out) {
  return ctx.integer(node, row.key, out, row.min_integer(), row.max_integer());
}
template <class E>
bool read(C& ctx, const N& node, const DeviceAttribute& row, E& out) {
  return ctx.word(node, row.key, out);
}
template <class T>
bool read(C& ctx, const N& node, const DeviceAttribute& row, std::optional<T>& out) {
  T value{};
  if (!read(ctx, node, row, value)) return false;
  out = value;
  return true;
}

// Those without a member.
void read_other(C& ctx, const N& node, std::string_view key, Draft& d) {
  if (key == "kernel_broadcast") kernel_broadcast(ctx, node, d, false);
  if (key == "kernel_broadcast_per_t") kernel_broadcast(ctx, node, d, true);
  if (key == "single_tile") single_tile(ctx, node, d);
  if (key == "type") ctx.name(node, key, d.reduce_type);
  if (key == "srnd_fpu_en") ctx.boolean(node, key, d.srnd_fpu);
}

const std::vector<Row>& rows() {
  static const std::vector<Row> table = [] {
    std::vector<Row> all = {
#define BUDA_ATTRIBUTE(key, member, ...) \
  Row{#key, std::nullopt, false, [](C& c, const N& n, Draft& d) { read(c, n, *find_attribute(#key), d.a->member); }},
#define BUDA_OTHER_ATTRIBUTE(key, ...) Row{#key, std::nullopt, false, [](C& c, const N& n, Draft& d) { read_other(c, n, #key, d); }},
#include <buda/ops/table/device_attributes.def>
#undef BUDA_ATTRIBUTE
#undef BUDA_OTHER_ATTRIBUTE
    };
    std::erase_if(all, [](const Row& row) { return row.key == "inputN"; });  // splice_range reads it
    return all;
  }();
  return table;
}

// An attribute that this type of op does not have. Ops that do not know an attribute would ignore it, and whoever wrote it expects
// something.
void check_owner(ParseContext& ctx, const std::string& key, const io::Node& node, OpType type, bool sub_op) {
  const DeviceAttribute* info = find_attribute(key);
  if (info == nullptr || (sub_op ? info->for_sub_op(type) : info->for_op(type))) return;
  std::vector<std::string> owners;
  auto owns = [&](const OpTypeInfo& row) { return sub_op ? info->for_sub_op(row.type) : info->for_op(row.type); };
  auto is_sfpu = [](const OpTypeInfo& row) { return ops::is_function_of_one(row.type); };
  const auto& types = all_op_types();
  const bool all_sfpu = std::all_of(types.begin(), types.end(), [&](const auto& row) { return !is_sfpu(row) || owns(row); });
  if (all_sfpu) owners.emplace_back("SFPU ops");
  for (const auto& row : types)
    if (owns(row) && !(all_sfpu && is_sfpu(row))) owners.emplace_back(row.name);
  // The thread is also what an SFPU op in a fused op or after a matmul goes by, so it is a rule of its own.
  const char* code = key == "sfpu_execution_thread" ? "NL012" : "NL013";
  ctx.finding(Severity::error, code, node,
              owners.empty() ? cat("attribute '", key, "' is for ops, not for the sub-ops of fused ops")
                             : cat("attribute '", key, "' is for ", join(owners, ", "), ", not for ", op_type_name(type)));
}

// relu_mode none contradicts relu_en, if the original has seen that before.
void check_relu(ParseContext& ctx, const io::Node& node, const OpAttributes& a) {
  bool enabled = false;
  for (std::size_t i = 0; i < node.size(); ++i) {
    enabled = enabled || (node.keys()[i] == "relu_en" && a.relu.enabled);
    if (node.keys()[i] == "relu_mode" && enabled && a.relu.mode == ReluMode::none)
      ctx.finding(Severity::error, "NL015", node.items()[i], "relu_mode is none, but relu_en is true; it has to be min or max");
  }
}

}  // namespace

void parse_attributes(ParseContext& ctx, const io::Node& node, OpType type, OpAttributes& out, std::vector<OpInput>* inputs,
                      SourceLocations& places, bool known_type) {
  if (node.is_null()) {
    ctx.finding(Severity::error, "NL014", node, "'attributes' is empty; without attributes the key is left out");
    return;
  }
  if (!ctx.map(node, "attributes")) return;
  if (node.size() == 0) ctx.finding(Severity::error, "NL014", node, "'attributes' is empty; without attributes the key is left out");
  Draft d{type, &out, inputs, "", false};
  for (std::size_t i = 0; i < node.size(); ++i) {
    places.set(Field::attribute, location_of(node.items()[i]), attribute_number(node.keys()[i]));
    if (known_type) check_owner(ctx, node.keys()[i], node.items()[i], type, inputs == nullptr);
  }
  SourceLocations nowhere;
  read_fields(ctx, node, rows(), d, nowhere,
              [&](const std::string& key, const io::Node& value) { return splice_range(ctx, key, value, d); });
  if (inputs != nullptr) check_relu(ctx, node, out);
  if (d.srnd_fpu && out.stochastic_rounding == StochasticRounding::none) out.stochastic_rounding = StochasticRounding::fpu;
  if (type == OpType::reduce && d.reduce_type.empty()) ctx.error("NL002", node, "attribute 'type: max' is missing");
  if (!d.reduce_type.empty() && d.reduce_type != "max") ctx.unknown("NL003", node, "reduce type", d.reduce_type, {"max"});
}

}  // namespace buda::netlist
