// SPDX-License-Identifier: Apache-2.0
// A tensor graph some of whose ops are for the host (graph/placement.hpp), taken apart for lowering and put together again.
//
// before                                            the device's part, which is lowered      after
//   ids = input                                                                                ids = input                placement=host
//   e = gather(table, ids)     placement=host         e.to_device = input                      e = gather(table, ids)     placement=host
//   y = matmul(e, w)                                  y = matmul(e.to_device, w)               e.to_device = to_device(e)
//   u = unique(y)              placement=host         y.to_host = output(y)                    y = matmul(e.to_device, w)
//                                                                                              y.to_host = to_host(y)     placement=host
//                                                                                              u = unique(y.to_host)      placement=host
//
// The device may come to its turn several times. What it does before and after the host's parts between are segments; a value that an op
// of another segment takes, and an input that ops of several take, passes through the host. Known ops are computed in each.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/graph.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace buda::passes {

// Nodes whose values depend on parameters and constants alone (by id), which host and device both have at hand.
std::vector<char> known_nodes(const graph::Graph& graph);

// Whether a tensor graph has anything for the host.
bool wants_host(const graph::Graph& graph);

// Made for one graph, which must outlive it. O((n + e) log n).
class HostPart {
 public:
  explicit HostPart(const graph::Graph& whole);

  // What the device does. Nodes have the names and types that they have in the whole graph; without outputs when nothing is left for the
  // device. Values that come from the host are inputs, those that it needs are outputs.
  graph::Graph take_device() { return std::move(device_); }
  bool device_is_idle() const { return idle_; }
  std::int32_t device_segments() const { return segments_; }

  // The node of the whole graph for a node of the device's part: itself, or for an input or output that leads to the host the node whose
  // value it is.
  graph::NodeId origin(const graph::Node& n) const;

  // The whole graph at device level, made of the lowered part.
  Result<graph::Graph> join(graph::Graph lowered) const;

 private:
  struct Crossing {
    graph::ValueRef value;  // in the whole graph
    std::string name;       // of the input or output in the device's part
  };

  void find_partition();
  void find_segments(const std::vector<graph::NodeId>& order);
  void share_inputs();
  void share_states();
  void find_known_uses(const std::vector<graph::NodeId>& order);
  void build();
  void build_leaving(const std::vector<graph::NodeId>& order);
  std::set<std::int32_t> segments_using(graph::NodeId input) const;
  graph::Edge device_edge(const graph::Edge& edge, std::int32_t segment);
  graph::NodeId copy_to_device(const graph::Node& n, std::int32_t segment);
  bool is_host(graph::ValueRef v) const { return host_[v.node.index()] != 0; }
  std::string fresh(const graph::ValueRef& v, std::string_view suffix);
  friend class Joiner;

  const graph::Graph& whole_;
  graph::Graph device_;
  bool idle_ = true;
  std::int32_t segments_ = 0;
  std::vector<char> known_, host_;  // by id
  // By id: of the device its segment, of the host the number of segments that run before it.
  std::vector<std::int32_t> segment_;
  std::vector<std::set<std::int32_t>> known_uses_;                                // by id: the segments that need a known node
  std::vector<graph::NodeId> copies_;                                             // by id of the whole graph, in the device's part
  std::map<std::pair<graph::NodeId, std::int32_t>, graph::NodeId> known_copies_;  // of known ops, in each segment
  std::map<std::pair<graph::ValueRef, std::int32_t>, graph::NodeId> entries_;
  std::vector<Crossing> entering_, leaving_;
  std::map<std::string, graph::NodeId, std::less<>> crossing_names_;
};

}  // namespace buda::passes
