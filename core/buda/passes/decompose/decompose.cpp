// SPDX-License-Identifier: Apache-2.0
// decompose: replaces ops by simpler ones, with the rules that plugins offer, until no rule matches.
//
// before                                        after
//   y = divide(a, b)                              y.reciprocal = reciprocal(b)
//                                                 y = multiply(a, y.reciprocal)
//
// Nodes are visited in topological order, those that a rewrite added after all others; of the rules for an op the one of the highest
// priority that matches is used. Rules come from plugins, which may be anybody's, so that each rewrite is checked when it is done and its
// author named: it must have replaced the node, by ops that it declared and whose types follow from their inputs, and the users must see
// the same types as before. The whole graph is checked once at the end.
//
// Rules may feed each other forever. A node made by n rewrites in a row has depth n; sensible rules stay far below kMaxDepth (the deepest
// chain of ours has 3). Rules that grow in width are stopped by the number of nodes that they make.
#include <buda/passes/decompose/decompose_nodes.hpp>
#include <buda/passes/formats/precision_rules.hpp>
#include <buda/passes/pipeline/standard_passes.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/editor.hpp>
#include <buda/graph/tags/placement.hpp>
#include <buda/ops/whole_graph/infer.hpp>

#include <algorithm>
#include <deque>
#include <map>
#include <set>

namespace buda::passes {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;

constexpr std::uint32_t kMaxDepth = 32;
constexpr std::size_t kAlwaysAllowedNodes = 10'000;
constexpr std::size_t kMaxNewNodesPerNode = 256;
constexpr std::uint32_t kNoRule = 0xffffffff;

struct Rule {
  const NamedDecomposition* from;
  int priority;
  std::vector<std::string> produces;
  bool used = false;
};

class Decomposer {
 public:
  // `only`: the nodes that are replaced; null: all, and what replaces them.
  Decomposer(Graph& graph, PassContext& context, const std::set<NodeId>* only) : graph_(graph), context_(context), only_(only) {}

  Result<PassReport> run() {
    collect_rules();
    for (NodeId id : graph_.topological_order()) enqueue(id);
    std::size_t at_start = graph_.id_bound();
    most_new_nodes_ = kAlwaysAllowedNodes + kMaxNewNodesPerNode * graph_.size();
    while (!queue_.empty()) {
      NodeId id = queue_.front();
      queue_.pop_front();
      if (!graph_.contains(id)) continue;
      BUDA_ASSIGN(std::uint32_t rule, choose(id));
      if (rule == kNoRule) continue;
      if (depth(id) >= kMaxDepth) return endless(id, rule);
      BUDA_TRY(apply(id, rule));
      if (graph_.id_bound() - at_start > most_new_nodes_) return endless(NodeId(), rule);
    }
    if (report_.changed()) BUDA_TRY(check_all());
    return report_;
  }

 private:
  void collect_rules() {
    if (context_.decompositions == nullptr) return;
    for (const NamedDecomposition& d : *context_.decompositions) {
      auto index = static_cast<std::uint32_t>(rules_.size());
      rules_.push_back({&d, d.rule->priority(), d.rule->produces()});
      for (const std::string& op : d.rule->consumes()) by_op_[op].push_back(index);
    }
    for (auto& [op, indices] : by_op_) {
      std::sort(indices.begin(), indices.end(), [&](std::uint32_t a, std::uint32_t b) {
        if (rules_[a].priority != rules_[b].priority) return rules_[a].priority > rules_[b].priority;
        return rules_[a].from->name < rules_[b].from->name;
      });
      indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
    }
  }

  void enqueue(NodeId id) {
    if (only_ != nullptr && !only_->contains(id)) return;
    if (by_op_.contains(graph_.node(id).op())) queue_.push_back(id);
  }

  std::uint32_t depth(NodeId id) const { return id.index() < made_by_.size() ? made_by_[id.index()].depth : 0; }

  // "decomposition 'x' (from x.so)"
  std::string title(std::uint32_t rule) const {
    const NamedDecomposition& d = *rules_[rule].from;
    return d.file.empty() ? cat("decomposition '", d.name, '\'') : cat("decomposition '", d.name, "' (from ", d.file, ')');
  }

  Diagnostic blame(const char* code, std::uint32_t rule, const std::string& node, const SourceLoc& loc, const std::string& what) const {
    Diagnostic d = input_error(code, loc, cat(title(rule), " at node '", node, "': ", what));
    d.node = node;
    return d;
  }

  // What a plugin throws must not pass through the core.
  template <class F>
  auto guarded(NodeId id, std::uint32_t rule, F&& call) -> decltype(call()) {
    std::string node = graph_.node(id).name();
    SourceLoc loc = graph_.node(id).loc;
    try {
      return call();
    } catch (const std::exception& e) {
      return blame("PA010", rule, node, loc, cat("it threw an exception: ", e.what()));
    } catch (...) {
      return blame("PA010", rule, node, loc, "it threw an unknown exception");
    }
  }

  Result<std::uint32_t> choose(NodeId id) {
    const Node& n = graph_.node(id);
    auto it = by_op_.find(n.op());
    if (it == by_op_.end() || n.tags.contains(kDontDecompose) || graph::on_host(n)) return kNoRule;
    for (std::uint32_t rule : it->second) {
      BUDA_ASSIGN(bool fits, guarded(id, rule, [&]() -> Result<bool> { return rules_[rule].from->rule->matches(graph_, n); }));
      if (fits) return rule;
    }
    return kNoRule;
  }

  Result<void> apply(NodeId id, std::uint32_t rule) {
    const std::string name = graph_.node(id).name();
    const SourceLoc loc = graph_.node(id).loc;
    struct Seen {
      graph::Use use;
      graph::ValueType type;
    };
    std::vector<Seen> seen;
    for (const graph::Use& use : graph_.users(id)) seen.push_back({use, *graph_.type(graph_.node(use.node).inputs()[use.input].source)});
    std::size_t first_new = graph_.id_bound();
    // New nodes take over the tags of the node that they replace; rules of mixed precision ask for this one.
    graph_.node(id).tags.emplace(kOriginalOpType, graph_.node(id).op());

    auto done = guarded(id, rule, [&]() -> Result<void> {
      graph::GraphEditor editor(graph_, id);
      return rules_[rule].from->rule->rewrite(editor, id);
    });
    if (!done) {
      for (Diagnostic& d : done.failure().diagnostics()) {
        if (d.node.empty()) d.node = name;
        if (d.loc.file.empty()) d.loc = loc;
        d.notes.push_back({{}, cat("in ", title(rule), " at node '", name, '\'')});
      }
      return done;
    }
    rules_[rule].used = true;
    ++report_.rewrites;
    if (graph_.contains(id)) return blame("PA011", rule, name, loc, "it did not replace the node (GraphEditor::replace)");
    BUDA_TRY(check_new_nodes(first_new, rule, name, loc));
    for (const Seen& s : seen) {
      if (!graph_.contains(s.use.node)) continue;
      const auto& inputs = graph_.node(s.use.node).inputs();
      const graph::ValueType* now = s.use.input < inputs.size() ? graph_.type(inputs[s.use.input].source) : nullptr;
      if (now == nullptr || *now != s.type)
        return blame("PA013", rule, name, loc,
                     cat("its users saw ", s.type.text(), " before, and see ", now ? now->text() : "nothing", " now"));
    }
    note_new_nodes(first_new, rule, id);
    return success();
  }

  Result<void> check_new_nodes(std::size_t first_new, std::uint32_t rule, const std::string& name, const SourceLoc& loc) {
    for (std::size_t i = first_new; i < graph_.id_bound(); ++i) {
      NodeId id(static_cast<NodeId::rep>(i));
      if (!graph_.contains(id)) continue;
      Node& n = graph_.node(id);
      if (n.has_value()) continue;
      const auto& allowed = rules_[rule].produces;
      if (!n.is_op() || std::find(allowed.begin(), allowed.end(), n.op()) == allowed.end())
        return blame("PA012", rule, name, loc,
                     cat("it made '", n.name(), "', which is a '", n.op(), "'; it declares that it produces ", list_text(allowed)));
      auto types = ops::infer_node(graph_, n, *context_.ops);
      if (!types) {
        for (Diagnostic& d : types.failure().diagnostics()) d.notes.push_back({{}, cat("made by ", title(rule), " at node '", name, '\'')});
        return std::move(types).failure();
      }
      if (n.outputs.empty()) n.outputs = *types;
      if (n.outputs != *types)
        return blame(
            "PA012", rule, name, loc,
            cat("it gave '", n.name(), "' the type ", n.outputs.front().text(), ", which its inputs make ", types->front().text()));
    }
    return success();
  }

  void note_new_nodes(std::size_t first_new, std::uint32_t rule, NodeId replaced) {
    made_by_.resize(graph_.id_bound());
    std::uint32_t new_depth = depth(replaced) + 1;
    for (std::size_t i = first_new; i < graph_.id_bound(); ++i) {
      NodeId id(static_cast<NodeId::rep>(i));
      made_by_[i] = {new_depth, rule, replaced};
      if (graph_.contains(id)) enqueue(id);
    }
  }

  Diagnostic endless(NodeId id, std::uint32_t rule) const {
    std::vector<std::string> chain{cat('\'', rules_[rule].from->name, '\'')};
    for (NodeId at = id; at.valid() && at.index() < made_by_.size() && made_by_[at.index()].rule != kNoRule && chain.size() < 5;
         at = made_by_[at.index()].from)
      chain.insert(chain.begin(), cat('\'', rules_[made_by_[at.index()].rule].from->name, '\''));
    std::string node = id.valid() ? graph_.node(id).name() : graph_.name;
    Diagnostic d = input_error(
        "PA014", {},
        cat(title(rule), id.valid() ? cat(" does not terminate at node '", node, "': ", kMaxDepth, " rewrites followed one another")
                                    : cat(" does not terminate: more than ", most_new_nodes_, " nodes were made")));
    if (id.valid()) {
      d.node = node;
      d.loc = graph_.node(id).loc;
      d.notes.push_back({{}, cat("the last ones were made by ", join(chain, ", "))});
    }
    d.hint = "a rule must not produce an op from which other rules produce the op that it replaces";
    return d;
  }

  // What a rule did elsewhere in the graph comes out here; whose fault it was cannot be told any more.
  Result<void> check_all() const {
    auto sound = ops::check(graph_, *context_.ops);
    if (sound) return sound;
    std::vector<std::string> used;
    for (std::uint32_t i = 0; i < rules_.size(); ++i)
      if (rules_[i].used) used.push_back(title(i));
    for (Diagnostic& d : sound.failure().diagnostics())
      d.notes.push_back({{}, cat("the graph was valid before these were used: ", join(used, ", "))});
    return sound;
  }

  struct Made {
    std::uint32_t depth = 0;
    std::uint32_t rule = kNoRule;
    NodeId from;
  };

  Graph& graph_;
  PassContext& context_;
  const std::set<NodeId>* only_;
  PassReport report_;
  std::size_t most_new_nodes_ = 0;
  std::vector<Rule> rules_;
  std::map<std::string, std::vector<std::uint32_t>, std::less<>> by_op_;
  std::deque<NodeId> queue_;
  std::vector<Made> made_by_;  // by id
};

Result<PassReport> decompose(Graph& graph, PassContext& context) { return Decomposer(graph, context, nullptr).run(); }

}  // namespace

Result<void> decompose_nodes(Graph& graph, const std::set<NodeId>& nodes, const DecompositionSet& decompositions, Host& host) {
  PassContext context(host);
  context.decompositions = &decompositions;
  BUDA_TRY(Decomposer(graph, context, &nodes).run());
  return success();
}

const Pass kDecompose = {.name = "decompose",
                         .summary = "replace ops by simpler ones, with the decompositions of plugins",
                         .level = graph::Level::tensor,
                         .run = decompose};

}  // namespace buda::passes
