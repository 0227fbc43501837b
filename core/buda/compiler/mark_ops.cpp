// SPDX-License-Identifier: Apache-2.0
// Tags on the ops that options name, and outputs for values that are to be saved.
#include <buda/compiler/mark_ops.hpp>

#include <buda/base/text.hpp>
#include <buda/compiler/option_values.hpp>
#include <buda/graph/tags/constraint_tags.hpp>
#include <buda/passes/decompose/decomposition.hpp>
#include <buda/passes/fuse/fuse_ops.hpp>
#include <buda/passes/fuse/fusing.hpp>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace buda::compiler {
namespace {

using graph::Node;
using graph::NodeId;

// The node's name, or that of a node of the model from which it comes.
bool is_called(const Node& n, const std::string& name) {
  return n.name() == name || std::any_of(n.origins.begin(), n.origins.end(), [&](const graph::Origin& o) { return o.node == name; });
}

}  // namespace

std::vector<std::string> names_in(std::string_view list) {
  list = trim(list);
  if (list.starts_with('[') && list.ends_with(']')) list = list.substr(1, list.size() - 2);
  std::vector<std::string> out;
  for (std::string_view name : split(list, ',')) {
    name = trim(name);
    if (name.empty()) continue;
    if (name.size() > 1 && (name.front() == '"' || name.front() == '\'') && name.back() == name.front())
      name = name.substr(1, name.size() - 2);
    out.emplace_back(name);
  }
  return out;
}

namespace {

class Marker {
 public:
  Marker(graph::Graph& graph, Host& host) : graph_(graph), host_(host) {}

  void each_op(const std::string& name, std::string_view option, const std::function<void(Node&)>& mark) {
    bool found = false;
    for (NodeId id : graph_.ids()) {
      Node& n = graph_.node(id);
      if (!n.is_op() || !is_called(n, name)) continue;
      mark(n);
      found = true;
    }
    if (!found) warn(name, option);
  }

  void breaks(const std::vector<std::string>& lists, const char* tag, std::string_view option) {
    for (const std::string& list : lists)
      for (const std::string& name : names_in(list)) each_op(name, option, [&](Node& n) { graph::add_constraint(n, tag, name); });
  }

  void orders(const std::vector<std::string>& lists, std::string_view option) {
    for (std::size_t order = 0; order < lists.size(); ++order) {
      std::size_t place = 0;
      for (const std::string& name : names_in(lists[order])) {
        each_op(name, option, [&](Node& n) { graph::add_constraint(n, graph::kSchedulePlace, cat(order, ':', place)); });
        ++place;
      }
    }
  }

  // Of several nodes that come from one of the model the last one has its value.
  void save(const std::vector<std::string>& lists, std::string_view option) {
    for (const std::string& list : lists)
      for (const std::string& name : names_in(list)) {
        NodeId of = graph_.find(name);
        if (!of.valid() || !graph_.node(of).is_op()) {
          of = NodeId{};
          for (NodeId id : graph_.topological_order())
            if (graph_.node(id).is_op() && is_called(graph_.node(id), name)) of = id;
        }
        if (!of.valid()) {
          warn(name, option);
        } else if (!is_output(of)) {
          graph_.add(graph_.find_output(name).valid() ? graph_.fresh_name(name) : name, std::string(graph::kOutputOp), {of});
        }
      }
  }

 private:
  void warn(const std::string& name, std::string_view option) {
    host_.report(warning("OZ005", {}, cat("option --", option, ": the graph has no op '", name, "'")));
  }

  bool is_output(NodeId id) const {
    auto users = graph_.users(graph::ValueRef(id));
    return std::any_of(users.begin(), users.end(),
                       [&](const graph::Use& use) { return graph_.node(use.node).kind() == graph::NodeKind::output; });
  }

  graph::Graph& graph_;
  Host& host_;
};

}  // namespace

void mark_ops(graph::Graph& graph, const OptimizerOptions& o, Host& host) {
  Marker marker(graph, host);
  for (const std::string& list : o.dont_fuse)
    for (const std::string& name : names_in(list))
      marker.each_op(name, "op-names-dont-fuse", [](Node& n) { n.tags[passes::kDontFuse] = ""; });
  for (std::size_t i = 0; i < o.manual_fuse.size(); ++i)
    for (const std::string& name : names_in(o.manual_fuse[i]))
      marker.each_op(name, "op-names-manual-fuse", [&](Node& n) { n.tags[passes::kFuseGroup] = cat(i); });
  marker.breaks(o.epoch_breaks, graph::kEpochBreak, "op-names-to-epoch-break");
  marker.breaks(o.chip_breaks, graph::kChipBreak, "op-names-to-chip-break");
  marker.orders(o.schedule_constraints, "scheduler-constraints");
  for (const std::string& text : o.conv_fractures)
    if (auto factors = fracture_factors(text))
      for (const auto& [name, factor] : *factors)
        marker.each_op(name, "override-multi-op-fracture-factor",
                       [&, parts = factor](Node& n) { n.tags[passes::kWindowParts] = cat(parts); });
  marker.save(o.intermediates, "op-intermediates-to-save");
}

}  // namespace buda::compiler
