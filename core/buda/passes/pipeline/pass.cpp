// SPDX-License-Identifier: Apache-2.0
// Running single passes and counting their rewrites.
#include <buda/passes/pipeline/pass.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/tags/placement.hpp>

namespace buda::passes {

bool RewriteCounter::allow(std::string_view pass, const graph::Node& at) {
  if (graph::on_host(at)) return false;
  if (done_ >= limit_) {
    if (first_refused_.empty()) first_refused_ = cat(pass, " at '", at.name(), '\'');
    return false;
  }
  ++done_;
  last_done_pass_ = pass;
  last_done_node_ = at.name();
  return true;
}

std::string RewriteCounter::last_done() const { return done_ == 0 ? "" : cat(last_done_pass_, " at '", last_done_node_, '\''); }

Result<PassReport> run_pass(const Pass& pass, graph::Graph& graph, PassContext& context, std::optional<graph::Graph> lowered) {
  if (pass.level && *pass.level != graph.level) {
    Diagnostic d = usage_error("PA002", cat("pass '", pass.name, "' works at ", graph::level_name(*pass.level), " level, and the graph '",
                                            graph.name, "' is at ", graph::level_name(graph.level), " level"));
    d.hint = graph.level == graph::Level::tensor ? "run lower-to-device before it" : "run it before lower-to-device";
    return d;
  }
  if (pass.needs_device && context.device == nullptr)
    return usage_error("PA003", cat("pass '", pass.name, "' needs to know the device: choose one with --device"));
  if (lowered && pass.run_on_trial != nullptr) return pass.run_on_trial(graph, context, std::move(*lowered));
  return pass.run(graph, context);
}

}  // namespace buda::passes
