// SPDX-License-Identifier: Apache-2.0
// Declaration of netlist2pipe's options.
#include "apps/netlist2pipe/options.hpp"

#include "apps/netlist2pipe/run.hpp"

#include <buda/cli/product_name.hpp>

namespace buda::netlist2pipe {

cli::ToolSpec tool(Options& o) {
  cli::ToolSpec spec;
  spec.name = "netlist2pipe";
  spec.summary = "compute the source of every tile of every operand, as pipes between buffers";
  spec.description =
      "Re-blocks each edge of the netlist: follows the tiles that each core consumes back through the manipulations to the core or queue "
      "that holds "
      "them, and writes buffers and pipes, one file per temporal epoch, in the form of TT-Buda's net2pipe or in a compact one. What is not "
      "supported is an error that names the op, the input and the feature.";
  spec.example = "netlist2pipe digits.yaml -o digits.pipes --device n150 --check";
  spec.reads = "the netlist (- for standard input), the device descriptor and its cluster.";
  spec.writes =
      "DIR/temporal_epoch_N/overlay/pipegen.yaml, queue_to_producer.yaml and queue_to_consumer.yaml, DIR/netlist_queues.yaml, "
      "DIR/padding_table.yaml and DIR/reports; with --format json pipes.json instead of the first three and the reports; with -o - the "
      "pipes of one epoch.";
  spec.declare = [&o](cli::OptionSet& set) {
    set.positional("NETLIST", o.netlist, "the netlist; - for standard input");
    set.path("output", o.output, "DIR",
             "folder of the products; default: NETLIST's name with .pipes, in the current folder; - writes the pipes of one epoch to "
             "standard "
             "output")
        .also("-o");
    cli::declare_device(set, o.device, "device of the pipes; default: the full grid of the netlist's architecture");
    set.text("cluster", o.cluster, "NAME|FILE", "links between the chips; default: the cluster of the device")
        .known_as("backend_cluster_descriptor_path");
    set.text("arch", o.arch, "NAME", "architecture to use if the netlist lists several; default: the device's");
    set.choice("format", o.format, {"yaml", "json"},
               "yaml: the files of TT-Buda's net2pipe; json: buda.pipes/1, a tenth of the size, for pipegen");
    set.integer("epoch", o.epoch, "N", "write only this temporal epoch, counted from 0; -1: all").at_least(-1);
    set.flag("check", o.check, "verify tile by tile that every core receives the right tiles in the right order, each exactly once");
  };
  spec.inputs = [&o] { return std::vector<cli::InputFile>{{o.netlist, {cli::FileKind::netlist}}}; };
  spec.run = [&o](cli::ToolHost& host) { return run(o, host); };
  spec.products = [&o] { return o.products; };
  spec.folders = [&o] { return std::vector<std::string>{cli::product_path(o.output, o.netlist, ".pipes")}; };
  return spec;
}

}  // namespace buda::netlist2pipe
