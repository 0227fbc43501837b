// SPDX-License-Identifier: Apache-2.0
// The table of `buda bench`, and its figures for programs.
#include "apps/buda/bench_figures.hpp"

#include <buda/base/text.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace buda::driver {

const schema::Record<SimulatedFigures>& describe(const SimulatedFigures*) {
  static const auto record =
      schema::Record<SimulatedFigures>("a simulated run")
          .required("inputs", &SimulatedFigures::inputs, "inputs of the run")
          .required("cycles", &SimulatedFigures::cycles, "of the whole run")
          .required("inputs_per_second", &SimulatedFigures::inputs_per_second, "inputs by the time of the whole run")
          .required("latency_cycles", &SimulatedFigures::latency_cycles,
                    "until the first input has left the last epoch, each epoch being executed once")
          .required("latency_seconds", &SimulatedFigures::latency_seconds, "the same in seconds")
          .required("limited_by", &SimulatedFigures::limited_by, "the largest cause of the time of the longest epoch");
  return record;
}

const schema::Record<BenchFigures>& describe(const BenchFigures*) {
  static const auto record =
      schema::Record<BenchFigures>("a benchmark", {"buda.bench", 1})
          .required("target", &BenchFigures::target, "what the image ran on")
          .required("rounds", &BenchFigures::rounds, "of the program's loop")
          .required("compiled", &BenchFigures::compiled, "the summary of the compilation")
          .optional("simulated", &BenchFigures::simulated, "what the run took; missing where no device simulates time");
  return record;
}

namespace {

constexpr std::string_view kUnknown = "-";

std::string count(double number) { return cat(std::llround(number)); }

std::string latency_text(double cycles, double hz) {
  return hz > 0 ? cat(count(cycles), " cycles (", count(1e9 * cycles / hz), " ns)") : cat(count(cycles), " cycles");
}

std::string rate_text(double rate) { return cat(rate >= 1000 ? count(rate) : cat(rate), " inputs/s"); }

struct Line {
  std::string name, estimated, simulated;
};

std::string text_of(const std::vector<Line>& lines) {
  std::size_t name = 0, estimated = 0;
  for (const Line& line : lines) {
    name = std::max(name, line.name.size());
    estimated = std::max(estimated, line.estimated.size());
  }
  std::string out;
  for (const Line& line : lines) {
    out += cat(line.name, std::string(name - line.name.size() + 2, ' '), line.estimated);
    if (!line.simulated.empty()) out += cat(std::string(estimated - line.estimated.size() + 2, ' '), line.simulated);
    out += '\n';
  }
  return out;
}

}  // namespace

SimulatedFigures simulated_figures(const perf::SummaryFile& summary) {
  SimulatedFigures out;
  out.inputs = summary.inputs;
  out.cycles = summary.cycles.cycles();
  out.inputs_per_second = summary.inputs_per_second;
  out.latency_cycles = summary.latency.cycles();
  out.latency_seconds = summary.clock_hz > 0 ? out.latency_cycles / summary.clock_hz : 0;
  const auto longest = std::max_element(summary.epochs.begin(), summary.epochs.end(),
                                        [](const auto& a, const auto& b) { return a.total.ticks < b.total.ticks; });
  if (longest != summary.epochs.end() && !longest->causes.empty()) out.limited_by = longest->causes.front().what;
  return out;
}

std::string bench_table(const BenchFigures& figures) {
  const balance::ReportFigures& c = figures.compiled;
  const SimulatedFigures* s = figures.simulated ? &*figures.simulated : nullptr;
  const double hz = s != nullptr && s->latency_seconds > 0 ? s->latency_cycles / s->latency_seconds : 0;
  const bool on_chip = c.ops > 0;
  auto simulated = [&](const std::string& text) { return s == nullptr ? std::string(kUnknown) : text; };
  std::vector<Line> lines = {
      {cat(c.model, " on ", c.device), "estimated",
       s == nullptr ? cat("not simulated by ", figures.target) : cat("simulated by ", figures.target)},
      {"latency", c.estimate.latency_cycles ? latency_text(static_cast<double>(*c.estimate.latency_cycles), hz) : std::string(kUnknown),
       simulated(s == nullptr ? "" : latency_text(s->latency_cycles, hz))},
      {"throughput", on_chip ? rate_text(c.estimate.inputs_per_second) : std::string(kUnknown),
       simulated(s == nullptr ? "" : rate_text(s->inputs_per_second))},
      {"inputs", on_chip ? cat(c.batch, " in a round") : std::string(kUnknown),
       simulated(s == nullptr ? "" : cat(s->inputs, " in ", figures.rounds, figures.rounds == 1 ? " round" : " rounds"))},
      {"cycles", on_chip ? cat(c.estimate.cycles, " in a round") : std::string(kUnknown),
       simulated(s == nullptr ? "" : cat(count(s->cycles), " in all"))}};
  std::string out = text_of(lines);
  std::vector<Line> facts;
  if (on_chip) facts.push_back({"limited by", c.limited_by, ""});
  if (s != nullptr && !s->limited_by.empty()) facts.push_back({"simulated, limited by", s->limited_by, ""});
  if (c.bound)
    facts.push_back({"lower bound",
                     cat(c.bound->any_plan, " cycles for any plan, because of the ", c.bound->because_of, "; the estimate is ",
                         c.gap_percent.value_or(0), " % above it"),
                     ""});
  facts.push_back({"placement",
                   on_chip ? cat(c.ops, " ops in ", c.epochs, c.epochs == 1 ? " epoch" : " epochs", ", at most ", c.cores.used, " of ",
                                 c.cores.available, " cores")
                           : "no op on the chip, the host executes the whole model",
                   ""});
  if (on_chip)
    facts.push_back({"memory",
                     cat(bytes_text(c.memory.parameters), " of parameters; queues use ", bytes_text(c.memory.dram_used), " of ",
                         bytes_text(c.memory.dram_available), " of DRAM; ops at most ", bytes_text(c.memory.l1_used), " of ",
                         bytes_text(c.memory.l1_available), " of a core's L1"),
                     ""});
  return out + text_of(facts);
}

}  // namespace buda::driver
