// SPDX-License-Identifier: Apache-2.0
// Declaration of tti-pack's options.
#include "apps/tti-pack/options.hpp"

#include "apps/tti-pack/run.hpp"

#include <buda/cli/product_name.hpp>

namespace buda::tti_pack {
namespace {

cli::ToolSpec info_tool(Options& o) {
  cli::ToolSpec spec;
  spec.name = "tti-pack info";
  spec.summary = "show the contents of an image";
  spec.description =
      "Prints the model, its inputs and outputs, the queues and programs of the netlist, and all members with their sizes. The image is "
      "read as "
      "`runner` reads it, checksums included: an image that info shows can be loaded.";
  spec.reads = "the image.";
  spec.writes = "the description on standard output.";
  spec.example = "tti-pack info digits.tti\ntti-pack info digits.tti --json | jq .queues";
  spec.declare = [&o](cli::OptionSet& set) {
    set.positional("IMAGE", o.image, "image (.tti) to show; - for standard input");
    set.flag("json", o.json, "one JSON document for programs");
  };
  spec.inputs = [&o] { return std::vector<cli::InputFile>{{o.image, {cli::FileKind::image}}}; };
  spec.run = [&o](cli::ToolHost& host) { return info(o, host); };
  return spec;
}

cli::ToolSpec extract_tool(Options& o) {
  cli::ToolSpec spec;
  spec.name = "tti-pack extract";
  spec.summary = "write the members of an image into a folder";
  spec.description =
      "Every member becomes a file below the folder, without the archive's top folder. Nothing is written unless the complete archive is "
      "valid; names that point out of the folder, links and devices are rejected.";
  spec.reads = "the image.";
  spec.writes = "a file for each member below the folder.";
  spec.example = "tti-pack extract digits.tti -o digits.image";
  spec.declare = [&o](cli::OptionSet& set) {
    set.positional("IMAGE", o.image, "image (.tti) to extract; - for standard input");
    set.path("output", o.output, "DIR",
             "folder to write to, made when it does not exist; default: IMAGE's name with .image, in the current folder")
        .also("-o");
  };
  spec.inputs = [&o] { return std::vector<cli::InputFile>{{o.image, {cli::FileKind::image}}}; };
  spec.run = [&o](cli::ToolHost& host) { return extract(o, host); };
  spec.folders = [&o] { return std::vector<std::string>{folder_path(o)}; };
  return spec;
}

}  // namespace

std::string image_path(const Options& o) { return cli::product_path(o.output, o.netlist, ".tti"); }

std::string folder_path(const Options& o) { return cli::product_path(o.output, o.image, ".image"); }

cli::ToolSpec tool(Options& o) {
  cli::ToolSpec spec;
  spec.name = "tti-pack";
  spec.summary = "pack a netlist, its host plan, weights and compiled programs into one image";
  spec.description =
      "The image (.tti) is a plain tar in the layout of TT-Buda with everything that a runtime needs to execute the model. The weights "
      "named by the host plan are converted to the shape of their queues. Plan and netlist are checked against each other before anything "
      "is written. The same input gives the same bytes.";
  spec.reads =
      "the netlist, the host plan and the tensor files that it names, the device descriptor and its cluster, everything below the build "
      "folder.";
  spec.writes = "the image.";
  spec.example = "tti-pack --netlist digits.yaml --build digits.pipes -o digits.tti\ntti-pack info digits.tti";
  spec.declare = [&o](cli::OptionSet& set) {
    set.path("netlist", o.netlist, "FILE", "netlist of the model");
    set.path("plan", o.plan, "FILE", "host plan; default: the netlist's name with .plan.json");
    set.path("build", o.build, "DIR", "folder of compiled products (stream programs, kernels), packed as it is, without .d and .log files");
    set.choice(
           "tensor-format", o.tensors, {"backend", "backend_tilized", "npy", "safetensors"},
           "how weights are stored: backend: raw bytes; backend_tilized: in the format and blocking of their queues; npy, safetensors: as "
           "files of these formats. Integers are not tilized")
        .known_as("tti_dump_format");
    set.flag("raw", o.raw, "the same as --tensor-format backend, which is the default").environment("PYBUDA_TTI_BACKEND_FORMAT");
    set.flag("tilized", o.tilized, "the same as --tensor-format backend_tilized").environment("PYBUDA_TTI_BACKEND_TILIZED_FORMAT");
    set.texts("settings", o.settings, "FILE",
              "options of a stage that were in effect, as its --settings has written them; the image tells them");
    cli::declare_device(set, o.device, "device that it was compiled for; default: the one that the plan names");
    set.text("cluster", o.cluster, "NAME|FILE", "links between the chips, kept in the image; default: the cluster of the device")
        .known_as("backend_cluster_descriptor_path");
    set.path("output", o.output, "FILE", "the image; default: the netlist's name with .tti, in the current folder; - for standard output")
        .also("-o");
  };
  spec.inputs = [&o] { return std::vector<cli::InputFile>{{o.netlist, {cli::FileKind::netlist}}, {o.plan, {cli::FileKind::host_plan}}}; };
  spec.run = [&o](cli::ToolHost& host) { return pack(o, host); };
  spec.products = [&o] { return std::vector<std::string>{image_path(o)}; };
  spec.commands = {info_tool(o), extract_tool(o)};
  return spec;
}

}  // namespace buda::tti_pack
