// Names of the parts of a machine.
#include <buda/sim/machine.hpp>

#include <buda/base/text.hpp>

namespace buda::sim {

std::string name_of_core(const Machine& m, std::uint32_t index) {
  const overlay::Core& core = m.blob->cores[index];
  const std::string place = core.ethernet ? cat("ethernet channel ", *core.ethernet) : cat('[', core.core.row, ", ", core.core.col, ']');
  return core.op.empty() ? cat("core ", place) : cat('\'', core.op, "' ", place);
}

std::string name_of(const Machine& m, const StreamState& stream) {
  const std::string core = name_of_core(m, stream.core);
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
