// SPDX-License-Identifier: Apache-2.0
// Declaration of perf-analyzer's options.
#include "apps/perf-analyzer/options.hpp"

#include "apps/perf-analyzer/run.hpp"

#include <utility>

namespace buda::perf_analyzer {

cli::ToolSpec tool(Options& o, Screen screen) {
  cli::ToolSpec spec;
  spec.name = "perf-analyzer";
  spec.summary = "show where the time of a run goes, by epochs and ops";
  spec.description =
      "Shows the report that 'runner --perf DIR' wrote: a table of epochs, and for each epoch a table of its ops, the slowest first, with "
      "estimated and measured cycles, bandwidths, what slows the op down, and the option that would change it. In a terminal the tables "
      "are interactive: N and P go to the next and the previous epoch, E to one by its number, F switches full names, arrows scroll, H "
      "explains the columns, Q ends. Without a terminal, or with --print, all tables are written as text.";
  spec.reads =
      "summary.json in the folder of the report; with --netlist the netlist; with --graph the graph, the settings, the device descriptor "
      "and the policy plugin.";
  spec.plugins = {plugin::Kind::policy};
  spec.writes = "the tables on standard output; with --save one file that --load shows anywhere.";
  spec.example =
      "runner model.tti --inputs x.npz --target grid --perf report\nperf-analyzer report\nperf-analyzer report --graph "
      "build/model.device.graph.json --print";
  spec.declare = [&o](cli::OptionSet& set) {
    set.optional_positional("DIR", o.folder, "folder of the report; default: the current folder");
    set.path("netlist", o.netlist, "FILE", "the netlist that was run; its graphs and ops must be those of the report").also("-n");
    set.flag("spatial-epochs", o.spatial_epochs, "show the graph of each chip by itself; needs --netlist if graphs ran together")
        .also("-s")
        .also("--spatial_epochs");
    set.path("save", o.save, "FILE", "write the report into one file instead of showing it");
    set.path("load", o.load, "FILE", "show a file of --save instead of a folder");
    set.path("graph", o.graph, "FILE",
             "the device graph that was placed and run: overrides are tried on it, and the advice is those that make the plan faster");
    set.path("settings", o.settings, "FILE",
             "with --graph: the options of that placement, as balancer --settings writes them; default: the graph's name with "
             ".balancer.json, if it exists");
    cli::declare_device(set, o.device, "with --graph: the device; default: the one that the graph was lowered for");
    set.integer("tries", o.tries, "N", "with --graph: overrides that are tried at most").range(1, 10'000);
    set.flag("print", o.print, "write the tables as text");
    set.flag("json", o.json, "write the report as JSON, as --save does into a file");
    set.flag("full-names", o.full_names, "do not cut names to 50 characters");
    set.flag("no-color", o.no_color, "show without colours, as NO_COLOR=1 does").also("-nc");
  };
  spec.run = [&o, screen = std::move(screen)](cli::ToolHost& host) { return run(o, screen, host); };
  spec.products = [&o] { return o.save.empty() ? std::vector<std::string>{} : std::vector<std::string>{o.save}; };
  return spec;
}

}  // namespace buda::perf_analyzer
