// SPDX-License-Identifier: Apache-2.0
// The fields of executions.json.
#include <buda/perf/executions_file.hpp>

#include <buda/io/json.hpp>
#include <buda/perf/op_rows.hpp>
#include <buda/perf/writers.hpp>

#include <map>

namespace buda::perf {
namespace {

// More bars of an op would not be told apart, nor would a longer file be read quickly.
constexpr double kMaxBars = 300;

std::vector<ExecutedOp> ops_of(const Execution& execution) {
  const double ticks_per_bar = static_cast<double>(execution.end.ticks - execution.begin.ticks) / kMaxBars;
  std::vector<ExecutedOp> out;
  for (const OpRow& row : rows_of(execution)) {
    ExecutedOp op{.name = row.name, .cores = row.cores, .bars = {}};
    for (const Bar& bar : drawn_bars(row, ticks_per_bar)) op.bars.push_back({bar.first, bar.last, bar.begin, bar.end, work_share(bar)});
    out.push_back(std::move(op));
  }
  return out;
}

}  // namespace

const schema::Record<ExecutedBar>& describe(const ExecutedBar*) {
  static const auto record = schema::Record<ExecutedBar>("one input of an op, or several that follow one another closely")
                                 .required("first", &ExecutedBar::first, "number of the first input")
                                 .required("last", &ExecutedBar::last, "number of the last input")
                                 .required("begin", &ExecutedBar::begin, "cycle of the first step of any core")
                                 .required("end", &ExecutedBar::end, "cycle of the last step of any core")
                                 .required("work", &ExecutedBar::work, "part of this time in which kernels worked, mean of the cores");
  return record;
}

const schema::Record<ExecutedOp>& describe(const ExecutedOp*) {
  static const auto record = schema::Record<ExecutedOp>("an op over the time of an execution")
                                 .required("name", &ExecutedOp::name, "name in the netlist")
                                 .required("cores", &ExecutedOp::cores, "how many")
                                 .required("bars", &ExecutedOp::bars, "in order of inputs");
  return record;
}

const schema::Record<ExecutedEpoch>& describe(const ExecutedEpoch*) {
  static const auto record =
      schema::Record<ExecutedEpoch>("an execution of an epoch")
          .required("program", &ExecutedEpoch::program, "that executed it")
          .required("graph", &ExecutedEpoch::graph, "graphs of several chips with a comma between them")
          .required("begin", &ExecutedEpoch::begin, "cycle")
          .required("end", &ExecutedEpoch::end, "cycle")
          .optional("ops", &ExecutedEpoch::ops, "of the last execution of a graph, in the order in which they begin");
  return record;
}

const schema::Record<ExecutionsFile>& describe(const ExecutionsFile*) {
  static const auto record = schema::Record<ExecutionsFile>("the executions of a run in simulated time", {"buda.executions", 1})
                                 .required("clock_hz", &ExecutionsFile::clock_hz, "cycles per second")
                                 .required("executions", &ExecutionsFile::executions, "in order of time");
  return record;
}

ExecutionsFile executions_file(const Summary& summary, const Executions& executions) {
  std::map<std::string_view, const Execution*> last;
  for (const Execution& execution : executions) last[execution.graph] = &execution;
  ExecutionsFile out{.clock_hz = summary.clock.hz, .executions = {}};
  for (const Execution& execution : executions)
    out.executions.push_back({execution.program, execution.graph, execution.begin, execution.end,
                              last.at(execution.graph) == &execution ? ops_of(execution) : std::vector<ExecutedOp>{}});
  return out;
}

std::string executions_json(const Summary& summary, const Executions& executions) {
  return io::json_pretty(schema::write(executions_file(summary, executions)));
}

}  // namespace buda::perf
