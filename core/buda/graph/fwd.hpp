// SPDX-License-Identifier: Apache-2.0
// The types of a graph, for declarations. A declaration elsewhere would hide them (docs/decisions/0019).
#pragma once

#pragma GCC visibility push(default)

namespace buda::graph {

class Graph;
class GraphEditor;
class Node;
struct Edge;
struct Value;

}  // namespace buda::graph

#pragma GCC visibility pop
