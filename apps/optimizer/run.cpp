// Reads a graph, runs a pipeline on it, writes it.
#include "apps/optimizer/run.hpp"

#include "apps/optimizer/demand_texts.hpp"
#include "apps/optimizer/demands.hpp"
#include "apps/optimizer/state.hpp"

#include <buda/base/text.hpp>
#include <buda/device/load.hpp>
#include <buda/graph/graph_file.hpp>
#include <buda/ops/infer.hpp>
#include <buda/passes/cpu_fallback.hpp>
#include <buda/passes/listing.hpp>
#include <buda/passes/meaning_check.hpp>
#include <buda/passes/pipeline.hpp>
#include <buda/plugin/decomposition.hpp>

#include <algorithm>
#include <iterator>

namespace buda::optimizer {
namespace {

using passes::PassRun;

Failure as_usage(Failure failure, std::string_view option) {
  for (Diagnostic& d : failure.diagnostics()) {
    d.fault = Fault::usage;
    d.message = cat("option --", option, ": ", d.message);
  }
  return failure;
}

Result<void> list_passes(cli::ToolHost& host) {
  std::size_t width = 0;
  for (const passes::Pass* pass : passes::standard_passes()) width = std::max(width, pass->name.size());
  std::string out;
  for (const passes::Pass* pass : passes::standard_passes()) {
    std::string_view level = pass->level ? graph::level_name(*pass->level) : "any";
    out += cat(pass->name, std::string(width + 2 - pass->name.size(), ' '), level, std::string(8 - level.size(), ' '), pass->summary, '\n');
  }
  return host.fs().write(std::string(io::kStdStream), out);
}

Result<passes::Pipeline> choose_pipeline(const Options& o, cli::ToolHost& host) {
  if (!o.passes.empty()) {
    if (!o.pipeline.empty()) return usage_error("OZ002", "options --passes and --pipeline: give one of them");
    std::vector<std::string> names;
    for (std::string_view name : split(o.passes, ',')) names.emplace_back(trim(name));
    auto pipeline = passes::pipeline_of(names);
    if (!pipeline) return as_usage(std::move(pipeline).failure(), "passes");
    return pipeline;
  }
  return o.pipeline.empty() ? passes::read_default_pipeline(host) : passes::read_pipeline(host.fs(), o.pipeline);
}

// A pipeline without the passes that options switch off. Passes that the user lists himself run.
passes::Pipeline without_switched_off(passes::Pipeline pipeline, const Options& o) {
  if (!o.passes.empty()) return pipeline;
  for (passes::Stage& stage : pipeline.stages)
    std::erase_if(stage.passes, [&](const passes::PassName& name) {
      return (name.text == "constant-folding" && !o.fold_constants) || (name.text == "fuse-ops" && !o.auto_fusing) ||
             (name.text == "small-tiles" && !o.small_tiles) || (name.text == "fracture" && o.fracture_groups.empty()) ||
             (name.text == "insert-buffers" && o.queues.empty() && o.nops.empty()) || (name.text == "tilize-on-device" && !o.device_tilize);
    });
  std::erase_if(pipeline.stages, [](const passes::Stage& stage) { return stage.passes.empty(); });
  return pipeline;
}

Result<void> check_pass_names(const Options& o) {
  Failure failure;
  auto known = [&](const std::string& name, std::string_view option) {
    if (auto pass = passes::require_pass(name); !pass) failure.add(as_usage(std::move(pass).failure(), option));
  };
  if (!o.stop_after.empty()) known(o.stop_after, "stop-after");
  for (const std::string& name : o.print_after)
    if (name != "all") known(name, "print-after");
  if (!failure.empty()) return failure;
  return success();
}

// The switches' rules come first, so that the user's own ones have the last word.
void add_rules(const Options& o, passes::FormatOptions& formats, Failure& failure) {
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
      failure.add(as_usage(std::move(rules).failure(), "configure-mixed-precision"));
      continue;
    }
    for (passes::PrecisionRule& rule : *rules) {
      rule.title = cat("rule ", ++number, " of configure-mixed-precision");
      rule.given_by_user = true;
    }
    add(std::move(*rules));
  }
}

Result<passes::FormatOptions> format_options(const Options& o) {
  passes::FormatOptions formats;
  Failure failure;
  auto format = [&](const std::string& name, std::string_view option) {
    auto f = format_from_name(name);
    if (f) return *f;
    failure.add(as_usage(std::move(f).failure(), option));
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
Result<void> read_demands(const Options& o, passes::PassContext& context) {
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

class Optimizer {
 public:
  Optimizer(const Options& o, cli::ToolHost& host)
      : o_(o), host_(host), context_(host), check_(host, ops::standard_ops(), {o.verify_correlation, o.verify_error}) {}

  Result<void> run() {
    BUDA_TRY(check_pass_names(o_));
    BUDA_ASSIGN(passes::Pipeline pipeline, choose_pipeline(o_, host_));
    pipeline = without_switched_off(std::move(pipeline), o_);
    BUDA_ASSIGN(context_.formats, format_options(o_));
    BUDA_ASSIGN(device::DeviceDescriptor device, device::load_device(host_, o_.device));
    BUDA_ASSIGN(passes::DecompositionSet decompositions, plugin::make_decompositions(host_.plugins, plugin_options(), host_));
    context_.device = &device;
    context_.decompositions = &decompositions;
    context_.fallback = {o_.cpu_fallback, o_.tm_cpu_fallback, o_.tm_cpu_fallback_max_depth};
    BUDA_TRY(read_demands(o_, context_));
    context_.device_tilizes = o_.device_tilize;
    if (o_.bisect_limit >= 0) context_.rewrites = passes::RewriteCounter(static_cast<std::uint64_t>(o_.bisect_limit));

    BUDA_ASSIGN(graph::Graph graph, graph::read_graph(host_.fs(), o_.graph));
    BUDA_TRY(ops::infer_types(graph));
    BUDA_TRY(ops::check(graph));
    BUDA_TRY(mark_state(graph, o_, host_));
    mark_demands(graph, o_, host_);
    if (o_.cpu_fallback) BUDA_TRY(mark_for_host(graph));
    if (!o_.verify && !o_.verify_inputs.empty()) return usage_error("OZ004", "option --verify-inputs needs --verify");
    if (o_.verify) {
      BUDA_ASSIGN(NamedTensors inputs, verify_inputs(graph));
      BUDA_TRY(check_.start(graph, std::move(inputs)));
    }
    if (!o_.dump_dir.empty()) BUDA_TRY(host_.fs().make_directories(o_.dump_dir));
    std::size_t nodes = graph.size();
    BUDA_ASSIGN(std::vector<PassRun> runs, passes::run_pipeline(pipeline, graph, context_, run_options()));
    report(runs, nodes, graph);
    return graph::write_graph(host_.fs(), graph, output_path(o_), host_.write_mode);
  }

 private:
  // Options of this tool that are those of a plugin's rule, unless that one is given itself.
  std::map<std::string, schema::OptionValues> plugin_options() const {
    auto options = host_.plugin_options;
    auto set = [&](const std::string& rule, const std::string& option, std::string value) {
      schema::OptionValues& values = options["decomposition." + rule];
      if (!values.has(option)) values.set(option, std::move(value));
    };
    if (!o_.stable_softmax) set("softmax", "stable", "false");
    if (!o_.conv_prestride) set("conv", "prestride", "false");
    if (o_.pool_surround) set("max_pool", "surround", cat(o_.pool_surround_value));
    return options;
  }

  Result<void> mark_for_host(graph::Graph& graph) {
    if (graph.level != graph::Level::tensor) return success();
    passes::NamedForHost named;
    named.ops = names_in(o_.cpu_fallback_ops);
    named.nodes = o_.cpu_fallback_nodes;
    auto marked = passes::mark_for_host(graph, named, host_);
    if (!marked) return as_usage(std::move(marked).failure(), "cpu-fallback-ops");
    return marked;
  }

  Result<NamedTensors> verify_inputs(const graph::Graph& graph) {
    if (o_.verify_inputs.empty()) return passes::random_inputs(graph, host_.seed);
    return read_tensors(host_.fs(), o_.verify_inputs);
  }

  passes::RunOptions run_options() {
    passes::RunOptions options;
    options.level = *parse_int(o_.level);
    options.stop_after = o_.stop_after;
    options.skip_other_level = o_.passes.empty();
    options.after = [this](const PassRun& run, const graph::Graph& graph) { return after(run, graph); };
    return options;
  }

  Result<void> after(const PassRun& run, const graph::Graph& graph) {
    auto ms = static_cast<std::int64_t>(run.seconds * 1e4 + 0.5);
    host_.log(1, cat(run.pass->name, ": ", run.report.rewrites, " rewrites, ", run.nodes_before, " -> ", run.nodes_after, " nodes, ",
                     ms / 10, '.', ms % 10, " ms"));
    if (!run.report.note.empty()) host_.log(1, run.report.note);
    for (const std::string& name : o_.print_after)
      if (name == "all" || name == run.pass->name)
        host_.log(0, cat("after ", run.pass->name, " (", run.number, "):\n", passes::listing(graph)));
    if (!run.report.changed()) return success();
    if (!o_.dump_dir.empty()) {
      std::string number = cat(run.number);
      number.insert(0, number.size() < 3 ? 3 - number.size() : 0, '0');
      BUDA_TRY(graph::write_graph(host_.fs(), graph, cat(o_.dump_dir, '/', number, '-', run.pass->name, ".graph.json"), host_.write_mode));
    }
    return o_.verify ? check_.after(graph, run.pass->name) : success();
  }

  void report(const std::vector<PassRun>& runs, std::size_t nodes, const graph::Graph& graph) {
    if (o_.timings) host_.log(0, passes::timing_table(runs));
    host_.log(1, cat(nodes, " -> ", graph.size(), " nodes"));
    if (o_.verify) host_.log(1, "every pass kept the meaning of the graph");
    if (o_.bisect_limit < 0) return;
    const passes::RewriteCounter& rewrites = context_.rewrites;
    host_.log(0, cat("rewrites done: ", rewrites.done(), rewrites.done() == 0 ? "" : cat(", the last: ", rewrites.last_done()),
                     rewrites.first_refused().empty() ? "; there are no more" : cat("; the next would be: ", rewrites.first_refused())));
  }

  const Options& o_;
  cli::ToolHost& host_;
  passes::PassContext context_;
  passes::MeaningCheck check_;
};

}  // namespace

Result<void> run(const Options& options, cli::ToolHost& host) {
  if (options.list_passes) return list_passes(host);
  if (options.graph.empty()) return usage_error("CL004", "missing argument: GRAPH");
  return Optimizer(options, host).run();
}

}  // namespace buda::optimizer
