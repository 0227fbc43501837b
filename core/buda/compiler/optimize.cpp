// SPDX-License-Identifier: Apache-2.0
// From options to what passes read, and the run.
#include <buda/compiler/optimize.hpp>

#include <buda/base/text.hpp>
#include <buda/compiler/accuracy/raise_accuracy.hpp>
#include <buda/compiler/idle_options.hpp>
#include <buda/compiler/mark_loopbacks.hpp>
#include <buda/compiler/mark_ops.hpp>
#include <buda/compiler/option_values.hpp>
#include <buda/compiler/pass_switches.hpp>
#include <buda/graph/tags/training.hpp>
#include <buda/ops/rows/mixed_rows.hpp>
#include <buda/ops/whole_graph/infer.hpp>
#include <buda/passes/host/cpu_fallback.hpp>
#include <buda/plugin/decomposition.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace buda::compiler {
namespace {

// The switches' rules come first, so that the user's own ones have the last word.
void add_rules(const OptimizerOptions& o, passes::FormatOptions& formats, Failure& failure) {
  bool given = formats.standard && exponent_family(*formats.standard) != ExponentFamily::none;
  ExponentFamily family = given ? exponent_family(*formats.standard) : o.amp_level == 2 ? ExponentFamily::a : ExponentFamily::b;
  auto add = [&](std::vector<passes::PrecisionRule> rules) {
    formats.rules.insert(formats.rules.end(), std::make_move_iterator(rules.begin()), std::make_move_iterator(rules.end()));
  };
  add(passes::amp_level_rules(o.amp_level, family));
  add(passes::amp_light_rules(o.amp_light));
  if (o.bfp8_conversion) add(passes::bfp8_conversion_rules());
  std::size_t number = 0;
  for (const std::string& text : o.mixed_precision) {
    auto rules = passes::parse_precision_rules(text);
    if (!rules) {
      failure.add(schema::usage_errors("configure-mixed-precision", std::move(rules).failure()));
      continue;
    }
    for (passes::PrecisionRule& rule : *rules) {
      rule.title = cat("rule ", ++number, " of configure-mixed-precision");
      rule.given_by_user = true;
    }
    add(std::move(*rules));
  }
}

// Whether a program filled the options in with values that a command line could have given.
Result<void> check_values(OptimizerOptions options) {
  schema::OptionSet set;
  declare(set, options);
  return set.check_present();
}

Result<passes::FormatOptions> format_options(const OptimizerOptions& o) {
  passes::FormatOptions formats;
  Failure failure;
  formats.standard = o.default_df;
  formats.fp32_fallback = o.fp32_fallback;
  formats.accumulate = o.default_accumulate_df;
  formats.fidelity = o.default_math_fidelity;
  add_rules(o, formats, failure);
  if (!failure.empty()) return failure;
  return formats;
}

passes::SavedOptions saved_options(const OptimizerOptions& o) {
  constexpr double kMegabyte = 1e6;
  passes::SavedOptions out;
  out.recompute = o.enable_recompute ? passes::Recompute::segments : static_cast<passes::Recompute>(o.recompute);
  if (o.saved_limit > 0) out.limit = std::llround(o.saved_limit * kMegabyte);
  return out;
}

// What passes are to do with edges and with single ops; the texts were checked when the options were read.
Result<void> read_buffer_requests(const OptimizerOptions& o, passes::PassContext& context) {
  for (const std::string& text : o.fracture_groups) {
    BUDA_ASSIGN(auto groups, fracture_groups(text));
    for (passes::FractureGroup& group : groups) context.fractures.push_back(std::move(group));
  }
  auto add = [&](std::vector<passes::BufferRequest> requests) {
    for (passes::BufferRequest& request : requests) context.buffers.push_back(std::move(request));
  };
  for (const std::string& text : o.nops) {
    BUDA_ASSIGN(auto requests, nop_requests(text));
    add(std::move(requests));
  }
  for (const std::string& text : o.queues) {
    BUDA_ASSIGN(auto requests, queue_requests(text));
    add(std::move(requests));
  }
  return success();
}

// Options of plugins, with those of ours added that a decomposition's rule carries out. An option that is given for the rule itself
// counts more.
std::map<std::string, schema::OptionValues> rule_options(const OptimizerOptions& o, const PluginSet& plugins, Host& host) {
  auto out = plugins.options;
  auto set = [&](std::string_view option, const std::string& rule, const std::string& name, std::string value) {
    if (plugins.registries.decompositions.find(rule) == nullptr) {
      host.report(warning("OZ009", {}, cat("option --", option, " has no effect: no plugin offers the decomposition '", rule, '\'')));
      return;
    }
    schema::OptionValues& values = out["decomposition." + rule];
    if (!values.has(name)) values.set(name, std::move(value));
  };
  for (const char* rule : {"softmax", "log_softmax"})
    if (!o.stable_softmax) set("enable-stable-softmax", rule, "stable", "false");
  if (!o.conv_prestride) set("enable-conv-prestride", "conv", "prestride", "false");
  for (const char* rule : {"max_pool", "max_pool_indices"})
    if (o.pool_surround) set("max-pool-add-sub-surround", rule, "surround", cat(o.pool_surround_value));
  return out;
}

// The passes that run: those of the caller's pipeline or of the default one, as options and level select them.
Result<passes::Pipeline> choose_passes(const OptimizerOptions& o, const OptimizeControl& control, Host& host) {
  passes::Pipeline pipeline;
  if (control.pipeline) {
    pipeline = *control.pipeline;
  } else {
    BUDA_ASSIGN(pipeline, passes::read_default_pipeline(host));
  }
  auto switches = pass_switches(o);
  if (!control.all_passes) pipeline = switched(std::move(pipeline), o.level, switches);
  for (const Diagnostic& d : idle_options(o, switches, pipeline)) host.report(d);
  return pipeline;
}

// Options of training steps, where the graph is none.
void report_idle_recompute(const OptimizerOptions& o, const graph::Graph& graph, Host& host) {
  const auto ids = graph.ids();
  const bool is_step = graph.level == graph::Level::device || std::any_of(ids.begin(), ids.end(), [&](graph::NodeId id) {
                         const auto& tags = graph.node(id).tags;
                         const auto phase = tags.find(graph::kPhase);
                         return phase != tags.end() && phase->second == graph::kPhaseBackward;
                       });
  if (is_step) return;
  for (const auto& [option, is_given] : {std::pair{"recompute", o.recompute != 0}, std::pair{"enable-recompute", o.enable_recompute},
                                         std::pair{"saved-limit", o.saved_limit > 0}})
    if (is_given) host.report(warning("OZ009", {}, cat("option --", option, " has no effect: the graph is not a training step")));
}

// Gives the names of nodes that decompositions may make.
Result<std::vector<std::string>> mark_for_host(graph::Graph& graph, const OptimizerOptions& o) {
  if (graph.level != graph::Level::tensor) return std::vector<std::string>{};
  passes::NamedForHost named;
  named.ops = names_in(o.cpu_fallback_ops);
  named.nodes = o.cpu_fallback_nodes;
  auto marked = passes::mark_for_host(graph, named);
  if (!marked) return schema::usage_errors("cpu-fallback-ops", std::move(marked).failure());
  return marked;
}

}  // namespace

Result<void> check_optimizer_options(const OptimizerOptions& o, Host& host) {
  passes::PassContext context(host);
  BUDA_TRY(check_values(o));
  BUDA_TRY(format_options(o));
  BUDA_TRY(asks_for_accuracy(o));
  BUDA_TRY(read_buffer_requests(o, context));
  Failure failure;
  for (const std::string& name : names_in(o.cpu_fallback_ops)) {
    graph::Graph nothing;
    if (auto known = passes::mark_for_host(nothing, {{name}, {}}); !known)
      failure.add(schema::usage_errors("cpu-fallback-ops", std::move(known).failure()));
  }
  if (!failure.empty()) return failure;
  return success();
}

Result<Optimized> optimize(graph::Graph& graph, const device::DeviceDescriptor& device, const OptimizerOptions& o, const PluginSet& plugins,
                           Host& host, const OptimizeControl& control) {
  passes::PassContext context(host);
  BUDA_TRY(check_values(o));
  BUDA_ASSIGN(context.formats, format_options(o));
  BUDA_ASSIGN(passes::DecompositionSet decompositions,
              plugin::make_decompositions(plugins.registries, rule_options(o, plugins, host), host));
  context.device = &device;
  context.decompositions = &decompositions;
  context.fallback = {o.cpu_fallback, o.tm_cpu_fallback, o.tm_cpu_fallback_max_depth, {}};
  context.quantized = o.quantized;
  context.saved = saved_options(o);
  BUDA_TRY(read_buffer_requests(o, context));
  context.device_tilizes = o.device_tilize;
  context.rewrites = passes::RewriteCounter(control.rewrite_limit);
  BUDA_ASSIGN(passes::Pipeline pipeline, choose_passes(o, control, host));
  report_idle_recompute(o, graph, host);
  BUDA_TRY(ops::infer_types(graph));
  BUDA_TRY(ops::check(graph));
  BUDA_TRY(mark_loopbacks(graph, o, host));
  mark_ops(graph, o, host);
  ops::mark_mixed_rows(graph);
  if (o.cpu_fallback) {
    BUDA_ASSIGN(context.fallback.nodes, mark_for_host(graph, o));
  }
  if (control.before_passes) BUDA_TRY(control.before_passes(graph));
  passes::RunOptions run;
  run.level = o.level;
  run.stop_after = control.stop_after;
  run.skip_other_level = !control.all_passes;
  run.after = control.after_pass;
  Optimized out;
  BUDA_ASSIGN(out.runs, passes::run_pipeline(pipeline, graph, context, run));
  out.rewrites = std::move(context.rewrites);
  if (graph.level == graph::Level::device) graph.tags[kLoweredFor] = device.name;
  return out;
}

}  // namespace buda::compiler
