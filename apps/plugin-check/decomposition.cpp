// SPDX-License-Identifier: Apache-2.0
// The suite of decompositions: each rule alone, on sample ops and on graphs that are given.
#include "apps/plugin-check/checks.hpp"
#include "apps/plugin-check/op_samples.hpp"

#include <buda/base/text.hpp>
#include <buda/graph/file/graph_file.hpp>
#include <buda/ops/table/registry.hpp>
#include <buda/ops/whole_graph/infer.hpp>
#include <buda/passes/pipeline/equivalence_check.hpp>
#include <buda/passes/pipeline/pass.hpp>
#include <buda/plugin/decomposition.hpp>

#include <algorithm>

namespace buda::plugin_check {
namespace {

using passes::Decomposition;

Result<void> known_ops(const std::vector<std::string>& names, std::string_view list) {
  for (const std::string& name : names)
    if (auto known = ops::standard_ops().require(graph::Level::tensor, name); !known)
      return broken(cat(list, " lists '", name, "': ", known.failure().diagnostics().front().message));
  return success();
}

class RuleSuite {
 public:
  RuleSuite(const std::string& name, const Bench& bench, Suite& suite) : name_(name), bench_(bench), suite_(suite) {}

  void run() {
    auto rule = make();
    if (!rule) {
      suite_.check("it can be made with its defaults", std::move(rule).failure());
      return;
    }
    consumes_ = (*rule)->consumes();
    suite_.check("it replaces ops that exist, by ops that exist", lists(**rule));
    if (auto read = read_samples(); !read) {
      suite_.check("its samples are graphs of tensor level", read);
      return;
    }
    for (const std::string& op : consumes_) for_op_samples(op, [&](graph::Graph& graph) { return collect(graph, **rule); });
    if (samples_.empty()) {
      suite_.check("there is a sample that it replaces", broken("none of the ops that were tried matches; give a graph with --sample"));
      return;
    }
    const std::string on = cat(" (", samples_.size(), samples_.size() == 1 ? " sample)" : " samples)");
    suite_.check("it leaves only declared ops, keeps all types, and terminates" + on, each(&RuleSuite::rewrites));
    suite_.check("its result is equivalent" + on, each(&RuleSuite::keeps_meaning));
    suite_.check("the same graph gives the same result" + on, each(&RuleSuite::repeats));
  }

 private:
  static constexpr std::size_t kMaxSamples = 12;  // of each op that it replaces

  Result<std::unique_ptr<Decomposition>> make() const {
    const plugin::Registries& all = bench_.registries;
    return plugin::make(all, all.decompositions, plugin::Kind::decomposition, name_,
                        bench_.host.options_of(plugin::Kind::decomposition, name_), bench_.host);
  }

  Result<void> lists(const Decomposition& rule) const {
    if (consumes_.empty()) return broken("consumes() is empty");
    BUDA_TRY(known_ops(consumes_, "consumes()"));
    return known_ops(rule.produces(), "produces()");
  }

  Result<void> read_samples() {
    for (const std::string& file : bench_.options.samples) {
      BUDA_ASSIGN(graph::Graph graph, graph::read_graph(bench_.host.fs(), file));
      BUDA_TRY(ops::infer_types(graph));
      BUDA_TRY(ops::check(graph));
      if (applies(graph)) samples_.push_back(std::move(graph));
    }
    return success();
  }

  bool applies(const graph::Graph& graph) const {
    auto rule = make();
    for (graph::NodeId id : graph.ids()) {
      const graph::Node& n = graph.node(id);
      if (n.is_op() && std::find(consumes_.begin(), consumes_.end(), n.op()) != consumes_.end() && (*rule)->matches(graph, n)) return true;
    }
    return false;
  }

  // Whether there are samples enough of this op.
  bool collect(graph::Graph& graph, const Decomposition& rule) {
    graph::NodeId id = graph.find("op");
    const std::string& op = graph.node(id).op();
    if (rule.matches(graph, graph.node(id))) samples_.push_back(std::move(graph)), ++found_[op];
    return found_[op] >= kMaxSamples;
  }

  Result<graph::Graph> rewritten(const graph::Graph& sample) const {
    passes::DecompositionSet set;
    BUDA_ASSIGN(auto rule, make());
    set.push_back({name_, "", std::move(rule)});
    passes::PassContext context(bench_.host);
    context.decompositions = &set;
    graph::Graph graph = sample;
    BUDA_TRY(passes::run_pass(*passes::find_pass("decompose"), graph, context));
    return graph;
  }

  Result<void> rewrites(const graph::Graph& sample) const {
    BUDA_TRY(rewritten(sample));
    return success();
  }

  Result<void> keeps_meaning(const graph::Graph& sample) const {
    passes::EquivalenceCheck check(bench_.host, ops::standard_ops(), {1 - bench_.options.max_error, bench_.options.max_error});
    BUDA_ASSIGN(NamedTensors inputs, passes::random_inputs(sample, bench_.host.seed));
    BUDA_TRY(check.start(sample, std::move(inputs)));
    BUDA_ASSIGN(graph::Graph graph, rewritten(sample));
    return check.after(graph, name_);
  }

  Result<void> repeats(const graph::Graph& sample) const {
    BUDA_ASSIGN(graph::Graph first, rewritten(sample));
    BUDA_ASSIGN(graph::Graph second, rewritten(sample));
    if (graph::graph_text(first) != graph::graph_text(second)) return broken("two rewrites give different graphs");
    return success();
  }

  Result<void> each(Result<void> (RuleSuite::*check)(const graph::Graph&) const) const {
    for (const graph::Graph& sample : samples_)
      if (auto done = (this->*check)(sample); !done) {
        Diagnostic d = done.failure().diagnostics().front();
        d.message = cat("on ", described(sample), ": ", d.message);
        return d;
      }
    return success();
  }

  // "max_pool2d(F32 [2, 4, 6, 6]) kernel=[2, 2]", or the name of a graph that was given.
  static std::string described(const graph::Graph& sample) {
    graph::NodeId id = sample.find("op");
    if (!id.valid()) return cat('\'', sample.name, '\'');
    const graph::Node& n = sample.node(id);
    std::vector<std::string> inputs;
    for (const graph::Edge& edge : n.inputs()) inputs.push_back(sample.type(edge.source)->text());
    std::string out = cat(n.op(), '(', join(inputs, ", "), ')');
    for (const auto& [name, value] : n.attrs) out += cat(' ', name, '=', graph::attr_text(value));
    return out;
  }

  const std::string& name_;
  const Bench& bench_;
  Suite& suite_;
  std::vector<std::string> consumes_;
  std::vector<graph::Graph> samples_;
  std::map<std::string, std::size_t> found_;
};

}  // namespace

void check_decomposition(const std::string& name, const Bench& bench, Suite& suite) { RuleSuite(name, bench, suite).run(); }

}  // namespace buda::plugin_check
