// Reading, balancing, checking, writing.
#include "apps/balancer/run.hpp"

#include "apps/balancer/output.hpp"

#include <buda/balance/balance.hpp>
#include <buda/balance/product_check.hpp>
#include <buda/balance/segments.hpp>
#include <buda/base/text.hpp>
#include <buda/device/load.hpp>
#include <buda/graph/graph_file.hpp>
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
  out.queues.batches = static_cast<std::int32_t>(o.queue_entries);
  out.overrides = o.op_overrides;
  return out;
}

// PyBuda writes policies like MinimizeGrid; here they are called minimize_grid. Names that are known as they stand stay so.
std::string policy_name(const Options& o, const cli::ToolHost& host) {
  if (host.plugins.policies.find(o.policy) != nullptr) return o.policy;
  std::string out;
  for (std::size_t i = 0; i < o.policy.size(); ++i) {
    char c = o.policy[i];
    bool upper = c >= 'A' && c <= 'Z';
    if (upper && i > 0 && !(o.policy[i - 1] >= 'A' && o.policy[i - 1] <= 'Z')) out += '_';
    out += upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return host.plugins.policies.find(out) != nullptr ? out : o.policy;
}

// The product for a model that the host runs as a whole: a netlist of nothing, so that the stages behind need no exception.
balance::Balanced nothing_placed(const std::string& model, const device::DeviceDescriptor& device, const std::string& policy) {
  balance::Balanced out;
  out.graph = graph::Graph(model, graph::Level::device);
  out.problem.name = model;
  out.problem.device = &device;
  out.built.netlist.arch = device.arch;
  out.built.netlist.archs = {device.arch};
  out.report.model = model;
  out.report.device = device.name;
  out.report.policy = policy;
  return out;
}

}  // namespace

Result<void> run(const Options& o, cli::ToolHost& host) {
  OutputFiles files = output_files(o);
  BUDA_ASSIGN(auto device, device::load_device(host, o.device));
  std::string name = policy_name(o, host);
  BUDA_ASSIGN(auto policy, plugin::make(host.plugins, host.plugins.policies, plugin::Kind::policy, name,
                                        host.options_of(plugin::Kind::policy, name), host));
  BUDA_ASSIGN(auto graph, graph::read_graph(host.fs(), o.graph));
  if (graph.level == graph::Level::device) {
    BUDA_TRY(ops::infer_types(graph));
    BUDA_TRY(ops::check(graph));
  }
  const std::string model = graph.name;
  BUDA_ASSIGN(auto segments, balance::split_segments(std::move(graph)));
  balance::Balanced balanced;
  if (segments.device) {
    BUDA_ASSIGN(balanced, balance::balance(std::move(*segments.device), device, *policy, name, balance_options(o), host));
  } else {
    balanced = nothing_placed(model, device, name);
    host.log(1, "the host runs the whole model; there is nothing to place");
  }
  std::string text = netlist::write_netlist(balanced.built.netlist);
  if (segments.device) BUDA_TRY(balance::check_product(balanced, text));
  for (const auto& line : balance::report_table(balanced.report)) host.log(1, line);
  return write_outputs(files, segments, balanced, text, host);
}

}  // namespace buda::balancer
