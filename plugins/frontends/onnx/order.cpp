// SPDX-License-Identifier: Apache-2.0
// Nodes in an order in which producers come first.
//
// ONNX demands such an order, but converters append nodes at the end (those to float16 their casts), and other readers sort. Nodes stay in
// the file's order where that is possible: of those whose inputs are there, the first one in the file is next. Nodes that form a cycle
// stay at the end; check_order reports them.
#include "model.hpp"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace buda::onnx_frontend {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<::onnx::NodeProto>;

// What a node reads, itself or in its subgraphs. Names that a subgraph computes are among them: it may not reuse names from outside.
void add_names_read(const ::onnx::NodeProto& node, std::set<std::string>& names) {
  for (const auto& input : node.input())
    if (!input.empty()) names.insert(input);
  for (const auto& attribute : node.attribute()) {
    if (!attribute.has_g()) continue;
    for (const auto& inner : attribute.g().node()) add_names_read(inner, names);
    for (const auto& output : attribute.g().output()) names.insert(output.name());
  }
}

// The places of the nodes in their new order.
std::vector<int> places_in_order(const Nodes& nodes) {
  std::unordered_map<std::string, int> producers;
  for (int i = 0; i < nodes.size(); ++i)
    for (const auto& output : nodes[i].output()) producers.emplace(output, i);
  std::vector<std::vector<int>> users(static_cast<std::size_t>(nodes.size()));
  std::vector<int> missing(users.size());
  for (int i = 0; i < nodes.size(); ++i) {
    std::set<std::string> names;
    add_names_read(nodes[i], names);
    std::set<int> needed;
    for (const auto& name : names)
      if (auto producer = producers.find(name); producer != producers.end()) needed.insert(producer->second);
    for (int producer : needed) users[static_cast<std::size_t>(producer)].push_back(i);
    missing[static_cast<std::size_t>(i)] = static_cast<int>(needed.size());
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < nodes.size(); ++i)
    if (missing[static_cast<std::size_t>(i)] == 0) ready.push(i);
  std::vector<int> order;
  while (!ready.empty()) {
    const int next = ready.top();
    ready.pop();
    order.push_back(next);
    for (int user : users[static_cast<std::size_t>(next)])
      if (--missing[static_cast<std::size_t>(user)] == 0) ready.push(user);
  }
  for (int i = 0; i < nodes.size(); ++i)
    if (missing[static_cast<std::size_t>(i)] != 0) order.push_back(i);
  return order;
}

void sort(Nodes& nodes) {
  for (auto& node : nodes)
    for (auto& attribute : *node.mutable_attribute())
      if (attribute.has_g()) sort(*attribute.mutable_g()->mutable_node());
  const std::vector<int> order = places_in_order(nodes);
  if (std::is_sorted(order.begin(), order.end())) return;
  std::vector<::onnx::NodeProto*> taken(order.size());
  nodes.ExtractSubrange(0, nodes.size(), taken.data());
  for (int place : order) nodes.AddAllocated(taken[static_cast<std::size_t>(place)]);
}

}  // namespace

void sort_nodes(::onnx::ModelProto& model) {
  sort(*model.mutable_graph()->mutable_node());
  for (auto& function : *model.mutable_functions()) sort(*function.mutable_node());
}

}  // namespace buda::onnx_frontend
