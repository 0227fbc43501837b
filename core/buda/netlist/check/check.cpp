// SPDX-License-Identifier: Apache-2.0
// The order of checks, and their findings.
#include <buda/netlist/check/check.hpp>

#include <buda/netlist/check/check_context.hpp>

#include <algorithm>
#include <iterator>
#include <tuple>

namespace buda::netlist {

CheckContext::CheckContext(const Netlist& n, const device::DeviceDescriptor& d, const CheckOptions& o)
    : netlist(n), device(d), index(n), options(o) {
  for (std::size_t g = 0; g < n.graphs.size(); ++g)
    for (std::size_t i = 0; i < n.graphs[g].ops.size(); ++i)
      for (std::size_t k = 0; k < n.graphs[g].ops[i].inputs.size(); ++k) readers[n.graphs[g].ops[i].inputs[k].name].push_back({{g, i}, k});
  for (std::size_t q = 0; q < n.queues.size(); ++q)
    if (!n.queues[q].from_outside()) writers_of_queues[n.queues[q].input].push_back(q);
}

const std::vector<CheckContext::Reader>& CheckContext::readers_of(std::string_view name) const {
  static const std::vector<Reader> none;
  auto it = readers.find(name);
  return it == readers.end() ? none : it->second;
}

const std::vector<std::size_t>& CheckContext::queues_fed_by(std::string_view name) const {
  static const std::vector<std::size_t> none;
  auto it = writers_of_queues.find(name);
  return it == writers_of_queues.end() ? none : it->second;
}

Diagnostic& CheckContext::add(Severity severity, std::string_view code, std::string_view what, const std::string& name,
                              SourceLocation place, std::string message, std::string hint) {
  Diagnostic d =
      input_error(std::string(code), netlist.loc(place), what.empty() ? std::move(message) : cat(what, " '", name, "': ", message));
  d.severity = severity;
  d.node = name;
  d.hint = std::move(hint);
  auto& list = severity == Severity::error ? errors_ : warnings_;
  if (list.size() >= kMaxFindings) return surplus_ = std::move(d);
  list.push_back(std::move(d));
  return list.back();
}

std::vector<Diagnostic> CheckContext::take() {
  std::vector<Diagnostic> found = netlist.findings;
  found.insert(found.end(), std::make_move_iterator(errors_.begin()), std::make_move_iterator(errors_.end()));
  found.insert(found.end(), std::make_move_iterator(warnings_.begin()), std::make_move_iterator(warnings_.end()));
  std::stable_sort(found.begin(), found.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.loc.line, a.loc.column) < std::tie(b.loc.line, b.loc.column);
  });
  return found;
}

void needs(Diagnostic& d, std::string_view resource, std::uint64_t needed, std::uint64_t available) {
  d.fault = Fault::fit;
  d.data = {{"resource", std::string(resource)}, {"needed", cat(needed)}, {"available", cat(available)}};
}

std::vector<Diagnostic> check_netlist(const Netlist& netlist, const device::DeviceDescriptor& device, const CheckOptions& options) {
  CheckContext ctx(netlist, device, options);
  check_structure(ctx);
  check_queues(ctx);
  check_memory(ctx);
  check_placement(ctx);
  for (const FusedOp& fused : netlist.fused_ops) check_fused_op(ctx, fused);
  for (const Graph& graph : netlist.graphs) {
    for (const Op& op : graph.ops) {
      if (ctx.full()) break;
      check_op(ctx, graph, op);
      check_formats(ctx, graph, op);
      check_integers(ctx, op);
      check_edges(ctx, graph, op);
      const FusedOp* fused = op.type == OpType::fused_op ? ctx.index.find_fused_op(op.attributes.fused_op_id) : nullptr;
      if (fused != nullptr) check_fused_use(ctx, op, *fused);
    }
  }
  check_queue_edges(ctx);
  check_programs(ctx);
  return ctx.take();
}

}  // namespace buda::netlist
