// Collecting and telling.
#include "debugged_op.hpp"

#include <buda/base/text.hpp>
#include <buda/kernels/elf.hpp>
#include <buda/kernels/source_lines.hpp>

#include <algorithm>

namespace buda::tensix {

void DebuggedOp::read_lines(const kernels::CompiledKernel& kernel) {
  if (!options_.debug.any()) return;
  for (std::size_t t = 0; t < kThreads; ++t) {
    const std::string_view elf = kernel.executables[t].view();
    const auto program = kernels::parse_executable(elf, kernel.id);
    if (!program) continue;  // the run says so
    std::vector<std::uint32_t> addresses;
    for (std::uint32_t at = 0; at + 4 <= program->code.size(); at += 4) addresses.push_back(program->code_address + at);
    lines_.programs[t] = {program->code_address, kernels::source_of(elf, addresses).lines};
  }
}

std::unique_ptr<Debugger> DebuggedOp::look_at(Core& core, GridCoord place) const {
  if (!options_.debug.any()) return nullptr;
  const auto& cores = options_.debug.cores;
  const bool traces = !options_.debug.trace.empty() && (cores.empty() || std::find(cores.begin(), cores.end(), place) != cores.end());
  auto debugger = std::make_unique<Debugger>(core, options_.debug, lines_, traces);
  core.observer = debugger.get();
  return debugger;
}

void DebuggedOp::add(GridCoord place, const Debugger& debugger, const Core& core, const kernels::CoreOutcome& made) {
  Seen seen;
  if (!debugger.trace().empty()) seen.trace = cat("op ", op_.name, " core ", place.row, '-', place.col, '\n', debugger.trace());
  if (std::holds_alternative<std::string>(made))
    seen.state = cat("core ", place.row, '-', place.col, " of op '", op_.name, "'\n", state_of(core));
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
