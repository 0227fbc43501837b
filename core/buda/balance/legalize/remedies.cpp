// SPDX-License-Identifier: Apache-2.0
// Changes of circumstances, the smallest first: grids that are turned, narrower formats, smaller results.
#include <buda/balance/legalize/remedies.hpp>

#include <buda/base/text.hpp>
#include <buda/diag/sink.hpp>
#include <buda/io/process.hpp>
#include <buda/io/yaml.hpp>
#include <buda/passes/pipeline/pass.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

namespace buda::balance {
namespace {

// A regular expression for exactly this name.
std::string literal(std::string_view name) {
  std::string out;
  for (char c : name) {
    if (std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

class Remedies {
 public:
  Remedies(const graph::Graph& graph, const Problem& problem, const ModelOptions& options, const GraphTrial& placed, Host& host)
      : graph_(graph), problem_(problem), options_(options), placed_(placed), host_(host) {}

  std::vector<std::string> run(const std::vector<OpId>& ops) {
    open_ = all_ = ops;
    if (!options_.allow_transpose) turn();
    for (DataFormat format : {DataFormat::float16_b, DataFormat::bfp8_b, DataFormat::bfp4_b})
      if (problem_.device->supports(format) && !open_.empty()) narrow(format);
    for (OpId op : open_) hints_[op] = on_host(problem_.op(op));
    std::vector<std::string> out;
    std::set<std::string> given;
    for (OpId op : ops) out.push_back(given.insert(hints_[op]).second ? hints_[op] : "");
    return out;
  }

 private:
  bool fits(const OpSpec& spec, const ModelOptions& options) const {
    return !legal_models(spec, *problem_.device, options, nullptr).models.empty();
  }

  void settle(const std::vector<OpId>& ops, const std::string& change) {
    for (OpId op : ops) hints_[op] = cat(change, ops.size() > 1 ? cat(": ", ops.size(), " of these ops fit then") : ": it fits then");
    std::erase_if(open_, [&](OpId op) { return std::find(ops.begin(), ops.end(), op) != ops.end(); });
  }

  void turn() {
    ModelOptions turned = options_;
    turned.allow_transpose = true;
    std::vector<OpId> helped;
    for (OpId op : open_)
      if (fits(problem_.op(op), turned)) helped.push_back(op);
    if (helped.size() == all_.size() && !placed_(graph_, turned)) return;
    settle(helped, "run the balancer with --auto-transpose");
  }

  // A rule that gives these ops a format may help some of them only when it is for all; what is told is for those that it helps.
  void narrow(DataFormat format) {
    std::vector<OpId> ops = open_, helped = helped_by(format, ops);
    while (helped.size() < ops.size()) {
      ops = helped;
      helped = helped_by(format, ops);
    }
    if (ops.empty()) return;
    if (ops.size() == all_.size() && !placed_(*with_format(format, ops), options_)) return;
    settle(ops, cat("run the optimizer with ", io::shell_line({"--configure-mixed-precision", rule_text(format, ops)})));
  }

  std::string rule_text(DataFormat format, const std::vector<OpId>& ops) const {
    std::vector<std::string> names;
    for (OpId op : ops) names.push_back(literal(problem_.op(op).node_name));
    io::Node rule = io::Node::map();
    rule.add("name_regex", io::Node::string(join(names, "|")));
    for (const char* key : {"input_df", "output_df", "intermediate_df"}) rule.add(key, io::Node::string(std::string(format_name(format))));
    return io::yaml_flow(rule);
  }

  // The graph after the optimizer's rule for `ops`; null where it cannot be applied.
  std::unique_ptr<graph::Graph> with_format(DataFormat format, const std::vector<OpId>& ops) const {
    CollectingSink unheard;
    Host host(host_.fs(), unheard);
    passes::PassContext context(host);
    context.device = problem_.device;
    auto rules = passes::parse_precision_rules(rule_text(format, ops));
    if (!rules) return nullptr;
    context.formats.rules = std::move(*rules);
    auto changed = std::make_unique<graph::Graph>(graph_);
    if (!passes::run_pass(*passes::find_pass("assign-formats"), *changed, context)) return nullptr;
    return changed;
  }

  // Those of `ops` that have a model when the optimizer's rule is for all of them.
  std::vector<OpId> helped_by(DataFormat format, const std::vector<OpId>& ops) const {
    const auto changed = ops.empty() ? nullptr : with_format(format, ops);
    if (changed == nullptr) return {};
    std::vector<graph::NodeId> order;
    for (const OpSpec& op : problem_.ops) {
      // In other formats a movement may be lowered to other ops, of which this problem has no models.
      if (!changed->contains(op.node)) return {};
      order.push_back(op.node);
    }
    const auto problem = make_problem(*changed, order, *problem_.device, problem_.batches);
    std::vector<OpId> out;
    for (OpId op : ops)
      if (problem && fits(problem->op(op), options_)) out.push_back(op);
    return out;
  }

  // The last resort: no format or grid helps. Nodes of the model are what the option names.
  std::string on_host(const OpSpec& spec) const {
    const graph::Node& node = graph_.node(spec.node);
    std::vector<std::string> option;
    std::set<std::string> named;
    for (const graph::Origin& origin : node.origins)
      if (named.insert(origin.node).second) option.insert(option.end(), {"--cpu-fallback-nodes", origin.node});
    if (option.empty()) return "";
    return cat("no format or grid that the balancer knows makes it fit; the host can run it: ", io::shell_line(option));
  }

  const graph::Graph& graph_;
  const Problem& problem_;
  const ModelOptions& options_;
  const GraphTrial& placed_;
  Host& host_;
  std::vector<OpId> all_;   // without a model
  std::vector<OpId> open_;  // without a hint
  std::map<OpId, std::string> hints_;
};

}  // namespace

std::vector<std::string> remedies(const graph::Graph& graph, const Problem& problem, const std::vector<OpId>& ops,
                                  const ModelOptions& options, const GraphTrial& placed, Host& host) {
  return Remedies(graph, problem, options, placed, host).run(ops);
}

}  // namespace buda::balance
