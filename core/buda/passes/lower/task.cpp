// SPDX-License-Identifier: Apache-2.0
// Messages about what cannot be lowered.
#include <buda/passes/lower/task.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/drawing/label.hpp>
#include <buda/ops/device/device_layout.hpp>

namespace buda::passes {
namespace {

std::string shapes_text(const graph::Graph& graph, const graph::Node& n) {
  std::string out;
  for (const graph::Edge& edge : n.inputs()) out += cat(out.empty() ? "" : ", ", graph.type(edge.source)->text());
  if (!n.outputs.empty()) out += cat(" -> ", n.outputs.front().text());
  return out;
}

}  // namespace

Diagnostic cannot_lower(const graph::Graph& from, const graph::Node& n, std::string_view reason, std::string remedy) {
  Diagnostic d = input_error(
      "PA020", n.loc, cat("node '", graph::label(n), "' (", n.op(), ", ", shapes_text(from, n), ") cannot be lowered to the device: ", reason));
  d.node = n.name();
  d.hint = std::move(remedy);
  for (const auto& origin : n.origins) d.notes.push_back({{origin.file}, cat("'", n.name(), "' comes from node '", origin.node, '\'')});
  return d;
}

Result<Shape> device_axes(const LoweringTask& task, const graph::Node& n, const Shape& model) {
  if (auto tiled = ops::tiled_shape(model); !tiled) return cannot_lower(task.from, n, tiled.failure().diagnostics().front().message, "");
  return axes_of(model, task.batch);
}

}  // namespace buda::passes
