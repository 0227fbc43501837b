// SPDX-License-Identifier: Apache-2.0
// The report says where ops are and what they cost; the netlist says everything else of them.
#include "apps/reportify/placement_data.hpp"

#include "apps/reportify/current.hpp"

#include <buda/balance/emit/report_summary.hpp>
#include <buda/base/text.hpp>
#include <buda/io/json.hpp>
#include <buda/netlist/text/parse.hpp>
#include <buda/netlist/text/write_context.hpp>

#include <algorithm>

namespace buda::reportify {
namespace {

using io::Node;

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

void add_accuracy(const Placement& placement, const std::string& op, Facts& out) {
  const auto found = placement.accuracy.find(op);
  if (found == placement.accuracy.end()) return;
  const runtime::OpAccuracy& a = found->second;
  out.emplace_back("correlation with fp32", a.has_correlation ? cat(a.correlation) : "not defined");
  out.emplace_back("largest error", cat(a.max_error, ", of values up to ", a.magnitude));
  out.emplace_back("mean error", cat(a.mean_error));
}

Facts op_facts(const Placement& placement, const balance::ReportOp& op, const NetlistOps& ops) {
  Facts out;
  if (const auto found = ops.find(op.name); found != ops.end()) {
    add_netlist_facts(*found->second, out);
  } else {
    add_placement(op, out);
  }
  add_costs(op, out);
  add_accuracy(placement, op.name, out);
  return out;
}

GridShape occupied(const balance::ReportOp& op) { return op.transposed ? GridShape{op.grid.cols, op.grid.rows} : op.grid; }

// No chip is as large; the page draws every place of the grid.
constexpr std::int32_t kMaxSide = 256;

bool is_on_a_chip(std::int32_t at, std::int32_t size) { return at >= 0 && size >= 1 && at < kMaxSide && size <= kMaxSide - at; }

Result<void> check_places(const balance::PlacementReport& report, const std::string& path) {
  for (const balance::ReportEpoch& epoch : report.epochs)
    for (const balance::ReportOp& op : epoch.ops) {
      const GridShape shape = occupied(op);
      if (is_on_a_chip(op.grid_loc.row, shape.rows) && is_on_a_chip(op.grid_loc.col, shape.cols)) continue;
      Diagnostic d = input_error(
          "RY003", {path},
          cat("op '", op.name, "' has ", pair_text(shape.rows, shape.cols), " cores from ", pair_text(op.grid_loc.row, op.grid_loc.col),
              " on; legal are 1 to ", kMaxSide, " rows and columns from [0, 0] on"));
      d.node = op.name;
      return d;
    }
  return success();
}

Node integer(std::int64_t value) { return Node::integer(value); }
Node number(std::uint64_t value) { return Node::integer(static_cast<std::int64_t>(std::min<std::uint64_t>(value, INT64_MAX))); }

using Numbers = std::map<std::string_view, std::int64_t>;

Node inputs_node(const balance::ReportOp& op, const NetlistOps& ops, const Numbers& op_numbers, const Numbers& queue_numbers) {
  Node out = Node::list();
  const auto found = ops.find(op.name);
  if (found == ops.end()) return out;
  for (const netlist::OpInput& input : found->second->inputs) {
    if (const auto producer = op_numbers.find(input.name); producer != op_numbers.end()) {
      out.push(Node::map({{"op", integer(producer->second)}}));
    } else if (const auto queue = queue_numbers.find(input.name); queue != queue_numbers.end()) {
      out.push(Node::map({{"queue", integer(queue->second)}}));
    }
  }
  return out;
}

Node op_node(const Placement& placement, const balance::ReportOp& op, const NetlistOps& ops) {
  const GridShape shape = occupied(op);
  Node out = Node::map({{"name", Node::string(op.name)},
                        {"node", Node::string(op.node)},
                        {"type", Node::string(op.type)},
                        {"at", Node::list({integer(op.grid_loc.row), integer(op.grid_loc.col)})},
                        {"size", Node::list({integer(shape.rows), integer(shape.cols)})},
                        {"kernel", integer(op.cycles.kernel)},
                        {"cycles", integer(op.cycles.limiter)},
                        {"facts", facts_node(op_facts(placement, op, ops))}});
  for (const balance::ReportUsage& usage : op.resources)
    if (usage.resource == "l1") out.add("l1", Node::list({number(usage.used), number(usage.available)}));
  if (const auto found = placement.accuracy.find(op.name); found != placement.accuracy.end())
    out.add("accuracy", accuracy_node(found->second));
  return out;
}

Facts epoch_facts(const balance::ReportEpoch& epoch) {
  Facts out;
  if (!epoch.phase.empty()) out.emplace_back("phase", epoch.phase);
  out.insert(out.end(), {{"cores", cat(epoch.cores)},
                         {"cycles", cat(epoch.cycles)},
                         {"cycles between inputs", cat(epoch.interval)},
                         {"limited by", epoch.limiter},
                         {"slowest op", epoch.slowest_op}});
  for (const balance::ReportPath& path : epoch.paths)
    out.emplace_back(path.kind, cat(path.busiest, ": ", path.bytes, " bytes for an input, ", path.cycles, " cycles"));
  if (!epoch.ended_by.empty()) out.emplace_back("ended by", epoch.ended_by);
  return out;
}

// Bytes that channels move while the epoch runs, and those of the busiest links.
Node traffic_node(const balance::ReportEpoch& epoch) {
  Node channels = Node::list(), links = Node::list();
  for (const balance::ReportTraffic& c : epoch.channels) channels.push(Node::list({number(c.read), number(c.written)}));
  for (const balance::ReportLink& l : epoch.links) links.push(Node::list({Node::string(l.link), integer(l.bytes)}));
  return Node::map({{"channels", std::move(channels)}, {"links", std::move(links)}});
}

// All chips have as many.
std::int64_t channels_of_a_chip(const balance::ReportTotals& totals) {
  return std::count_if(totals.dram.begin(), totals.dram.end(),
                       [&](const balance::ReportChannel& c) { return c.chip == totals.dram.front().chip; });
}

// What links, interfaces of the networks and memories carried in a run of the epoch, by name: part of the rate, bytes.
Node loads_node(const perf::SummaryFile& run, const std::string& graph) {
  Node out = Node::list();
  const auto epoch = std::find_if(run.epochs.begin(), run.epochs.end(), [&](const auto& e) { return e.graph == graph; });
  if (epoch == run.epochs.end()) return out;
  for (const auto& load : epoch->loads)
    out.push(Node::list({Node::string(load.resource), Node::real(load.utilisation), number(load.bytes)}));
  return out;
}

template <class T>
Node integers(const std::vector<T>& values) {
  Node out = Node::list();
  for (const T value : values) out.push(integer(value));
  return out;
}

// Where workers, ports of DRAM channels and Ethernet cores are on the networks.
Node chip_node(const device::DeviceDescriptor& device) {
  Node dram = Node::list(), ethernet = Node::list();
  for (const device::DramChannel& channel : device.dram.channels) {
    Node ports = Node::list();
    for (const device::NocCoord port : channel.ports) ports.push(Node::string(port.text()));
    dram.push(std::move(ports));
  }
  for (const device::NocCoord core : device.eth) ethernet.push(Node::string(core.text()));
  return Node::map({{"size", Node::list({integer(device.noc.x), integer(device.noc.y)})},
                    {"workers", Node::list({integers(device.workers.x), integers(device.workers.y)})},
                    {"dram", std::move(dram)},
                    {"ethernet", std::move(ethernet)},
                    {"pcie", Node::string(device.pcie ? device.pcie->text() : "")}});
}

Node epoch_node(const Placement& placement, const balance::ReportEpoch& epoch, const Numbers& queue_numbers) {
  const NetlistOps ops = ops_of(placement, epoch.graph);
  Numbers op_numbers;
  for (const balance::ReportOp& op : epoch.ops) op_numbers.emplace(op.name, static_cast<std::int64_t>(op_numbers.size()));
  Node list = Node::list();
  for (const balance::ReportOp& op : epoch.ops) {
    Node node = op_node(placement, op, ops);
    node.add("inputs", inputs_node(op, ops, op_numbers, queue_numbers));
    list.push(std::move(node));
  }
  Facts facts = epoch_facts(epoch);
  if (!placement.report.totals.chips.empty()) facts.insert(facts.begin(), {"chip", cat(epoch.chip)});
  return Node::map(
      {{"graph", Node::string(epoch.graph)}, {"facts", facts_node(facts)}, {"traffic", traffic_node(epoch)}, {"ops", std::move(list)}});
}

Node queue_node(const balance::ReportQueue& queue) {
  Node channels = Node::list();
  for (const std::int64_t channel : queue.channels) channels.push(integer(channel));
  const Facts facts = {{"role", queue.role},
                       {"entries", cat(queue.entries)},
                       {"grid", pair_text(queue.grid.rows, queue.grid.cols)},
                       {"bytes", cat(queue.bytes)},
                       {"writer", queue.writer.empty() ? "the host" : queue.writer},
                       {"readers", queue.readers.empty() ? "the host" : join(queue.readers, ", ")}};
  return Node::map({{"name", Node::string(queue.name)},
                    {"writer", Node::string(queue.writer)},
                    {"channels", std::move(channels)},
                    {"facts", facts_node(facts)}});
}

Result<void> read_accuracy(const Module& module, io::FileSystem& fs, Placement& out) {
  BUDA_ASSIGN(const auto bytes, fs.read(module.accuracy));
  BUDA_ASSIGN(const auto node, io::parse_json(bytes.view(), module.accuracy));
  BUDA_ASSIGN(const auto file, schema::read<runtime::AccuracyFile>(node));
  if (auto current = require_current(module, module.accuracy, file.netlist_digest, fs); !current) {
    out.older = std::move(current).failure();
    return success();
  }
  for (const runtime::OpAccuracy& op : file.ops) out.accuracy[op.name] = op;
  return success();
}

// What is not known is no worse than what is.
double loss(const runtime::OpAccuracy& a) { return a.has_correlation ? 1 - a.correlation : -1; }

}  // namespace

io::Node accuracy_node(const runtime::OpAccuracy& accuracy) {
  return Node::list({accuracy.has_correlation ? Node::real(accuracy.correlation) : Node::null(), Node::real(accuracy.max_error)});
}

std::map<std::string, runtime::OpAccuracy> placed_accuracy(const Placement& placement) {
  std::map<std::string, runtime::OpAccuracy> out;
  for (const balance::ReportEpoch& epoch : placement.report.epochs)
    for (const balance::ReportOp& op : epoch.ops) {
      const auto found = placement.accuracy.find(op.name);
      if (found == placement.accuracy.end()) continue;
      const auto [it, fresh] = out.try_emplace(op.node, found->second);
      if (!fresh && loss(found->second) > loss(it->second)) it->second = found->second;
    }
  return out;
}

Result<Placement> read_placement(const Module& module, io::FileSystem& fs) {
  Placement out;
  BUDA_ASSIGN(const auto bytes, fs.read(module.report));
  BUDA_ASSIGN(const auto node, io::parse_json(bytes.view(), module.report));
  BUDA_ASSIGN(out.report, schema::read<balance::PlacementReport>(node));
  BUDA_TRY(check_places(out.report, module.report));
  if (!module.accuracy.empty()) BUDA_TRY(read_accuracy(module, fs, out));
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
      const Facts more = op_facts(placement, op, ops);
      facts.insert(facts.end(), more.begin(), more.end());
    }
  }
  return out;
}

io::Node placement_data(const Placement& placement, const Surroundings& around) {
  GridShape grid = around.device == nullptr ? GridShape{} : around.device->grid();
  const balance::PlacementReport& report = placement.report;
  Numbers queue_numbers;
  Node queues = Node::list(), epochs = Node::list();
  for (const balance::ReportQueue& queue : report.queues) {
    queue_numbers.emplace(queue.name, static_cast<std::int64_t>(queue_numbers.size()));
    queues.push(queue_node(queue));
  }
  for (const balance::ReportEpoch& epoch : report.epochs) {
    Node node = epoch_node(placement, epoch, queue_numbers);
    if (around.run != nullptr) node.add("loads", loads_node(*around.run, epoch.graph));
    epochs.push(std::move(node));
    for (const balance::ReportOp& op : epoch.ops) {
      const GridShape shape = occupied(op);
      grid.rows = std::max(grid.rows, op.grid_loc.row + shape.rows);
      grid.cols = std::max(grid.cols, op.grid_loc.col + shape.cols);
    }
  }
  Node out = Node::map({{"grid", Node::list({integer(grid.rows), integer(grid.cols)})},
                        {"dram", integer(channels_of_a_chip(report.totals))},
                        {"epochs", std::move(epochs)},
                        {"queues", std::move(queues)}});
  if (around.device != nullptr) out.add("chip", chip_node(*around.device));
  return out;
}

Facts total_facts(const balance::PlacementReport& report) {
  const balance::ReportTotals& t = report.totals;
  Facts out = {{"device", report.device},
               {"policy", report.policy},
               {"ops", cat(t.ops)},
               {"epochs", cat(t.epochs)},
               {"cores", cat(t.most_cores, " of ", t.chip_cores)},
               {"estimate", cat(t.inputs_per_second, " inputs/s")},
               {"cycles", cat(t.cycles)},
               {"limited by", t.ops == 0 ? "" : balance::limiter_text(report)}};
  for (const balance::ReportPhase& p : t.phases)
    out.emplace_back(cat("phase ", p.phase),
                     cat(p.ops, " ops in ", p.epochs, p.epochs == 1 ? " epoch, " : " epochs, ", p.cycles, " cycles"));
  return out;
}

}  // namespace buda::reportify
