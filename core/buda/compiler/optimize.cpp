// From options to what passes read, and the run.
#include <buda/compiler/optimize.hpp>

#include <buda/base/text.hpp>
#include <buda/compiler/mark_loopbacks.hpp>
#include <buda/compiler/mark_ops.hpp>
#include <buda/compiler/option_values.hpp>
#include <buda/ops/infer.hpp>
#include <buda/passes/cpu_fallback.hpp>
#include <buda/plugin/decomposition.hpp>

#include <algorithm>
#include <iterator>

namespace buda::compiler {
namespace {

// A pipeline without the passes that options switch off.
passes::Pipeline without_switched_off(passes::Pipeline pipeline, const OptimizerOptions& o) {
  for (passes::Stage& stage : pipeline.stages)
    std::erase_if(stage.passes, [&](const passes::PassName& name) {
      return (name.text == "constant-folding" && !o.fold_constants) || (name.text == "fuse-ops" && !o.auto_fusing) ||
             (name.text == "small-tiles" && !o.small_tiles) || (name.text == "fracture" && o.fracture_groups.empty()) ||
             (name.text == "insert-buffers" && o.queues.empty() && o.nops.empty()) || (name.text == "tilize-on-device" && !o.device_tilize);
    });
  std::erase_if(pipeline.stages, [](const passes::Stage& stage) { return stage.passes.empty(); });
  return pipeline;
}

// The switches' rules come first, so that the user's own ones have the last word.
void add_rules(const OptimizerOptions& o, passes::FormatOptions& formats, Failure& failure) {
  bool given = formats.standard && exponent_family(*formats.standard) != ExponentFamily::none;
  ExponentFamily family = given ? exponent_family(*formats.standard) : o.amp_level == "2" ? ExponentFamily::a : ExponentFamily::b;
  auto add = [&](std::vector<passes::PrecisionRule> rules) {
    formats.rules.insert(formats.rules.end(), std::make_move_iterator(rules.begin()), std::make_move_iterator(rules.end()));
  };
  add(passes::amp_level_rules(*parse_int(o.amp_level), family));
  add(passes::amp_light_rules(*parse_int(o.amp_light)));
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

Result<passes::FormatOptions> format_options(const OptimizerOptions& o) {
  passes::FormatOptions formats;
  Failure failure;
  auto format = [&](const std::string& name, std::string_view option) {
    auto f = format_from_name(name);
    if (f) return *f;
    failure.add(schema::usage_errors(option, std::move(f).failure()));
    return DataFormat::invalid;
  };
  if (!o.default_df.empty()) formats.standard = format(o.default_df, "default-df-override");
  formats.fp32_fallback = format(o.fp32_fallback, "fp32-fallback");
  if (!o.default_accumulate_df.empty()) formats.accumulate = format(o.default_accumulate_df, "default-accumulate-df");
  formats.fidelity = graph::fidelity_from_name(o.default_math_fidelity).value_or(graph::MathFidelity::hifi3);
  add_rules(o, formats, failure);
  if (!failure.empty()) return failure;
  return formats;
}

// What passes are to do with edges and with single ops; the texts were checked when the options were read.
Result<void> read_demands(const OptimizerOptions& o, passes::PassContext& context) {
  for (const std::string& text : o.fracture_groups) {
    BUDA_ASSIGN(auto groups, fracture_groups(text));
    for (passes::FractureGroup& group : groups) context.fractures.push_back(std::move(group));
  }
  auto add = [&](std::vector<passes::BufferDemand> demands) {
    for (passes::BufferDemand& demand : demands) context.buffers.push_back(std::move(demand));
  };
  for (const std::string& text : o.nops) {
    BUDA_ASSIGN(auto demands, nop_demands(text));
    add(std::move(demands));
  }
  for (const std::string& text : o.queues) {
    BUDA_ASSIGN(auto demands, queue_demands(text));
    add(std::move(demands));
  }
  return success();
}

// Options that are those of a decomposition rule, unless the rule's own is given.
std::map<std::string, schema::OptionValues> rule_options(const OptimizerOptions& o, std::map<std::string, schema::OptionValues> options) {
  auto set = [&](const std::string& rule, const std::string& option, std::string value) {
    schema::OptionValues& values = options["decomposition." + rule];
    if (!values.has(option)) values.set(option, std::move(value));
  };
  if (!o.stable_softmax) set("softmax", "stable", "false");
  if (!o.conv_prestride) set("conv", "prestride", "false");
  if (o.pool_surround) set("max_pool", "surround", cat(o.pool_surround_value));
  return options;
}

Result<void> mark_for_host(graph::Graph& graph, const OptimizerOptions& o, Host& host) {
  if (graph.level != graph::Level::tensor) return success();
  passes::NamedForHost named;
  named.ops = names_in(o.cpu_fallback_ops);
  named.nodes = o.cpu_fallback_nodes;
  auto marked = passes::mark_for_host(graph, named, host);
  if (!marked) return schema::usage_errors("cpu-fallback-ops", std::move(marked).failure());
  return marked;
}

}  // namespace

Result<Optimized> optimize(graph::Graph& graph, const device::DeviceDescriptor& device, const OptimizerOptions& o, const PluginSet& plugins,
                           Host& host, const OptimizeControl& control) {
  passes::PassContext context(host);
  BUDA_ASSIGN(context.formats, format_options(o));
  BUDA_ASSIGN(passes::DecompositionSet decompositions,
              plugin::make_decompositions(plugins.registries, rule_options(o, plugins.options), host));
  context.device = &device;
  context.decompositions = &decompositions;
  context.fallback = {o.cpu_fallback, o.tm_cpu_fallback, o.tm_cpu_fallback_max_depth};
  BUDA_TRY(read_demands(o, context));
  context.device_tilizes = o.device_tilize;
  context.rewrites = passes::RewriteCounter(control.rewrite_limit);
  passes::Pipeline pipeline;
  if (control.pipeline) {
    pipeline = *control.pipeline;
  } else {
    BUDA_ASSIGN(pipeline, passes::read_default_pipeline(host));
  }
  if (!control.all_passes) pipeline = without_switched_off(std::move(pipeline), o);

  BUDA_TRY(ops::infer_types(graph));
  BUDA_TRY(ops::check(graph));
  BUDA_TRY(mark_loopbacks(graph, o, host));
  mark_ops(graph, o, host);
  if (o.cpu_fallback) BUDA_TRY(mark_for_host(graph, o, host));
  if (control.before_passes) BUDA_TRY(control.before_passes(graph));
  passes::RunOptions run;
  run.level = *parse_int(o.level);
  run.stop_after = control.stop_after;
  run.skip_other_level = !control.all_passes;
  run.after = control.after_pass;
  Optimized out;
  BUDA_ASSIGN(out.runs, passes::run_pipeline(pipeline, graph, context, run));
  out.rewrites = std::move(context.rewrites);
  return out;
}

}  // namespace buda::compiler
