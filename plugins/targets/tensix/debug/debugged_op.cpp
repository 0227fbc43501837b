// SPDX-License-Identifier: Apache-2.0
// Collecting and telling.
#include "debugged_op.hpp"

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::tensix {

void DebuggedOp::read_lines(const kernels::CompiledKernel& kernel) {
  if (options_.debug.any()) lines_ = lines_of(kernel);
}

std::unique_ptr<Debugger> DebuggedOp::look_at(Core& core, GridCoord place) const {
  if (!options_.debug.any()) return nullptr;
  const auto& cores = options_.debug.cores;
  const bool traces = !options_.debug.trace.empty() && (cores.empty() || std::find(cores.begin(), cores.end(), place) != cores.end());
  auto debugger = std::make_unique<Debugger>(core, options_.debug, lines_, traces);
  core.observer = debugger.get();
  return debugger;
}

void DebuggedOp::add(GridCoord place, const Debugger& debugger, const Core& core, bool failed) {
  Seen seen;
  if (!debugger.trace().empty()) seen.trace = cat("op ", op_.name, " core ", place.row, '-', place.col, '\n', debugger.trace());
  if (failed) seen.state = cat("core ", place.row, '-', place.col, " of op '", op_.name, "'\n", state_of(core));
  const std::lock_guard lock(mutex_);
  seen_[{place.row, place.col}] = std::move(seen);
}

void DebuggedOp::tell() const {
  for (const auto& [place, seen] : seen_)
    if (options_.trace && !seen.trace.empty()) options_.trace(seen.trace);
  const auto stopped = std::find_if(seen_.begin(), seen_.end(), [](const auto& s) { return !s.second.state.empty(); });
  if (stopped != seen_.end() && options_.print) options_.print(stopped->second.state);
}

}  // namespace buda::tensix
