// SPDX-License-Identifier: Apache-2.0
// The suite of policies: sample models on every device that is known.
#include "apps/plugin-check/checks.hpp"
#include "apps/plugin-check/models.hpp"

#include <buda/base/text.hpp>
#include <buda/compiler/optimize.hpp>
#include <buda/compiler/place.hpp>
#include <buda/device/load.hpp>

#include <functional>
#include <memory>

namespace buda::plugin_check {
namespace {

using compiler::BalancerOptions;
using compiler::Placed;
using device::DeviceDescriptor;

// A model as the optimizer leaves it for a device.
struct Problem {
  const DeviceDescriptor* device;
  graph::Graph graph;
  std::shared_ptr<const Placed> unforced = {};  // the policy's own choice, once it was made
  std::string title() const { return cat('\'', graph.name, "' on ", device->name); }
};

Diagnostic at(const Problem& problem, const Failure& failure) {
  Diagnostic d = failure.diagnostics().front();
  d.message = cat(problem.title(), ": ", d.message);
  return d;
}

class PolicySuite {
 public:
  PolicySuite(const std::string& name, const Bench& bench, Suite& suite)
      : name_(name), bench_(bench), suite_(suite), plugins_{bench.registries, bench.host.plugin_options} {}

  void run() {
    if (auto made = make_problems(); !made) {
      suite_.check("sample models are compiled up to the policy", made);
      return;
    }
    suite_.check("every op of a model finds a place, on every device", each([&](Problem& p) { return places(p); }));
    suite_.check("the same problem gives the same choice, with any number of threads", each([&](Problem& p) { return repeats(p); }));
    suite_.check("any seed gives a legal choice", each([&](Problem& p) { return takes_seeds(p); }));
    suite_.check("an epoch begins where the user wants one", each([&](Problem& p) { return breaks_epochs(p); }));
    suite_.check("an op gets the grid that the user wants", each([&](Problem& p) { return takes_grids(p); }));
  }

 private:
  Result<void> make_problems() {
    BUDA_ASSIGN(std::vector<graph::Graph> models, sample_models());
    for (const std::string& name : device::known_devices(bench_.host)) {
      BUDA_ASSIGN(DeviceDescriptor device, device::load_device(bench_.host, name));
      devices_.push_back(std::make_unique<DeviceDescriptor>(std::move(device)));
      for (const graph::Graph& model : models) {
        problems_.push_back({devices_.back().get(), model});
        BUDA_TRY(compiler::optimize(problems_.back().graph, *devices_.back(), {}, plugins_, bench_.host));
      }
    }
    return success();
  }

  Result<void> each(const std::function<Result<void>(Problem&)>& check) {
    for (Problem& problem : problems_)
      if (auto done = check(problem); !done) return at(problem, done.failure());
    return success();
  }

  // Legality is checked behind the policy: an illegal choice is a failure.
  Result<Placed> placed(const Problem& problem, BalancerOptions options = {}) const {
    options.policy = name_;
    return compiler::place(problem.graph, *problem.device, options, plugins_, bench_.host);
  }

  // Checks compare with the policy's own choice, which takes as long as a choice that they force, and is made once.
  Result<std::shared_ptr<const Placed>> unforced(Problem& problem) const {
    if (problem.unforced == nullptr) {
      BUDA_ASSIGN(Placed chosen, placed(problem));
      problem.unforced = std::make_shared<const Placed>(std::move(chosen));
    }
    return problem.unforced;
  }

  Result<void> places(Problem& problem) const {
    BUDA_TRY(unforced(problem));
    return success();
  }

  Result<void> repeats(Problem& problem) const {
    BUDA_ASSIGN(auto first, unforced(problem));
    unsigned threads = bench_.host.threads;
    bench_.host.threads = threads == 1 ? 4 : 1;
    auto second = placed(problem);
    bench_.host.threads = threads;
    if (!second) return second.failure();
    if (first->netlist != second->netlist) return broken("two runs give different netlists");
    return success();
  }

  Result<void> takes_seeds(const Problem& problem) const {
    std::uint64_t seed = bench_.host.seed;
    bench_.host.seed = seed + 1;
    auto done = placed(problem);
    bench_.host.seed = seed;
    if (!done) return done.failure();
    return success();
  }

  // Wants a break before the op in the middle, which has to stand in a later epoch than the one before it.
  Result<void> breaks_epochs(Problem& problem) const {
    BUDA_ASSIGN(auto free, unforced(problem));
    const auto& ops = free->balanced.problem.ops;
    if (ops.size() < 2) return success();
    std::size_t middle = ops.size() / 2;
    BalancerOptions options;
    options.op_overrides[ops[middle].node_name + ".epoch-break"] = "true";
    BUDA_ASSIGN(Placed broken_up, placed(problem, options));
    const auto& placed_ops = broken_up.balanced.choice.ops;
    if (placed_ops[middle].epoch <= placed_ops[middle - 1].epoch)
      return broken(cat("op '", ops[middle].label, "' does not begin an epoch though epoch-break=true"));
    return success();
  }

  // Wants the largest legal grid for the first op.
  Result<void> takes_grids(Problem& problem) const {
    BUDA_ASSIGN(auto free, unforced(problem));
    const auto& op = free->balanced.problem.ops.front();
    auto legal = balance::legal_models(op, *problem.device, {}, nullptr);
    GridShape grid = legal.models.back().grid;
    BalancerOptions options;
    options.op_overrides[op.node_name + ".grid"] = cat('[', grid.rows, ',', grid.cols, ']');
    BUDA_TRY(placed(problem, options));
    return success();
  }

  const std::string& name_;
  const Bench& bench_;
  Suite& suite_;
  compiler::PluginSet plugins_;
  std::vector<std::unique_ptr<DeviceDescriptor>> devices_;
  std::vector<Problem> problems_;
};

}  // namespace

void check_policy(const std::string& name, const Bench& bench, Suite& suite) { PolicySuite(name, bench, suite).run(); }

}  // namespace buda::plugin_check
