// SPDX-License-Identifier: Apache-2.0
// Reading, placing, writing.
#include "apps/balancer/run.hpp"

#include "apps/balancer/output.hpp"

#include <buda/balance/emit/report_summary.hpp>
#include <buda/base/text.hpp>
#include <buda/cli/product_name.hpp>
#include <buda/compiler/hosted_ops.hpp>
#include <buda/compiler/place.hpp>
#include <buda/compiler/settings.hpp>
#include <buda/device/load.hpp>
#include <buda/graph/file/graph_file.hpp>
#include <buda/graph/graph.hpp>
#include <buda/io/process.hpp>
#include <buda/netlist/check/check.hpp>
#include <buda/netlist/text/parse.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace buda::balancer {
namespace {

// Valid for the device.
Result<netlist::Netlist> read_given(const Options& o, const device::DeviceDescriptor& device, Host& host) {
  if (!o.plan.empty()) return usage_error("BA002", "a netlist has no host plan: --plan cannot be given with --from-netlist");
  if (o.microbatch != 1)
    return usage_error("BA002", "the netlist says how many inputs an epoch has: --microbatch cannot be given with --from-netlist");
  BUDA_ASSIGN(auto bytes, host.fs().read(o.graph));
  BUDA_ASSIGN(auto netlist, netlist::parse_netlist(bytes.view(), o.graph == io::kStdStream ? "<stdin>" : o.graph, {.arch = device.arch}));
  Failure failure;
  for (Diagnostic& d : netlist::check_netlist(netlist, device, {netlist::CheckLevel::run}))
    if (d.severity == Severity::error) failure.add(std::move(d));
  if (!failure.empty()) return failure;
  return netlist;
}

Result<void> write_settings(const Options& o, cli::ToolHost& host) {
  if (o.settings.empty()) return success();
  return host.fs().write(o.settings, compiler::settings_text(compiler::settings_in_effect(o, host.plugin_options)), host.write_mode);
}

Result<void> run_from_netlist(const Options& o, const device::DeviceDescriptor& device, cli::ToolHost& host) {
  BUDA_ASSIGN(const auto given, read_given(o, device, host));
  BUDA_ASSIGN(auto placed, compiler::place_netlist(given, device, o, {host.plugins, host.plugin_options}, host));
  const balance::PlacementReport& report = placed.balanced.report;
  // The table has the summary at its end; without it, that alone is told.
  const std::vector<std::string> table = balance::report_table(report), summary = balance::report_summary(report);
  for (std::size_t i = 0; i < table.size(); ++i) host.log(i + summary.size() < table.size() ? 1 : 0, table[i]);
  BUDA_TRY(write_settings(o, host));
  return write_outputs(output_files(o), placed.segments, placed.balanced, placed.netlist, host);
}

// A graph that was not lowered: the commands that lead from it to the netlist.
Failure with_command(Failure failure, const Options& o) {
  if (o.graph == io::kStdStream) return failure;
  const std::string lowered = cat(cli::model_name(o.graph), ".device.graph.json");
  for (Diagnostic& d : failure.diagnostics())
    if (d.code == "BL000" || d.code == "BL005")
      d.hint += cat(": ", io::shell_line({"optimizer", o.graph, "-o", lowered}), " && ", io::shell_line({"balancer", lowered}));
  return failure;
}

}  // namespace

Result<void> check(const Options& o, cli::ToolHost& host) {
  BUDA_ASSIGN(auto named, device::load_device(host, o.device));
  BUDA_ASSIGN(const auto device, compiler::device_in_cluster(std::move(named), o, host));
  return compiler::check_balancer_options(device, o, {host.plugins, host.plugin_options}, host);
}

Result<void> run(const Options& o, cli::ToolHost& host) {
  OutputFiles files = output_files(o);
  BUDA_ASSIGN(auto named, device::load_device(host, o.device));
  BUDA_ASSIGN(const auto device, compiler::device_in_cluster(std::move(named), o, host));
  if (o.from_netlist) return run_from_netlist(o, device, host);
  host.progress("reading the graph", 0, 0);
  BUDA_ASSIGN(auto graph, graph::read_graph(host.fs(), o.graph));
  compiler::BalancerOptions options = o;
  options.hosts_misfits = !o.misfits.empty();
  auto tried = compiler::place(graph, device, options, {host.plugins, host.plugin_options}, host);
  if (!tried && options.hosts_misfits) {
    if (const auto misfits = compiler::misfits_of(tried.failure()))
      return host.fs().write(o.misfits, compiler::misfits_text(*misfits), host.write_mode);
    options.hosts_misfits = false;  // what would help is told then
    tried = compiler::place(std::move(graph), device, options, {host.plugins, host.plugin_options}, host);
  }
  if (!tried) return with_command(std::move(tried).failure(), o);
  const compiler::Placed placed = *std::move(tried);
  for (const auto& line : balance::report_table(placed.balanced.report)) host.log(1, line);
  host.progress("writing", 0, 0);
  BUDA_TRY(write_settings(o, host));
  return write_outputs(files, placed.segments, placed.balanced, placed.netlist, host);
}

}  // namespace buda::balancer
