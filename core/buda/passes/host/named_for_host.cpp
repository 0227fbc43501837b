// Finding the ops that the user names.
#include <buda/passes/host/cpu_fallback.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/placement.hpp>
#include <buda/ops/table/registry.hpp>
#include <buda/passes/host/host_part.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace buda::passes {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;

constexpr std::string_view kEmbedding = "embedding";

// Where Relay (or PyBuda) has another word for an op. Of Relay's prefixes ("nn.", "image.", "vision.") the name is stripped before.
const std::map<std::string, std::string, std::less<>>& other_words() {
  static const std::map<std::string, std::string, std::less<>> words = {
      {"adaptive_avg_pool1d", "avg_pool1d"},
      {"adaptive_avg_pool2d", "avg_pool2d"},
      {"adaptive_max_pool2d", "max_pool2d"},
      {"adv_index", "gather_nd"},
      {"batch_matmul", "matmul"},
      {"batch_norm", "batchnorm"},
      {"broadcast_to", "broadcast"},
      {"cos", "cosine"},
      {"dense", "matmul"},
      {"expand_dims", "unsqueeze"},
      {"fast_softmax", "softmax"},
      {"floor_mod", "modulo"},
      {"hstack", "concatenate"},
      {"index", "slice"},
      {"layer_norm", "layernorm"},
      {"max", "reduce_max"},
      {"mean", "reduce_avg"},
      {"min", "reduce_min"},
      {"mod", "remainder"},
      {"not_equal", "equal"},
      {"prod", "reduce_prod"},
      {"resize1d", "resize"},
      {"resize2d", "resize"},
      {"resize3d", "resize"},
      {"scatter", "scatter_elements"},
      {"select", "slice"},
      {"sin", "sine"},
      {"strided_slice", "slice"},
      {"sum", "reduce_sum"},
      {"take", "gather"},
      {"trilu", "triangle"},
      {"upsampling", "resize"},
      {"vslice", "slice"},
      {"vstack", "concatenate"},
      {"hslice", "slice"},
      {"reduce_mean", "reduce_avg"},
  };
  return words;
}

bool exists(const std::string& op) { return ops::standard_ops().find(graph::Level::tensor, op) != nullptr; }

// Rows of a table, found when the model runs.
bool is_embedding(const Graph& graph, const Node& n, const std::vector<char>& known) {
  if (n.op() != "gather" || n.inputs().size() != 2) return false;
  const graph::ValueType* table = graph.type(n.inputs()[0].source);
  auto dim = n.attrs.find("dim");
  const auto* axis = dim == n.attrs.end() ? nullptr : std::get_if<std::int64_t>(&dim->second);
  bool first = table != nullptr && (axis == nullptr || *axis == 0 || *axis == -static_cast<std::int64_t>(table->shape.rank()));
  return first && known[n.inputs()[0].source.node.index()] != 0 && known[n.inputs()[1].source.node.index()] == 0;
}

Result<std::set<std::string>> wanted_ops(const std::vector<std::string>& names) {
  std::set<std::string> out;
  Failure failure;
  for (const std::string& name : names) {
    std::string op = tensor_op_of(name);
    if (!op.empty()) {
      out.insert(std::move(op));
      continue;
    }
    Diagnostic d = usage_error("PA062", cat("no op is called '", name, '\''));
    std::vector<std::string> known = ops::standard_ops().names(graph::Level::tensor);
    for (const auto& [word, ours] : other_words()) known.push_back(word);
    known.emplace_back(kEmbedding);
    if (auto near = nearest_word(name.substr(name.rfind('.') + 1), known)) d.hint = cat("did you mean '", *near, "'?");
    failure.add(std::move(d));
  }
  if (!failure.empty()) return failure;
  return out;
}

}  // namespace

std::string tensor_op_of(const std::string& name) {
  if (name == kEmbedding || exists(name)) return name;
  std::string bare = name;
  for (std::string_view prefix : {"nn.", "image.", "vision.", "contrib."})
    if (bare.starts_with(prefix)) bare.erase(0, prefix.size());
  if (bare == kEmbedding || exists(bare)) return bare;
  auto it = other_words().find(bare);
  return it == other_words().end() ? "" : it->second;
}

Result<void> mark_for_host(Graph& graph, const NamedForHost& named, Host& host) {
  BUDA_ASSIGN(std::set<std::string> wanted, wanted_ops(named.ops));
  std::vector<char> known = known_nodes(graph);
  std::set<std::string> nodes(named.nodes.begin(), named.nodes.end()), found;
  for (NodeId id : graph.ids()) {
    Node& n = graph.node(id);
    if (!n.is_op()) continue;
    bool by_node = nodes.contains(n.name());
    if (by_node) found.insert(n.name());
    for (const graph::Origin& origin : n.origins) {
      if (!nodes.contains(origin.node)) continue;
      by_node = true;
      found.insert(origin.node);
    }
    if (by_node || wanted.contains(n.op()) || (wanted.contains(std::string(kEmbedding)) && is_embedding(graph, n, known)))
      graph::put_on_host(n);
  }
  for (const std::string& name : named.nodes)
    if (!found.contains(name)) host.report(warning("PA061", {}, cat("the graph has no op '", name, "', which should go to the host")));
  return success();
}

}  // namespace buda::passes
