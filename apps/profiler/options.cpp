// SPDX-License-Identifier: Apache-2.0
// Declaration of profiler's commands and their options.
#include "apps/profiler/options.hpp"

#include "apps/profiler/run.hpp"

#include <utility>

namespace buda::profiler {
namespace {

void declare_common(cli::OptionSet& set, Options& o, const char* products) {
  set.path("output-folder", o.output, "DIR", std::string("folder in which the folder '") + products + "' is made").also("-o");
  set.flag("date", o.date, "prefix the names of the products with date and time");
  set.text("name-append", o.name, "TEXT", "append this to the names of the products").also("-n");
  set.integer("port", o.port, "N", "port of the dashboard; 0: a free one").also("-p").range(0, 65535);
  set.text("address", o.address, "ADDRESS",
           "address at which the dashboard listens; 0.0.0.0: all of the machine's, for everyone who can reach it");
}

cli::ToolSpec device_command(Options& o, const Outside& outside) {
  cli::ToolSpec spec;
  spec.name = "profiler device";
  spec.summary = "process the device log: figures, times by core, a plot of all kernels";
  spec.description =
      "Prints the figures of the log, writes the artifacts, and shows a dashboard with them to a browser on this machine until Ctrl-C "
      "ends it.";
  spec.reads = "profile_log_device.csv, which 'runner --perf DIR' writes, or a file in its form.";
  spec.writes =
      "device/device_stats.txt, device/device_rearranged_timestamps.csv, device/device_perf.html, which opens from disk and loads nothing, "
      "and device/device_perf_results.tar of these and the log.";
  spec.example = "runner digits.tti --inputs digits.images.npz --target grid --perf times\nprofiler device -i times --no-webapp";
  spec.declare = [&o](cli::OptionSet& set) {
    set.path("device-log", o.input, "FILE|DIR", "the log, or the folder of profile_log_device.csv").also("-i");
    declare_common(set, o, "device");
    set.flag("no-print-stats", o.no_print_stats, "do not print the figures");
    set.flag("no-webapp", o.no_webapp, "do not show the dashboard");
    set.flag("no-plots", o.no_plots, "do not make device_perf.html");
    set.flag("no-artifacts", o.no_artifacts, "do not make the tarball");
  };
  spec.run = [&o, outside](cli::ToolHost& host) { return profile_device(o, outside, host); };
  return spec;
}

cli::ToolSpec ops_command(Options& o, const Outside& outside) {
  cli::ToolSpec spec;
  spec.name = "profiler ops";
  spec.summary = "collect the report of ops, and a tarball of what it was made from";
  spec.description =
      "Simulated times do not depend on what is recorded, so that one run has both the times of the host and of the device, and nothing is "
      "stitched together.";
  spec.reads = "the folder that 'runner --perf DIR' writes, with ops_perf_results.csv.";
  spec.writes = "ops/ops_perf_results.csv, and ops/ops_perf_results.tar of all files of the folder.";
  spec.example = "profiler ops -i times --date -n digits\nprofiler ops -i times --webapp --port 0";
  spec.declare = [&o](cli::OptionSet& set) {
    set.path("ops-folder", o.input, "DIR", "folder of the run").also("-i");
    declare_common(set, o, "ops");
    set.flag("webapp", o.webapp, "then show a dashboard of the ops");
  };
  spec.run = [&o, outside](cli::ToolHost& host) { return profile_ops(o, outside, host); };
  return spec;
}

}  // namespace

cli::ToolSpec tool(Options& o, Outside outside) {
  cli::ToolSpec spec;
  spec.name = "profiler";
  spec.summary = "reports of ops and of cores of a simulated run";
  spec.description = "The post-processing of TT-Metal's profiler, for runs whose times are simulated.";
  spec.reads = "what 'runner --perf DIR' writes.";
  spec.writes = "reports, and tarballs of them.";
  spec.example = "runner digits.tti --inputs digits.images.npz --target grid --perf times\nprofiler device -i times\nprofiler ops -i times";
  spec.commands = {device_command(o, outside), ops_command(o, outside)};
  return spec;
}

}  // namespace buda::profiler
