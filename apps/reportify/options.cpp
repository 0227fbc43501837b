// SPDX-License-Identifier: Apache-2.0
// Declaration of reportify's commands and their options.
#include "apps/reportify/options.hpp"

#include "apps/reportify/run.hpp"

#include <utility>

namespace buda::reportify {
namespace {

constexpr const char* kReads =
    "in DIR and the folders in it: graphs (MODEL.graph.json, MODEL.device.graph.json), graphs of passes (passes/NNN-PASS.graph.json), "
    "placement reports (MODEL.report.json), netlists (MODEL.yaml) and runs (perf/summary.json, perf/executions.json).";

cli::ToolSpec export_command(Options& o) {
  cli::ToolSpec spec;
  spec.name = "reportify export";
  spec.summary = "write the report into a folder that opens from disk";
  spec.description =
      "Writes a folder whose index.html a browser opens from disk, without a server. The page loads nothing from anywhere else. A file "
      "that cannot be read is reported, and the page shows the reason in its place.";
  spec.reads = kReads;
  spec.writes = "the folder of --output.";
  spec.example = "buda compile m.onnx --reports reports\nreportify export reports -o page";
  spec.declare = [&o](cli::OptionSet& set) {
    set.positional("DIR", o.folder, "folder of reports");
    set.path("output", o.output, "DIR", "folder to write").also("-o");
  };
  spec.run = [&o](cli::ToolHost& host) { return export_report(o, host); };
  spec.folders = [&o] { return std::vector<std::string>{o.output}; };
  return spec;
}

cli::ToolSpec serve_command(Options& o, serve::Serve serve) {
  cli::ToolSpec spec;
  spec.name = "reportify serve";
  spec.summary = "serve the report to a browser on this machine";
  spec.description =
      "Answers GET for the files that 'reportify export' would write, each made from DIR when it is asked for, so that reloading the page "
      "shows what has been compiled since. Only programs on this machine can connect, unless --address names another address of it. "
      "Ctrl-C ends it.";
  spec.reads = kReads;
  spec.writes = "nothing.";
  spec.example = "reportify serve reports\nreportify serve reports --port 0";
  spec.declare = [&o](cli::OptionSet& set) {
    set.positional("DIR", o.folder, "folder of reports");
    set.text("address", o.address, "ADDRESS", "address to listen at; 0.0.0.0: all of the machine's, for everyone who can reach it");
    set.integer("port", o.port, "N", "port; 0: a free one").also("-p").range(0, 65535);
  };
  spec.run = [&o, serve = std::move(serve)](cli::ToolHost& host) { return serve_report(o, serve, host); };
  return spec;
}

}  // namespace

cli::ToolSpec tool(Options& o, serve::Serve serve) {
  cli::ToolSpec spec;
  spec.name = "reportify";
  spec.summary = "show in a browser compilations and simulated runs";
  spec.description =
      "Shows the graph after each pass of a compilation, where the balancer placed its ops, and when they worked in a simulated run. It "
      "reads the folders that 'buda compile "
      "--build-dir' keeps, and in them those of 'runner --perf'.";
  spec.reads = kReads;
  spec.writes = "a folder with a page.";
  spec.example = "buda compile m.onnx --build-dir reports/m --dump-dir reports/m/passes\nreportify export reports -o page";
  spec.commands = {export_command(o), serve_command(o, std::move(serve))};
  return spec;
}

}  // namespace buda::reportify
