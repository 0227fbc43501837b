// SPDX-License-Identifier: Apache-2.0
// Declaration of tti-merge's options, under the names of TT-Buda's tool.
#include "apps/tti-merge/options.hpp"

#include "apps/tti-merge/run.hpp"

namespace buda::tti_merge {

cli::ToolSpec tool(Options& o) {
  cli::ToolSpec spec;
  spec.name = "tti-merge";
  spec.summary = "merge the images of several models into one for one device";
  spec.description =
      "All models are loaded together and take turns. Queues are moved so that the models lie side by side in the memory of the device and "
      "of the host; stream programs are compiled again for the new addresses. The memory that the merged image uses is printed for each "
      "channel.";
  spec.reads = "the images LOCATION/MODEL.tti.";
  spec.writes = "the merged image; the memory profile on standard output.";
  spec.example =
      "tti-merge -mbl device_images_to_merge -mdl bert_large deit hrnet -mml multi_model_workload.tti\n"
      "runner multi_model_workload.tti --model deit --inputs images.npz -o out.npz";
  spec.declare = [&o](cli::OptionSet& set) {
    set.path("model-binaries-location", o.location, "DIR", "folder of the images to merge").also("-mbl").also("--model_binaries_location");
    set.texts("models", o.models, "MODEL", "models to merge, by the names of their images without .tti; the order numbers them")
        .also("-mdl");
    set.positionals("MODEL", o.further, 0, "further models, after the first of --models");
    set.choice("arch", o.arch, {"grayskull", "wormhole_b0"}, "architecture that all images must be for").also("-a");
    set.path("merged-model-location", o.output, "FILE", "the merged image; - for standard output, then without the profile")
        .also("-mml")
        .also("--merged_model_location")
        .also("-o");
    set.flag("skip-channel-reallocation", o.keep_channels, "do not move queues to other channels when theirs is full")
        .also("-scr")
        .also("--skip_channel_reallocation");
    set.flag("dynamic-queue-overlap-off", o.no_overlap, "do not let dynamic queues of different models share memory")
        .also("-dqo")
        .also("--dynamic_queue_overlap_off");
  };
  spec.run = [&o](cli::ToolHost& host) { return run(o, host); };
  spec.products = [&o] { return std::vector<std::string>{o.output}; };
  return spec;
}

}  // namespace buda::tti_merge
