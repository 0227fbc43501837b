// Reading, balancing, checking, writing.
#include "apps/balancer/run.hpp"

#include "apps/balancer/output.hpp"

#include <buda/balance/balance.hpp>
#include <buda/base/text.hpp>
#include <buda/device/load.hpp>
#include <buda/graph/graph_file.hpp>
#include <buda/netlist/check.hpp>
#include <buda/netlist/parse.hpp>
#include <buda/netlist/write.hpp>
#include <buda/ops/infer.hpp>
#include <buda/plugin/policy.hpp>

namespace buda::balancer {
namespace {

balance::BalanceOptions balance_options(const Options& o) {
  balance::BalanceOptions out;
  out.models.allow_transpose = o.auto_transpose;
  out.models.resident_parameters = !o.dram_parameters;
  out.schedule = o.scheduler == balance::kTopological ? balance::SchedulePolicy::topological : balance::SchedulePolicy::module_inputs_bfs;
  out.queues.entries = static_cast<std::int32_t>(o.queue_entries);
  out.microbatch = static_cast<std::int32_t>(o.microbatch);
  out.overrides = o.op_overrides;
  return out;
}

// Whatever the next stages would refuse is refused here, and then it is a bug of ours.
Result<void> check_product(const netlist::Netlist& netlist, const std::string& text, const device::DeviceDescriptor& device) {
  Failure failure;
  auto add = [&](Diagnostic d) {
    if (d.severity != Severity::error) return;
    d.fault = Fault::bug;
    d.notes.push_back({d.loc, "found in the netlist that was about to be written; please report it with the graph"});
    d.loc = {};
    failure.add(std::move(d));
  };
  auto parsed = netlist::parse_netlist(text, "<netlist>");
  if (!parsed) {
    for (auto& d : parsed.failure().diagnostics()) add(std::move(d));
    return failure;
  }
  if (!(*parsed == netlist))
    failure.add(internal_error("the netlist reads back differently from how it was built; please report it with the graph"));
  for (auto& d : netlist::check_netlist(*parsed, device, {netlist::CheckLevel::run})) add(std::move(d));
  if (!failure.empty()) return failure;
  return success();
}

}  // namespace

Result<void> run(const Options& o, cli::ToolHost& host) {
  OutputFiles files = output_files(o);
  BUDA_ASSIGN(auto device, device::load_device(host, o.device));
  BUDA_ASSIGN(auto policy, plugin::make(host.plugins, host.plugins.policies, plugin::Kind::policy, o.policy,
                                        host.options_of(plugin::Kind::policy, o.policy), host));
  BUDA_ASSIGN(auto graph, graph::read_graph(host.fs(), o.graph));
  if (graph.level == graph::Level::device) {
    BUDA_TRY(ops::infer_types(graph));
    BUDA_TRY(ops::check(graph));
  }
  BUDA_ASSIGN(auto balanced, balance::balance(std::move(graph), device, *policy, o.policy, balance_options(o), host));
  std::string text = netlist::write_netlist(balanced.built.netlist);
  BUDA_TRY(check_product(balanced.built.netlist, text, device));
  for (const auto& line : balance::report_table(balanced.report)) host.log(1, line);
  return write_outputs(files, balanced, text, host);
}

}  // namespace buda::balancer
