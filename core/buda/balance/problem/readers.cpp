// SPDX-License-Identifier: Apache-2.0
// Rows or tiles, and the slices that readers take at once.
#include <buda/balance/problem/readers.hpp>

#include <buda/balance/problem/node_error.hpp>
#include <buda/balance/problem/selection.hpp>
#include <buda/balance/resources/edge.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/ops/table/op_traits.hpp>
#include <buda/tiling/flat_rows.hpp>

#include <algorithm>
#include <numeric>
#include <string>
#include <variant>

namespace buda::balance {
namespace {

// Tilizers and embeddings read rows of datums, in a queue of the host's; others read tiles.
void set_layout(const graph::Graph& graph, Problem& problem, SourceSpec& source, Failure& findings) {
  auto takes_rows = [&](const OpUse& use) { return tiling::takes_rows(problem.op(use.op).op, use.input); };
  auto looks_up = [&](const OpUse& use) { return ops::is_row_number(problem.op(use.op).op.type, use.input); };
  auto by_row = std::find_if(source.users.begin(), source.users.end(), takes_rows);
  source.flat = by_row != source.users.end();
  source.row_numbers = std::any_of(source.users.begin(), source.users.end(), looks_up);
  auto other = std::find_if_not(source.users.begin(), source.users.end(),
                                [&](const OpUse& use) { return source.flat ? takes_rows(use) : looks_up(use); });
  auto label = [&](const OpUse& use) { return cat("op '", problem.op(use.op).label, "'"); };
  if (source.flat && source.loopback)
    findings.add(node_error("BL043", graph.node(source.node),
                            cat(label(*by_row), " reads it row by row, and the op that gives it in the next step makes tiles")));
  if (source.flat && other != source.users.end())
    findings.add(
        node_error("BL043", graph.node(source.node),
                   cat(label(*by_row), " reads it row by row, and ", label(*other), " needs tiles: let it read a tilizer, or a copy")));
  if (!source.row_numbers) return;
  if (other != source.users.end() || source.loopback || source.kind != SourceKind::input || source.format != DataFormat::raw_uint32)
    findings.add(node_error("BL043", graph.node(source.node),
                            "an embedding takes its indices from an input of the model in RawUInt32 that nothing else reads"));
  source.shape = {1, 1, 1};
  for (const OpUse& use : source.users) problem.ops[use.op.index()].operands[use.input].shape = source.shape;
}

void set_depth(const graph::Graph& graph, const Problem& problem, OpSpec& spec, Failure& findings) {
  for (const OpUse& use : spec.users) {
    auto tms = problem.ops[use.op.index()].op.inputs[use.input].maps.tms;
    // The slices of a sparse matmul lie below one another.
    if (spec.selection) tms.insert(tms.begin(), netlist::Tm::vslice(spec.selection->slices));
    auto depth = stack_depth(tms);
    if (auto* reason = std::get_if<std::string>(&depth)) {
      const graph::Node& user = graph.node(problem.ops[use.op.index()].node);
      findings.add(node_error("BL008", user, cat("input ", use.input, ": ", *reason)));
      return;
    }
    spec.depth = std::lcm(spec.depth, std::get<std::int64_t>(depth));
  }
  if (spec.users.size() > 1) spec.depth = spec.selection ? 1 : spec.out.t;
}

Result<void> none_of(Failure findings) {
  if (!findings.empty()) return findings;
  return success();
}

}  // namespace

Result<void> set_layouts(const graph::Graph& graph, Problem& problem) {
  Failure findings;
  for (SourceSpec& source : problem.sources) set_layout(graph, problem, source, findings);
  return none_of(std::move(findings));
}

Result<void> set_depths(const graph::Graph& graph, Problem& problem) {
  Failure findings;
  for (OpSpec& spec : problem.ops) set_depth(graph, problem, spec, findings);
  return none_of(std::move(findings));
}

}  // namespace buda::balance
