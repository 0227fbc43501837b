// From the inputs forward, through graphs of the host; then the embeddings of the netlist.
#include <buda/runtime/index_bounds.hpp>

#include <buda/graph/graph.hpp>
#include <buda/netlist/model/netlist.hpp>
#include <buda/ops/table/op_traits.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace buda::runtime {
namespace {

using graph::Graph;
using graph::Node;

constexpr std::array<std::string_view, 9> kMoves = {"broadcast", "cast",    "concatenate", "nop",      "reshape",
                                                    "slice",     "squeeze", "transpose",   "unsqueeze"};

void lower(std::map<std::string, std::int64_t>& bounds, const std::string& input, std::int64_t bound) {
  const auto [at, is_new] = bounds.emplace(input, bound);
  if (!is_new) at->second = std::min(at->second, bound);
}

// The size of the axis of its first input along which an op gathers by its second.
std::int64_t gathered_size(const Graph& graph, const Node& gather) {
  const graph::ValueType* table = graph.type(gather.inputs()[0].source);
  if (table == nullptr || table->shape.rank() == 0) return 1;
  const auto rank = static_cast<std::int64_t>(table->shape.rank());
  // Coordinates: all of them are in the table where the smallest axis has a place for them.
  if (gather.op() == "gather_nd") return *std::min_element(table->shape.begin(), table->shape.end());
  const auto found = gather.attrs.find("dim");
  const std::int64_t* given = found == gather.attrs.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  const std::int64_t dim = given == nullptr ? 0 : *given;
  return table->shape[static_cast<std::size_t>(dim < 0 ? dim + rank : dim)];
}

bool gathers(const Node& node) { return node.op() == "gather" || node.op() == "gather_elements" || node.op() == "gather_nd"; }

void add_of_graph(const Graph& graph, std::map<std::string, std::int64_t>& out) {
  for (const graph::NodeId input : graph.inputs()) {
    std::vector<graph::NodeId> open = {input};
    std::set<graph::NodeId> seen = {input};
    while (!open.empty()) {
      const graph::NodeId at = open.back();
      open.pop_back();
      for (const graph::Use& use : graph.users(at)) {
        const Node& user = graph.node(use.node);
        if (gathers(user) && use.input == 1) lower(out, graph.node(input).name(), gathered_size(graph, user));
        const bool moves = std::find(kMoves.begin(), kMoves.end(), user.op()) != kMoves.end();
        if (moves && seen.insert(use.node).second) open.push_back(use.node);
      }
    }
  }
}

// The queue of a table may have more rows than it, which fill up tiles.
std::int64_t rows_of_table(const Model& model, const std::string& queue) {
  for (const host_plan::PlanParameter& parameter : model.plan.parameters)
    if (parameter.queue == queue && !parameter.shape.empty()) return parameter.shape.front();
  return 1;
}

}  // namespace

std::map<std::string, std::int64_t> index_bounds(const Model& model) {
  std::map<std::string, std::int64_t> out;
  for (const auto& [file, graph] : model.host_graphs) add_of_graph(*graph, out);
  for (const netlist::Graph& graph : model.program.netlist.graphs)
    for (const netlist::Op& op : graph.ops)
      for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        if (!ops::is_row_number(op.type, i)) continue;
        for (const host_plan::PlanTensor& input : model.plan.inputs)
          if (input.queue == op.inputs[i].name) lower(out, input.name, rows_of_table(model, op.inputs[0].name));
      }
  return out;
}

}  // namespace buda::runtime
