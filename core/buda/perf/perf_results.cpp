// SPDX-License-Identifier: Apache-2.0
// The tree perf_results of TT-Buda's backend: tables of epochs, cores and ops.
#include <buda/perf/writers.hpp>

#include <buda/base/text.hpp>
#include <buda/io/json.hpp>

#include <algorithm>
#include <cstdio>
#include <map>

namespace buda::perf {
namespace {

using io::Node;

Node number(double value) { return Node::real(value); }
Node cycles(SimTime time) { return Node::integer(static_cast<std::int64_t>(time.ticks / SimTime::kPerCycle)); }
// From the last step for the first input to that for the last: what there is of a full pipeline. Of one input its own time.
double cycles_per_input(const CoreRun& core) {
  const auto count = static_cast<double>(core.inputs.size());
  if (core.inputs.size() < 2) return core.inputs.front().end.cycles() - core.inputs.front().begin.cycles();
  return (core.inputs.back().end.cycles() - core.inputs.front().end.cycles()) / (count - 1);
}

double cycles_per_input(const Execution& execution) {
  double out = 0;
  for (const CoreRun& core : execution.cores) out = std::max(out, cycles_per_input(core));
  return out;
}

double per_second(const Summary& summary, double cycles_each) { return cycles_each <= 0 ? 0 : summary.clock.hz / cycles_each; }

std::string span_text(const CoreRun& core) { return cat(core.inputs.front().input, "->", core.inputs.back().input); }

// A core as runtime_table has it.
struct Row {
  std::string label, inputs;
  std::int32_t device = 0;
  double aiclk = 0, total = 0, math = 0, math_all = 0, math_last = 0, last = 0, per_input = 0, per_second = 0;
  std::string input0, input1, output;  // bandwidths, "N/A" without
};

std::string bandwidth(const Summary& summary, std::uint64_t bytes, double cycles_each) {
  if (bytes == 0 || cycles_each <= 0) return "N/A";
  return rounded(static_cast<double>(bytes) / cycles_each * summary.clock.hz / 1e9);
}

Row row_of(const Summary& summary, const EpochSummary& epoch, const CoreRun& core) {
  Row row;
  row.label = label_of(core);
  row.inputs = span_text(core);
  row.device = core.op->chip;
  row.aiclk = summary.clock.hz / 1e6;
  row.total = core.end().cycles() - core.begin().cycles();
  row.last = core.inputs.back().end.cycles() - core.inputs.back().begin.cycles();
  row.per_input = cycles_per_input(core);
  row.per_second = per_second(summary, row.per_input);
  row.input0 = row.input1 = row.output = "N/A";
  const EpochSummary::Op* op = find_op(epoch, core.op->name);
  if (op == nullptr) return row;
  row.math = op->math;
  row.math_all = math_percent(*op, row.total / static_cast<double>(core.inputs.size()));
  row.math_last = math_percent(*op, row.last);
  if (!op->inputs.empty()) row.input0 = bandwidth(summary, op->inputs[0].bytes, row.per_input);
  if (op->inputs.size() > 1) row.input1 = bandwidth(summary, op->inputs[1].bytes, row.per_input);
  row.output = bandwidth(summary, op->output.bytes, row.per_input);
  return row;
}

const std::vector<std::string>& runtime_columns() {
  static const std::vector<std::string> columns = {"core-label",
                                                   "device_id",
                                                   "aiclk",
                                                   "first-and-last-inputs",
                                                   "total-runtime",
                                                   "active-math-cycles-single-input",
                                                   "math-utilization-over-all-inputs",
                                                   "math-utilization-last-input-recorded",
                                                   "runtime-last-input-recorded",
                                                   "num-cycles-per-tensor",
                                                   "num-tensors-per-second",
                                                   "input0-bw",
                                                   "input1-bw",
                                                   "output-bw"};
  return columns;
}

std::vector<std::string> fields_of(const Row& r) {
  return {r.label,
          cat(r.device),
          rounded(r.aiclk, 0),
          r.inputs,
          rounded(r.total, 0),
          rounded(r.math, 0),
          rounded(r.math_all),
          rounded(r.math_last),
          rounded(r.last, 0),
          rounded(r.per_input, 0),
          rounded(r.per_second, 2),
          r.input0,
          r.input1,
          r.output};
}

std::string runtime_txt(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(runtime_columns().size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string out;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) out += row[i] + std::string(widths[i] - row[i].size() + 2, ' ');
    while (out.back() == ' ') out.pop_back();
    out += '\n';
  }
  return out;
}

// Numbers are numbers, the rest texts.
Node field_node(const std::string& text) {
  if (const auto value = parse_double(text)) return number(*value);
  return Node::string(text);
}

Result<void> write_runtime_tables(const std::string& folder, const std::vector<Row>& rows, const ProductSink& sink) {
  std::string csv = csv_line(runtime_columns());
  std::vector<std::vector<std::string>> text = {runtime_columns()};
  Node json = Node::map();
  for (const Row& row : rows) {
    const auto fields = fields_of(row);
    csv += csv_line(fields);
    text.push_back(fields);
    Node entry = Node::map();
    for (std::size_t i = 1; i < fields.size(); ++i) entry.add(runtime_columns()[i], field_node(fields[i]));
    json.add(row.label, std::move(entry));
  }
  BUDA_TRY(sink({folder + "runtime_table.csv", std::move(csv)}));
  BUDA_TRY(sink({folder + "runtime_table.txt", runtime_txt(text)}));
  return sink({folder + "runtime_table.json", io::json_pretty(json)});
}

// Which op takes longest for each input.
Node longest_ops(const Execution& execution) {
  std::map<std::int64_t, std::pair<std::uint64_t, std::string>> longest;
  for (const CoreRun& core : execution.cores)
    for (const InputRun& in : core.inputs) {
      auto& known = longest[in.input];
      if (in.work.ticks > known.first) known = {in.work.ticks, core.op->name};
    }
  Node out = Node::map();
  for (const auto& [input, op] : longest) out.add(cat("input-", input), Node::string(op.second));
  return out;
}

Node epoch_events(const Summary& summary, const Execution& execution) {
  SimTime first = execution.end, last;
  Node packs = Node::map();
  std::map<std::int64_t, SimTime> last_packs;
  for (const CoreRun& core : execution.cores) {
    first = std::min(first, core.begin());
    last = std::max(last, core.end());
    for (const InputRun& in : core.inputs) last_packs[in.input] = std::max(last_packs[in.input], in.end);
  }
  for (const auto& [input, time] : last_packs) packs.add(cat("input-", input), cycles(time));
  const double each = cycles_per_input(execution);
  Node out = Node::map();
  out.add("last-pack", std::move(packs));
  out.add("unpack-first-block-available", cycles(first));
  out.add("num-cycles-per-input", number(each));
  out.add("num-inputs-per-second", number(per_second(summary, each)));
  out.add("longest-op-each-input", longest_ops(execution));
  out.add("AICLK", number(summary.clock.hz / 1e6));
  out.add("device-id", Node::integer(execution.cores.empty() ? 0 : execution.cores.front().op->chip));
  out.add("epoch-global-id", Node::integer(execution.epoch));
  return out;
}

Node op_table(const Summary& summary, const EpochSummary& epoch, const Execution& execution) {
  Node out = Node::map();
  for (const auto& op : epoch.ops) {
    Node cores = Node::map();
    SimTime first = execution.end, last = execution.begin;
    std::int64_t count = 0;
    for (const CoreRun& core : execution.cores) {
      if (core.op->name != op.name) continue;
      const Row row = row_of(summary, epoch, core);
      cores.add(core.core->name, Node::map({{"runtime", number(row.total)}, {"math-utilization", number(row.math_all)}}));
      first = std::min(first, core.begin());
      last = std::max(last, core.end());
      ++count;
    }
    if (count == 0) continue;
    const double runtime = last.cycles() - first.cycles();
    cores.add("runtime-across-cores", number(runtime));
    cores.add("math-utilization-across-cores",
              number(math_percent(op, runtime / static_cast<double>(std::max<std::int64_t>(epoch.inputs, 1)))));
    cores.add("num-cores", Node::integer(count));
    out.add(op.name, std::move(cores));
  }
  out.add("epoch-information", epoch_events(summary, execution));
  return out;
}

std::string padded(std::size_t index) {
  char text[32];
  std::snprintf(text, sizeof text, "%04zu", index);
  return text;
}

Result<void> write_epoch(const Summary& summary, const EpochSummary& epoch, const Execution& execution, const std::string& folder,
                         const ProductSink& sink) {
  std::vector<Row> rows;
  Node names = Node::map();
  for (const CoreRun& core : execution.cores) {
    rows.push_back(row_of(summary, epoch, core));
    names.add(core.core->name, Node::string(core.op->name));
  }
  BUDA_TRY(write_runtime_tables(folder, rows, sink));
  BUDA_TRY(sink({folder + "cores_to_ops.json", io::json_pretty(names)}));
  BUDA_TRY(sink({folder + "op_perf_table.json", io::json_pretty(op_table(summary, epoch, execution))}));
  return sink({folder + "perf_postprocess.json", thread_events_json(epoch, execution, epoch_events(summary, execution))});
}

std::string all_epochs_csv(const Summary& summary, const Executions& executions) {
  std::string out =
      ",program-name,graph-name,aiclk,device-id,input-count,first-to-last-inputs,num-cycles-per-tensor-all-inputs,"
      "num-tensors-per-second-all-inputs,num-cycles-all-inputs,largest-wait-for-epoch-binary,\n";
  for (const Execution& x : executions) {
    if (x.cores.empty()) continue;
    const double each = cycles_per_input(x);
    const std::size_t inputs = x.cores.front().inputs.size();
    out += "," + csv_line({x.program, x.graph, rounded(summary.clock.hz / 1e6, 0), cat(x.cores.front().op->chip), cat(inputs),
                           span_text(x.cores.front()), rounded(each, 0), rounded(per_second(summary, each), 2),
                           rounded(x.end.cycles() - x.begin.cycles(), 0), "N/A", ""});
  }
  return out;
}

// JSON is YAML; keys have the backend's spaces.
std::string all_epochs_yaml(const Summary& summary, const Executions& executions, const std::map<const Execution*, std::string>& folders) {
  Node out = Node::map();
  Node programs = Node::map();
  std::string program;
  std::size_t index = 0;
  auto close = [&] {
    if (programs.size() > 0) out.add(program, std::move(programs));
    programs = Node::map();
  };
  for (const Execution& x : executions) {
    const auto folder = folders.find(&x);
    if (folder == folders.end()) continue;
    const std::string key = folder->second.substr(0, folder->second.find('/'));
    if (key != program) close();
    program = key;
    programs.add(cat(index++, '-', x.graph),
                 Node::map({{"aiclk", number(summary.clock.hz / 1e6)},
                            {"device_id", Node::integer(x.cores.front().op->chip)},
                            {"global_epoch_id", Node::integer(x.epoch)},
                            {"output_directory", Node::string("device/" + folder->second)},
                            {"Number of cycles per input  (Skipping first input)", number(cycles_per_input(x))}}));
  }
  close();
  out.add("global-events", Node::map({{"samples-per-second-excluding-last-epoch-of-each-program", number(summary.inputs_per_second())}}));
  return io::json_pretty(out);
}

// The first execution of each epoch in each program stands for the others.
std::map<const Execution*, std::string> folders_of(const Executions& executions) {
  std::map<const Execution*, std::string> out;
  std::map<std::string, std::size_t> programs;
  std::map<std::pair<std::string, std::string>, std::size_t> graphs;
  for (const Execution& x : executions) {
    if (x.cores.empty()) continue;
    const std::size_t program = programs.try_emplace(x.program, programs.size()).first->second;
    const auto [graph, fresh] = graphs.try_emplace({x.program, x.graph}, graphs.size());
    if (!fresh) continue;
    std::string name = x.graph.substr(0, x.graph.find(','));
    out[&x] = cat(padded(program), '_', x.program, '/', padded(graph->second), '_', name);
  }
  return out;
}

}  // namespace

Result<void> write_perf_results(const Summary& summary, const Executions& executions, const ProductSink& sink) {
  const auto folders = folders_of(executions);
  for (const Execution& x : executions) {
    const auto folder = folders.find(&x);
    const EpochSummary* epoch = find_epoch(summary, x.graph);
    if (folder == folders.end() || epoch == nullptr) continue;
    BUDA_TRY(write_epoch(summary, *epoch, x, cat("perf_results/device/", folder->second, '/'), sink));
    BUDA_TRY(sink({cat("perf_results/metadata/", x.graph.substr(0, x.graph.find(',')), ".json"),
                   io::json_pretty(Node::map({{"arch_name", Node::string(summary.arch)}}))}));
  }
  BUDA_TRY(sink({"perf_results/device/decouple_info.txt", ""}));
  BUDA_TRY(sink({"perf_results/perf_info_all_epochs.csv", all_epochs_csv(summary, executions)}));
  BUDA_TRY(sink({"perf_results/perf_info_all_epochs.yaml", all_epochs_yaml(summary, executions, folders)}));
  return sink({"perf_results/host/host_summary_report.json",
               io::json_pretty(Node::map({{"samples-per-second", number(summary.inputs_per_second())}}))});
}

}  // namespace buda::perf
