// SPDX-License-Identifier: Apache-2.0
// Each tag is read as the stage reads it that needs it.
#include <buda/graph/tags/check_tags.hpp>

#include <buda/graph/graph.hpp>
#include <buda/graph/tags/constraint_tags.hpp>
#include <buda/graph/tags/loopback.hpp>
#include <buda/graph/tags/sum_blocks.hpp>
#include <buda/graph/tags/tile_rows.hpp>

namespace buda::graph {
namespace {

template <class T>
void collect(const Result<T>& read, const Node* n, std::vector<Diagnostic>& found) {
  if (read) return;
  for (Diagnostic d : read.failure().diagnostics()) {
    if (n != nullptr) d.node = n->name();
    found.push_back(std::move(d));
  }
}

}  // namespace

std::vector<Diagnostic> check_tags(const Graph& graph) {
  std::vector<Diagnostic> found;
  for (NodeId id : graph.topological_order()) {
    const Node& n = graph.node(id);
    collect(queued_inputs(n), &n, found);
    collect(schedule_places(n), &n, found);
    collect(chip_of(n), &n, found);
    collect(named_tile_rows(n), &n, found);
    collect(sum_blocks(n), &n, found);
  }
  collect(loopbacks(graph), nullptr, found);
  return found;
}

}  // namespace buda::graph
