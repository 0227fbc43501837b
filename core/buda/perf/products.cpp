// SPDX-License-Identifier: Apache-2.0
// All files of a run.
#include <buda/perf/products.hpp>

#include <buda/base/text.hpp>
#include <buda/perf/writers.hpp>

#include <algorithm>

namespace buda::perf {
namespace {

Result<void> write_analysis(const Summary& summary, const Executions& executions, const ProductSink& sink) {
  for (std::size_t e = 0; e < summary.epochs.size(); ++e) {
    const EpochSummary& epoch = summary.epochs[e];
    const auto run = std::find_if(executions.begin(), executions.end(), [&](const auto& x) { return x.graph == epoch.graph; });
    const std::string program = run == executions.end() ? "" : run->program;
    BUDA_TRY(sink({cat("perf_results/analyzer_results/", folder_of(epoch, e), "/graph_perf_report.csv"),
                   graph_perf_report_csv(summary, epoch, e, program)}));
  }
  return success();
}

}  // namespace

Result<void> write_products(const Summary& summary, const Recording& recording, const ProductSink& sink,
                            const std::string& netlist_digest) {
  BUDA_TRY(sink({"summary.txt", summary_text(summary)}));
  BUDA_TRY(sink({"summary.json", summary_json(summary, netlist_digest)}));
  BUDA_TRY(sink({"op_perf.csv", op_perf_csv(summary)}));
  const Executions executions = executions_of(recording);
  BUDA_TRY(write_analysis(summary, executions, sink));
  if (executions.empty()) return success();
  BUDA_TRY(sink({"executions.json", executions_json(summary, executions)}));
  BUDA_TRY(sink({"timeline.svg", timeline_svg(summary, executions)}));
  BUDA_TRY(sink({"trace.json.gz", chrome_trace(summary, recording)}));
  BUDA_TRY(write_perf_results(summary, executions, sink));
  BUDA_TRY(sink({"profile_log_device.csv", profile_log_csv(summary, executions)}));
  if (const ZoneMarkers zones = zone_markers(summary); !zones.empty()) BUDA_TRY(sink({"profile_zones.csv", profile_zones_csv(zones)}));
  return sink({"ops_perf_results.csv", op_report_csv(summary, executions)});
}

}  // namespace buda::perf
