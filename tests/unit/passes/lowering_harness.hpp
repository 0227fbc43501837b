// SPDX-License-Identifier: Apache-2.0
// A bench for lower-to-device alone, and a graph's ops as text.
#pragma once

#include "values.hpp"

#include <buda/ops/device/device_layout.hpp>
#include <buda/passes/lower/lowering_tags.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace buda::passes {

struct Lowerer : Bench {
  Lowerer() { context.decompositions = &plugin_decompositions(); }

  Graph lowered(const std::function<void(Builder&)>& build, NamedTensors inputs = {}) {
    Builder b("g");
    build(b);
    Graph graph = finished(b);
    expect_equivalence(graph, *this, {&kDecompose, &kLowerToDevice}, std::move(inputs));
    return graph;
  }

  // "CODE: message" and the hint of the only refusal.
  std::pair<std::string, std::string> refused(const std::function<void(Builder&)>& build) {
    Builder b("g");
    build(b);
    Graph graph = finished(b);
    auto report = run_pass(kLowerToDevice, graph, context);
    if (report) return {"no error\n" + listing(graph), ""};
    EXPECT_EQ(report.failure().diagnostics().size(), 1u);
    EXPECT_EQ(graph.level, graph::Level::tensor) << "a graph that cannot be lowered stays as it is";
    return {message(report.failure()), report.failure().diagnostics()[0].hint};
  }
};

inline std::string ops_of(const Graph& graph) {
  std::vector<std::string> ops;
  for (NodeId id : graph.topological_order())
    if (graph.node(id).is_op()) ops.push_back(graph.node(id).op());
  return join(ops, " ");
}

}  // namespace buda::passes
