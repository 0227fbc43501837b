// Rules of netlists, applied to our own product.
#include <buda/balance/product_check.hpp>

#include <buda/base/text.hpp>
#include <buda/netlist/check.hpp>
#include <buda/netlist/parse.hpp>

#include <algorithm>
#include <array>

namespace buda::balance {
namespace {

// Rules that the balancer has no part in: it hands formats, attributes and manipulations on as the graph has them.
constexpr std::array<std::string_view, 57> kRulesOfGraphs = {
    "NL012", "NL307", "NL309", "NL310", "NL311", "NL312", "NL313", "NL316", "NL319", "NL320", "NL321", "NL322", "NL323", "NL324", "NL325",
    "NL328", "NL332", "NL339", "NL344", "NL345", "NL346", "NL347", "NL348", "NL350", "NL361", "NL362", "NL363", "NL364", "NL365", "NL366",
    "NL367", "NL368", "NL369", "NL370", "NL371", "NL372", "NL373", "NL374", "NL375", "NL376", "NL377", "NL378", "NL379", "NL380", "NL381",
    "NL382", "NL383", "NL384", "NL385", "NL393", "NL403", "NL404", "NL405", "NL409", "NL410", "NL411", "NL412"};

const OpSpec* op_called(const Problem& problem, const std::string& name) {
  auto it = std::find_if(problem.ops.begin(), problem.ops.end(), [&](const OpSpec& s) { return s.op.name == name; });
  return it == problem.ops.end() ? nullptr : &*it;
}

Diagnostic of_graph(const Balanced& b, Diagnostic d, const OpSpec& op) {
  const graph::Node& node = b.graph.node(op.node);
  d.loc = node.loc;
  d.node = node.name();
  d.message = cat("node '", node.name(), "' (", node.op(), "): ", d.message);
  if (d.hint.empty())
    d.hint = cat("the optimizer chooses formats that ", b.problem.device->name, " can compute with: --device ", b.problem.device->name);
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

Result<void> check_product(const Balanced& b, const std::string& text) {
  Failure failure;
  auto parsed = netlist::parse_netlist(text, "<netlist>");
  if (!parsed) {
    for (auto& d : parsed.failure().diagnostics()) failure.add(of_ours(std::move(d)));
    return failure;
  }
  if (!(*parsed == b.built.netlist))
    failure.add(internal_error("the netlist reads back differently from how it was built; please report it with the graph"));
  for (Diagnostic& d : netlist::check_netlist(*parsed, *b.problem.device, {netlist::CheckLevel::run})) {
    if (d.severity != Severity::error) continue;
    const OpSpec* op = op_called(b.problem, d.node);
    bool theirs = op != nullptr && std::find(kRulesOfGraphs.begin(), kRulesOfGraphs.end(), d.code) != kRulesOfGraphs.end();
    failure.add(theirs ? of_graph(b, std::move(d), *op) : of_ours(std::move(d)));
  }
  if (!failure.empty()) return failure;
  return success();
}

}  // namespace buda::balance
