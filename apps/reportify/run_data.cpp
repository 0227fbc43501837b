// SPDX-License-Identifier: Apache-2.0
// Figures are texts, times are numbers.
#include "apps/reportify/run_data.hpp"

#include "apps/reportify/current.hpp"

#include <buda/base/text.hpp>
#include <buda/io/folder_product.hpp>
#include <buda/io/json.hpp>
#include <buda/perf/phases.hpp>
#include <buda/screen/text.hpp>

#include <cmath>

namespace buda::reportify {
namespace {

using io::Node;
using screen::number_text;

template <class File>
Result<File> read_file(const std::string& path, io::FileSystem& fs) {
  BUDA_ASSIGN(const auto bytes, fs.read(path));
  BUDA_ASSIGN(const auto node, io::parse_json(bytes.view(), path));
  return schema::read<File>(node);
}

Node cycles(perf::SimTime time) { return Node::real(time.cycles()); }

std::string percent(double part) { return cat(std::round(part * 1000) / 10, " %"); }

Facts run_facts(const perf::SummaryFile& summary) {
  Facts out = {{"inputs", cat(summary.inputs)},
               {"inputs per second", number_text(summary.inputs_per_second, 1)},
               {"cycles", number_text(summary.cycles.cycles())},
               {"latency in cycles", number_text(summary.latency.cycles())}};
  for (const perf::PhaseFigures& p : perf::phases_of(summary.epochs))
    out.emplace_back(
        cat("phase ", p.phase.empty() ? "other" : p.phase),
        cat(p.ops, " ops in ", p.epochs, p.epochs == 1 ? " epoch, " : " epochs, ", number_text(p.cycles), " cycles of a step"));
  return out;
}

Facts epoch_facts_of_run(const perf::EpochSummary& epoch) {
  Facts out = {{"executions", cat(epoch.executions)},
               {"inputs", cat(epoch.inputs)},
               {"cycles", number_text(epoch.time.cycles())},
               {"cycles between inputs", number_text(epoch.period.cycles())}};
  for (const auto& cause : epoch.causes) out.emplace_back(percent(cause.share), cause.what);
  std::vector<std::string> limits;
  for (const auto& limit : epoch.limits) limits.push_back(cat(limit.what, ' ', percent(limit.gain)));
  if (!limits.empty()) out.emplace_back("twice as fast would save", join(limits, ", "));
  for (const std::string& advice : epoch.advice) out.emplace_back("to gain", advice);
  return out;
}

Node op_bars(const perf::ExecutedOp& op) {
  Node bars = Node::list();
  for (const perf::ExecutedBar& bar : op.bars)
    bars.push(Node::list({Node::integer(bar.first), Node::integer(bar.last), cycles(bar.begin), cycles(bar.end), Node::real(bar.work)}));
  return Node::map({{"name", Node::string(op.name)}, {"cores", Node::integer(op.cores)}, {"bars", std::move(bars)}});
}

}  // namespace

Result<Run> read_run(const Module& module, io::FileSystem& fs) {
  Run out;
  BUDA_TRY(io::require_whole(fs, module.summary.substr(0, module.summary.rfind('/'))));
  BUDA_ASSIGN(out.summary, read_file<perf::SummaryFile>(module.summary, fs));
  BUDA_TRY(require_current(module, module.summary, out.summary.netlist_digest, fs));
  if (module.executions.empty()) return out;
  BUDA_ASSIGN(out.executions, read_file<perf::ExecutionsFile>(module.executions, fs));
  return out;
}

io::Node run_data(const Run& run) {
  Node epochs = Node::list(), executions = Node::list();
  for (const perf::EpochSummary& epoch : run.summary.epochs)
    epochs.push(Node::map({{"graph", Node::string(epoch.graph)}, {"facts", facts_node(epoch_facts_of_run(epoch))}}));
  for (const perf::ExecutedEpoch& execution : run.executions.executions) {
    Node ops = Node::list();
    for (const perf::ExecutedOp& op : execution.ops) ops.push(op_bars(op));
    executions.push(Node::map({{"graph", Node::string(execution.graph)},
                               {"begin", cycles(execution.begin)},
                               {"end", cycles(execution.end)},
                               {"ops", std::move(ops)}}));
  }
  return Node::map({{"facts", facts_node(run_facts(run.summary))}, {"epochs", std::move(epochs)}, {"executions", std::move(executions)}});
}

}  // namespace buda::reportify
