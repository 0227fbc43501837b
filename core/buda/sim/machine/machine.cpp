// SPDX-License-Identifier: Apache-2.0
// Names of the parts of a machine.
#include <buda/sim/machine/machine.hpp>

#include <buda/base/text.hpp>

namespace buda::sim {

namespace {

std::string place_of(const overlay::Core& core) {
  return core.ethernet ? cat("ethernet channel ", *core.ethernet) : cat('[', core.core.row, ", ", core.core.col, ']');
}

}  // namespace

std::string name_of_core(const Machine& m, std::uint32_t index) {
  const overlay::Core& core = m.blob->cores[index];
  return core.op.empty() ? cat("core ", place_of(core)) : cat('\'', core.op, "' ", place_of(core));
}

std::string name_of_kernel(const Machine& m, const KernelState& kernel) {
  return cat('\'', kernel.op->name, "' ", place_of(m.blob->cores[kernel.core]));
}

std::string name_of(const Machine& m, const StreamState& stream) {
  const std::string core = stream.kernel == kNone ? name_of_core(m, stream.core) : name_of_kernel(m, m.kernels[stream.kernel]);
  switch (stream.program->kind) {
    case overlay::StreamKind::input:
      return cat("input ", stream.program->operand, " of ", core);
    case overlay::StreamKind::output:
    case overlay::StreamKind::fork:
      return cat("the output of ", core);
    default:
      return cat(overlay::stream_kind_name(stream.program->kind), ' ', stream.program->number, " of ", core);
  }
}

std::string text_of(const Machine& m, const TileRun& run) {
  if (run.source == kPadding) return "padding";
  if (run.source == kUnknown) return "a tile of unknown origin";
  return cat("tile ", run.first, " of ", m.source_names[run.source]);
}

}  // namespace buda::sim
