// SPDX-License-Identifier: Apache-2.0
// netlist cost: estimated cycles of each epoch and of its slowest ops, as a table or as JSON lines.
#include "apps/netlist/run.hpp"

#include <buda/balance/cost/epoch_costs.hpp>
#include <buda/base/text.hpp>
#include <buda/io/json.hpp>
#include <buda/netlist/check/validate.hpp>
#include <buda/timed/planned_index_tiles.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>

namespace buda::netlist_tool {
namespace {

using balance::EpochCost;
using balance::OpCost;
using io::Node;

std::int64_t whole(double x) { return std::llround(x); }

std::string padded(const std::string& text, std::size_t width) { return text + std::string(width - std::min(width, text.size()), ' '); }

// "measured, ±2.41 %", "as a copy".
std::string basis_text(const cost::KernelCycles& k) {
  std::string out(cost::basis_name(k.basis));
  if (k.error > 0) out += cat(", ±", static_cast<double>(whole(100 * k.error)) / 100, " %");
  return out;
}

double entries_per_second(std::int64_t cycles, const device::DeviceDescriptor& device) {
  return cycles > 0 ? device.cost.clock_ghz * 1e9 / static_cast<double>(cycles) : 0;
}

std::string op_line(const OpCost& c, std::size_t width) {
  const auto& op = *c.op;
  return cat("  ", padded(op.name, width), padded(std::string(netlist::op_type_name(op.type)), 14),
             padded(cat(op.grid.rows, 'x', op.grid.cols), 7), padded(cat(whole(c.cycles.running())), 10), padded(c.limiter(), 10),
             "kernel ", padded(cat(whole(c.kernel.total)), 10), basis_text(c.kernel), '\n');
}

// "  DRAM channel 0: 28.8 KiB, 9.6 KiB on average; 120 cycles"
std::string path_line(const balance::PathLoad& p) {
  auto text = [](double bytes) { return bytes_text(static_cast<std::uint64_t>(whole(bytes))); };
  return cat("  ", p.busiest, ": ", text(p.most), ", ", text(p.mean), " on average; ", whole(p.cycles), " cycles\n");
}

std::string epoch_text(const EpochCost& e, std::size_t slowest, const device::DeviceDescriptor& device) {
  std::string out = cat('\'', e.graph->name, "': ", e.ops.size(), " ops on ", e.cores, " cores, ", e.interval(),
                        " cycles per entry, limited by ", e.limiter(), "; ", whole(entries_per_second(e.interval(), device)),
                        " entries/s; between cores ", bytes_text(static_cast<std::uint64_t>(e.noc_bytes())), '\n');
  for (const balance::PathLoad& p : e.loads.paths) out += path_line(p);
  std::vector<const OpCost*> order;
  for (const OpCost& op : e.ops) order.push_back(&op);
  std::stable_sort(order.begin(), order.end(), [](const OpCost* a, const OpCost* b) { return a->cycles.running() > b->cycles.running(); });
  if (slowest > 0) order.resize(std::min(order.size(), slowest));
  std::size_t width = 0;
  for (const OpCost* op : order) width = std::max(width, op->op->name.size() + 2);
  for (const OpCost* op : order) out += op_line(*op, width);
  return out;
}

// "2380 cycles for 8 entries (3361344 entries/s)": all inputs of an epoch, and the changes of epochs.
std::string total_text(std::int64_t cycles, std::int64_t entries, const device::DeviceDescriptor& device) {
  const double rate = static_cast<double>(entries) * entries_per_second(cycles, device);
  return cat(cycles, " cycles for ", entries, entries == 1 ? " entry (" : " entries (", whole(rate), " entries/s)");
}

// What chips take that work at the same time.
std::string chips_text(const std::map<std::int32_t, std::int64_t>& cycles, std::int64_t entries, const device::DeviceDescriptor& device) {
  std::string out;
  std::int64_t most = 0;
  for (const auto& [chip, of_chip] : cycles) {
    out += cat("chip ", chip, ": ", of_chip, " cycles\n");
    most = std::max(most, of_chip);
  }
  return cat(out, "as a pipeline of chips: ", total_text(most, entries, device), '\n');
}

Node paths_node(const balance::EpochLoads& loads) {
  Node out = Node::list();
  for (const balance::PathLoad& p : loads.paths)
    out.push(Node::map({{"kind", Node::string(p.kind)},
                        {"busiest", Node::string(p.busiest)},
                        {"bytes", Node::integer(whole(p.most))},
                        {"mean", Node::integer(whole(p.mean))},
                        {"cycles", Node::integer(whole(p.cycles))}}));
  return out;
}

Node channels_node(const balance::EpochLoads& loads) {
  auto number = [](std::uint64_t bytes) { return Node::integer(static_cast<std::int64_t>(bytes)); };
  Node out = Node::list();
  for (const balance::ChannelBytes& c : loads.channels)
    out.push(
        Node::map({{"read", number(c.read)}, {"written", number(c.written)}, {"before", number(c.before)}, {"after", number(c.after)}}));
  return out;
}

std::string epoch_json(const EpochCost& e, const device::DeviceDescriptor& device) {
  Node line = Node::map(), ops = Node::list();
  for (const OpCost& c : e.ops) {
    Node op = Node::map();
    op.add("name", Node::string(c.op->name));
    op.add("cycles", Node::integer(whole(c.cycles.running())));
    op.add("limiter", Node::string(c.limiter()));
    op.add("kernel", Node::map({{"total", Node::integer(whole(c.kernel.total))},
                                {"unpack", Node::integer(whole(c.kernel.unpack))},
                                {"math", Node::integer(whole(c.kernel.math))},
                                {"pack", Node::integer(whole(c.kernel.pack))},
                                {"basis", Node::string(std::string(cost::basis_name(c.kernel.basis)))},
                                {"error", Node::real(c.kernel.error)}}));
    Node inputs = Node::list();
    for (double in : c.cycles.inputs) inputs.push(Node::integer(whole(in)));
    op.add("inputs", std::move(inputs));
    op.add("output", Node::integer(whole(c.cycles.output)));
    op.add("dram_bytes", Node::integer(whole(c.cycles.dram_bytes)));
    op.add("noc_bytes", Node::integer(whole(c.cycles.noc_bytes)));
    ops.push(std::move(op));
  }
  line.add("device", Node::string(device.name));
  line.add("graph", Node::string(e.graph->name));
  line.add("chip", Node::integer(e.graph->target_device));
  line.add("cores", Node::integer(e.cores));
  line.add("cycles", Node::integer(e.interval()));
  line.add("entries", Node::integer(std::max(e.graph->input_count, 1)));
  line.add("change", Node::integer(whole(e.change)));
  line.add("hidden", Node::integer(whole(e.hidden)));
  line.add("all_cycles", Node::integer(e.cycles()));
  line.add("limiter", Node::string(e.limiter()));
  line.add("dram_bytes", Node::integer(whole(e.dram_bytes())));
  line.add("noc_bytes", Node::integer(whole(e.noc_bytes())));
  line.add("paths", paths_node(e.loads));
  line.add("channels", channels_node(e.loads));
  line.add("ops", std::move(ops));
  return io::json_line(line) + "\n";
}

Diagnostic loads_unknown(const Failure& failure, const device::DeviceDescriptor& device) {
  const Diagnostic& first = failure.diagnostics().front();
  return warning(
      "NT002", first.loc,
      cat("on ", device.name, ", loads of DRAM channels and links are not known, because streams cannot be laid out: ", first.message));
}

// What the host plan beside the netlist tells; nothing where its files cannot be read.
timed::IndexTiles index_tiles_of(const netlist::Netlist& netlist, const std::string& path, Host& host) {
  auto known = timed::planned_index_tiles(netlist, path, host);
  if (known) return std::move(*known);
  const Diagnostic& first = known.failure().diagnostics().front();
  host.report(warning(
      "NT003", first.loc,
      cat("how much of sparse matmuls is zero is guessed, because the parameters of the host plan cannot be read: ", first.message)));
  return timed::IndexTiles(netlist);
}

}  // namespace

Result<void> cost(const Options& o, Host& host) {
  BUDA_ASSIGN(auto netlist, read_netlist(o.netlist, false, host));
  BUDA_ASSIGN(auto devices, netlist::ValidationDevices::make(host, o.device));
  const timed::IndexTiles index_tiles = index_tiles_of(netlist, o.netlist, host);
  const balance::SparseCountsOf counts = [&](const netlist::Op& op) { return index_tiles.most(op); };
  std::string out;
  for (const device::DeviceDescriptor& device : devices.devices_for(netlist)) {
    const auto [epochs, no_loads] = balance::netlist_costs(netlist, device, host, counts);
    if (!no_loads.empty()) host.report(loads_unknown(no_loads, device));
    if (o.format == "json") {
      for (const EpochCost& e : epochs) out += epoch_json(e, device);
      continue;
    }
    std::int64_t sum = 0, entries = 1;
    std::map<std::int32_t, std::int64_t> by_chip;
    out += cat(out.empty() ? "" : "\n", "on ", device.name, ":\n");
    for (const EpochCost& e : epochs) {
      out += epoch_text(e, static_cast<std::size_t>(o.slowest), device);
      sum += e.cycles();
      by_chip[e.graph->target_device] += e.cycles();
      entries = std::max<std::int64_t>(entries, e.graph->input_count);
    }
    out += cat("all ", epochs.size(), epochs.size() == 1 ? " epoch: " : " epochs: ", total_text(sum, entries, device), '\n');
    if (by_chip.size() > 1) out += chips_text(by_chip, entries, device);
  }
  return host.fs().write(o.output, out, host.write_mode);
}

}  // namespace buda::netlist_tool
