// SPDX-License-Identifier: Apache-2.0
// The suite of targets: the protocol of queues, and the outputs of sample models.
#include "apps/plugin-check/checks.hpp"
#include "apps/plugin-check/models.hpp"
#include "apps/plugin-check/target_protocol.hpp"

#include <buda/balance/emit/plan_builder.hpp>
#include <buda/base/text.hpp>
#include <buda/compiler/optimize.hpp>
#include <buda/compiler/place.hpp>
#include <buda/device/load.hpp>
#include <buda/host_plan/host_plan.hpp>
#include <buda/io/memory_file_system.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/passes/pipeline/equivalence_check.hpp>
#include <buda/runtime/session.hpp>
#include <buda/tensor/check/compare.hpp>
#include <buda/tensor/tensor.hpp>
#include <buda/tensor/tensor_file.hpp>

#include <algorithm>

namespace buda::plugin_check {
namespace {

using runtime::Model;
using runtime::Target;

// A model and what it computes.
struct Sample {
  graph::Graph graph;
  Model model;
  NamedTensors inputs, expected;
};

class TargetSuite {
 public:
  TargetSuite(const std::string& name, const Bench& bench, Suite& suite)
      : name_(name), bench_(bench), suite_(suite), plugins_{bench.registries, bench.host.plugin_options} {}

  void run() {
    auto made = make();
    if (!made) {
      suite_.check("it can be made with its defaults", std::move(made).failure());
      return;
    }
    target_ = std::move(*made);
    if (auto chosen = choose_device(); !chosen) {
      suite_.check("there is a device to run on", chosen);
      return;
    }
    if (!check_protocol(*target_, device_, bench_.options.values, bench_.host, suite_)) return;
    if (auto samples = make_samples(); !samples) {
      suite_.check("sample models are compiled", samples);
      return;
    }
    suite_.check("a run gives as many outputs as the model has, again and again", each(&TargetSuite::runs));
    if (bench_.options.values)
      suite_.check(cat("outputs correlate with the reference by at least ", bench_.options.min_correlation), each(&TargetSuite::computes));
    else
      suite_.skip("outputs correlate with the reference", "--values=false");
  }

 private:
  Result<std::unique_ptr<Target>> make() const {
    const plugin::Registries& all = bench_.registries;
    return plugin::make(all, all.targets, plugin::Kind::target, name_, bench_.host.options_of(plugin::Kind::target, name_), bench_.host);
  }

  Result<void> choose_device() {
    if (const auto* own = target_->describe()) {
      device_ = *own;
    } else {
      BUDA_ASSIGN(device_, device::load_device(bench_.host, bench_.options.device));
    }
    return success();
  }

  Result<void> make_samples() {
    BUDA_ASSIGN(std::vector<graph::Graph> models, sample_models());
    for (graph::Graph& graph : models) {
      Sample sample;
      BUDA_ASSIGN(sample.inputs, passes::random_inputs(graph, bench_.host.seed));
      BUDA_ASSIGN(sample.expected, ops::evaluate_graph(graph, sample.inputs));
      BUDA_ASSIGN(sample.model, compiled(graph));
      sample.graph = std::move(graph);
      samples_.push_back(std::move(sample));
    }
    return success();
  }

  // Netlist and plan, by way of files in memory.
  Result<Model> compiled(const graph::Graph& model) {
    graph::Graph graph = model;
    BUDA_TRY(compiler::optimize(graph, device_, {}, plugins_, bench_.host));
    BUDA_ASSIGN(auto placed, compiler::place(std::move(graph), device_, {}, plugins_, bench_.host));
    balance::PlanFiles names{"net.yaml", "net.safetensors", [](const std::string& path) { return path; },
                             [](const std::string&) { return true; }};
    const balance::Balanced& b = placed.balanced;
    BUDA_ASSIGN(auto plan, balance::build_plan(b.graph, b.problem, b.built.queues, names));
    io::MemoryFileSystem files;
    files.put("net.yaml", placed.netlist);
    files.put("net.plan.json", host_plan::host_plan_text(plan.plan));
    if (!plan.tensors.empty()) BUDA_TRY(write_tensors(files, "net.safetensors", plan.tensors, io::WriteMode::always));
    CollectingSink sink;
    Host host(files, sink);
    return runtime::load_planned(host, "net.yaml", "net.plan.json");
  }

  Result<void> each(Result<void> (TargetSuite::*check)(const Sample&) const) const {
    for (const Sample& sample : samples_)
      if (auto done = (this->*check)(sample); !done) {
        Diagnostic d = done.failure().diagnostics().front();
        d.message = cat("model '", sample.graph.name, "': ", d.message);
        return d;
      }
    return success();
  }

  Result<void> runs(const Sample& sample) const {
    BUDA_ASSIGN(auto session, runtime::Session::open(sample.model, *target_, device_, bench_.host));
    for (int round = 0; round < 5; ++round) {
      BUDA_ASSIGN(NamedTensors out, session->run(sample.inputs));
      for (const auto& [name, expected] : sample.expected) {
        auto found = out.find(name);
        if (found == out.end()) return broken(cat("output '", name, "' is missing"));
        if (found->second.shape() != expected.shape())
          return broken(cat("output '", name, "' is ", found->second.describe(), " instead of ", expected.describe()));
      }
    }
    return success();
  }

  Result<void> computes(const Sample& sample) const {
    BUDA_ASSIGN(auto session, runtime::Session::open(sample.model, *target_, device_, bench_.host));
    BUDA_ASSIGN(NamedTensors out, session->run(sample.inputs));
    for (const auto& [name, expected] : sample.expected) {
      BUDA_ASSIGN(Comparison comparison, compare(expected, out.at(name)));
      CompareThresholds thresholds;
      if (is_float(expected.dtype()))
        thresholds.min_correlation = bench_.options.min_correlation;
      else
        thresholds.all_equal = true;
      BUDA_TRY(judge(comparison, thresholds, name));
    }
    return success();
  }

  const std::string& name_;
  const Bench& bench_;
  Suite& suite_;
  compiler::PluginSet plugins_;
  std::unique_ptr<Target> target_;
  device::DeviceDescriptor device_;
  std::vector<Sample> samples_;
};

}  // namespace

void check_target(const std::string& name, const Bench& bench, Suite& suite) { TargetSuite(name, bench, suite).run(); }

}  // namespace buda::plugin_check
