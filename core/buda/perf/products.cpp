// All files of a run.
#include <buda/perf/products.hpp>

#include <buda/base/text.hpp>
#include <buda/perf/writers.hpp>

#include <algorithm>
#include <utility>

namespace buda::perf {
namespace {

void add_analysis(const Summary& summary, const Executions& executions, std::vector<Product>& out) {
  for (std::size_t e = 0; e < summary.epochs.size(); ++e) {
    const EpochSummary& epoch = summary.epochs[e];
    const auto run = std::find_if(executions.begin(), executions.end(), [&](const auto& x) { return x.graph == epoch.graph; });
    const std::string program = run == executions.end() ? "" : run->program;
    out.push_back({cat("perf_results/analyzer_results/", folder_of(epoch, e), "/graph_perf_report.csv"),
                   graph_perf_report_csv(summary, epoch, e, program)});
  }
}

}  // namespace

std::vector<Product> products(const Summary& summary, const Recording& recording) {
  std::vector<Product> out = {{"summary.txt", summary_text(summary)}, {"summary.json", summary_json(summary)}};
  out.push_back({"op_perf.csv", op_perf_csv(summary)});
  const Executions executions = executions_of(recording);
  add_analysis(summary, executions, out);
  if (executions.empty()) return out;
  out.push_back({"executions.json", executions_json(summary, executions)});
  out.push_back({"timeline.svg", timeline_svg(summary, executions)});
  out.push_back({"trace.json.gz", chrome_trace(summary, recording)});
  for (Product& product : perf_results(summary, executions)) out.push_back(std::move(product));
  out.push_back({"profile_log_device.csv", profile_log_csv(summary, executions)});
  out.push_back({"ops_perf_results.csv", op_report_csv(summary, executions)});
  return out;
}

}  // namespace buda::perf
