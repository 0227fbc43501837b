// SPDX-License-Identifier: Apache-2.0
// Names of graphs, read.
#include <buda/perf/phases.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace buda::perf {
namespace {

constexpr std::string_view kForward = "forward", kBackward = "backward", kOptimizer = "optimizer";
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kInNames = {
    {{"fwd_", kForward}, {"bwd_", kBackward}, {"opt_", kOptimizer}}};

bool has(const std::string& phases, std::string_view phase) { return phases.find(phase) != std::string::npos; }

std::int64_t fewest_executions(const std::vector<EpochSummary>& epochs, std::string_view phase) {
  std::int64_t out = 0;
  for (const EpochSummary& e : epochs)
    if (has(phases_of_graph(e.graph), phase)) out = out == 0 ? e.executions : std::min(out, e.executions);
  return out;
}

}  // namespace

std::string phases_of_graph(std::string_view name) {
  std::array<bool, kInNames.size()> found{};
  for (bool more = true; more;) {
    const std::size_t comma = name.find(',');
    std::string_view graph = name.substr(0, comma);
    graph.remove_prefix(std::min(graph.find_first_not_of(' '), graph.size()));
    for (std::size_t i = 0; i < kInNames.size(); ++i) {
      if (!graph.starts_with(kInNames[i].first)) continue;
      found[i] = true;
      graph.remove_prefix(kInNames[i].first.size());
    }
    more = comma != std::string_view::npos;
    if (more) name.remove_prefix(comma + 1);
  }
  std::vector<std::string> out;
  for (std::size_t i = 0; i < kInNames.size(); ++i)
    if (found[i]) out.emplace_back(kInNames[i].second);
  return join(out, ", ");
}

std::vector<PhaseFigures> phases_of(const std::vector<EpochSummary>& epochs) {
  std::int64_t steps = fewest_executions(epochs, kOptimizer);
  if (steps == 0) steps = fewest_executions(epochs, kBackward);
  std::vector<PhaseFigures> out;
  if (steps == 0) return out;
  for (const EpochSummary& e : epochs) {
    const std::string phase = phases_of_graph(e.graph);
    auto row = std::find_if(out.begin(), out.end(), [&](const PhaseFigures& p) { return p.phase == phase; });
    if (row == out.end()) row = out.insert(out.end(), PhaseFigures{phase, 0, 0, SimTime(), 0});
    row->ops += static_cast<std::int64_t>(e.ops.size());
    ++row->epochs;
    row->total.ticks += e.total.ticks;
    row->cycles = row->total.cycles() / static_cast<double>(steps);
  }
  return out;
}

}  // namespace buda::perf
