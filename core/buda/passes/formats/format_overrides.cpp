// SPDX-License-Identifier: Apache-2.0
// Standard formats, and rules of mixed precision node by node.
#include <buda/passes/formats/format_overrides.hpp>

#include <buda/base/text.hpp>
#include <buda/passes/formats/format_facts.hpp>

namespace buda::passes {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;

namespace {

using Overrides = std::vector<FormatOverride>;

Result<void> check_rule(const PrecisionRule& rule, ExponentFamily family, const device::DeviceDescriptor& device) {
  auto check = [&](const std::optional<DataFormat>& f) -> Result<void> {
    if (!f || device.supports(*f)) return success();
    return usage_error(
        "PA034", cat(rule.title, ": device '", device.name, "' has no format ", format_name(*f), "; it has ", format_list(device.formats)));
  };
  BUDA_TRY(check(rule.output_df));
  BUDA_TRY(check(rule.intermediate_df));
  BUDA_TRY(check(rule.input_df));
  for (const auto& [operand, input] : rule.input_dfs) BUDA_TRY(check(input.format));
  for (const auto& [operand, bits] : rule.parameter_bits) BUDA_TRY(check(block_format(bits, family)));
  if (rule.output_bits) BUDA_TRY(check(block_format(*rule.output_bits, family)));
  if (rule.intermediate_df && !is_float(*rule.intermediate_df))
    return usage_error("PA034",
                       cat(rule.title, ": intermediate_df ", format_name(*rule.intermediate_df), " is not a floating-point format"));
  if (rule.accumulate_df && !can_accumulate(device, *rule.accumulate_df))
    return usage_error("PA034", cat(rule.title, ": device '", device.name, "' does not accumulate in ", format_name(*rule.accumulate_df)));
  return success();
}

void override_output(const Node& n, DataFormat f, std::size_t rule, Overrides& overrides) {
  // Integers are indices and codes, which floating-point formats do not hold.
  if (n.outputs.empty() || is_float(n.outputs[0].dtype) != is_float(f)) return;
  overrides[n.id().index()].output = f;
  overrides[n.id().index()].rule = rule;
}

void override_inputs(const Graph& graph, const Node& n, const PrecisionRule& rule, std::size_t index, ExponentFamily family,
                     Overrides& overrides) {
  for (std::size_t i = 0; i < n.inputs().size(); ++i) {
    const Node& source = graph.node(n.inputs()[i].source.node);
    NodeKind kind = source.kind();
    auto operand = static_cast<std::int64_t>(i);
    if (rule.input_df) override_output(source, *rule.input_df, index, overrides);
    if (auto it = rule.input_dfs.find(operand); it != rule.input_dfs.end() && (kind != NodeKind::op || it->second.ops_too))
      override_output(source, it->second.format, index, overrides);
    if (auto it = rule.parameter_bits.find(operand); it != rule.parameter_bits.end() && kind == NodeKind::parameter)
      override_output(source, block_format(it->second, family), index, overrides);
  }
}

// The rule applied on top of those before.
Result<void> apply_rule(const Graph& graph, const std::vector<NodeId>& nodes, const PrecisionRule& rule, std::size_t index,
                        ExponentFamily family, Host& host, Overrides& overrides) {
  BUDA_ASSIGN(RuleSelector matches, selector(rule));
  bool found = false;
  for (NodeId id : nodes) {
    const Node& n = graph.node(id);
    if (n.kind() == NodeKind::output || !matches(n)) continue;
    found = true;
    if (rule.output_df) override_output(n, *rule.output_df, index, overrides);
    if (rule.output_bits) override_output(n, block_format(*rule.output_bits, family), index, overrides);
    if (!computes(n)) continue;
    FormatOverride& asked = overrides[id.index()];
    if (rule.intermediate_df) asked.intermediate = rule.intermediate_df;
    if (rule.accumulate_df) asked.accumulate = rule.accumulate_df;
    if (rule.math_fidelity) asked.fidelity = rule.math_fidelity;
    override_inputs(graph, n, rule, index, family, overrides);
  }
  if (!found && rule.given_by_user) host.report(warning("PA036", {}, cat(rule.title, " applies to no node of the graph")));
  return success();
}

}  // namespace

Result<StandardFormats> standard_formats(const FormatOptions& options, const device::DeviceDescriptor& device, Host& host) {
  StandardFormats out{options.standard, options.accumulate, ExponentFamily::b};
  std::optional<DataFormat>& standard = out.values;
  if (standard && !is_float(*standard))
    return usage_error("PA030", cat("the standard format ", format_name(*standard), " is not a floating-point format"));
  if (standard == DataFormat::float32 && !device.features.fp32_accumulate) {
    standard = options.fp32_fallback;
    host.report(
        warning("PA031", {},
                cat("device '", device.name, "' does not compute in Float32; values are kept in ", format_name(*standard), " instead")));
  }
  if (standard && !device.supports(*standard))
    return usage_error("PA030",
                       cat("device '", device.name, "' has no format ", format_name(*standard), "; it has ", format_list(device.formats)));
  if (standard && exponent_family(*standard) != ExponentFamily::none) out.family = exponent_family(*standard);
  if (!out.accumulate || can_accumulate(device, *out.accumulate)) return out;
  host.report(warning("PA032", {},
                      cat("device '", device.name, "' does not accumulate in ", format_name(*out.accumulate),
                          "; the format is chosen by the inputs of each op instead")));
  out.accumulate.reset();
  return out;
}

Result<std::vector<FormatOverride>> format_overrides(const Graph& graph, const std::vector<NodeId>& nodes,
                                                     const std::vector<PrecisionRule>& rules, ExponentFamily family,
                                                     const device::DeviceDescriptor& device, Host& host) {
  Overrides overrides(graph.id_bound());
  for (std::size_t i = 0; i < rules.size(); ++i) {
    BUDA_TRY(check_rule(rules[i], family, device));
    BUDA_TRY(apply_rule(graph, nodes, rules[i], i, family, host, overrides));
  }
  return overrides;
}

}  // namespace buda::passes
