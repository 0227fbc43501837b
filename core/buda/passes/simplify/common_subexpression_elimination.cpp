// SPDX-License-Identifier: Apache-2.0
// common-subexpression-elimination: one node instead of several that compute the same.
//
// before                                        after
//   a = exp(x)                                    a = exp(x)
//   b = exp(x)                                    y = add(a, a)
//   y = add(a, b)
//
// Two ops are the same when op, inputs with their TMs, attributes, types, precision and tags are (but for the one that says from which op
// of the model they come, and in a training step of one program the phase); two constants when their tensors are, bit
// for bit. Parameters are merged only where they stem from the same tensor of the same file (tied weights): the user knows them by name
// and may push other values later. Walking in topological order, one pass finds all: the inputs of a node are merged before it. O(n log n).
#include <buda/passes/formats/precision_rules.hpp>
#include <buda/passes/pipeline/standard_passes.hpp>

#include <buda/base/hash.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/editor.hpp>
#include <buda/graph/tags/training.hpp>
#include <buda/graph/values/value.hpp>

#include <bit>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace buda::passes {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;

// Ops whose every execution may differ.
bool is_random(const Node& n) { return n.op() == "dropout"; }
// Copies that the user put on edges (insert-buffers): each is there for an edge of its own.
bool is_requested(const Node& n) { return n.tags.contains(kBuffering); }

void add_value(Fnv1a& hash, const Node& n) {
  const graph::Value& value = *n.value;
  if (n.kind() == graph::NodeKind::parameter) {
    hash.add(value.source->path).add(value.source->name);
    if (value.source->raw) hash.add(static_cast<std::uint64_t>(value.source->raw->offset));
  } else {
    // Many bytes at a time; nothing that is written depends on it.
    hash.add(std::uint64_t{std::hash<std::string_view>{}(value.tensor.bytes())});
  }
}

// Tags that tell equal ops apart, or not.
struct Tags {
  bool phases = false;  // of a training step in programs, which hand values on through queues
  bool tell(const std::string& name) const { return name != kOriginalOpType && (phases || name != graph::kPhase); }
};

// Equal for nodes that are the same.
std::uint64_t hash_of(const Node& n, const Tags& tags) {
  Fnv1a hash;
  hash.add(n.op());
  if (n.has_value()) {
    add_value(hash, n);
  } else {
    for (const auto& edge : n.inputs()) {
      hash.add(std::uint64_t{edge.source.node.value()} << 32 | edge.source.port);
      for (const auto& tm : edge.tms) hash.add(tm.text());
    }
    for (const auto& [name, attr] : n.attrs) hash.add(name).add(graph::attr_text(attr));
  }
  for (const auto& type : n.outputs)
    for (std::int64_t size : type.shape) hash.add(static_cast<std::uint64_t>(size));
  for (const auto& [name, text] : n.tags)
    if (tags.tell(name)) hash.add(name).add(text);
  return hash.value();
}

bool may_merge(const Node& n) {
  switch (n.kind()) {
    case graph::NodeKind::op:
      return !is_random(n) && !is_requested(n);
    case graph::NodeKind::constant:
      return n.value.has_value();
    case graph::NodeKind::parameter:
      return n.value && n.value->source;
    default:
      return false;
  }
}

bool same_tags(const Node& a, const Node& b, const Tags& tags) {
  auto telling = [&](std::map<std::string, std::string> all) {
    std::erase_if(all, [&](const auto& tag) { return !tags.tell(tag.first); });
    return all;
  };
  return a.tags == b.tags || telling(a.tags) == telling(b.tags);
}

// Hashes may be equal by accident.
bool same(const Node& a, const Node& b, const Tags& tags) {
  if (a.op() != b.op() || a.inputs() != b.inputs() || !graph::same_attrs(a.attrs, b.attrs) || a.outputs != b.outputs ||
      !same_tags(a, b, tags) || !(a.precision == b.precision))
    return false;
  if (!a.has_value()) return true;
  if (a.kind() == graph::NodeKind::parameter)
    return a.value->source == b.value->source && a.value->tensor.shape() == b.value->tensor.shape();
  return a.value->tensor == b.value->tensor;
}

// By hash, the node that was met last: a table in one piece, since a node of memory for each entry costs more than all the rest.
class LastByHash {
 public:
  explicit LastByHash(std::size_t most) : slots_(std::bit_ceil(2 * most + 1)) {}

  NodeId& at(std::uint64_t hash) {
    std::size_t i = hash & (slots_.size() - 1);
    while (slots_[i].last.valid() && slots_[i].hash != hash) i = (i + 1) & (slots_.size() - 1);
    slots_[i].hash = hash;
    return slots_[i].last;
  }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    NodeId last;
  };
  std::vector<Slot> slots_;  // at least half of them are free
};

Result<PassReport> common_subexpression_elimination(Graph& graph, PassContext& context) {
  PassReport report;
  LastByHash last(graph.size());
  const Tags tags{graph::runs_in_phases(graph)};
  // From the last node with a hash on the ones before it, by id.
  std::vector<NodeId> before(graph.id_bound());
  for (NodeId id : graph.topological_order()) {
    const Node& n = graph.node(id);
    if (!may_merge(n)) continue;
    NodeId& newest = last.at(hash_of(n, tags));
    NodeId first = newest;
    while (first.valid() && !same(graph.node(first), n, tags)) first = before[first.index()];
    if (!first.valid() || !context.rewrites.allow(kCommonSubexpressionElimination.name, n)) {
      before[id.index()] = newest;
      newest = id;
      continue;
    }
    for (std::uint32_t port = 0; port < n.outputs.size(); ++port) graph.replace_uses({id, port}, {first, port});
    graph::GraphEditor editor(graph, id);
    editor.merge_origins(first, id);
    graph.erase(id);
    ++report.rewrites;
  }
  return report;
}

}  // namespace

const Pass kCommonSubexpressionElimination = {.name = "common-subexpression-elimination",
                                              .summary = "compute equal subexpressions once",
                                              .level = std::nullopt,
                                              .run = common_subexpression_elimination};

}  // namespace buda::passes
