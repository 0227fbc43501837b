// SPDX-License-Identifier: Apache-2.0
// insert-buffers: puts what the user wants on edges: ops that only hold data, for forks whose branches differ in length.
//
// before                          after --insert-buffering-nop a,y
//   a = exp(x)                      a = exp(x)
//   b = tanh(a)                     a.nop = buffer(a) #buffering=nop
//   y = add(a, b)                   b = tanh(a)
//                                   y = add(a.nop, b)
//
// It runs on the model's graph, where nothing is fused yet (what is put between two ops keeps them apart), and again on the device graph
// for names that only occur there. What no edge answers to then is told (PA073). A queue is such an op, too, until place-queues.
#include <buda/passes/queues/insert_buffers.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/tags/placement.hpp>
#include <buda/passes/fuse/fusing.hpp>
#include <buda/passes/pipeline/standard_passes.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace buda::passes {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::Use;
using graph::ValueRef;

class Inserter {
 public:
  Inserter(Graph& graph, PassContext& context) : g_(graph), context_(context) {}

  PassReport run() {
    if (context_.buffers.empty()) return report_;
    for (NodeId id : g_.ids()) enlist(id);
    for (BufferRequest& request : context_.buffers) meet(request);
    if (g_.level == graph::Level::device)
      for (const BufferRequest& request : context_.buffers)
        for (const std::string& consumer : request.consumers) tell(request, consumer);
    std::erase_if(context_.buffers, [&](const BufferRequest& d) { return d.consumers.empty() || g_.level == graph::Level::device; });
    return report_;
  }

 private:
  // A buffer is called like what it holds, too, so that a request finds what another one has put on the edge.
  void enlist(NodeId id) {
    if (g_.node(id).kind() == graph::NodeKind::output) return;
    called_[g_.node(id).name()].insert(id);
    const Node& held = held_by(id);
    called_[held.name()].insert(id);
    for (const graph::Origin& origin : held.origins) called_[origin.node].insert(id);
  }

  // What a buffer, or several of them, holds; itself for other nodes.
  const Node& held_by(NodeId id) const {
    while (g_.node(id).tags.contains(kBuffering) && g_.node(id).inputs().size() == 1) id = g_.node(id).inputs()[0].source.node;
    return g_.node(id);
  }

  const std::set<NodeId>& called(const std::string& name) const {
    static const std::set<NodeId> none;
    auto found = called_.find(name);
    return found == called_.end() ? none : found->second;
  }

  // One buffer for all consumers of a value.
  void meet(BufferRequest& request) {
    std::map<ValueRef, ValueRef> made;
    std::erase_if(request.consumers, [&](const std::string& name) {
      bool found = false;
      for (const Use& use : uses_by(request, name)) {
        graph::Edge edge = g_.node(use.node).inputs()[use.input];
        auto [at, is_new] = made.try_emplace(edge.source);
        if (is_new) at->second = buffer(edge.source, request.kind);
        edge.source = at->second;
        g_.set_input(use.node, use.input, std::move(edge));
        found = true;
      }
      return found;
    });
  }

  std::vector<Use> uses_by(const BufferRequest& request, const std::string& consumer) const {
    std::vector<Use> out;
    for (NodeId user : called(consumer)) {
      const Node& n = g_.node(user);
      if (!n.is_op() || graph::on_host(n) || called(request.producer).contains(user)) continue;
      for (std::uint32_t i = 0; i < n.inputs().size(); ++i)
        if ((!request.operand || *request.operand == i) && called(request.producer).contains(n.inputs()[i].source.node))
          out.push_back({user, i});
    }
    return out;
  }

  ValueRef buffer(ValueRef value, BufferKind kind) {
    const char* word = kind == BufferKind::nop ? "nop" : "queue";
    NodeId id =
        g_.add(g_.fresh_name(cat(held_by(value.node).name(), '.', word)), g_.level == graph::Level::tensor ? "buffer" : "nop", {value});
    Node& n = g_.node(id);
    n.outputs = {*g_.type(value)};
    n.tags[kBuffering] = word;
    n.tags[kDontFuse] = "";
    enlist(id);
    ++report_.rewrites;
    return id;
  }

  void tell(const BufferRequest& request, const std::string& consumer) const {
    std::string operand = request.operand ? cat(", input ", *request.operand) : "";
    Diagnostic d = warning(
        "PA073", {}, cat("option --", request.option, ": there is no edge from '", request.producer, "' to '", consumer, '\'', operand));
    constexpr std::size_t kMaxShown = 6;
    std::vector<std::string> edges;
    for (NodeId id : called(request.producer))
      for (const Use& use : g_.users(id))
        if (edges.size() < kMaxShown && g_.node(use.node).is_op() && !called(request.producer).contains(use.node) &&
            !g_.node(use.node).tags.contains(kBuffering))
          edges.push_back(cat('\'', g_.node(use.node).name(), "' (input ", use.input, ')'));
    if (called(request.producer).empty()) {
      d.hint = cat("the device graph has no op '", request.producer, "' either; it may have been fused with another op");
    } else if (!edges.empty()) {
      d.hint = cat("what '", request.producer, "' gives is used by ", join(edges, ", "));
    }
    context_.host.report(d);
  }

  Graph& g_;
  PassContext& context_;
  std::map<std::string, std::set<NodeId>> called_;  // by name, and by names of nodes of the model
  PassReport report_;
};

Result<PassReport> insert_buffers(Graph& graph, PassContext& context) { return Inserter(graph, context).run(); }

}  // namespace

const Pass kInsertBuffers = {
    .name = "insert-buffers", .summary = "insert the requested queues and nops on edges", .level = std::nullopt, .run = insert_buffers};

}  // namespace buda::passes
