// Numbers as sentences.
#include <buda/perf/summary.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace buda::perf {
namespace {

std::string percent(double share) {
  const double value = 100 * share;
  char text[32];
  std::snprintf(text, sizeof text, value < 10 ? "%.1f %%" : "%.0f %%", value);
  return text;
}

std::string whole(double value) { return cat(static_cast<std::int64_t>(std::llround(value))); }

std::string limits(const EpochSummary& epoch) {
  constexpr std::size_t kMost = 5;
  constexpr double kLeast = 0.02;
  std::string out;
  double told = 0;
  for (std::size_t i = 0; i < epoch.causes.size() && i < kMost && epoch.causes[i].share >= kLeast; ++i) {
    out += cat("    ", percent(epoch.causes[i].share), "  ", epoch.causes[i].what, '\n');
    told += epoch.causes[i].share;
  }
  if (told < 0.995 && !epoch.causes.empty()) out += cat("    ", percent(1 - told), "  other\n");
  return out;
}

std::string op_line(const EpochSummary::Op& op) {
  std::string out = cat("    ", percent(op.busy), "  '", op.name, "' on ", op.cores, op.cores == 1 ? " core" : " cores", ", ",
                        whole(op.kernel.cycles()), " cycles an input");
  for (std::size_t i = 0; i < op.waits_for_tiles.size(); ++i)
    if (op.waits_for_tiles[i] >= 0.01) out += cat("; waits ", percent(op.waits_for_tiles[i]), " for input ", i);
  if (op.waits_for_room >= 0.01) out += cat("; waits ", percent(op.waits_for_room), " for room");
  return out + "\n";
}

std::string epoch_text(const EpochSummary& epoch, std::size_t number, SimTime all) {
  constexpr std::size_t kMostOps = 8, kMostLoads = 5;
  const double share = all.ticks == 0 ? 0 : static_cast<double>(epoch.total.ticks) / static_cast<double>(all.ticks);
  std::string out = cat("\nepoch ", number, " '", epoch.graph, "': ", whole(epoch.time.cycles()), " cycles for ", epoch.inputs,
                        epoch.inputs == 1 ? " input" : " inputs");
  if (epoch.inputs > 1) out += cat(", ", whole(epoch.period.cycles()), " from input to input");
  out += cat("; executed ", epoch.executions, epoch.executions == 1 ? " time, " : " times, ", percent(share), " of the time\n");
  out += cat("  limited by\n", limits(epoch));
  std::vector<const EpochSummary::Op*> ops;
  for (const auto& op : epoch.ops) ops.push_back(&op);
  std::stable_sort(ops.begin(), ops.end(), [](const auto* a, const auto* b) { return a->busy > b->busy; });
  out += "  ops by the part of the time that their kernels work\n";
  for (std::size_t i = 0; i < ops.size() && i < kMostOps; ++i) out += op_line(*ops[i]);
  if (ops.size() > kMostOps) out += cat("    and ", ops.size() - kMostOps, " more\n");
  out += "  most used\n";
  for (std::size_t i = 0; i < epoch.loads.size() && i < kMostLoads; ++i)
    out += cat("    ", percent(epoch.loads[i].utilisation), "  ", epoch.loads[i].resource, ", ", epoch.loads[i].bytes, " bytes\n");
  return out;
}

}  // namespace

std::string summary_text(const Summary& summary) {
  const double seconds = summary.clock.hz == 0 ? 0 : summary.clock.seconds(summary.time);
  std::string out = cat(summary.inputs, summary.inputs == 1 ? " input in " : " inputs in ", whole(summary.time.cycles()), " cycles");
  if (seconds > 0) {
    char clock[32];
    std::snprintf(clock, sizeof clock, "%.2f", summary.clock.hz / 1e9);
    out += cat(" at ", clock, " GHz: ", whole(static_cast<double>(summary.inputs) / seconds), " inputs/s");
  }
  out += "\n";
  for (std::size_t i = 0; i < summary.epochs.size(); ++i) out += epoch_text(summary.epochs[i], i, summary.time);
  return out;
}

}  // namespace buda::perf
