// SPDX-License-Identifier: Apache-2.0
// fuse-ops: elementwise ops that feed one another become one fused op, which does them all on each ublock while it is in the core.
//
// before                                            after
//   s = subtract(x, m {broadcast: {c: 2}})            y = fused_op(x, m {broadcast: {c: 2}}, g {broadcast: {r: 2}})
//   y = multiply(s, g {broadcast: {r: 2}})              sub_ops=["{name: s, type: subtract, inputs: [input0, input1], output: dest}",
//                                                                "{name: y, type: multiply, inputs: [dest, input2], output: output}"]
//
// Which. A group grows from its last op to producers: one that is elementwise too, of the same shape, whose users are all in the group
// already, with nothing on the edges between. So no path leaves a group and comes back, and only its last value is seen outside. What lies
// on edges from outside (broadcasts, slices) stays there; transposes and pads cannot, and keep an op out. Groups do not grow past an
// op that is so slow that it is better followed by another core (exp), and not beyond kMaxInputs inputs, each of which needs a stream and
// a buffer.
//
// How. Sub-ops are ordered so that each is followed by the one that uses it wherever possible: then the value stays in the destination
// register. Others wait in an intermediate buffer, of which a free one is used again. The register's rules (specification of netlists,
// fused ops): a maximum neither reads nor writes it, a packer's ReLU does not leave its result there, and on some chips only the first
// operand can come from it; operands of sums and products are exchanged for that.
//
// Who not. Ops with the tag `dont_fuse` (--op-names-dont-fuse), ops for which a rule of mixed precision asks something of its own, and,
// where the user names groups (tag `fuse_group`, --op-names-manual-fuse), all ops that are in none; a named group fuses with no other.
//
// fuse-updates does the same with the ops of a training step's optimizer alone: an update is a chain of a dozen elementwise ops for each
// parameter, often of a tile or two, of which each takes a core and a transfer.
//
// fuse-shifts does it where a sum with a constant is multiplied (shifts.hpp), on chips whose destination register holds what is between.
#include <buda/passes/fuse/fuse_ops.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/editor.hpp>
#include <buda/graph/tags/constraint_tags.hpp>
#include <buda/graph/tags/tile_rows.hpp>
#include <buda/graph/tags/training.hpp>
#include <buda/ops/device/fused_body.hpp>
#include <buda/ops/table/device_op.hpp>
#include <buda/passes/fuse/fusing.hpp>
#include <buda/passes/fuse/shifts.hpp>
#include <buda/passes/lower/lowering_tags.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace buda::passes {
namespace {

using graph::Edge;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using ops::FusedBody;
using ops::FusedOperand;
using ops::FusedSubOp;
using Kind = FusedOperand::Kind;

constexpr std::size_t kMaxInputs = 6;
constexpr std::size_t kMaxSubOps = 12;

// Null for what is no device op.
const ops::DeviceOp* row(const Node& n) { return ops::find_device_op(n.op()); }

bool may_be_step(const Node& n) {
  const ops::DeviceOp* op = row(n);
  return op != nullptr && ops::may_fuse(*op);
}

bool can_stay_on_edge(const Edge& edge) {
  return std::none_of(edge.tms.begin(), edge.tms.end(), [](const graph::Tm& tm) {
    return tm.kind == graph::TmKind::transpose || tm.kind == graph::TmKind::pad || tm.kind == graph::TmKind::unpad;
  });
}

bool has_relu(const Node& n) {
  auto it = n.attrs.find("relu_en");
  return it != n.attrs.end() && it->second == graph::Attr(true);
}

class Fuser {
 public:
  Fuser(const Pass& pass, Graph& graph, PassContext& context)
      : pass_(pass), graph_(graph), context_(context), groups_(graph.id_bound(), 0) {}

  Result<PassReport> run() {
    if (&pass_ == &kFuseShifts && !context_.device->features.fp32_accumulate) return report_;
    BUDA_TRY(find_candidates());
    std::vector<NodeId> order = graph_.topological_order();
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      if (!graph_.contains(*it) || groups_[it->index()] == 0) continue;
      std::vector<NodeId> members = grow(*it);
      if (members.size() < 2) continue;
      if (&pass_ == &kFuseShifts &&
          std::none_of(members.begin(), members.end(), [&](NodeId id) { return is_multiplied_shift(graph_, id, *it); }))
        continue;
      auto body = arrange(*it, members);
      if (!body || !context_.rewrites.allow(pass_.name, graph_.node(*it))) continue;
      replace(*it, members, std::move(*body));
      ++report_.rewrites;
    }
    return report_;
  }

 private:
  // groups_: 0 for ops that are left alone, 1 for those that may fuse with one another, more for groups that the user named.
  Result<void> find_candidates() {
    std::vector<RuleSelector> asked;
    for (const PrecisionRule& rule : context_.formats.rules) {
      if (!rule.given_by_user || !(rule.op_type || rule.name_regex || rule.layer)) continue;
      BUDA_ASSIGN(RuleSelector selects, selector(rule));
      asked.push_back(std::move(selects));
    }
    std::map<std::string, std::size_t> named;
    std::vector<NodeId> plain;
    for (NodeId id : graph_.ids()) {
      const Node& n = graph_.node(id);
      if (&pass_ == &kFuseUpdates && !graph::is_of_optimizer(n)) continue;
      // Nothing is rounded there.
      if (&pass_ == &kFuseShifts && n.tags.contains(kExact)) continue;
      if (!n.is_op() || !may_be_step(n) || !may_fuse(n) || n.tags.contains(graph::kTileRows) || n.outputs.size() != 1 ||
          !is_float(n.outputs[0].dtype))
        continue;
      if (!std::all_of(n.inputs().begin(), n.inputs().end(), can_stay_on_edge)) continue;
      if (std::any_of(asked.begin(), asked.end(), [&](const RuleSelector& selects) { return selects(n); })) continue;
      auto group = n.tags.find(kFuseGroup);
      if (group != n.tags.end()) {
        groups_[id.index()] = named.emplace(group->second, named.size() + 2).first->second;
      } else {
        plain.push_back(id);
      }
    }
    if (named.empty())
      for (NodeId id : plain) groups_[id.index()] = 1;
    return success();
  }

  // The members of the group whose last op is `root`.
  std::vector<NodeId> grow(NodeId root) const {
    std::set<NodeId> group = {root};
    std::size_t inputs = graph_.node(root).inputs().size();
    bool grown = true;
    while (grown && group.size() < kMaxSubOps) {
      grown = false;
      // A copy: members are added meanwhile. By id, so that the result does not depend on anything else.
      for (NodeId member : std::vector<NodeId>(group.begin(), group.end())) {
        for (const Edge& edge : graph_.node(member).inputs()) {
          NodeId producer = edge.source.node;
          if (group.contains(producer) || group.size() >= kMaxSubOps || !can_join(producer, root, group)) continue;
          // Its uses in the group are no inputs any more, its own are.
          std::size_t now = inputs - graph_.use_count(producer) + graph_.node(producer).inputs().size();
          if (now > kMaxInputs) continue;
          inputs = now;
          group.insert(producer);
          grown = true;
        }
      }
    }
    return {group.begin(), group.end()};
  }

  bool can_join(NodeId producer, NodeId root, const std::set<NodeId>& group) const {
    const Node& p = graph_.node(producer);
    if (groups_[producer.index()] != groups_[root.index()] || row(p)->ends_fused_op) return false;
    if (p.outputs[0].shape != graph_.node(root).outputs[0].shape) return false;
    for (const graph::Use& use : graph_.users(producer))
      if (!group.contains(use.node) || !graph_.node(use.node).inputs()[use.input].tms.empty()) return false;
    return true;
  }

  // ---- the schedule

  // Operands before users, and of two operands the one that may stay in the register last.
  void order_from(NodeId id, const std::set<NodeId>& group, std::set<NodeId>& done, std::vector<NodeId>& out) const {
    if (!done.insert(id).second) return;
    const Node& n = graph_.node(id);
    for (std::size_t i = n.inputs().size(); i-- > 0;)
      if (group.contains(n.inputs()[i].source.node)) order_from(n.inputs()[i].source.node, group, done, out);
    out.push_back(id);
  }

  // Nothing when more buffers would be needed than there are.
  std::optional<FusedBody> arrange(NodeId root, const std::vector<NodeId>& members) {
    std::set<NodeId> group(members.begin(), members.end()), done;
    std::vector<NodeId> order;
    order_from(root, group, done, order);
    std::map<NodeId, std::size_t> uses;
    std::map<NodeId, FusedOperand> where;
    std::vector<char> full;
    FusedBody body;
    inputs_.clear();
    for (std::size_t i = 0; i < order.size(); ++i) {
      const Node& n = graph_.node(order[i]);
      FusedSubOp s;
      s.name = n.name();
      s.type = n.op();
      s.attrs = n.attrs;
      for (const Edge& edge : n.inputs()) {
        auto inside = where.find(edge.source.node);
        if (!group.contains(edge.source.node)) {
          s.inputs.push_back({Kind::input, static_cast<std::int64_t>(inputs_.size())});
          inputs_.push_back(edge);
        } else {
          s.inputs.push_back(inside->second);
          if (--uses[edge.source.node] == 0 && inside->second.kind == Kind::intermed) {
            s.pop.push_back(inside->second);
            full[static_cast<std::size_t>(inside->second.index)] = 0;
          }
        }
      }
      put_register_first(s);
      uses[order[i]] = graph_.use_count(order[i]);
      if (order[i] == root) {
        s.output = {Kind::output, 0};
      } else if (i + 1 < order.size() && stays_in_register(n, graph_.node(order[i + 1]))) {
        s.output = {Kind::dest, 0};
      } else {
        auto free = std::find(full.begin(), full.end(), char{0});
        if (free == full.end() && static_cast<std::int64_t>(full.size()) == ops::kMaxIntermediates) return std::nullopt;
        if (free == full.end()) free = full.insert(full.end(), 0);
        *free = 1;
        s.output = {Kind::intermed, free - full.begin()};
      }
      where[order[i]] = s.output;
      body.steps.push_back(std::move(s));
    }
    body.intermediates = static_cast<std::int64_t>(full.size());
    return body;
  }

  bool stays_in_register(const Node& n, const Node& next) const {
    if (!ops::uses_register(*row(n)) || !ops::uses_register(*row(next)) || has_relu(n) || graph_.use_count(n.id()) != 1) return false;
    if (graph_.users(n.id()).front().node != next.id()) return false;
    bool first = next.inputs()[0].source.node == n.id();
    return first || row(next)->commutative || context_.device->features.dest_as_operand_1;
  }

  // Commutative ops take the register as their first operand, as all chips can.
  static void put_register_first(FusedSubOp& s) {
    if (ops::find_device_op(s.type)->commutative && s.inputs.size() == 2 && s.inputs[1].kind == Kind::dest)
      std::swap(s.inputs[0], s.inputs[1]);
  }

  void replace(NodeId root, const std::vector<NodeId>& members, FusedBody body) {
    graph::GraphEditor editor(graph_, root);
    std::string name = graph_.node(root).name();
    NodeId fused = editor.add("fused", std::string(ops::kFusedOp), inputs_, graph_.node(root).outputs);
    Node& made = graph_.node(fused);
    made.attrs = {{std::string(graph::kSubOps), graph::SharedBody(std::move(body))}};
    made.tags.erase(kOriginalOpType);
    // In the order of the schedule, so that provenance reads like the model.
    made.origins.clear();
    for (NodeId member : members) {
      editor.merge_origins(fused, member);
      graph::merge_constraints(graph_.node(fused), graph_.node(member));
      const auto& tags = graph_.node(member).tags;
      for (const char* kept : {kWideRange, kExact})
        if (auto tag = tags.find(kept); tag != tags.end()) graph_.node(fused).tags.insert(*tag);
    }
    groups_.resize(graph_.id_bound(), 0);
    editor.replace(root, fused);
    for (NodeId member : members)
      if (graph_.contains(member)) graph_.erase(member);
  }

  const Pass& pass_;
  Graph& graph_;
  PassContext& context_;
  PassReport report_;
  std::vector<std::size_t> groups_;  // by id
  std::vector<Edge> inputs_;         // of the group that is being arranged
};

Result<PassReport> fuse_ops(Graph& graph, PassContext& context) { return Fuser(kFuseOps, graph, context).run(); }
Result<PassReport> fuse_updates(Graph& graph, PassContext& context) { return Fuser(kFuseUpdates, graph, context).run(); }
Result<PassReport> fuse_shifts(Graph& graph, PassContext& context) { return Fuser(kFuseShifts, graph, context).run(); }

}  // namespace

const Pass kFuseOps = {
    .name = "fuse-ops", .summary = "fuse connected elementwise ops", .level = graph::Level::device, .needs_device = true, .run = fuse_ops};

const Pass kFuseUpdates = {.name = "fuse-updates",
                           .summary = "fuse elementwise ops of a training step's optimizer",
                           .level = graph::Level::device,
                           .needs_device = true,
                           .run = fuse_updates};

const Pass kFuseShifts = {.name = "fuse-shifts",
                          .summary = "fuse sums with constants and the products that read them",
                          .level = graph::Level::device,
                          .needs_device = true,
                          .run = fuse_shifts};

}  // namespace buda::passes
