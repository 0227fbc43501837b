// SPDX-License-Identifier: Apache-2.0
// The names of a graph, its edges and its editor, for passes that put ops of the device beside others.
#pragma once

#include <buda/graph/editor.hpp>

namespace buda::passes {

using graph::Edge;
using graph::Graph;
using graph::GraphEditor;
using graph::Node;
using graph::NodeId;
using graph::Tm;
using graph::TmDim;
using graph::ValueType;

}  // namespace buda::passes
