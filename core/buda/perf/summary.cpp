// SPDX-License-Identifier: Apache-2.0
// Numbers as sentences.
#include <buda/perf/summary.hpp>

#include <buda/base/text.hpp>
#include <buda/perf/phases.hpp>

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

// "networks 24 %, DRAM 8.0 %"; the largest.
std::string gains(const EpochSummary& epoch) {
  constexpr std::size_t kMost = 3;
  constexpr double kLeast = 0.01;
  std::vector<std::string> out;
  for (std::size_t i = 0; i < epoch.limits.size() && i < kMost && epoch.limits[i].gain >= kLeast; ++i)
    out.push_back(cat(epoch.limits[i].what, ' ', percent(epoch.limits[i].gain)));
  return out.empty() ? std::string() : cat("  twice as fast would save: ", join(out, ", "), '\n');
}

std::string op_line(const EpochSummary::Op& op, std::string_view unit) {
  std::string out = cat("    ", percent(op.busy), "  '", op.name, "' on ", op.cores, op.cores == 1 ? " core" : " cores", ", ",
                        whole(op.kernel.cycles()), " cycles per ", unit);
  if (op.estimate > 0) out += cat(" (balancer: ", whole(op.estimate), ", with transfers ", whole(op.limiter), ")");
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    if (op.inputs[i].waits >= 0.01) out += cat("; waits ", percent(op.inputs[i].waits), " for input ", i);
  if (op.output.waits >= 0.01) out += cat("; waits ", percent(op.output.waits), " for space in its output");
  return out + "\n";
}

std::string heading(const EpochSummary& epoch, std::size_t number, const Summary& summary) {
  const SimTime all = summary.time;
  const double share = all.ticks == 0 ? 0 : static_cast<double>(epoch.total.ticks) / static_cast<double>(all.ticks);
  std::string out =
      cat("\nepoch ", number, " '", epoch.graph, "': ", whole(epoch.time.cycles()), " cycles for ", summary.counted(epoch.inputs));
  if (epoch.inputs > 1)
    out += cat(", the first after ", whole(epoch.first_input.cycles()), ", then one every ", whole(epoch.period.cycles()));
  return out + cat("; executed ", epoch.executions, epoch.executions == 1 ? " time, " : " times, ", percent(share), " of the time\n");
}

// The busiest memories, or the busiest links and interfaces.
std::string loads_text(const EpochSummary& epoch, bool memories) {
  constexpr std::size_t kMost = 3;
  std::string out;
  std::size_t told = 0;
  for (const EpochSummary::Load& load : epoch.loads) {
    if (load.resource.starts_with("DRAM") != memories || told == kMost) continue;
    out += cat("    ", percent(load.utilisation), "  ", load.resource, ", ", load.bytes, " bytes\n");
    ++told;
  }
  return out;
}

std::string epoch_text(const EpochSummary& epoch, std::size_t number, const Summary& summary) {
  constexpr std::size_t kMaxOps = 8;
  std::string out = heading(epoch, number, summary);
  out += cat("  limited by (critical path of ", whole(epoch.span.cycles()), " cycles)\n", limits(epoch));
  out += gains(epoch);
  for (const std::string& advice : epoch.advice) out += cat("  to gain: ", advice, '\n');
  std::vector<const EpochSummary::Op*> ops;
  for (const auto& op : epoch.ops) ops.push_back(&op);
  std::stable_sort(ops.begin(), ops.end(), [](const auto* a, const auto* b) { return a->busy > b->busy; });
  out += "  ops, by utilisation\n";
  for (std::size_t i = 0; i < ops.size() && i < kMaxOps; ++i) out += op_line(*ops[i], summary.unit());
  if (ops.size() > kMaxOps) out += cat("    and ", ops.size() - kMaxOps, " more\n");
  out += "  utilisation of resources\n";
  if (epoch.math_utilisation > 0) out += cat("    ", percent(epoch.math_utilisation), "  math units, of all workers\n");
  out += loads_text(epoch, true) + loads_text(epoch, false);
  return out;
}

// What is lost between epochs.
std::string switches_text(const Summary& summary) {
  SimTime all;
  for (const EpochSummary& epoch : summary.epochs) all.ticks += epoch.switching.ticks;
  if (all.ticks == 0) return {};
  return cat("; epoch switches ", whole(all.cycles()), " cycles (",
             percent(static_cast<double>(all.ticks) / static_cast<double>(summary.time.ticks)), ')');
}

// Of a training step: what each phase takes of it.
std::string phases_text(const Summary& summary) {
  const std::vector<PhaseFigures> phases = phases_of(summary.epochs);
  if (phases.empty()) return {};
  double step = 0;
  for (const PhaseFigures& p : phases) step += p.cycles;
  std::string out = cat("a step: ", whole(step), " cycles\n");
  for (const PhaseFigures& p : phases)
    out += cat("    ", percent(step > 0 ? p.cycles / step : 0), "  ", p.phase.empty() ? "other" : p.phase, ": ", p.ops,
               p.ops == 1 ? " op in " : " ops in ", p.epochs, p.epochs == 1 ? " epoch, " : " epochs, ", whole(p.cycles), " cycles\n");
  return out;
}

// "12.3 us".
std::string duration(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, seconds < 1e-3 ? "%.1f us" : "%.2f ms", seconds < 1e-3 ? seconds * 1e6 : seconds * 1e3);
  return text;
}

// " (6 batches, filled up with 24 rows of zeros)". Rows of padding take as long as others, and count for nothing.
std::string batches_text(const Summary& summary) {
  std::string out = cat(" (", summary.counted(summary.inputs));
  if (summary.padding > 0) out += cat(", filled up with ", summary.padding, summary.padding == 1 ? " row of zeros" : " rows of zeros");
  return out + ")";
}

}  // namespace

std::string Summary::counted(std::int64_t units) const { return cat(units, ' ', unit(), units == 1 ? "" : unit() == "batch" ? "es" : "s"); }

void Summary::set_rows(std::int64_t all, std::int64_t of_padding) {
  constexpr std::string_view kPerInput = "cycles per input";
  rows = all;
  padding = of_padding;
  for (EpochSummary& epoch : epochs)
    for (std::string& advice : epoch.advice)
      if (const auto at = advice.find(kPerInput); at != std::string::npos) advice.replace(at, kPerInput.size(), cat("cycles per ", unit()));
}

double Summary::inputs_per_second() const {
  return clock.hz == 0 || time.ticks == 0 ? 0 : static_cast<double>(samples()) / clock.seconds(time);
}

SimTime Summary::latency() const {
  SimTime out;
  for (std::size_t i = 0; i < epochs.size(); ++i) out.ticks += (i + 1 == epochs.size() ? epochs[i].first_input : epochs[i].time).ticks;
  return out;
}

std::string summary_text(const Summary& summary) {
  const std::int64_t samples = summary.samples();
  std::string out = cat(samples, samples == 1 ? " input" : " inputs");
  if (summary.rows > 0 && summary.rows != summary.inputs) out += batches_text(summary);
  out += cat(" in ", whole(summary.time.cycles()), " cycles");
  if (const double rate = summary.inputs_per_second(); rate > 0) {
    char clock[32];
    std::snprintf(clock, sizeof clock, "%.2f", summary.clock.hz / 1e9);
    out += cat(" at ", clock, " GHz: ", whole(rate), " inputs/s; latency ", duration(summary.clock.seconds(summary.latency())));
  }
  out += switches_text(summary);
  out += "\n";
  const auto slowest = std::max_element(summary.epochs.begin(), summary.epochs.end(),
                                        [](const auto& a, const auto& b) { return a.total.ticks < b.total.ticks; });
  if (slowest != summary.epochs.end() && !slowest->causes.empty())
    out += cat("longest epoch: ", slowest - summary.epochs.begin(), " '", slowest->graph, "', ",
               percent(static_cast<double>(slowest->total.ticks) / static_cast<double>(std::max<std::uint64_t>(summary.time.ticks, 1))),
               " of the time, limited by ", slowest->causes.front().what, " (", percent(slowest->causes.front().share), ")\n");
  out += phases_text(summary);
  for (std::size_t i = 0; i < summary.epochs.size(); ++i) out += epoch_text(summary.epochs[i], i, summary);
  return out;
}

}  // namespace buda::perf
