// SPDX-License-Identifier: Apache-2.0
// Values that pass from chip to chip, copied by ops of their own: an epoch that reads from another chip keeps both busy, so that all copies
// for a chip stand in epochs with nothing else, where its stage begins.
#pragma once

#include <buda/graph/fwd.hpp>
#include <buda/graph/node_id.hpp>

#include <cstdint>
#include <map>
#include <vector>

namespace buda::balance {

// Whether tilizers or embeddings read it: rows of datums, which no nop copies.
bool is_read_as_rows(const graph::Graph& graph, graph::NodeId input);

// Where an op of the graph runs.
struct OpStage {
  std::int32_t segment = 0;
  std::int32_t stage = 0;  // of the segment, from 0
  bool copies = false;     // what an earlier stage has made, for its own
  friend auto operator<=>(const OpStage&, const OpStage&) = default;
};

// Adds a nop for the value, which these uses read from then on.
graph::NodeId copy_for(graph::Graph& graph, graph::ValueRef value, const std::vector<graph::Use>& uses);

// Adds a nop for each value that is made in one stage, or read there first, and read in a later one; further stages read the copy of the
// stage before. What stays where it is: parameters and constants, which every chip has, and inputs that are rows of datums. `order` becomes
// one by stages, copies first; `stages` has all its ops. O(edges * stages).
void forward_values(graph::Graph& graph, std::vector<graph::NodeId>& order, std::map<graph::NodeId, OpStage>& stages);

}  // namespace buda::balance
