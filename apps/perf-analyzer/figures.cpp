// SPDX-License-Identifier: Apache-2.0
// All figures are of one input of a graph, except speeds, which count samples: rows of inputs that are batches.
#include "apps/perf-analyzer/figures.hpp"

#include <buda/screen/text.hpp>

#include <buda/base/text.hpp>
#include <buda/perf/op_figures.hpp>

#include <algorithm>

namespace buda::perf_analyzer {
namespace {

using perf::EpochSummary;
using Cause = EpochSummary::Cause;

double ratio(double part, double whole) { return whole <= 0 ? 0 : part / whole; }

double inputs_of(const EpochSummary& epoch) { return static_cast<double>(std::max<std::int64_t>(epoch.inputs, 1)); }

// Samples in an input of a graph.
double batch_of(const Run& run) {
  return run.report.executed_inputs <= 0 ? 1 : static_cast<double>(run.report.inputs) / static_cast<double>(run.report.executed_inputs);
}

// Cycles of one input that the math units of all cores would need, if they shared the work evenly and never waited.
double even_work(const EpochSummary& epoch) { return epoch.math_utilisation * epoch.time.cycles() / inputs_of(epoch); }

double estimated_cycles(const EpochSummary& epoch) {
  double out = 0;
  for (const auto& op : epoch.ops) out = std::max(out, std::max(op.estimate, op.limiter));
  return out;
}

std::string kind_name(Cause::Kind kind) {
  for (const auto& [value, name] : perf::describe_enum(static_cast<const Cause::Kind*>(nullptr)))
    if (value == kind) return name;
  return {};
}

// Advice is quoted for a shell.
bool concerns(const std::string& advice, const EpochSummary::Op& op) {
  const std::string option = cat("op.", op.name, '.');
  return advice.starts_with(cat("--set ", option)) || advice.starts_with(cat("--set '", option));
}

}  // namespace

EpochFigures figures_of(const Run& run, const EpochSummary& epoch) {
  EpochFigures out;
  for (const auto& op : epoch.ops) {
    out.cycles = std::max(out.cycles, perf::bound_cycles(epoch, op));
    if (multiplies_matrices(op)) out.mm_cores += static_cast<double>(op.cores);
  }
  out.speed = ratio(run.report.clock_hz * batch_of(run), out.cycles);
  out.util = 100 * ratio(even_work(epoch), out.cycles);
  out.balancer_util = 100 * ratio(even_work(epoch), estimated_cycles(epoch));
  return out;
}

// Of the report's epochs: graphs of one epoch run at the same time, whether they are shown apart or not.
RunFigures figures_of(const Run& run) {
  double cycles = 0, estimated = 0, work = 0;
  for (const EpochSummary& epoch : run.report.epochs) {
    const double inputs = inputs_of(epoch) * static_cast<double>(epoch.executions);
    cycles += figures_of(run, epoch).cycles * inputs;
    estimated += estimated_cycles(epoch) * inputs;
    work += even_work(epoch) * inputs;
  }
  return {ratio(static_cast<double>(run.report.inputs) * run.report.clock_hz, cycles), 100 * ratio(work, cycles),
          100 * ratio(work, estimated)};
}

bool multiplies_matrices(const EpochSummary::Op& op) { return op.type == "matmul" || op.type == "depthwise"; }

bool has_low_util(const EpochSummary& epoch, const EpochSummary::Op& op) {
  constexpr double kLow = 10;  // per cent
  return multiplies_matrices(op) && perf::math_percent(op, perf::bound_cycles(epoch, op)) < kLow;
}

bool has_bad_u_kt(const EpochSummary::Op& op) { return multiplies_matrices(op) && op.u_kt == 1 && op.m_k > 1; }

std::string bandwidth_problem(const EpochSummary& epoch, const EpochSummary::Op& op) {
  constexpr double kNoticed = 1.1;
  if (perf::bound_cycles(epoch, op) <= kNoticed * op.kernel.cycles()) return {};
  const EpochSummary::Pipe* worst = &op.output;
  std::string what = "output";
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    if (perf::delay_of(epoch, op.inputs[i]) <= perf::delay_of(epoch, *worst)) continue;
    worst = &op.inputs[i];
    what = cat("input ", i);
  }
  return cat(what, worst->dram > worst->moving / 2 ? " dram" : " noc");
}

std::string limit_of(const EpochSummary& epoch, const EpochSummary::Op& op) {
  const auto cause = std::find_if(epoch.causes.begin(), epoch.causes.end(), [&](const Cause& c) { return c.op == op.name; });
  return cause == epoch.causes.end() ? std::string() : cat(kind_name(cause->kind), ' ', screen::number_text(100 * cause->share, 1), " %");
}

std::string limits_text(const EpochSummary& epoch, std::size_t most) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < std::min(most, epoch.limits.size()); ++i)
    out.push_back(cat(epoch.limits[i].what, ' ', screen::number_text(100 * epoch.limits[i].gain, 1), " %"));
  return join(out, ", ");
}

std::string advice_of(const EpochSummary& epoch, const EpochSummary::Op& op) {
  std::vector<std::string> out;
  for (const std::string& advice : epoch.advice)
    if (concerns(advice, op)) out.push_back(advice);
  return join(out, "; ");
}

std::vector<std::string> other_advice(const EpochSummary& epoch) {
  std::vector<std::string> out;
  for (const std::string& advice : epoch.advice)
    if (std::none_of(epoch.ops.begin(), epoch.ops.end(), [&](const auto& op) { return concerns(advice, op); })) out.push_back(advice);
  return out;
}

}  // namespace buda::perf_analyzer
