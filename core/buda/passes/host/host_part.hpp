// A tensor graph some of whose ops are for the host (graph/placement.hpp), taken apart for lowering and put together again.
//
// before                                            the device's part, which is lowered      after
//   ids = input                                                                                ids = input                placement=host
//   e = gather(table, ids)     placement=host         e.to_device = input                      e = gather(table, ids)     placement=host
//   y = matmul(e, w)                                  y = matmul(e.to_device, w)               e.to_device = to_device(e)
//   u = unique(y)              placement=host         y.to_host = output(y)                    y = matmul(e.to_device, w)
//                                                                                              y.to_host = to_host(y)     placement=host
//                                                                                              u = unique(y.to_host)      placement=host
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/graph.hpp>

#include <map>
#include <optional>
#include <string>
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
  void share_states();
  void build();
  graph::Edge device_edge(const graph::Edge& edge);
  graph::NodeId copy_to_device(const graph::Node& n);
  bool is_host(graph::ValueRef v) const { return host_[v.node.index()] != 0; }
  std::string fresh(const graph::ValueRef& v, std::string_view suffix);
  friend class Joiner;

  const graph::Graph& whole_;
  graph::Graph device_;
  bool idle_ = true;
  std::vector<char> known_, host_;     // by id
  std::vector<char> device_uses_;      // known nodes and inputs that the device needs
  std::vector<graph::NodeId> copies_;  // by id of the whole graph, in the device's part
  std::map<graph::ValueRef, graph::NodeId> entries_;
  std::vector<Crossing> entering_, leaving_;
  std::map<std::string, graph::NodeId, std::less<>> crossing_names_;
};

}  // namespace buda::passes
