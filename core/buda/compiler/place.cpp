// SPDX-License-Identifier: Apache-2.0
// From options to what balancing reads, and the steps from a graph to a checked netlist.
#include <buda/compiler/place.hpp>

#include <buda/balance/cost/epoch_costs.hpp>
#include <buda/balance/emit/layers.hpp>
#include <buda/balance/emit/report_bounds.hpp>
#include <buda/balance/emit/report_summary.hpp>
#include <buda/balance/legalize/overrides.hpp>
#include <buda/balance/problem/from_netlist.hpp>
#include <buda/balance/queues/queue_places.hpp>
#include <buda/base/text.hpp>
#include <buda/compiler/hosted_ops.hpp>
#include <buda/compiler/optimize.hpp>
#include <buda/compiler/option_values.hpp>
#include <buda/compiler/product_check.hpp>
#include <buda/device/cluster.hpp>
#include <buda/liveness/liveness.hpp>
#include <buda/netlist/text/write.hpp>
#include <buda/ops/whole_graph/infer.hpp>
#include <buda/plugin/policy.hpp>

#include <algorithm>
#include <memory>
#include <vector>

namespace buda::compiler {
namespace {

// Whether a program filled the options in with values that a command line could have given.
Result<void> check_values(BalancerOptions options) {
  schema::OptionSet set;
  declare(set, options);
  return set.check_present();
}

Result<balance::BalanceOptions> balance_options(const BalancerOptions& o, const device::DeviceDescriptor& device) {
  BUDA_TRY(check_values(o));
  balance::BalanceOptions out;
  out.models.allow_transpose = o.auto_transpose;
  out.models.resident_parameters = !o.dram_parameters;
  out.models.t_streaming = o.t_streaming && !o.manual_t_streaming;
  out.models.l1_accumulate = !o.disable_l1_accumulate;
  out.models.all_steps = o.enumerate_u_kt;
  out.models.single_buffer_fallback = o.single_buffer_fallback;
  out.models.one_row = o.place_on_one_row;
  out.schedule = o.scheduler;
  out.batches = static_cast<std::int32_t>(o.microbatch);
  out.forked_inputs = o.forked_dram_inputs;
  out.hosts_misfits = o.hosts_misfits;
  out.wide_sums = o.wide_sums;
  out.dynamic_queues = !o.static_queues;
  out.effort = o.interactive_placer ? static_cast<std::int32_t>(o.effort) : 0;
  out.self_cut = o.self_cut;
  out.queues.inputs_on_host = o.input_queues_on_host;
  out.queues.outputs_on_host = o.output_queues_on_host;
  out.queues.batches = static_cast<std::int32_t>(o.queue_entries);
  out.queues.placement = o.dram_placement;
  for (const std::string& text : o.chip_ids) {
    BUDA_ASSIGN(const std::vector<std::int64_t> ids, chip_numbers(text));
    out.chips.ids.insert(out.chips.ids.end(), ids.begin(), ids.end());
  }
  out.chips.count = o.num_chips;
  out.cluster = o.cluster;
  out.chips.order = o.chip_placement_policy;
  out.overrides = o.op_overrides;
  BUDA_ASSIGN(out.queues.places, balance::parse_queue_places(o.queues, device));
  return out;
}

// PyBuda writes policies like MinimizeGrid; here they are called minimize_grid. Names that are known as they stand stay so; `default` is
// the policy that is taken where none is named.
std::string policy_name(const std::string& given, const plugin::Registry<balance::Policy>& policies) {
  if (policies.find(given) != nullptr) return given;
  if (given == "default") return BalancerOptions{}.policy;
  std::string out;
  for (std::size_t i = 0; i < given.size(); ++i) {
    char c = given[i];
    bool upper = c >= 'A' && c <= 'Z';
    const bool follows_lower = i > 0 && !(given[i - 1] >= 'A' && given[i - 1] <= 'Z');
    const bool ends_capitals = i > 0 && i + 1 < given.size() && given[i + 1] >= 'a' && given[i + 1] <= 'z';  // the G of TGrid
    if (upper && (follows_lower || ends_capitals)) out += '_';
    out += upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return policies.find(out) != nullptr ? out : given;
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

// The first deadlock of a plan of which an op can be named. Where stream programs cannot be laid out, the next stage says so; what waits
// for a queue waits for the host, which is not in the netlist.
std::optional<Diagnostic> deadlock_of(const netlist::Netlist& netlist, const device::DeviceDescriptor& device, Host& host) {
  const auto epochs = liveness::check_liveness(netlist, device, host, liveness::Remedy::left_out);  // the user has no buffers to change
  if (!epochs) return std::nullopt;
  for (const liveness::EpochLiveness& epoch : *epochs) {
    if (!epoch.deadlock || epoch.deadlock->node.empty()) continue;
    Diagnostic d = *epoch.deadlock;
    d.fault = Fault::fit;
    return d;
  }
  return std::nullopt;
}

struct NamedPolicy {
  std::string name;
  std::unique_ptr<balance::Policy> policy;
};
Result<NamedPolicy> policy_of(const BalancerOptions& o, const PluginSet& plugins, Host& host) {
  const plugin::Registries& all = plugins.registries;
  NamedPolicy out;
  out.name = policy_name(o.policy, all.policies);
  auto given = plugins.options.find("policy." + out.name);
  BUDA_ASSIGN(out.policy, plugin::make(all, all.policies, plugin::Kind::policy, out.name,
                                       given == plugins.options.end() ? schema::OptionValues{} : given->second, host));
  return out;
}

balance::ReportGiven given_plan(const std::vector<balance::EpochCost>& epochs, const balance::ReportTotals& placed) {
  balance::ReportGiven out;
  std::int64_t most = -1;
  for (const balance::EpochCost& epoch : epochs) {
    if (!epoch.executed) continue;
    const std::int64_t cycles = epoch.cycles();
    ++out.epochs;
    out.cycles += cycles;
    if (cycles <= most) continue;
    most = cycles;
    out.limiter = epoch.graph->name + ": " + epoch.limiter();
  }
  if (placed.universal_bound)
    out.gap = balance::gap_above(static_cast<double>(out.cycles), static_cast<double>(placed.universal_bound->cycles));
  out.speedup = balance::three_digits(static_cast<double>(out.cycles) / static_cast<double>(std::max<std::int64_t>(placed.cycles, 1)));
  return out;
}

}  // namespace

namespace {

// What ops, formats and tiles a graph has was decided for one device; another may be slower with them, or have none of it.
void warn_of_other_device(const graph::Graph& graph, const device::DeviceDescriptor& device, Host& host) {
  const auto tag = graph.tags.find(kLoweredFor);
  if (tag == graph.tags.end() || tag->second == device.name) return;
  Diagnostic d = warning("BL046", {}, cat("the graph was lowered for ", tag->second, ", and is placed for ", device.name));
  d.hint = cat("give the same --device to the optimizer and to the balancer: ", tag->second, " or ", device.name);
  host.report(d);
}

}  // namespace

Result<device::DeviceDescriptor> device_in_cluster(device::DeviceDescriptor device, const BalancerOptions& options, Host& host) {
  if (options.cluster.empty()) return device;
  BUDA_ASSIGN(const device::Cluster cluster, device::load_cluster(host, device, options.cluster));
  return device::in_cluster(std::move(device), cluster);
}

Result<void> check_balancer_options(const device::DeviceDescriptor& device, const BalancerOptions& o, const PluginSet& plugins,
                                    Host& host) {
  BUDA_TRY(policy_of(o, plugins, host));
  BUDA_ASSIGN(const balance::BalanceOptions options, balance_options(o, device));
  BUDA_TRY(balance::chips_in_order(options.chips, device));
  return balance::check_override_forms(o.op_overrides);
}

Result<Placed> place(graph::Graph graph, const device::DeviceDescriptor& device, const BalancerOptions& o, const PluginSet& plugins,
                     Host& host) {
  BUDA_ASSIGN(const NamedPolicy policy, policy_of(o, plugins, host));
  BUDA_ASSIGN(balance::BalanceOptions options, balance_options(o, device));
  options.find_refusal = [&](const netlist::Netlist& netlist) { return deadlock_of(netlist, device, host); };
  if (graph.level == graph::Level::device) {
    BUDA_TRY(ops::infer_types(graph));
    BUDA_TRY(ops::check(graph));
    warn_of_other_device(graph, device, host);
  }
  const std::string model = graph.name;
  Placed out;
  BUDA_ASSIGN(out.segments, balance::split_segments(std::move(graph)));
  if (out.segments.device) {
    const OriginsOfNodes origins = o.hosts_misfits ? origins_of_nodes(*out.segments.device) : OriginsOfNodes{};
    auto balanced = balance::balance(std::move(*out.segments.device), device, *policy.policy, policy.name, options, host);
    if (!balanced) return with_origins(std::move(balanced).failure(), origins);
    out.balanced = *std::move(balanced);
    balance::name_layers(out.balanced.graph, out.balanced.report);
  } else {
    out.balanced = nothing_placed(model, device, policy.name);
    host.log(1, "the host runs the whole model; there is nothing to place");
  }
  host.progress("checking the netlist", 0, 0);
  out.netlist = netlist::write_netlist(out.balanced.built.netlist);
  if (out.segments.device) BUDA_TRY(check_product(out.balanced, out.balanced.graph, out.netlist));
  return out;
}

Result<Placed> place_netlist(const netlist::Netlist& netlist, const device::DeviceDescriptor& device, const BalancerOptions& o,
                             const PluginSet& plugins, Host& host) {
  BUDA_ASSIGN(const NamedPolicy policy, policy_of(o, plugins, host));
  BUDA_ASSIGN(const balance::BalanceOptions options, balance_options(o, device));
  Placed out;
  auto given = balance::netlist_costs(netlist, device, host);
  if (!given.no_loads.empty()) return std::move(given.no_loads);
  BUDA_ASSIGN(auto problem, balance::problem_from_netlist(netlist, device));
  BUDA_ASSIGN(out.balanced, balance::balance(std::move(problem), *policy.policy, policy.name, options, host));
  out.balanced.report.given = given_plan(given.epochs, out.balanced.report.totals);
  out.netlist = netlist::write_netlist(out.balanced.built.netlist);
  BUDA_TRY(check_product(out.balanced, out.balanced.graph, out.netlist));
  return out;
}

}  // namespace buda::compiler
