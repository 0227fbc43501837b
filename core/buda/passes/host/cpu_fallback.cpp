// SPDX-License-Identifier: Apache-2.0
// cpu-fallback: decides which ops run on the host's processor: what the user names, and what the device cannot do.
//
// before                                            after
//   e = gather(table, ids)     placement=host         e = gather(table, ids)     placement=host
//   y = matmul(e, w)                                  y = matmul(e, w)
//   u = unique(y)                                     u = unique(y)              placement=host
//   s = sort(u)                                       s = sort(u)                placement=host
//
// What the device cannot do is not written down here: the graph is lowered on trial, and what that refuses goes to the host. The values of
// such ops then come to the device as inputs do, so that one trial finds them all; another one, of what is left for the device, finds what
// changed by that. What the last trial gives is what lower-to-device would do once more, and is left to it.
//
// Each change between device and host waits for the bus. So with an op go all those before it (ops of which it uses something, directly or
// through others) or all those after it, whichever are fewer, if there are no products among them: what the host would compute then takes
// longer than the bus. With products on both sides the op goes alone, and what the device does has a further segment; what is left between
// two ops of the host goes, too, if it has no product. Ops that share a parameter with an op go as it does, since a parameter is kept in
// one place. (What depends on parameters and constants alone is computed wherever it is needed and counts nowhere.)
//
// With `movement` also ops that only move data go, near the model's inputs and outputs and next to what is on the host already, and
// elementwise ops between them when more movements follow; never products and the like.
//
// The two lists are found by walking both ways in turn, a node each, until one walk ends: the other has not gone further. What the walk
// that ends has met goes to the host and is never walked again, so that all walks together take time linear in nodes and edges.
#include <buda/passes/host/cpu_fallback.hpp>
#include <buda/passes/host/host_part.hpp>
#include <buda/passes/integers/digit_parts.hpp>
#include <buda/passes/lower/lower_graph.hpp>
#include <buda/passes/pipeline/standard_passes.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/tags/placement.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace buda::passes {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;

// The device, the host before all of it, after all of it, and in between.
enum class Partition : std::uint8_t { device, prologue, epilogue, between };

enum class Reason : std::uint8_t { none, named, refused, shares_parameter, along, movement };

// More trials than this are no way to an end that was missed so far; the rest is left to lower-to-device, which tells what is wrong.
constexpr int kMaxTrials = 16;

bool in_family(const Node& n, std::initializer_list<std::string_view> families) {
  const ops::OpDef* def = ops::standard_ops().find(graph::Level::tensor, n.op());
  return def != nullptr && std::find(families.begin(), families.end(), def->family) != families.end();
}

bool moves_data(const Node& n) { return in_family(n, {"movement", "rearrange", "indexing"}); }
bool is_light(const Node& n) {
  return in_family(n, {"eltwise_binary", "eltwise_unary", "eltwise_math", "activation", "comparison", "integer", "quantization"});
}

// Takes longer than what it takes and gives needs on the bus.
bool is_product(const Node& n) { return in_family(n, {"matmul", "conv", "conv_transpose", "depthwise", "sparse", "recurrent"}); }

// The op of the model that the user knows.
const std::string& model_op(const Node& n) {
  auto it = n.tags.find(kOriginalOpType);
  return it == n.tags.end() ? n.op() : it->second;
}

class Chooser {
 public:
  Chooser(Graph& graph, PassContext& context)
      : graph_(graph),
        context_(context),
        known_(known_nodes(graph)),
        order_(graph.topological_order()),
        partition_(graph.id_bound(), Partition::device),
        reason_(graph.id_bound(), Reason::none),
        walked_(graph.id_bound(), 0) {}

  Result<PassReport> run() {
    std::vector<NodeId> named;
    for (NodeId id : order_) {
      Node& n = graph_.node(id);
      if (!n.is_op() || !graph::on_host(n)) continue;
      if (known_[id.index()] != 0) {
        n.tags.erase(graph::kPlacement);
        continue;
      }
      named.push_back(id);
    }
    send(named, Reason::named);
    if (context_.fallback.movement) move_data();
    for (int trial = 0; trial < kMaxTrials; ++trial) {
      mark();
      BUDA_ASSIGN(std::vector<NodeId> refused, refusals());
      if (refused.empty()) break;
      send(refused, Reason::refused);
      leave_no_trifle_between();
    }
    leave_no_trifle();
    mark();
    tell();
    return report_;
  }

  // What the last trial made of the graph as it is now.
  std::optional<Graph> take_lowered() { return std::move(lowered_); }

 private:
  bool is_counted(NodeId id) const { return graph_.node(id).is_op() && known_[id.index()] == 0; }

  // ---- what the device cannot do

  // Ops that a trial refuses. Inputs and outputs that the device cannot hold get the tag themselves.
  Result<std::vector<NodeId>> refusals() {
    std::vector<NodeId> out;
    if (!wants_host(graph_)) {
      Trial trial = lower_on_trial(graph_, context_);
      BUDA_TRY(all_of_fitting_size(trial));
      for (Refusal& r : trial.refused) refuse(r.node, std::move(r.why), out);
      lowered_ = std::move(trial.lowered);
      return out;
    }
    HostPart part(graph_);
    if (part.device_is_idle()) return out;
    Graph device = part.take_device();
    Trial trial = lower_on_trial(device, context_);
    BUDA_TRY(all_of_fitting_size(trial));
    for (Refusal& r : trial.refused) refuse(part.origin(device.node(r.node)), std::move(r.why), out);
    lowered_ = std::move(trial.lowered);
    return out;
  }

  // What is too large is told: on the host it would be as large.
  static Result<void> all_of_fitting_size(const Trial& trial) {
    Failure failure;
    for (const Refusal& r : trial.refused)
      if (r.why.fault == Fault::fit) failure.add(r.why);
    if (!failure.empty()) return failure;
    return success();
  }

  void refuse(NodeId id, Diagnostic why, std::vector<NodeId>& out) {
    if (!id.valid()) return;
    Node& n = graph_.node(id);
    NodeId op = id;
    if (n.kind() == NodeKind::output) op = n.inputs()[0].source.node;
    if (!is_counted(op)) {
      // An input that ops of the host use; an output that an input or a known value gives. Ops that use such a value are refused
      // themselves.
      if (n.kind() == NodeKind::input || n.kind() == NodeKind::output) keep_on_host(n);
      for (const graph::Use& use : graph_.users(id))
        if (graph_.node(use.node).kind() == NodeKind::output) keep_on_host(graph_.node(use.node));
      return;
    }
    if (partition_[op.index()] != Partition::device) return;
    if (refusals_.emplace(op, std::move(why)).second) out.push_back(op);
  }

  void keep_on_host(Node& n) {
    if (graph::on_host(n)) return;
    graph::put_on_host(n);
    ++report_.rewrites;
  }

  // ---- what goes along

  void send(const std::vector<NodeId>& seeds, Reason reason) {
    std::vector<NodeId> all;
    auto add = [&](NodeId id, Reason why) {
      if (reason_[id.index()] == Reason::none || reason_[id.index()] == Reason::along) reason_[id.index()] = why;
      all.push_back(id);
    };
    for (NodeId id : seeds) add(id, reason);
    std::set<NodeId> parameters;  // one that many share is looked at once
    for (NodeId id : seeds)
      for (const graph::Edge& edge : graph_.node(id).inputs()) {
        if (graph_.node(edge.source.node).kind() != NodeKind::parameter || !parameters.insert(edge.source.node).second) continue;
        for (const graph::Use& use : graph_.users(edge.source.node))
          if (is_counted(use.node) && reason_[use.node.index()] == Reason::none) add(use.node, Reason::shares_parameter);
      }
    find_products(all);
    for (NodeId id : all) take_along(id);
  }

  // What there is on either side of ops, as far as it is left to the device when the seeds are not.
  void find_products(const std::vector<NodeId>& seeds) {
    leaves_.assign(graph_.id_bound(), 0);
    for (NodeId id : seeds) leaves_[id.index()] = 1;
    auto stays = [&](NodeId id) { return is_counted(id) && partition_[id.index()] == Partition::device && leaves_[id.index()] == 0; };
    products_before_.assign(graph_.id_bound(), 0);
    products_after_.assign(graph_.id_bound(), 0);
    for (NodeId id : order_)
      for (const graph::Edge& edge : graph_.node(id).inputs()) {
        const NodeId from = edge.source.node;
        if (stays(from) && (products_before_[from.index()] != 0 || is_product(graph_.node(from)))) products_before_[id.index()] = 1;
      }
    for (auto it = order_.rbegin(); it != order_.rend(); ++it)
      for (const graph::Use& use : graph_.users(*it))
        if (stays(use.node) && (products_after_[use.node.index()] != 0 || is_product(graph_.node(use.node))))
          products_after_[it->index()] = 1;
  }

  // One of the two walks: the nodes that it has met, of which `next` is to be left next.
  struct Walk {
    std::vector<NodeId> met;
    std::size_t next = 0;
    bool ended() const { return next == met.size(); }
  };

  void take_along(NodeId id) {
    if (partition_[id.index()] != Partition::device) return;
    const bool may_be_first = products_before_[id.index()] == 0, may_be_last = products_after_[id.index()] == 0;
    if (!may_be_first && !may_be_last) {
      partition_[id.index()] = Partition::between;
      return;
    }
    Walk before{{id}}, after{{id}};
    ++walk_;
    std::uint32_t mark_before = 2 * walk_, mark_after = 2 * walk_ + 1;
    while (!(may_be_first && before.ended()) && !(may_be_last && after.ended())) {
      if (may_be_first) step_before(before, mark_before);
      if (may_be_last) step_after(after, mark_after);
    }
    const bool front = may_be_first && before.ended() && (!may_be_last || !after.ended() || before.met.size() <= after.met.size());
    for (NodeId other : front ? before.met : after.met) {
      partition_[other.index()] = front ? Partition::prologue : Partition::epilogue;
      if (reason_[other.index()] == Reason::none) reason_[other.index()] = Reason::along;
    }
  }

  void meet(Walk& walk, NodeId id, std::uint32_t mark) {
    if (!is_counted(id) || partition_[id.index()] != Partition::device || leaves_[id.index()] != 0 || walked_[id.index()] == mark) return;
    walked_[id.index()] = mark;
    walk.met.push_back(id);
  }
  void step_before(Walk& walk, std::uint32_t mark) {
    NodeId at = walk.met[walk.next++];
    for (const graph::Edge& edge : graph_.node(at).inputs()) meet(walk, edge.source.node, mark);
  }
  void step_after(Walk& walk, std::uint32_t mark) {
    NodeId at = walk.met[walk.next++];
    for (const graph::Use& use : graph_.users(at)) meet(walk, use.node, mark);
  }

  // ---- movements of data

  // Candidates are light ops within the depth all of whose neighbours towards the border are candidates too or on the host. Those stay that
  // move data, or after which (seen from the border) one stays that does.
  void move_data() {
    std::vector<std::int64_t> depth(graph_.id_bound(), 0);
    std::vector<char> candidate(graph_.id_bound(), 0);
    auto within = [&](NodeId id, std::int64_t d) {
      const Node& n = graph_.node(id);
      depth[id.index()] = d;
      candidate[id.index()] =
          partition_[id.index()] == Partition::device && d <= context_.fallback.most_depth && (moves_data(n) || is_light(n));
    };
    auto stays = [&](NodeId id, bool further, Partition partition) {
      candidate[id.index()] = candidate[id.index()] != 0 && (further || moves_data(graph_.node(id)));
      if (candidate[id.index()] == 0) return;
      partition_[id.index()] = partition;
      reason_[id.index()] = Reason::movement;
    };
    auto is_candidate = [&](NodeId id) { return candidate[id.index()] != 0; };

    for (NodeId id : order_) {
      if (!is_counted(id)) continue;
      std::int64_t d = 0;
      bool open = true;
      for (const graph::Edge& edge : graph_.node(id).inputs()) {
        NodeId from = edge.source.node;
        if (!is_counted(from) || partition_[from.index()] == Partition::prologue) continue;
        open = open && is_candidate(from);
        d = std::max(d, depth[from.index()] + 1);
      }
      if (open) within(id, d);
    }
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      auto users = graph_.users(*it);
      bool further = std::any_of(users.begin(), users.end(), [&](const graph::Use& u) { return is_candidate(u.node); });
      if (is_candidate(*it)) stays(*it, further, Partition::prologue);
    }
    std::fill(candidate.begin(), candidate.end(), 0);
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      if (!is_counted(*it)) continue;
      std::int64_t d = 0;
      bool open = true;
      for (const graph::Use& use : graph_.users(*it)) {
        if (!is_counted(use.node) || partition_[use.node.index()] == Partition::epilogue) continue;
        open = open && is_candidate(use.node);
        d = std::max(d, depth[use.node.index()] + 1);
      }
      if (open) within(*it, d);
    }
    for (NodeId id : order_) {
      const auto& inputs = graph_.node(id).inputs();
      bool further = std::any_of(inputs.begin(), inputs.end(), [&](const graph::Edge& e) { return is_candidate(e.source.node); });
      if (is_candidate(id)) stays(id, further, Partition::epilogue);
    }
  }

  // ---- the end

  // Ops between which values pass on the device, from the host and to the host, are not worth the ways without a product.
  void leave_no_trifle_between() {
    auto is_left = [&](NodeId id) { return is_counted(id) && partition_[id.index()] == Partition::device; };
    std::vector<char> met(graph_.id_bound(), 0);
    for (NodeId start : order_) {
      if (!is_left(start) || met[start.index()] != 0) continue;
      std::vector<NodeId> part{start};
      met[start.index()] = 1;
      bool comes = false, goes = false, has_product = false;
      auto look = [&](NodeId id, bool& crosses) {
        // Digits are as near to the device as a change of format is.
        if (!is_counted(id) || graph_.node(id).tags.contains(kDigits)) return;
        if (!is_left(id)) {
          crosses = true;
        } else if (std::exchange(met[id.index()], 1) == 0) {
          part.push_back(id);
        }
      };
      for (std::size_t i = 0; i < part.size(); ++i) {
        has_product = has_product || is_product(graph_.node(part[i]));
        for (const graph::Edge& edge : graph_.node(part[i]).inputs()) look(edge.source.node, comes);
        for (const graph::Use& use : graph_.users(part[i])) look(use.node, goes);
      }
      if (!comes || !goes || has_product) continue;
      for (NodeId id : part) {
        partition_[id.index()] = Partition::between;
        reason_[id.index()] = Reason::along;
      }
    }
  }

  // A device that is only left to move data is not worth the way to it.
  void leave_no_trifle() {
    bool any = false;
    for (NodeId id : order_) {
      if (!is_counted(id)) continue;
      if (partition_[id.index()] != Partition::device)
        any = any || !graph_.node(id).tags.contains(kDigits);  // which are as near to the device as a change of format is
      else if (!moves_data(graph_.node(id)))
        return;
    }
    if (!any) return;
    lowered_.reset();
    for (NodeId id : order_) {
      if (!is_counted(id) || partition_[id.index()] != Partition::device) continue;
      partition_[id.index()] = Partition::prologue;
      reason_[id.index()] = Reason::along;
    }
  }

  void mark() {
    for (NodeId id : order_) {
      if (partition_[id.index()] == Partition::device || graph::on_host(graph_.node(id))) continue;
      graph::put_on_host(graph_.node(id));
      ++report_.rewrites;
    }
  }

  void tell() {
    struct Type {
      std::size_t count = 0;
      NodeId first;
    };
    std::map<std::string, Type> types;
    std::map<Reason, std::map<std::string, std::size_t>> counts;
    std::size_t all = 0, on_host = 0;
    for (NodeId id : order_) {
      if (!is_counted(id)) continue;
      ++all;
      if (partition_[id.index()] == Partition::device) continue;
      ++on_host;
      const std::string& op = model_op(graph_.node(id));
      ++counts[reason_[id.index()]][op];
      if (reason_[id.index()] != Reason::refused) continue;
      Type& type = types[op];
      if (type.count++ == 0) type.first = id;
    }
    if (on_host == 0) return;
    for (const auto& [op, type] : types) {
      const Diagnostic& why = refusals_.at(type.first);
      Diagnostic d = warning(
          "PA060", why.loc, cat("'", op, "' runs on the host", type.count == 1 ? "" : cat(" (", type.count, " nodes)"), ": ", why.message));
      d.node = why.node;
      d.notes = why.notes;
      // What it would have advised has happened.
      if (why.hint.find("--enable-cpu-fallback") == std::string::npos) d.hint = why.hint;
      context_.host.report(d);
    }
    std::vector<std::string> parts;
    static constexpr std::array<std::pair<Reason, std::string_view>, 5> kTexts = {{{Reason::named, "named"},
                                                                                   {Reason::refused, "that the device cannot do"},
                                                                                   {Reason::shares_parameter, "that share a parameter"},
                                                                                   {Reason::along, "taken along"},
                                                                                   {Reason::movement, "near inputs and outputs"}}};
    for (const auto& [reason, text] : kTexts) {
      if (!counts.contains(reason)) continue;
      std::vector<std::string> ops;
      std::size_t sum = 0;
      for (const auto& [op, count] : counts[reason]) {
        ops.push_back(count == 1 ? op : cat(op, " x", count));
        sum += count;
      }
      parts.push_back(cat(sum, ' ', text, " (", buda::join(ops, ", "), ')'));
    }
    report_.note = cat(on_host, " of ", all, " ops run on the host: ", buda::join(parts, ", "));
    if (const std::int32_t segments = HostPart(graph_).device_segments(); segments > 1)
      report_.note += cat("; the device runs in ", segments, " segments");
  }

  Graph& graph_;
  PassContext& context_;
  PassReport report_;
  std::vector<char> known_;  // by id, as are all that follow
  std::vector<NodeId> order_;
  std::vector<Partition> partition_;
  std::vector<Reason> reason_;
  std::vector<std::uint32_t> walked_;  // the last walk that met the node
  std::uint32_t walk_ = 0;
  std::vector<char> leaves_, products_before_, products_after_;
  std::map<NodeId, Diagnostic> refusals_;
  std::optional<Graph> lowered_;
};

Result<PassReport> cpu_fallback(Graph& graph, PassContext& context) {
  if (!context.fallback.enabled) return PassReport{};
  mark_made_for_host(graph, context.fallback.nodes, context.host);
  Chooser chooser(graph, context);
  BUDA_ASSIGN(PassReport report, chooser.run());
  report.lowered = chooser.take_lowered();
  return report;
}

}  // namespace

const Pass kCpuFallback = {.name = "cpu-fallback",
                           .summary = "assign ops that the device cannot execute, and their predecessors or successors, to the host",
                           .level = graph::Level::tensor,
                           .needs_device = true,
                           .run = cpu_fallback};

}  // namespace buda::passes
