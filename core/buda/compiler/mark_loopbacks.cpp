// SPDX-License-Identifier: Apache-2.0
// Pairs of an input and an output, from options and by themselves.
#include <buda/compiler/mark_loopbacks.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/tags/input_range.hpp>
#include <buda/graph/tags/loopback.hpp>
#include <buda/io/yaml.hpp>
#include <buda/passes/queues/past_cache.hpp>

#include <string>
#include <utility>
#include <vector>

namespace buda::compiler {
namespace {

using graph::NodeId;

constexpr std::string_view kOption = "option --loopback-outputs: ";

Diagnostic wrong_pair(std::string message) { return usage_error("OZ008", cat(kOption, std::move(message))); }

// "past=present", or the map {past: present} that a config file has. Names may have a '=' of their own: the last one parts them.
Result<std::vector<std::pair<std::string, std::string>>> pairs_in(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> out;
  if (trim(text).starts_with('{')) {
    BUDA_ASSIGN(io::Node map, io::parse_yaml(text, "--loopback-outputs"));
    for (std::size_t i = 0; i < map.size(); ++i) {
      BUDA_ASSIGN(std::string output, map.items()[i].as_name());
      out.emplace_back(map.keys()[i], std::move(output));
    }
    return out;
  }
  auto equal = text.rfind('=');
  if (equal == std::string::npos || equal == 0 || equal + 1 == text.size())
    return wrong_pair(cat('\'', text, "' is not INPUT=OUTPUT, with the output's name or its number from 0"));
  out.emplace_back(text.substr(0, equal), text.substr(equal + 1));
  return out;
}

// By its name, or its place among the inputs or outputs.
Result<NodeId> find(const graph::Graph& graph, const std::vector<NodeId>& ids, const std::string& name, std::string_view what) {
  std::vector<std::string> names;
  for (NodeId id : ids) {
    if (graph.node(id).name() == name) return id;
    names.push_back(graph.node(id).name());
  }
  if (auto number = parse_uint(name); number && *number < ids.size()) return ids[*number];
  Diagnostic d = wrong_pair(cat("the graph has no ", what, " '", name, "'; it has ", join(names, ", ")));
  if (auto near = nearest_word(name, names)) d.hint = cat("did you mean '", *near, "'?");
  return d;
}

Result<void> loop_back(graph::Graph& graph, NodeId input, NodeId output, Host& host) {
  BUDA_ASSIGN(bool is_cut, passes::loop_back(graph, input, output));
  host.log(is_cut ? 0 : 1, cat("input '", graph.node(input).name(), "' is output '", graph.node(output).name(), "' of the previous step",
                               is_cut ? ", of which only the last part, as long as the input, is kept" : ""));
  return success();
}

// What is promised of what the user gives says nothing about what the steps make of it, and nobody checks that.
void forget_ranges(graph::Graph& graph, Host& host) {
  for (NodeId id : graph.inputs()) {
    graph::Node& n = graph.node(id);
    if (!n.tags.contains(graph::kLoopback) || !n.tags.contains(graph::kValueRange)) continue;
    n.tags.erase(graph::kValueRange);
    Diagnostic d = warning("OZ011", n.loc,
                           cat("option --value-range has no effect on input '", n.name(), "', which is output '", n.tags[graph::kLoopback],
                               "' of the previous step: its elements are not known to be in the range"));
    d.node = n.name();
    host.report(d);
  }
}

Result<void> tie_outputs(graph::Graph& graph, const OptimizerOptions& o, Host& host) {
  Failure failure;
  auto handle = [&](Result<void> done) {
    if (!done) failure.add(std::move(done).failure());
  };
  auto tie = [&](const std::string& from, const std::string& to) -> Result<void> {
    BUDA_ASSIGN(NodeId input, find(graph, graph.inputs(), from, "input"));
    BUDA_ASSIGN(NodeId output, find(graph, graph.outputs(), to, "output"));
    return loop_back(graph, input, output, host);
  };
  for (const std::string& text : o.loopback_outputs) {
    auto pairs = pairs_in(text);
    if (!pairs) {
      failure.add(std::move(pairs).failure());
      continue;
    }
    for (const auto& [from, to] : *pairs) handle(tie(from, to));
  }
  if (!failure.empty()) return failure;
  if (!o.link_past_caches) return success();
  const auto found = passes::find_past_caches(graph);
  if (found.empty())
    host.report(
        warning("OZ007", {},
                "option --enable-link-past-cache-ios: no input and output of the graph look like a cache; --loopback-outputs names them"));
  for (const graph::Loopback& l : found) BUDA_TRY(loop_back(graph, l.input, l.output, host));
  return success();
}

}  // namespace

Result<void> mark_loopbacks(graph::Graph& graph, const OptimizerOptions& o, Host& host) {
  BUDA_TRY(tie_outputs(graph, o, host));
  forget_ranges(graph, host);
  return success();
}

}  // namespace buda::compiler
