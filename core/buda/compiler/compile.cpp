// SPDX-License-Identifier: Apache-2.0
// Import, optimize, place, streams, image.
#include <buda/compiler/compile.hpp>

#include <buda/base/text.hpp>
#include <buda/compiler/accuracy/raise_accuracy.hpp>
#include <buda/compiler/compiled_model.hpp>
#include <buda/compiler/epoch_products.hpp>
#include <buda/compiler/hosted_ops.hpp>
#include <buda/compiler/import.hpp>
#include <buda/compiler/model_name.hpp>
#include <buda/compiler/optimize.hpp>
#include <buda/compiler/place.hpp>
#include <buda/compiler/settings.hpp>
#include <buda/compiler/value_ranges.hpp>
#include <buda/device/cluster.hpp>
#include <buda/device/label.hpp>
#include <buda/device/load.hpp>
#include <buda/graph/parts/renumber.hpp>
#include <buda/io/quiet_host.hpp>
#include <buda/runtime/model/model_image.hpp>

#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace buda::compiler {

CompileOptions::CompileOptions() = default;
CompileOptions::CompileOptions(const CompileOptions&) = default;
CompileOptions::CompileOptions(CompileOptions&&) noexcept = default;
CompileOptions& CompileOptions::operator=(const CompileOptions&) = default;
CompileOptions& CompileOptions::operator=(CompileOptions&&) noexcept = default;
CompileOptions::~CompileOptions() = default;

std::vector<plugin::Kind> plugin_kinds() { return {plugin::Kind::frontend, plugin::Kind::decomposition, plugin::Kind::policy}; }

}  // namespace buda::compiler

namespace buda {

using compiler::CompileOptions;

namespace {

struct Placing {
  const device::DeviceDescriptor& device;
  const compiler::BalancerOptions& balancer;
  const compiler::PluginSet& plugins;
  const compiler::OptimizeControl& control;
  const std::function<Result<void>()>& proceed;
};

// As the driver does it: what has no room on the device, and what the host can do as well, goes there, and is named in `optimizer`.
Result<compiler::Placed> optimize_and_place(const graph::Graph& model, const Placing& how, compiler::OptimizerOptions& optimizer,
                                            Host& host) {
  compiler::BalancerOptions balancer = how.balancer;
  balancer.hosts_misfits = optimizer.cpu_fallback;
  const compiler::OptimizerOptions asked = optimizer;
  std::vector<Diagnostic> told;
  QuietHost quiet(host);
  for (Host* heard = &host;; heard = &quiet) {
    graph::Graph graph = model;
    BUDA_TRY(compiler::optimize(graph, how.device, optimizer, how.plugins, *heard, how.control));
    BUDA_TRY(how.proceed());
    auto placed = compiler::place(graph::renumbered(graph), how.device, balancer, how.plugins, host);
    BUDA_TRY(how.proceed());
    if (placed || !balancer.hosts_misfits) {
      for (const Diagnostic& d : told) host.report(d);
      return placed;
    }
    const auto misfits = compiler::misfits_of(placed.failure());
    const auto hosted = misfits ? compiler::hosted_ops(*misfits, model) : std::nullopt;
    const auto named = hosted ? compiler::name_for_host(optimizer, *hosted) : std::vector<Diagnostic>{};
    told.insert(told.end(), named.begin(), named.end());
    if (!named.empty()) continue;
    // The host does not help: the model is refused as it was, with what would.
    optimizer = asked;
    balancer.hosts_misfits = false;
    told.clear();
  }
}

}  // namespace

Result<image::Image> compile(const plugin::ModelSource& source, const CompileOptions& options, const plugin::Registries& registries,
                             Host& host) {
  const std::function<Result<void>()> proceed = [&]() -> Result<void> {
    if (!options.cancelled || !options.cancelled()) return success();
    Diagnostic d = input_error("CO001", {source.path}, "the compilation was cancelled");
    d.fault = Fault::interrupted;
    return d;
  };
  const compiler::PluginSet plugins{registries, options.plugins};
  plugin::ImportOptions import = options.import;
  if (import.name.empty()) import.name = compiler::model_name(source.path);
  BUDA_TRY(proceed());
  compiler::BalancerOptions placing = options.balancer;
  if (placing.cluster.empty()) placing.cluster = options.cluster;
  BUDA_ASSIGN(auto named, device::load_device(host, options.device));
  BUDA_ASSIGN(const auto device, compiler::device_in_cluster(std::move(named), placing, host));
  BUDA_TRY(compiler::check_optimizer_options(options.optimizer, host));
  BUDA_TRY(compiler::check_balancer_options(device, placing, plugins, host));
  BUDA_ASSIGN(auto graph, compiler::import_model(source, options.frontend, import, plugins, host));
  BUDA_TRY(compiler::mark_value_ranges(graph, options.value_ranges));
  compiler::OptimizeControl control;
  control.after_pass = [&](const passes::PassRun&, const graph::Graph&) { return proceed(); };
  graph = graph::renumbered(graph);
  BUDA_TRY(proceed());
  compiler::OptimizerOptions optimizer = options.optimizer;
  BUDA_ASSIGN(const bool raises, compiler::asks_for_accuracy(optimizer));
  if (raises) {
    const std::optional<passes::Pipeline> standard;
    BUDA_ASSIGN(optimizer, compiler::raise_accuracy({graph, device, options.optimizer, placing, plugins, standard}, host));
    BUDA_TRY(proceed());
  }
  BUDA_ASSIGN(auto placed, optimize_and_place(graph, {device, placing, plugins, control, proceed}, optimizer, host));
  BUDA_ASSIGN(auto model, compiler::compiled_model(std::move(placed), device, import.name));
  BUDA_ASSIGN(auto epochs, overlay::EpochCompiler::check_and_make(model.program.netlist, device, placing.cluster, host,
                                                                  device::device_label(options.device)));
  BUDA_ASSIGN(model.products.files, compiler::epoch_products(epochs, host, proceed));
  const std::string netlist_name = model.path;
  BUDA_ASSIGN(auto cluster, device::load_cluster(host, device, placing.cluster));
  BUDA_ASSIGN(image::Image image, runtime::make_image(std::move(model), device, cluster, netlist_name));
  image.settings = compiler::settings_in_effect(optimizer, options.plugins);
  image.settings.merge(compiler::settings_in_effect(options.balancer, options.plugins));
  return image;
}

}  // namespace buda
