// Declaration of reportify's commands and their options.
#include "apps/reportify/options.hpp"

#include "apps/reportify/run.hpp"

namespace buda::reportify {
namespace {

constexpr const char* kReads =
    "in DIR and the folders in it: graphs (MODEL.graph.json, MODEL.device.graph.json), graphs of passes (passes/NNN-PASS.graph.json), "
    "placement reports (MODEL.report.json) and netlists (MODEL.yaml).";

cli::ToolSpec export_command(Options& o) {
  cli::ToolSpec spec;
  spec.name = "reportify export";
  spec.summary = "write the report into a folder that opens from disk";
  spec.description =
      "Writes a folder whose index.html a browser opens from disk, without a server. The page loads nothing from anywhere else. A file "
      "that cannot be read is reported, and the page shows the reason in its place.";
  spec.reads = kReads;
  spec.writes = "the folder of --output.";
  spec.example = "buda compile m.onnx --build-dir reports/m --dump-dir reports/m/passes\nreportify export reports -o page";
  spec.declare = [&o](cli::OptionSet& set) {
    set.positional("DIR", o.folder, "folder of reports");
    set.path("output", o.output, "DIR", "folder to write").also("-o");
  };
  spec.run = [&o](cli::ToolHost& host) { return export_report(o, host); };
  return spec;
}

}  // namespace

cli::ToolSpec tool(Options& o) {
  cli::ToolSpec spec;
  spec.name = "reportify";
  spec.summary = "show in a browser what a compilation did";
  spec.description =
      "Shows the graph after each pass of a compilation, and where the balancer placed its ops. It reads the folders that 'buda compile "
      "--build-dir' keeps.";
  spec.reads = kReads;
  spec.writes = "a folder with a page.";
  spec.example = "buda compile m.onnx --build-dir reports/m --dump-dir reports/m/passes\nreportify export reports -o page";
  spec.commands = {export_command(o)};
  return spec;
}

}  // namespace buda::reportify
