// SPDX-License-Identifier: Apache-2.0
// netlist stats: the counts of a netlist as a table, or as one JSON object.
#include "apps/netlist/run.hpp"

#include <buda/base/text.hpp>
#include <buda/io/json.hpp>
#include <buda/netlist/program/stats.hpp>

#include <algorithm>

namespace buda::netlist_tool {
namespace {

using io::Node;
using netlist::NetlistStats;

Node number(std::uint64_t value) { return Node::integer(static_cast<std::int64_t>(value)); }

std::string json_of(const netlist::Netlist& n, const NetlistStats& s) {
  Node top = Node::map(), archs = Node::list(), chips = Node::list(), types = Node::map(), formats = Node::map(), fidelities = Node::map();
  for (const auto& arch : n.archs) archs.push(Node::string(arch));
  for (std::int32_t chip : s.chips) chips.push(Node::integer(chip));
  for (const auto& [type, c] : s.by_type)
    types.add(type, Node::map({{"ops", number(c.ops)}, {"cores", Node::integer(c.cores)}, {"tiles", Node::integer(c.tiles)}}));
  for (const auto& [format, c] : s.by_format)
    formats.add(format, Node::map({{"queues", number(c.queues)}, {"outputs", number(c.outputs)}}));
  for (const auto& [fidelity, count] : s.by_fidelity) fidelities.add(fidelity, number(count));
  top.add("archs", std::move(archs));
  top.add("chips", std::move(chips));
  top.add("queues", number(s.queues));
  top.add("rams", number(s.rams));
  top.add("host_fed", number(s.host_fed));
  top.add("dram_bytes", number(s.dram_bytes));
  top.add("host_bytes", number(s.host_bytes));
  top.add("graphs", number(s.graphs));
  top.add("ops", number(s.ops));
  top.add("fused_ops", number(s.fused_ops));
  top.add("sub_ops", number(s.sub_ops));
  top.add("op_types", std::move(types));
  top.add("formats", std::move(formats));
  top.add("fidelities", std::move(fidelities));
  top.add("programs", number(s.programs));
  top.add("instructions", number(s.instructions));
  top.add("executes", number(s.executes));
  if (s.epochs >= 0) top.add("epochs", Node::integer(s.epochs));
  if (s.different_epochs >= 0) top.add("different_epochs", Node::integer(s.different_epochs));
  return io::json_pretty(top);
}

std::string right(const std::string& text, std::size_t width) {
  return text.size() >= width ? text : std::string(width - text.size(), ' ') + text;
}

std::string row(const std::string& name, std::size_t width, const std::vector<std::string>& cells) {
  std::string out = name + std::string(width - std::min(width, name.size()), ' ');
  for (const auto& cell : cells) out += right(cell, 12);
  return out + "\n";
}

std::string text_of(const netlist::Netlist& n, const NetlistStats& s) {
  std::size_t width = 18;
  for (const auto& [type, c] : s.by_type) width = std::max(width, type.size());
  std::string out = cat("for ", join(n.archs, ", "), "; chips ", join(s.chips, ", "), "\n");
  out += cat(s.queues, " queues, ", s.rams, " rams, ", s.host_fed, " of them written by the host; ", bytes_text(s.dram_bytes), " of DRAM, ",
             bytes_text(s.host_bytes), " of host memory\n");
  out += cat(s.graphs, s.graphs == 1 ? " graph, " : " graphs, ", s.ops, " ops, ", s.fused_ops, " fused ops of ", s.sub_ops, " sub-ops\n");
  out += cat(s.programs, " programs, ", s.instructions, " instructions, ", s.executes, " executes; ");
  out += s.epochs < 0 || s.different_epochs < 0
             ? std::string("they do not run\n")
             : cat("run once with parameters 1: ", s.epochs, " epochs, ", s.different_epochs, " different ones\n");
  std::vector<std::pair<std::string, NetlistStats::OpCount>> types(s.by_type.begin(), s.by_type.end());
  std::stable_sort(types.begin(), types.end(), [](const auto& a, const auto& b) { return a.second.ops > b.second.ops; });
  out += "\n" + row("op", width, {"ops", "cores", "tiles"});
  for (const auto& [type, c] : types) out += row(type, width, {cat(c.ops), cat(c.cores), cat(c.tiles)});
  out += "\n" + row("format", width, {"queues", "outputs"});
  for (const auto& [format, c] : s.by_format) out += row(format, width, {cat(c.queues), cat(c.outputs)});
  out += "\n" + row("fidelity", width, {"ops"});
  for (const auto& [fidelity, count] : s.by_fidelity) out += row(fidelity, width, {cat(count)});
  return out;
}

}  // namespace

Result<void> stats(const Options& o, Host& host) {
  BUDA_ASSIGN(auto netlist, read_netlist(o.netlist, false, host));
  const NetlistStats s = netlist::stats_of(netlist);
  return host.fs().write(o.output, o.format == "json" ? json_of(netlist, s) : text_of(netlist, s), host.write_mode);
}

}  // namespace buda::netlist_tool
