// SPDX-License-Identifier: Apache-2.0
// The table of epochs and those of ops.
#include "apps/perf-analyzer/tables.hpp"

#include <buda/screen/text.hpp>
#include "apps/perf-analyzer/figures.hpp"

#include <buda/base/shortened.hpp>
#include <buda/base/text.hpp>
#include <buda/perf/op_figures.hpp>
#include <buda/perf/phases.hpp>

#include <algorithm>

namespace buda::perf_analyzer {

using screen::number_text;
using screen::safe_text;
namespace {

using perf::EpochSummary;

constexpr std::size_t kMaxInputs = 8;  // that have columns, as in op_perf.csv

std::string name_text(std::string_view name, std::size_t length) {
  const std::string text = safe_text(name);
  return length == 0 ? text : shortened_to_end(text, length);
}

std::string title_of(const Run& run) {
  const auto& report = run.report;
  return cat(report.netlist.empty() ? "report" : safe_text(report.netlist), ": ", safe_text(report.arch), " at ",
             number_text(report.clock_hz / 1e6), " MHz");
}

// "backward: 44 ops in 2 epochs, 40112 cycles of a step, 37.1 %", of a training step.
std::vector<std::string> phase_lines(const Run& run) {
  const auto phases = perf::phases_of(run.report.epochs);
  double step = 0;
  for (const perf::PhaseFigures& p : phases) step += p.cycles;
  std::vector<std::string> out;
  for (const perf::PhaseFigures& p : phases)
    out.push_back(cat(p.phase.empty() ? "other" : p.phase, ": ", p.ops, p.ops == 1 ? " op in " : " ops in ", p.epochs,
                      p.epochs == 1 ? " epoch, " : " epochs, ", number_text(p.cycles), " cycles of a step, ",
                      number_text(step > 0 ? 100 * p.cycles / step : 0, 1), " %"));
  return out;
}

Table summary_table(const Run& run, std::size_t name_length) {
  const RunFigures all = figures_of(run);
  Table out;
  out.heading = {title_of(run),
                 cat(number_text(all.speed), " inputs/s by the slowest ops, ", number_text(run.report.inputs_per_second), " in the run"),
                 cat("util ", number_text(all.util, 1), " %, balancer util ", number_text(all.balancer_util, 1), " %")};
  for (std::string& line : phase_lines(run)) out.heading.push_back(std::move(line));
  out.columns = {{"epoch", true, "its number, and the graphs that run in it"},
                 {"cycles", false, "pipeline stage cycles: of the slowest op, for one input"},
                 {"speed", false, "inputs per second at these cycles"},
                 {"util", false, "per cent of the time that the math units of all cores work in steady state, when the pipeline is full"},
                 {"mm cores", false, "cores of ops that multiply matrices"},
                 {"balancer util", false, "util if all ops took what the balancer estimates"},
                 {"period", false, "cycles from input to input in the run; more than 'cycles' if ops wait for each other"},
                 {"inputs", false, "in one execution"},
                 {"executions", false, "of the epoch in the run"},
                 {"time", false, "per cent of the run"},
                 {"limit", true, "what would save most time if it were twice as fast, and how much"}};
  for (std::size_t i = 0; i < run.epochs.size(); ++i) {
    const EpochSummary& epoch = run.epochs[i];
    const EpochFigures f = figures_of(run, epoch);
    const double cycles = run.report.cycles.cycles();
    out.rows.push_back({{cat(i, ' ', name_text(epoch.graph, name_length))},
                        {number_text(f.cycles)},
                        {number_text(f.speed)},
                        {number_text(f.util, 1)},
                        {number_text(f.mm_cores)},
                        {number_text(f.balancer_util, 1)},
                        {number_text(epoch.period.cycles())},
                        {cat(epoch.inputs)},
                        {cat(epoch.executions)},
                        {number_text(cycles <= 0 ? 0 : 100 * epoch.total.cycles() / cycles, 1)},
                        {safe_text(limits_text(epoch, 1))}});
  }
  return out;
}

void add_bandwidth(const perf::Bandwidth& bandwidth, std::vector<Cell>& row) {
  const std::string required = number_text(bandwidth.required, 1), measured = number_text(bandwidth.measured, 1);
  row.push_back({required});
  row.push_back({measured});
}

std::vector<Cell> op_row(const EpochSummary& epoch, const EpochSummary::Op& op, std::size_t inputs, std::size_t name_length) {
  const double bound = perf::bound_cycles(epoch, op);
  std::vector<Cell> row = {{name_text(op.name, name_length)},
                           {cat(op.grid.rows, 'x', op.grid.cols)},
                           {number_text(op.estimate)},
                           {number_text(op.kernel.cycles())},
                           {number_text(bound)},
                           {bandwidth_problem(epoch, op)},
                           {number_text(perf::math_percent(op, bound), 1), has_low_util(epoch, op)},
                           {multiplies_matrices(op) ? cat(op.u_kt) : "", has_bad_u_kt(op)}};
  for (std::size_t i = 0; i < inputs; ++i) {
    if (i < op.inputs.size()) {
      add_bandwidth(perf::bandwidth_of(epoch, op, op.inputs[i]), row);
    } else {
      row.insert(row.end(), 2, {});
    }
  }
  add_bandwidth(perf::bandwidth_of(epoch, op, op.output), row);
  row.push_back({limit_of(epoch, op)});
  row.push_back({safe_text(advice_of(epoch, op))});
  return row;
}

std::vector<Column> op_columns(std::size_t inputs) {
  std::vector<Column> out = {
      {"op", true, "name in the netlist; the slowest op is at the top"},
      {"grid", false, "rows and columns of cores"},
      {"est", false, "cycles of the kernel for one input, as the balancer estimates them"},
      {"kernel", false, "the same in the run, without any waiting"},
      {"bw_kernel", false,
       "the same with the waits for tiles on their way while the pipeline is full: what the op takes if all others are fast"},
      {"bw problem", true, "which transfers slow the kernel down most, those of an input or the output, and what slows them: NoC or DRAM"},
      {"util", false, "per cent of bw_kernel that the math unit works; marked below 10 of ops that multiply matrices"},
      {"u_kt", false, "tiles of the inner dimension in a block; marked where it is 1 and there are several blocks"}};
  for (std::size_t i = 0; i < inputs; ++i) {
    out.push_back({cat("in", i, " req"), false, i == 0 ? "bytes per cycle of each input with which the kernel would not wait" : ""});
    out.push_back({cat("in", i, " meas"), false, i == 0 ? "bytes per cycle with which it comes in the run" : ""});
  }
  out.push_back({"out req", false, "the same for the output"});
  out.push_back({"out meas", false, ""});
  out.push_back({"limit", true, "the op's largest part of the critical path, the chain of causes back from the end of the epoch"});
  out.push_back({"advice", true, "the option that would change it, and what the report predicts; the balancer may refuse it"});
  return out;
}

Table op_table(const Run& run, std::size_t number, std::size_t name_length) {
  const EpochSummary& epoch = run.epochs[number];
  const EpochFigures f = figures_of(run, epoch);
  Table out;
  const std::string phase = perf::phases_of(run.report.epochs).empty() ? std::string() : perf::phases_of_graph(epoch.graph);
  out.heading = {cat("epoch ", number, " of ", run.epochs.size(), ": ", safe_text(epoch.graph), phase.empty() ? "" : cat(" (", phase, ')')),
                 cat(number_text(f.cycles), " cycles, ", number_text(f.speed), " inputs/s, util ", number_text(f.util, 1), " %")};
  if (!epoch.limits.empty()) out.heading.push_back(cat("twice as fast would save: ", safe_text(limits_text(epoch, 3))));
  for (const std::string& advice : other_advice(epoch)) out.heading.push_back(cat("to gain: ", safe_text(advice)));
  std::size_t inputs = 0;
  std::vector<std::pair<double, const EpochSummary::Op*>> ops;
  for (const auto& op : epoch.ops) {
    inputs = std::max(inputs, std::min(op.inputs.size(), kMaxInputs));
    ops.emplace_back(perf::bound_cycles(epoch, op), &op);
  }
  std::stable_sort(ops.begin(), ops.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  out.columns = op_columns(inputs);
  for (const auto& [cycles, op] : ops) out.rows.push_back(op_row(epoch, *op, inputs, name_length));
  return out;
}

}  // namespace

std::size_t Table::width(std::size_t column) const {
  std::size_t out = columns[column].name.size();
  for (const auto& row : rows) out = std::max(out, row[column].text.size());
  return out;
}

Table table_of(const Run& run, std::optional<std::size_t> epoch, std::size_t name_length) {
  return epoch ? op_table(run, *epoch, name_length) : summary_table(run, name_length);
}

}  // namespace buda::perf_analyzer
