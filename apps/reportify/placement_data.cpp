// The report says where ops are and what they cost; the netlist says everything else of them.
#include "apps/reportify/placement_data.hpp"

#include <buda/base/text.hpp>
#include <buda/io/json.hpp>
#include <buda/netlist/text/parse.hpp>
#include <buda/netlist/text/write_context.hpp>

#include <algorithm>

namespace buda::reportify {
namespace {

std::string pair_text(std::int64_t a, std::int64_t b) { return cat('[', a, ", ", b, ']'); }

void add_netlist_facts(const netlist::Op& op, Facts& out) {
  netlist::FlowMap fields = netlist::op_placement(op);
  fields.add(netlist::op_blocks(op));
  fields.add(netlist::op_edges(op));
  out.insert(out.end(), fields.list().begin(), fields.list().end());
}

// What the report alone knows, for a report without its netlist.
void add_placement(const balance::ReportOp& op, Facts& out) {
  out.emplace_back("type", op.type);
  out.emplace_back("grid_loc", pair_text(op.grid_loc.row, op.grid_loc.col));
  out.emplace_back("grid_size", pair_text(op.grid.rows, op.grid.cols));
  out.emplace_back("t", cat(op.t));
  out.emplace_back("mblock", list_text(op.mblock));
  out.emplace_back("ublock", list_text(op.ublock));
  out.emplace_back("buf_size_mb", cat(op.buf_size_mb));
}

void add_costs(const balance::ReportOp& op, Facts& out) {
  out.emplace_back("kernel cycles", cat(op.cycles.kernel));
  for (std::size_t i = 0; i < op.cycles.inputs.size(); ++i) out.emplace_back(cat("input ", i, " cycles"), cat(op.cycles.inputs[i]));
  out.emplace_back("output cycles", cat(op.cycles.output));
  out.emplace_back("limited by", op.limiter);
  for (const balance::ReportUsage& usage : op.resources) out.emplace_back(usage.resource, cat(usage.used, " of ", usage.available));
  out.emplace_back("candidates", cat(op.candidates));
}

using NetlistOps = std::map<std::string_view, const netlist::Op*>;

NetlistOps ops_of(const Placement& placement, const std::string& graph) {
  NetlistOps out;
  if (!placement.netlist) return out;
  for (const netlist::Graph& g : placement.netlist->graphs)
    if (g.name == graph)
      for (const netlist::Op& op : g.ops) out.emplace(op.name, &op);
  return out;
}

Facts op_facts(const balance::ReportOp& op, const NetlistOps& ops) {
  Facts out;
  if (const auto found = ops.find(op.name); found != ops.end()) {
    add_netlist_facts(*found->second, out);
  } else {
    add_placement(op, out);
  }
  add_costs(op, out);
  return out;
}

}  // namespace

Result<Placement> read_placement(const Module& module, io::FileSystem& fs) {
  Placement out;
  BUDA_ASSIGN(const auto bytes, fs.read(module.report));
  BUDA_ASSIGN(const auto node, io::parse_json(bytes.view(), module.report));
  BUDA_ASSIGN(out.report, schema::read<balance::PlacementReport>(node));
  if (module.netlist.empty()) return out;
  BUDA_ASSIGN(const auto text, fs.read(module.netlist));
  BUDA_ASSIGN(out.netlist, netlist::parse_netlist(text.view(), module.netlist, {.arch = "", .any_arch = true}));
  return out;
}

std::map<std::string, Facts> placed_facts(const Placement& placement) {
  std::map<std::string, Facts> out;
  for (std::size_t e = 0; e < placement.report.epochs.size(); ++e) {
    const balance::ReportEpoch& epoch = placement.report.epochs[e];
    const NetlistOps ops = ops_of(placement, epoch.graph);
    for (const balance::ReportOp& op : epoch.ops) {
      Facts& facts = out[op.node];
      facts.emplace_back("op in the netlist", op.name);
      facts.emplace_back("epoch", cat(e, " (", epoch.graph, ')'));
      const Facts more = op_facts(op, ops);
      facts.insert(facts.end(), more.begin(), more.end());
    }
  }
  return out;
}

Facts total_facts(const balance::PlacementReport& report) {
  const balance::ReportTotals& t = report.totals;
  return {{"device", report.device},
          {"policy", report.policy},
          {"ops", cat(t.ops)},
          {"epochs", cat(t.epochs)},
          {"cores", cat(t.most_cores, " of ", t.chip_cores)},
          {"estimate", cat(t.inputs_per_second, " inputs/s")},
          {"cycles", cat(t.cycles)},
          {"limited by", t.bottleneck_op.empty() ? t.limiter : cat(t.limiter, " of ", t.bottleneck_op)}};
}

}  // namespace buda::reportify
