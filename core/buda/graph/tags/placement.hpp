// SPDX-License-Identifier: Apache-2.0
// Which nodes of a graph run on the host's processor instead of the device.
//
// At tensor level the tag only says where an op will go. A device graph with such nodes is mixed: they are ops of tensor level on values
// of any shape and type, as are the inputs, parameters and constants that have the tag, and two ops lead from one partition to the other:
//
//   ids  = input : I64 [1, 128]               placement=host
//   rows = gather(table, ids) : F32 […]       placement=host
//   x    = to_device(rows) : F32 [1, 1, 128, 768]      what an input does: model_shape, view_shape, … (ops/device/device_layout.hpp)
//   y    = matmul(x, w) : F32 [1, 1, 128, 32]
//   z    = to_host(y) : F32 [1, 128, 10]      placement=host      what an output does
//
// An output is in the partition of the value that it gives.
#pragma once

#include <buda/graph/fwd.hpp>
#include <buda/graph/level.hpp>

#include <string_view>

namespace buda::graph {

inline constexpr const char* kPlacement = "placement";  // the tag
inline constexpr const char* kHostPlacement = "host";   // its only value

inline constexpr std::string_view kToDevice = "to_device";
inline constexpr std::string_view kToHost = "to_host";

// Tag of an op of the device where there are several segments, between which the host computes something: the number of its own. Values
// pass from one to another through the host.
inline constexpr const char* kSegment = "segment";

bool on_host(const Node& n);
// The same, outputs being where their values are.
bool on_host(const Graph& graph, const Node& n);
void put_on_host(Node& n);

// The level at which a node's op is defined: that of its graph, for the host's nodes always tensor level.
Level level_of(const Graph& graph, const Node& n);

// A device graph with nodes of the host.
bool is_mixed(const Graph& graph);

}  // namespace buda::graph
