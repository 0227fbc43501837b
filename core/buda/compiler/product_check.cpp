// SPDX-License-Identifier: Apache-2.0
// The rules of netlists, applied to the balancer's product.
#include <buda/compiler/product_check.hpp>

#include <buda/base/text.hpp>
#include <buda/netlist/check/check.hpp>
#include <buda/netlist/text/parse.hpp>

#include <algorithm>
#include <string_view>

namespace buda::compiler {
namespace {

// Whether a violation is a mistake of the graph, whose formats, attributes and manipulations the balancer hands on.
bool concerns_graph(std::string_view code) {
  const netlist::Rule* rule = netlist::find_rule(code);
  return rule != nullptr && rule->subject == netlist::RuleSubject::computation;
}

const balance::OpSpec* op_called(const balance::Problem& problem, const std::string& name) {
  auto it = std::find_if(problem.ops.begin(), problem.ops.end(), [&](const balance::OpSpec& s) { return s.op.name == name; });
  return it == problem.ops.end() ? nullptr : &*it;
}

Diagnostic of_graph(const graph::Node& node, const device::DeviceDescriptor& device, Diagnostic d) {
  d.loc = node.loc;
  d.node = node.name();
  d.message = cat("node '", node.name(), "' (", node.op(), "): ", d.message);
  if (d.hint.empty()) d.hint = cat("the optimizer chooses formats that ", device.name, " can compute with: --device ", device.name);
  return d;
}

Diagnostic of_ours(Diagnostic d) {
  d.fault = Fault::bug;
  d.notes.push_back(
      {{}, cat("found in line ", d.loc.line, " of the netlist that was about to be written; please report it with the graph")});
  d.loc = {};
  return d;
}

}  // namespace

Result<void> check_product(const balance::Plan& plan, const graph::Graph& graph, const std::string& text) {
  Failure failure;
  auto parsed = netlist::parse_netlist(text, "<netlist>");
  if (!parsed) {
    for (auto& d : parsed.failure().diagnostics()) failure.add(of_ours(std::move(d)));
    return failure;
  }
  if (!(*parsed == plan.built.netlist))
    failure.add(internal_error("the netlist reads back differently from how it was built; please report it with the graph"));
  for (Diagnostic& d : netlist::check_netlist(*parsed, *plan.problem.device, {netlist::CheckLevel::run})) {
    if (d.severity != Severity::error) continue;
    const balance::OpSpec* op = op_called(plan.problem, d.node);
    failure.add(op != nullptr && op->node.valid() && concerns_graph(d.code)
                    ? of_graph(graph.node(op->node), *plan.problem.device, std::move(d))
                    : of_ours(std::move(d)));
  }
  if (!failure.empty()) return failure;
  return success();
}

}  // namespace buda::compiler
