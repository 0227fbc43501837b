// SPDX-License-Identifier: Apache-2.0
// What kind of model it is, and running it.
#include "apps/runner/run.hpp"

#include "apps/runner/expect.hpp"
#include "apps/runner/graph.hpp"
#include "apps/runner/inputs.hpp"
#include "apps/runner/net_test.hpp"
#include "apps/runner/remedy.hpp"
#include "apps/runner/timeline.hpp"
#include "apps/runner/watch.hpp"

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/device/load.hpp>
#include <buda/graph/graph.hpp>
#include <buda/image/device_match.hpp>
#include <buda/image/image.hpp>
#include <buda/io/folder_product.hpp>
#include <buda/io/json.hpp>
#include <buda/io/sha256.hpp>
#include <buda/netlist/check/require_rules.hpp>
#include <buda/perf/products.hpp>
#include <buda/plugin/target.hpp>
#include <buda/runtime/device/open_device.hpp>
#include <buda/runtime/device/timed_calls.hpp>
#include <buda/runtime/device/trace.hpp>
#include <buda/runtime/merged_session.hpp>
#include <buda/runtime/model/model_stimulus.hpp>
#include <buda/runtime/programs/bare_netlist.hpp>
#include <buda/runtime/reference/data_extents.hpp>
#include <buda/runtime/reference/op_accuracy.hpp>
#include <buda/runtime/session.hpp>
#include <buda/runtime/session/netlist_run.hpp>
#include <buda/runtime/session/stimulus.hpp>
#include <buda/telemetry/followed.hpp>
#include <buda/tensor/files/ordered_file.hpp>
#include <buda/tensor/tensor.hpp>
#include <buda/tensor/tensor_file.hpp>

#include <unistd.h>

#include <algorithm>
#include <optional>

namespace buda::runner {
namespace {

enum class Kind { image, netlist, graph };

Kind kind_of(const std::string& path, std::string_view bytes) {
  if (image::looks_like_image(bytes)) return Kind::image;
  if (path.ends_with(".tti")) return Kind::image;
  if (path.ends_with(".json")) return Kind::graph;
  if (path.ends_with(".yaml") || path.ends_with(".yml")) return Kind::netlist;
  std::string_view start = trim(bytes.substr(0, 4096));
  return start.starts_with('{') && start.find("buda.graph/") != std::string_view::npos ? Kind::graph : Kind::netlist;
}

// What users count as inputs: rows along the first axis, where all inputs and outputs of the model have the same number of them.
std::int64_t rows_of_run(const runtime::Session& session) {
  if (session.batches().rows > 0) return session.batches().rows;
  std::int64_t batch = 0;
  for (const auto* ports : {&session.ports().inputs, &session.ports().outputs})
    for (const runtime::Port& port : *ports) {
      const std::int64_t first = port.shape.rank() == 0 ? 1 : port.shape[0];
      if (batch != 0 && first != batch) return 0;
      batch = first;
    }
  return batch;
}

// Rows of zeros that the device has worked on next to so many rows: the last batch is filled up, and so is the last microbatch.
std::int64_t padding_of_run(const runtime::Session& session, std::int64_t rows, std::int64_t batches) {
  const std::int64_t batch = session.batches().rows > 0 ? session.batches().batch : rows;
  return rows > 0 ? std::max<std::int64_t>(batches * batch - rows, 0) : 0;
}

std::vector<std::string> names_of(const std::vector<runtime::Port>& ports) {
  std::vector<std::string> out;
  for (const auto& p : ports) out.push_back(p.tensor->name);
  return out;
}

Side input_side(std::vector<std::string> names) { return {"inputs", "input", std::move(names)}; }

// A user who names no file looks for the outputs; where there are none, what an earlier run has written there stays.
Result<void> write_outputs(const Options& o, const NamedTensors& outputs, const std::vector<std::string>& order, bool have_values,
                           Host& host) {
  const std::string path = output_path(o);
  if (!have_values && o.output.empty()) return success();
  if (path.empty() || (o.output.empty() && outputs.empty())) return success();
  if (o.output.empty()) {
    print_outputs(outputs, order, host);
    host.log(0, cat("outputs written to ", path));
  }
  return write_tensors_in_order(host.fs(), path, outputs, order, host.write_mode);
}

telemetry::Telemetry run_told(const Options& o, const std::string& target) {
  telemetry::Telemetry out;
  out.process = ::getpid();
  out.version = cli::version_text();
  out.target = target;
  out.model = o.model.substr(o.model.rfind('/') + 1);
  return out;
}

// For runs beside the one that was asked for.
class QuietToolHost final : public cli::ToolHost {
 public:
  explicit QuietToolHost(cli::ToolHost& host) : cli::ToolHost(host.fs(), sink_) {
    plugins = host.plugins;
    plugin_options = host.plugin_options;
    share_dir = host.share_dir;
    bin_dir = host.bin_dir;
    threads = host.threads;
    seed = host.seed;
  }

 private:
  CollectingSink sink_;
};

class Runner {  // wide because each kind of model, and each thing that a run can tell, has a step of its own
 public:
  Runner(const Options& o, cli::ToolHost& host) : o_(o), host_(host) {}

  Result<void> run() {
    auto done = run_and_compare();
    if (done || !o_.inputs.empty() || o_.stimulus || o_.test) return done;
    // None is given at all: perhaps it is not known how.
    if (Diagnostic& last = done.failure().diagnostics().back(); last.code == "RT020")
      last.hint = "--inputs FILE.npz gives them, by name; --stimulus draws random ones";
    return done;
  }

 private:
  Result<void> run_and_compare() {
    BUDA_TRY(check_options());
    host_.progress("reading the model", 0, 0);
    BUDA_ASSIGN(auto bytes, host_.fs().read(o_.model));
    const Kind kind = kind_of(o_.model, bytes.view());
    NamedTensors outputs;
    if (kind == Kind::graph) {
      BUDA_ASSIGN(outputs, run_graph(bytes));
    } else {
      if (o_.target == kCpu) return cpu_is_for_graphs(o_.model, kind == Kind::image ? "an image" : "a netlist");
      BUDA_ASSIGN(outputs, run_on_target(kind, bytes));
      if (followed_) BUDA_TRY(followed_->end());
    }
    host_.progress("writing results", 0, 0);
    if (!o_.trace.empty()) BUDA_TRY(host_.fs().write(o_.trace, join(trace_, ""), host_.write_mode));
    if (!o_.perf.empty()) BUDA_TRY(write_times());
    if (host_.timeline != nullptr) add_to_timeline(*host_.timeline, calls_, summary_, recording_);
    if (!o_.accuracy.empty()) BUDA_TRY(write_accuracy());
    if (!o_.dump.empty()) {
      BUDA_ASSIGN(auto dumped, watch_->dumped());
      BUDA_TRY(write_tensors(host_.fs(), o_.dump, dumped, host_.write_mode));
    }
    BUDA_TRY(write_outputs(o_, outputs, output_order_, has_values_, host_));
    if (expected_) {
      auto verdict = compare_outputs(o_, *expected_, outputs, output_order_, host_);
      if (!verdict && can_be_mended(verdict.failure()))
        tell_remedies(
            o_, *expected_, ran_->netlist, ran_->device, [this](const Rerun& how) { return rerun(how); }, host_);
      if (!verdict) return verdict;
    }
    if (reference_) return compare_with_reference(tested_, test_config_, outputs, *reference_, host_);
    return success();
  }

  Result<void> write_times() {
    if (!summary_) return success();  // it has been said
    BUDA_ASSIGN(auto folder,
                io::FolderProduct::begin(host_.fs(), o_.perf, {.entry = "summary.json", .adds = false, .mode = host_.write_mode}));
    BUDA_TRY(perf::write_products(
        *summary_, recording_, [&](const perf::Product& product) { return folder->write(product.path, product.content); }, digest_));
    return folder->commit();
  }

  // On golden, which computes with the formats of any netlist. No format gives a correlation with a constant tensor.
  bool can_be_mended(const Failure& failure) const {
    if (!ran_ || (!o_.target.empty() && o_.target != "golden") || host_.options_of(plugin::Kind::target, "golden").text("mode") == "fp32")
      return false;
    return std::all_of(failure.diagnostics().begin(), failure.diagnostics().end(), [](const Diagnostic& d) {
      const bool never = d.code == "RN006" || d.code == "TN040" ||
                         std::any_of(d.data.begin(), d.data.end(), [](const auto& entry) { return entry.first == "constant"; });
      return d.severity != Severity::error || (d.fault == Fault::mismatch && !never);
    });
  }

  Result<RerunResults> rerun(const Rerun& how) {
    QuietToolHost quiet_host(host_);
    if (how.fp32) quiet_host.plugin_options["target.golden"].set("mode", "fp32");
    Options quiet;
    quiet.model = o_.model, quiet.inputs = o_.inputs, quiet.device = o_.device, quiet.plan = o_.plan;
    quiet.bare = o_.bare, quiet.stimulus = o_.stimulus || o_.test, quiet.rounds = o_.rounds;
    Runner other(quiet, quiet_host);
    other.change_ = how.change;
    if (how.with_ops) other.watch_.emplace(std::vector<std::string>{}, true, nullptr);
    BUDA_ASSIGN(const auto bytes, host_.fs().read(o_.model));
    RerunResults out;
    BUDA_ASSIGN(out.outputs, other.run_on_target(kind_of(o_.model, bytes.view()), bytes));
    if (how.with_ops) {
      BUDA_ASSIGN(out.ops, other.data_of_ops(*other.watch_));
    }
    return out;
  }

  // A second run, in fp32, tells what each op would have made without rounding.
  Result<void> write_accuracy() {
    BUDA_ASSIGN(const NamedTensors in_formats, data_of_ops(*watch_));
    host_.progress("running in fp32", 0, 0);
    Options quiet;
    quiet.model = o_.model, quiet.of_image = o_.of_image, quiet.inputs = o_.inputs, quiet.device = o_.device, quiet.plan = o_.plan;
    quiet.bare = o_.bare, quiet.stimulus = o_.stimulus, quiet.rounds = o_.rounds, quiet.programs = o_.programs, quiet.params = o_.params;
    const auto given = host_.plugin_options;
    host_.plugin_options["target.golden"].set("mode", "fp32");
    auto in_fp32 = Runner(quiet, host_).op_results();
    host_.plugin_options = given;
    if (!in_fp32) return std::move(in_fp32).failure();
    BUDA_ASSIGN(const NamedTensors exact, runtime::data_only(*in_fp32, extents_));
    BUDA_ASSIGN(auto accuracy, runtime::accuracy_of(exact, in_formats, o_.model.substr(o_.model.rfind('/') + 1)));
    accuracy.netlist_digest = digest_;
    return host_.fs().write(o_.accuracy, io::json_pretty(schema::write(accuracy)), host_.write_mode);
  }

  // Without what fills up tiles.
  Result<NamedTensors> data_of_ops(const Watch& watch) const {
    BUDA_ASSIGN(const NamedTensors all, watch.dumped());
    return runtime::data_only(all, extents_);
  }

  // What every op makes.
  Result<NamedTensors> op_results() {
    watch_.emplace(std::vector<std::string>{}, true, nullptr);
    BUDA_TRY(check_options());
    BUDA_ASSIGN(auto bytes, host_.fs().read(o_.model));
    BUDA_TRY(run_on_target(kind_of(o_.model, bytes.view()), bytes));
    return watch_->dumped();
  }

  Result<void> check_options() {
    for (const std::string& path : {o_.output, o_.dump})
      if (!path.empty()) BUDA_TRY(check_tensor_path(path));
    if (o_.expect.empty() && (o_.pcc || o_.rtol || o_.atol || o_.max_error || o_.mean_error || o_.same_type))
      return usage_error("RN001", "limits of a comparison need --expect FILE, the tensors to compare with");
    if (o_.rounds > 1 && !o_.stimulus) return usage_error("RN001", "option --rounds counts the inputs of --stimulus, which is not given");
    if (!o_.dump_ops.empty() && o_.dump.empty()) return usage_error("RN001", "option --dump-op needs --dump FILE");
    if (!o_.accuracy.empty() && !o_.target.empty() && o_.target != "golden")
      return usage_error("RN001", cat("option --accuracy: target '", o_.target, "' does not tell what ops make; golden does"));
    if (!o_.accuracy.empty() && (!o_.dump_ops.empty() || o_.model == io::kStdStream))
      return usage_error("RN001", "option --accuracy runs the model twice and compares all ops: no --dump-op, and no standard input");
    const bool every_op = !o_.accuracy.empty() || (!o_.dump.empty() && o_.dump_ops.empty());
    if (!o_.dump.empty() || !o_.trace.empty() || every_op) watch_.emplace(o_.dump_ops, every_op, o_.trace.empty() ? nullptr : &trace_);
    params_.programs = o_.programs;
    params_.sink = o_.perf.empty() && host_.timeline == nullptr ? nullptr : &recording_;
    params_.level = static_cast<perf::Level>(o_.perf_level.front() - '0');
    params_.observer = watch_ ? &*watch_ : nullptr;
    for (const auto& text : o_.params) {
      auto equal = text.find('=');
      auto value = equal == std::string::npos ? std::nullopt : parse_int(text.substr(equal + 1));
      if (!value || equal == 0) return usage_error("RN001", cat("option --param: '", text, "' is not NAME=VALUE with an integer"));
      params_.parameters[text.substr(0, equal)] = *value;
    }
    return success();
  }

  Result<NamedTensors> run_graph(const io::Bytes& bytes) {
    if (!o_.target.empty() && o_.target != kCpu) {
      Diagnostic d = usage_error("RN001", cat("option --target: '", o_.model, "' is a graph, which only target cpu evaluates"));
      d.hint = "compile it first: buda compile";
      return d;
    }
    if (!o_.accuracy.empty())
      return usage_error("RN001", "option --accuracy: a graph runs without a device; compare it with --formats exact");
    if (!o_.dump.empty() || o_.test || !o_.programs.empty())
      return usage_error("RN001", "options --dump, --test and --program are for netlists; a graph runs without a device");
    if (!o_.streams.empty()) return usage_error("RN001", "option --streams: a graph runs without a device, and has no stream programs");
    if (!o_.telemetry.empty())
      return usage_error("RN001", "option --telemetry: a graph runs without a device, of which nothing can be told");
    if (!o_.trace.empty()) return usage_error("RN001", "option --trace: a graph runs without a device, so there is nothing to trace");
    const auto arithmetic = o_.formats == "exact"      ? runtime::Arithmetic::exact
                            : o_.formats == "bfloat16" ? runtime::Arithmetic::bfloat16
                                                       : runtime::Arithmetic::fp32;
    auto read_inputs = [&](const graph::Graph& graph, std::vector<std::string> names) -> Result<NamedTensors> {
      BUDA_TRY(expect_of(names_of_outputs(graph)));
      BUDA_ASSIGN(auto inputs, read_named(host_, o_.inputs, input_side(std::move(names))));
      if (!o_.stimulus) return inputs;
      BUDA_ASSIGN(auto drawn, runtime::draw_inputs(graph, o_.model, inputs, host_.seed));
      inputs.merge(drawn);
      return inputs;
    };
    BUDA_ASSIGN(auto done, evaluate_graph(bytes, o_.model, arithmetic, read_inputs, host_));
    output_order_ = std::move(done.outputs);
    tell(done.run.batches);
    return std::move(done.run.outputs);
  }

  Result<NamedTensors> run_on_target(Kind kind, const io::Bytes& bytes) {
    if (o_.formats != "fp32")
      return usage_error("RN001", "option --formats is for graphs; targets have options of their own, as --set target.golden.mode=exact");
    const std::string name = o_.target.empty() ? "golden" : o_.target;
    BUDA_ASSIGN(target_, plugin::make(host_.plugins, host_.plugins.targets, plugin::Kind::target, name,
                                      host_.options_of(plugin::Kind::target, name), host_));
    if (!o_.streams.empty()) {
      if (!target_->needs().streams)
        return usage_error("RN001", cat("option --streams: target '", name, "' executes the netlist itself, and no stream programs"));
      BUDA_ASSIGN(products_, runtime::read_products(host_.fs(), o_.streams));
    }
    if (host_.timeline != nullptr) timed_ = runtime::with_timed_calls(*target_, calls_);
    if (!o_.trace.empty()) tracer_ = runtime::traced(used_target(), trace_);
    if (!o_.telemetry.empty()) followed_.emplace(used_target(), run_told(o_, name), o_.telemetry);
    if (kind == Kind::image) {
      BUDA_ASSIGN(auto image, image::read_image(bytes, o_.model));
      if (!o_.of_image.empty()) return run_one_of(std::move(image));
      BUDA_ASSIGN(auto model, runtime::load_image(o_.model, std::move(image)));
      return run_model(std::move(model));
    }
    if (!o_.of_image.empty()) return usage_error("RN001", "option --model: only an image holds several models");
    const std::string plan = !o_.plan.empty() ? o_.plan : host_plan::plan_file_for(o_.model);
    if (!o_.bare && o_.programs.empty() && (!o_.plan.empty() || (o_.model != io::kStdStream && host_.fs().exists(plan)))) {
      BUDA_ASSIGN(auto model, runtime::load_planned(host_, o_.model, plan));
      return run_model(std::move(model));
    }
    return run_bare(bytes);
  }

  // Of a netlist beside its plan, where every rule of another architecture would have something to say.
  Result<void> check_architecture(const netlist::Netlist& netlist, const device::DeviceDescriptor& device) const {
    if (netlist.arch.empty() || netlist.arch == device.arch) return success();
    Diagnostic d = usage_error("RN012", cat("option --device: '", o_.model, "' is for architecture ", netlist.arch, ", and device '",
                                            o_.device, "' has ", device.arch));
    d.hint = "leave --device out, or compile the model for that device";
    return d;
  }

  Result<void> check_planned() const {
    if (!o_.programs.empty()) return usage_error("RN001", "option --program is for bare netlists");
    if (params_.parameters.empty()) return success();
    Diagnostic d =
        usage_error("RN001", "option --param: the host plan gives the programs their parameters; only a bare netlist takes others");
    d.hint = "--bare runs a netlist without its plan";
    return d;
  }

  Result<NamedTensors> run_model(runtime::Model model) {
    BUDA_TRY(check_planned());
    BUDA_ASSIGN(auto device, descriptor(model.plan.device, model.device));
    if (model.device) BUDA_TRY(image::check_same_device(*model.device, device, model.path, o_.device));
    BUDA_TRY(check_architecture(model.program.netlist, device));
    if (model.uses_device()) BUDA_TRY(netlist::require_rules(model.program.netlist, device, host_));
    if (!products_.files.empty()) model.products = std::move(products_);
    digest_ = io::sha256_hex(model.text.view());
    if (change_) change_(model.program.netlist);
    if (watch_) extents_ = runtime::data_extents(model.program.netlist, model.plan, model.parameters);
    if (!o_.expect.empty()) ran_ = Ran{model.program.netlist, device};
    BUDA_ASSIGN(auto inputs, inputs_of(model));
    if (o_.test) BUDA_TRY(run_model_reference());
    BUDA_ASSIGN(auto session, runtime::Session::open(std::move(model), used_target(), device, host_));
    return run_session(*session, inputs);
  }

  // One model of a merged image; the device holds all of them.
  Result<NamedTensors> run_one_of(image::Image image) {
    BUDA_TRY(check_planned());
    if (o_.test) return usage_error("RN001", "option --test is for netlists and images of one model");
    BUDA_ASSIGN(auto models, runtime::load_models(o_.model, std::move(image)));
    BUDA_ASSIGN(auto device, descriptor(models.whole.plan.device, models.whole.device));
    if (models.whole.device) BUDA_TRY(image::check_same_device(*models.whole.device, device, o_.model, o_.device));
    BUDA_TRY(netlist::require_rules(models.whole.program.netlist, device, host_));
    if (!products_.files.empty()) models.whole.products = std::move(products_);
    std::optional<NamedTensors> inputs;
    for (const runtime::Model& model : models.models)
      if (model.plan.model == o_.of_image) {
        BUDA_ASSIGN(inputs, inputs_of(model));
      }
    BUDA_ASSIGN(auto merged, runtime::MergedSession::open(std::move(models), used_target(), device, host_));
    BUDA_ASSIGN(runtime::Session * session, merged->session(o_.of_image));
    return run_session(*session, *inputs);
  }

  // What is wrong with --expect is told before the run, which may take long.
  Result<void> expect_of(const std::vector<std::string>& outputs) {
    if (o_.expect.empty()) return success();
    BUDA_ASSIGN(expected_, read_expected(o_, outputs, host_));
    return success();
  }

  Result<NamedTensors> inputs_of(const runtime::Model& model) {
    std::vector<std::string> names;
    for (const auto& output : model.plan.outputs) names.push_back(output.name);
    BUDA_TRY(expect_of(names));
    names.clear();
    for (const auto& input : model.plan.inputs) names.push_back(input.name);
    BUDA_ASSIGN(auto inputs, read_named(host_, o_.inputs, input_side(std::move(names))));
    if (o_.stimulus || o_.test) BUDA_TRY(add_drawn(model, inputs));
    return inputs;
  }

  // What no file gives.
  Result<void> add_drawn(const runtime::Model& model, NamedTensors& inputs) {
    BUDA_ASSIGN(auto drawn, runtime::draw_inputs(model, inputs, o_.rounds, host_.seed));
    inputs.merge(drawn);
    return success();
  }

  Result<NamedTensors> run_session(runtime::Session& session, const NamedTensors& inputs) {
    if (watch_ && (session.device() == nullptr || !session.device()->observe(*watch_)))
      host_.report(warning("RT024", {}, "no device of this run reports intermediate results: nothing is dumped or traced"));
    look_at(session.device());
    if (params_.sink != nullptr && session.device() != nullptr) session.device()->record(*params_.sink, params_.level);
    output_order_ = names_of(session.ports().outputs);
    BUDA_ASSIGN(auto outputs, session.run(inputs));
    tell(session.batches());
    tell(session.telemetry());
    if (session.device() != nullptr) summary_ = session.device()->summary();
    if (summary_) {
      const std::int64_t rows = rows_of_run(session);
      summary_->set_rows(rows, padding_of_run(session, rows, summary_->inputs));
    }
    return outputs;
  }

  Result<NamedTensors> run_bare(const io::Bytes& bytes) {
    std::optional<device::DeviceDescriptor> named;
    if (!o_.device.empty()) {
      BUDA_ASSIGN(named, device::load_device(host_, o_.device));
    } else if (const auto* fixed = target_->describe()) {
      named = *fixed;
    }
    digest_ = io::sha256_hex(bytes.view());
    BUDA_ASSIGN(auto bare, runtime::load_bare_netlist(host_, bytes.view(), o_.model, std::move(named)));
    runtime::Program program;
    program.netlist = std::move(bare.netlist);
    const device::DeviceDescriptor& device = bare.device;
    std::vector<std::string> wanted;
    for (const auto* q : runtime::input_queues(program.netlist)) wanted.push_back(q->name);
    BUDA_TRY(check_dump_ops(program.netlist));
    std::vector<std::string> made;
    for (const auto* q : runtime::output_queues(program.netlist)) made.push_back(q->name);
    BUDA_TRY(expect_of(made));
    BUDA_ASSIGN(auto inputs, read_named(host_, o_.inputs, input_side(std::move(wanted))));
    if (o_.stimulus || o_.test) BUDA_TRY(add_stimulus(program.netlist, inputs));
    BUDA_TRY(runtime::complete_program(program, target_->needs(), products_, device, host_));
    if (o_.test) BUDA_TRY(run_reference(program, device, inputs));
    runtime::NetlistRunOptions told = params_;
    told.opened = [this](const runtime::Device& opened) { look_at(&opened); };
    BUDA_ASSIGN(auto done, runtime::run_netlist(program, used_target(), device, inputs, told, host_));
    tell(done.telemetry);
    summary_ = std::move(done.summary);
    return std::move(done.outputs);
  }

  Result<void> check_dump_ops(const netlist::Netlist& netlist) {
    std::vector<std::string> known;
    for (const auto& graph : netlist.graphs)
      for (const auto& op : graph.ops) known.push_back(op.name);
    for (const auto& name : o_.dump_ops) {
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      Diagnostic d = input_error("RN007", {o_.model}, cat("option --dump-op: the netlist has no op '", name, "'"));
      if (auto near = nearest_word(name, known)) d.hint = cat("did you mean '", *near, "'?");
      return d;
    }
    return success();
  }

  // Draws what no file gives; parameters without a value are 1 from here on.
  Result<void> add_stimulus(const netlist::Netlist& netlist, NamedTensors& inputs) {
    BUDA_ASSIGN(test_config_, runtime::read_test_config(netlist));
    for (const auto& program : netlist.programs)
      for (const auto& instruction : program.instructions)
        if (const auto* param = std::get_if<netlist::instruction::Param>(&instruction.what))
          for (const auto& name : param->names)
            if (params_.parameters.count(name) == 0 && params_.parameters.count(name.substr(1)) == 0) params_.parameters[name] = 1;
    BUDA_ASSIGN(auto entries, runtime::entries_read(netlist, params_));
    BUDA_ASSIGN(auto drawn, runtime::stimulate(netlist, test_config_, host_.seed, entries));
    for (auto& [name, tensor] : drawn) inputs.emplace(name, std::move(tensor));
    return success();
  }

  Result<void> run_reference(const runtime::Program& program, const device::DeviceDescriptor& device, const NamedTensors& inputs) {
    schema::OptionValues fp32;
    fp32.set("mode", "fp32");
    BUDA_ASSIGN(auto golden, plugin::make(host_.plugins, host_.plugins.targets, plugin::Kind::target, "golden", fp32, host_));
    runtime::NetlistRunOptions options = params_;
    options.observer = nullptr;
    BUDA_ASSIGN(auto done, runtime::run_netlist(program, *golden, device, inputs, options, host_));
    reference_ = std::move(done.outputs);
    tested_ = program.netlist;
    return success();
  }

  // Of a model, whose weights and constants are not drawn.
  Result<void> run_model_reference() {
    if (o_.model == io::kStdStream) return usage_error("RN001", "option --test runs the model twice: it cannot be standard input");
    BUDA_ASSIGN(auto done, rerun({.fp32 = true}));
    reference_ = std::move(done.outputs);
    return success();
  }

  Result<device::DeviceDescriptor> descriptor(const std::string& name, std::optional<device::DeviceDescriptor> own) {
    if (!o_.device.empty()) return device::load_device(host_, o_.device);
    if (own) return *own;
    if (const auto* fixed = target_->describe()) return *fixed;
    auto device = device::load_device(host_, name);
    if (!device)
      for (auto& d : device.failure().diagnostics()) {
        d.fault = Fault::input;  // of the image or the netlist
        d.hint = "name the device with --device NAME|FILE";
      }
    return device;
  }

  runtime::Target& used_target() {
    if (followed_) return *followed_;
    if (tracer_) return *tracer_;
    return timed_ ? *timed_ : *target_;
  }

  // Before the run, which may take long.
  void look_at(const runtime::Device* device) {
    has_values_ = device == nullptr || device->has_values();
    if (o_.perf.empty() || (device != nullptr && device->clock())) return;
    Diagnostic d = warning("RN008", {}, "no device of this run simulates time: nothing is written to the folder of --perf");
    d.hint = "--target grid";
    host_.report(d);
  }

  void tell(const runtime::Batches& batches) {
    if (batches.rows != 0) host_.report(note("RN005", {}, batches.text()));
  }
  void tell(const runtime::Telemetry& telemetry) {
    for (const auto& [name, value] : telemetry) host_.log(1, cat(name, ": ", value));
  }

  const Options& o_;
  cli::ToolHost& host_;
  runtime::NetlistRunOptions params_;
  std::vector<std::string> output_order_;  // as the model has them; empty: by name
  runtime::Trace trace_;
  bool has_values_ = true;  // of the device
  std::optional<perf::Summary> summary_;
  perf::Recording recording_;
  std::optional<Watch> watch_;
  runtime::Products products_;  // of --streams
  runtime::TestConfig test_config_;
  std::map<std::string, runtime::DataExtent> extents_;  // of a model's ops, where they are watched
  struct Ran {
    netlist::Netlist netlist;
    device::DeviceDescriptor device;
  };
  std::string digest_;                             // of the netlist's text, where it is one model's
  std::optional<NamedTensors> expected_;           // of --expect
  std::optional<Ran> ran_;                         // a model, with --expect
  std::function<void(netlist::Netlist&)> change_;  // of a run beside another one
  netlist::Netlist tested_;                        // with --test
  std::optional<NamedTensors> reference_;          // what --test expects
  std::unique_ptr<runtime::Target> target_;
  std::vector<runtime::TimedCall> calls_;  // with --timeline
  std::unique_ptr<runtime::Target> timed_;
  std::unique_ptr<runtime::Target> tracer_;
  std::optional<telemetry::FollowedTarget> followed_;
};

}  // namespace

Result<void> run(const Options& options, cli::ToolHost& host) { return Runner(options, host).run(); }

}  // namespace buda::runner
