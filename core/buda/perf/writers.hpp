// SPDX-License-Identifier: Apache-2.0
// The writers of the single files. Internal to the module.
#pragma once

#include <buda/io/node.hpp>
#include <buda/perf/executions.hpp>
#include <buda/perf/op_figures.hpp>
#include <buda/perf/products.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace buda::perf {

using Executions = std::vector<Execution>;

std::string summary_json(const Summary& summary, const std::string& netlist_digest);
std::string executions_json(const Summary& summary, const Executions& executions);
// Chrome's trace events, as JSON, compressed with gzip.
std::string chrome_trace(const Summary& summary, const Recording& recording);
std::string gzip(std::string_view bytes);
// A row of cores for each op over the time of one execution.
std::string timeline_svg(const Summary& summary, const Executions& executions);
// What the balancer estimates, and what perf_analysis reads beside it.
std::string op_perf_csv(const Summary& summary);
std::string graph_perf_report_csv(const Summary& summary, const EpochSummary& epoch, std::size_t number, const std::string& program);
// The tree of TT-Buda's backend.
Result<void> write_perf_results(const Summary& summary, const Executions& executions, const ProductSink& sink);
// What the threads of each core did, and what there is to say of the whole epoch.
std::string thread_events_json(const EpochSummary& epoch, const Execution& execution, const io::Node& of_epoch);
// TT-Metal's device log, and its report of ops.
std::string profile_log_csv(const Summary& summary, const Executions& executions);
std::string op_report_csv(const Summary& summary, const Executions& executions);

// The markers in it of kernels' zones, by name: of the beginning; that of the end is the next.
using ZoneMarkers = std::map<std::string, std::uint32_t>;
ZoneMarkers zone_markers(const Summary& summary);
struct ZoneStamp {
  std::uint32_t marker = 0;
  SimTime time;
};
// All of a thread of a core, in order of time.
std::vector<ZoneStamp> zone_stamps(const EpochSummary::Op& op, const CoreRun& core, std::size_t thread, const ZoneMarkers& markers);
std::string profile_zones_csv(const ZoneMarkers& markers);

// What they share.
//
// A field of a CSV file, in quotes where it has to be.
std::string csv_field(std::string_view text);
std::string csv_line(const std::vector<std::string>& fields);
// At most so many decimals, without zeros at the end.
std::string rounded(double value, int decimals = 3);
std::string cycles_text(SimTime time);  // whole cycles
// Null where the summary does not have the op.
const EpochSummary::Op* find_op(const EpochSummary& epoch, std::string_view name);
const EpochSummary* find_epoch(const Summary& summary, std::string_view graph);
// A core and its op, as TT-Buda's backend names them.
std::string label_of(const CoreRun& core);
// A folder for an epoch: its graph, or the first of several and the epoch's number.
std::string folder_of(const EpochSummary& epoch, std::size_t number);

}  // namespace buda::perf
