// SPDX-License-Identifier: Apache-2.0
// Segments of the device: parts of its graph between which the host computes something (balance/emit/segments.hpp). Each has epochs and a
// program of its own.
#pragma once

#include <buda/graph/fwd.hpp>
#include <buda/graph/node_id.hpp>

#include <cstdint>
#include <vector>

namespace buda::balance {

// By node id, as the tag of ops says (graph/placement.hpp); 0 for what is no op. Without the tag an op is in the last segment from which it
// takes a value, or where an input that it takes is read.
std::vector<std::int32_t> segments_of(const graph::Graph& graph);

// Sorts a schedule by segment; within each the order stays.
void order_by_segment(const graph::Graph& graph, std::vector<graph::NodeId>& schedule);

}  // namespace buda::balance
