// SPDX-License-Identifier: Apache-2.0
// Formats against the device, and against the rules.
#include <buda/passes/formats/format_checks.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/drawing/label.hpp>
#include <buda/passes/formats/format_facts.hpp>

namespace buda::passes {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::ValueType;

namespace {

// Invalid for values without one, as those of the host are.
DataFormat format_of(const Graph& graph, graph::ValueRef value) { return graph.type(value)->format.value_or(DataFormat::invalid); }

// A tile op reads exponents of one width only.
template <class Wrong>
void check_families(const Graph& graph, const Node& n, const Wrong& wrong) {
  ExponentFamily family = ExponentFamily::none;
  for (std::size_t i = 0; i < n.inputs().size(); ++i) {
    DataFormat f = format_of(graph, n.inputs()[i].source);
    ExponentFamily of_input = exponent_family(f);
    if (of_input == ExponentFamily::none) continue;
    if (family != ExponentFamily::none && family != of_input)
      wrong(cat("input ", i, " in"), f, "mixes exponents of 5 and of 8 bits with the inputs before it; give them formats of one family");
    family = of_input;
  }
}

}  // namespace

Result<void> check_formats(const Graph& graph, const std::vector<NodeId>& nodes, const device::DeviceDescriptor& device) {
  Failure failure;
  for (NodeId id : nodes) {
    const Node& n = graph.node(id);
    auto wrong = [&](std::string_view what, DataFormat f, const std::string& why) {
      Diagnostic d = input_error("PA033", n.loc, cat("node '", graph::label(n), "': ", what, ' ', format_name(f), ' ', why));
      d.node = n.name();
      failure.add(std::move(d));
    };
    for (const ValueType& type : n.outputs)
      // Words that nobody interprets are the same everywhere.
      if (!is_raw(*type.format) && !device.supports(*type.format))
        wrong("format", *type.format, cat("does not exist on device '", device.name, "'; it has ", format_list(device.formats)));
    if (!computes(n)) continue;
    DataFormat acc = *n.precision.accumulate;
    if ((acc == DataFormat::float32 && !device.features.fp32_accumulate) || (acc == DataFormat::int32 && !device.features.int32_accumulate))
      wrong("accumulation in", acc, cat("is not possible on device '", device.name, '\''));
    if (!device.supports(*n.precision.intermediate))
      wrong("intermediate format", *n.precision.intermediate,
            cat("does not exist on device '", device.name, "'; it has ", format_list(device.formats)));
    check_families(graph, n, wrong);
  }
  if (!failure.empty()) return failure;
  return success();
}

void report_changed_families(const Graph& graph, const std::vector<NodeId>& nodes, const std::vector<FormatOverride>& overrides,
                             const std::vector<PrecisionRule>& rules, Host& host) {
  std::vector<std::vector<NodeId>> changed(rules.size());
  for (NodeId id : nodes) {
    const FormatOverride& asked = overrides[id.index()];
    if (asked.output && exponent_family(*asked.output) != exponent_family(format_of(graph, id))) changed[asked.rule].push_back(id);
  }
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (changed[i].empty() || !rules[i].given_by_user) continue;
    const Node& n = graph.node(changed[i][0]);
    Diagnostic d = warning(
        "PA035", n.loc,
        cat(rules[i].title, ": '", graph::label(n), "' is kept in ", format_name(format_of(graph, n.id())), " instead of ",
            format_name(*overrides[n.id().index()].output), ", since ops read it together with values whose exponents have another width",
            changed[i].size() == 1 ? "" : cat("; so are ", changed[i].size() - 1, " other values")));
    d.node = n.name();
    host.report(d);
  }
}

}  // namespace buda::passes
