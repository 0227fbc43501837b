// Doubling, then bisection.
#include <buda/sim/hint.hpp>

#include <buda/base/text.hpp>

namespace buda::sim {
namespace {

constexpr std::int64_t kMostTimes = 64;

bool ends_with(EpochSetup setup, const EntriesByQueue& entries, const EpochRun::FullInput& input, std::int64_t tiles) {
  setup.input_tiles[{input.op, input.operand}] = tiles;
  auto run = EpochRun::make(setup, entries);
  if (!run) return false;
  const auto state = run->advance(kForever);
  return state && *state == RunState::ended;
}

std::string in_netlist(const EpochSetup& setup, const EpochRun::FullInput& input, std::int64_t tiles) {
  const netlist::Op* op = setup.index.op(input.op).op;
  std::string out = cat("op '", input.op, "': input_buf_min_size_tiles: [");
  for (std::size_t i = 0; i < op->inputs.size(); ++i)
    out += cat(i == 0 ? "" : ", ", static_cast<std::int32_t>(i) == input.operand ? tiles : std::int64_t{op->inputs[i].min_buffer_tiles});
  return out + "]";
}

}  // namespace

std::string hint_for(const EpochSetup& setup, const EntriesByQueue& entries, const EpochRun& stopped) {
  for (const EpochRun::FullInput& input : stopped.full_inputs()) {
    std::int64_t too_few = input.tiles, enough = 2 * input.tiles;
    while (enough <= kMostTimes * input.tiles && !ends_with(setup, entries, input, enough)) {
      too_few = enough;
      enough *= 2;
    }
    if (enough > kMostTimes * input.tiles) continue;
    while (enough - too_few > 1) {
      const std::int64_t between = too_few + (enough - too_few) / 2;
      (ends_with(setup, entries, input, between) ? enough : too_few) = between;
    }
    return in_netlist(setup, input, enough);
  }
  return "";
}

}  // namespace buda::sim
