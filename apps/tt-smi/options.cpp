// SPDX-License-Identifier: Apache-2.0
// Declaration of tt-smi's options: those of the guide, with its short forms.
#include "apps/tt-smi/options.hpp"

#include "apps/tt-smi/run.hpp"

#include <utility>

namespace buda::tt_smi {

cli::ToolSpec tool(Options& o, Outside outside) {
  cli::ToolSpec spec;
  spec.name = "tt-smi";
  spec.summary = "show what simulated devices do";
  spec.description =
      "Shows the telemetry that 'runner --telemetry FILE' writes while a model runs. In a terminal the display is live: 1, 2 and 3 show "
      "devices, telemetry and firmware, T the boxes at the left, W limits, V averages, S takes a snapshot, D starts and stops a dump, H "
      "explains the keys, arrows scroll, Q ends. Without telemetry the devices that could be simulated are shown, "
      "idle.\nWhere options of TT-SMI and those of the other tools differ, the ones of TT-SMI count: -v is --version here.";
  spec.reads = "the telemetry; device descriptors.";
  spec.writes =
      "with --snapshot a JSON file; with --dump a folder with a CSV file for each chip and a spreadsheet; with --warm_reset and "
      "--mobo_nb_reset the telemetry.";
  spec.example = "runner model.tti --inputs x.npz --target grid --telemetry telemetry.json &\ntt-smi\ntt-smi -d -dir dump -dur 30";
  spec.version_is_v = true;
  spec.declare = [&o](cli::OptionSet& set) {
    set.optional_positional("FILE", o.file, "telemetry of a run; default: telemetry.json in the current folder, if it exists");
    cli::declare_device(set, o.device, "device that is shown if there is no telemetry.json; default: all that are known");
    set.choice("theme", o.theme, {"default", "dark"}, "colours of the live display; dark is for light backgrounds").also("-t");
    set.flag("no-color", o.no_color, "show without colours, as NO_COLOR=1 does").also("-nc");
    set.real("interval", o.interval, "SECONDS", "time between readings").range(0.01, 3600).also("-i");
    set.flag("snapshot", o.snapshot, "take a snapshot of host and devices").also("-s");
    set.path("filename", o.filename, "FILE", "file of the snapshot; default: tt-smi-logs/tt-smi-snapshot_TIME").also("-f");
    set.flag("dump", o.dump, "write the telemetry of each reading until Enter is pressed, or for --duration").also("-d");
    set.path("dump-dir", o.dump_dir, "DIR", "folder of the dump; default: tt-smi-logs/tt-smi-dump_TIME").also("-dir").also("--dump_dir");
    set.real("duration", o.duration, "SECONDS", "of the dump").range(0, 1e6).also("-dur");
    set.flag("warm-reset", o.warm_reset, "reset chips; asks which").also("-wr").also("--warm_reset");
    set.flag("mobo-nb-reset", o.mobo_reset, "reset all chips as through their mainboard; asks for its name and ports")
        .also("-mr")
        .also("--mobo_nb_reset");
    set.flag("external", o.external, "run the external version: there is no other");
  };
  spec.inputs = [&o] { return std::vector<cli::InputFile>{{o.file, {cli::FileKind::telemetry}}}; };
  spec.run = [&o, outside = std::move(outside)](cli::ToolHost& host) { return run(o, outside, host); };
  return spec;
}

}  // namespace buda::tt_smi
