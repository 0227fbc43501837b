// SPDX-License-Identifier: Apache-2.0
// Raises, and rules from them.
#include <buda/compiler/accuracy/raise.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/tags/placement.hpp>
#include <buda/passes/formats/precision_rules.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace buda::compiler {
namespace {

using graph::MathFidelity;
using graph::Node;

// Ops whose results depend on how many bits of the mantissas are multiplied.
bool multiplies(const Node& node) {
  return node.op() == "matmul" || node.op() == "multiply" || node.op() == "depthwise" || node.op() == "reduce" || node.op() == "fused_op";
}

bool is_wider(DataFormat asked, DataFormat given) {
  return is_float(asked) && is_float(given) && bits_per_datum(asked) > bits_per_datum(given);
}

// A name as a regular expression that matches only it.
std::string literal(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

void add_assignments(const Raise& raise, io::Node& rule) {
  auto name = [](DataFormat f) { return io::Node::string(std::string(format_name(f))); };
  if (raise.fidelity) rule.add("math_fidelity", io::Node::string(std::string(graph::fidelity_name(*raise.fidelity))));
  if (raise.accumulate) rule.add("accumulate_df", name(*raise.accumulate));
  if (raise.accumulate) rule.add("intermediate_df", name(*raise.accumulate));
  if (raise.output) rule.add("output_df", name(*raise.output));
}

}  // namespace

std::string Raise::text() const {
  std::vector<std::string> parts;
  if (fidelity) parts.emplace_back(graph::fidelity_name(*fidelity));
  if (accumulate) parts.push_back(cat("accumulate ", format_name(*accumulate)));
  if (output) parts.push_back(cat("result ", format_name(*output)));
  if (sources) parts.push_back(cat("operands ", format_name(*sources)));
  return join(parts, ", ");
}

bool has_block_floats(const graph::Graph& graph) {
  const auto ids = graph.ids();
  return std::any_of(ids.begin(), ids.end(), [&](graph::NodeId id) {
    const Node& n = graph.node(id);
    return std::any_of(n.outputs.begin(), n.outputs.end(), [](const graph::ValueType& t) { return t.format && is_bfp(*t.format); });
  });
}

std::vector<Raise> possible_raises(const device::DeviceDescriptor& device, bool has_blocks) {
  const auto most = MathFidelity::hifi4;
  const auto half = DataFormat::float16_b, full = DataFormat::float32;
  std::vector<Raise> out = {{most, {}, {}, {}}};
  if (has_blocks) {
    out.push_back({{}, {}, {}, half});
    out.push_back({{}, {}, half, {}});
    out.push_back({most, {}, half, half});
  }
  if (!device.features.fp32_accumulate || !device.supports(full)) return out;
  out.push_back({{}, full, {}, {}});
  out.push_back({most, full, {}, {}});
  if (has_blocks) out.push_back({most, full, half, half});
  out.push_back({{}, full, full, {}});
  out.push_back({most, full, full, {}});
  out.push_back({most, full, {}, full});
  out.push_back({most, full, full, full});
  return out;
}

std::vector<Raise> raises_of_all(const device::DeviceDescriptor& device) {
  const bool has_full = device.features.fp32_accumulate && device.supports(DataFormat::float32);
  const DataFormat half = DataFormat::float16, full = DataFormat::float32, sums = has_full ? full : half;
  std::vector<Raise> out;
  for (const DataFormat format : {half, full}) {
    if (!device.supports(format) || (format == full && !has_full)) continue;
    out.push_back({{}, sums, format, {}});
    out.push_back({MathFidelity::hifi4, sums, format, {}});
  }
  return out;
}

bool is_floating_source(const graph::Graph& graph, const Node& node, std::size_t input) {
  const Node& source = graph.node(node.inputs()[input].source.node);
  if (source.is_op() && source.op() != graph::kToDevice) return false;
  return !source.outputs.empty() && is_float(source.outputs[0].dtype) && source.outputs[0].format && is_float(*source.outputs[0].format);
}

Raise useful_part(const Raise& raise, const graph::Graph& graph, const Node& node) {
  Raise out = raise;
  if (!multiplies(node) || node.precision.fidelity == raise.fidelity) out.fidelity.reset();
  if (raise.accumulate && node.precision.accumulate && !is_wider(*raise.accumulate, *node.precision.accumulate)) out.accumulate.reset();
  if (raise.output && (node.outputs.empty() || !node.outputs[0].format || !is_wider(*raise.output, *node.outputs[0].format)))
    out.output.reset();
  bool any = false;
  for (std::size_t i = 0; raise.sources && i < node.inputs().size(); ++i)
    any = any ||
          (is_floating_source(graph, node, i) && is_wider(*raise.sources, *graph.node(node.inputs()[i].source.node).outputs[0].format));
  if (!any) out.sources.reset();
  return out;
}

std::vector<io::Node> rules_for(const std::vector<RaisedOp>& ops) {
  struct Kind {
    std::string type;
    Raise raise;
    std::vector<std::size_t> sources;
    auto operator<=>(const Kind&) const = default;
  };
  std::map<Kind, std::vector<std::string>> kinds;
  for (const RaisedOp& op : ops)
    kinds[{op.type, op.raise, op.raise.sources ? op.sources : std::vector<std::size_t>{}}].push_back(literal(op.name));
  std::vector<io::Node> out;
  for (const auto& [kind, names] : kinds) {
    io::Node rule = io::Node::map();
    rule.add("op_type", io::Node::string(kind.type));
    rule.add("name_regex", io::Node::string(join(names, "|")));
    add_assignments(kind.raise, rule);
    if (kind.raise.sources) {
      io::Node operands = io::Node::map();
      for (const std::size_t i : kind.sources) operands.add(cat(i), io::Node::string(std::string(format_name(*kind.raise.sources))));
      rule.add("input_df", std::move(operands));
    }
    out.push_back(std::move(rule));
  }
  return out;
}

io::Node rule_for_all(const Raise& raise) {
  io::Node rule = io::Node::map();
  add_assignments(raise, rule);
  return rule;
}

}  // namespace buda::compiler
