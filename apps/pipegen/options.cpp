// SPDX-License-Identifier: Apache-2.0
// Declaration of pipegen's options.
#include "apps/pipegen/options.hpp"

#include "apps/pipegen/run.hpp"

#include <buda/cli/product_name.hpp>

#include <filesystem>

namespace buda::pipegen {

std::string output_path(const Options& o) {
  return cli::product_path(o.output, o.pipes, o.format == "yaml" ? ".blob.yaml" : o.format == "movers" ? ".movers.txt" : ".blob.json");
}

cli::ToolSpec tool(Options& o) {
  cli::ToolSpec spec;
  spec.name = "pipegen";
  spec.summary = "compile pipes to stream programs";
  spec.description =
      "Assigns streams and phases to every edge and an address in L1 to every buffer, and checks the limits of the device. What does not "
      "fit is reported with core, op and operand, what it needs, what is available, and the smallest change that helps. A feature that is "
      "not supported yet is an error that names the pipe.";
  spec.example = "pipegen digits.pipes/temporal_epoch_0/overlay/pipegen.yaml -o blob.json";
  spec.reads =
      "the pipes (- for standard input), from netlist2pipe in either form or from TT-Buda's net2pipe, the device descriptor and its "
      "cluster.";
  spec.writes =
      "the stream programs: buda.blob/1 or, with --format yaml, the form of TT-Buda's pipegen2; or, with --format movers, what the "
      "movers of each core do in their place; the report, if asked for.";
  spec.declare = [&o](cli::OptionSet& set) {
    set.positional(
        "PIPEGEN", o.pipes,
        "the pipegen or pipes file of an epoch, - for standard input; or the folder that netlist2pipe wrote, for all of its epochs");
    set.path("output", o.output, "FILE|DIR",
             "the stream programs; default: PIPEGEN's name with .blob.json (or .blob.yaml, or .movers.txt), in the current folder; - for "
             "standard output. Of a folder: where temporal_epoch_N/overlay/blob.json (or blob.yaml, or movers.txt) is written for each "
             "epoch; "
             "default: that folder")
        .also("-o");
    cli::declare_device(set, o.device,
                        "device of the stream programs; default: the device that the pipes were made for, or n150 if they do not name one");
    set.text("cluster", o.cluster, "NAME|FILE", "links between the chips; default: the cluster of the device")
        .known_as("backend_cluster_descriptor_path");
    set.choice(
        "format", o.format, {"json", "yaml", "movers"},
        "json: buda.blob/1; yaml: the form of TT-Buda's pipegen2; movers: a text to read, with the tables by which processors of each "
        "core move tiles where streams cannot");
    set.path("report", o.report, "FILE",
             "L1 map, streams, phases, and bytes per network link, DRAM channel and Ethernet link: JSON if FILE ends in .json, a picture "
             "if in .svg, else text");
    set.integer("epoch", o.epoch, "N", "number of the epoch, for the phase ids of --format yaml; in a folder, that of its name")
        .range(0, 65535);
  };
  spec.inputs = [&o] { return std::vector<cli::InputFile>{{o.pipes, {cli::FileKind::pipes}}}; };
  spec.run = [&o](cli::ToolHost& host) { return run(o, host); };
  // Those of a folder are known when its epochs are.
  spec.products = [&o] { return std::filesystem::is_directory(o.pipes) ? o.products : std::vector<std::string>{output_path(o)}; };
  return spec;
}

}  // namespace buda::pipegen
