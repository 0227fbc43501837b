// SPDX-License-Identifier: Apache-2.0
// Declaration of the importer's options.
#include "apps/importer/options.hpp"

#include "apps/importer/run.hpp"

#include <buda/cli/product_name.hpp>
#include <buda/graph/file/graph_file.hpp>

namespace buda::importer {
namespace {

void declare(cli::OptionSet& set, Options& o) {
  set.optional_positional("MODEL", o.model, "the model file, or the folder of a SavedModel; - reads standard input");
  set.path("output", o.output, "FILE", "the graph; default: the model's name with .graph.json, in the current folder; - is standard output")
      .also("-o");
  set.text("frontend", o.frontend, "NAME", "the frontend; default: the one that recognises the model with the highest certainty");
  set.texts("dim", o.dims, "NAME=N", "value of a symbolic dimension; an unnamed one is called INPUT.AXIS");
  set.texts("input-shape", o.input_shapes, "NAME=N,N,...[:TYPE]",
            "shape of an input, and its element type (F32, I64, ...), where the model does not state them");
  set.texts("value", o.values, "NAME=FILE",
            "makes an input that determines shapes constant; FILE contains one tensor (.npy, ONNX .pb, …); the graph keeps the input");
  set.texts("value-range", o.value_ranges, "NAME=LEAST:MOST",
            "promises that all elements of an input are in this range, which keeps on the device what it does not compute exactly for all "
            "numbers; a run checks it");
  set.text("list-ops", o.list_ops, "FRONTEND", "list the operators that a frontend reads and exit");
  set.flag("copy-tensors", o.copy_tensors,
           "copies all weights to a file next to the graph; default: the graph refers to those that the model stores as plain bytes");
  set.path("parameters", o.parameters, "FILE",
           "other values of parameters by name, from .safetensors or .npz: what trainer writes, for example");
  set.flag("training", o.training,
           "reads dropout and batch normalisation of a model in training mode for a training step: what is random, and whether a step "
           "learns, become inputs, which trainer gives");
  set.text("name", o.name, "NAME", "name of the graph; default: the model's");
}

}  // namespace

std::string output_path(const Options& o) { return cli::product_path(o.output, o.model, ".graph.json"); }

cli::ToolSpec tool(Options& o) {
  cli::ToolSpec spec;
  spec.name = "importer";
  spec.summary = "read a model and write it as a graph";
  spec.description =
      "A frontend, which is a plugin, turns the model into a graph at tensor level: the operators of frameworks, on tensors of any rank. "
      "Every node names its origin in the model, which later tools report. Shapes must be known: symbolic dimensions get their values by "
      "--dim, inputs without shapes (TorchScript states none) by --input-shape, and inputs that determine shapes by "
      "--value.\nAll errors of a model are reported at once; then nothing is written.";
  spec.example =
      "importer mlp.onnx\n"
      "importer mlp.onnx --dim batch=64 -o - | optimizer - --device n150 -o mlp.opt.json";
  spec.reads = "the model, and files that it names (external data); the frontend plugins.";
  spec.writes =
      "the graph (JSON), and next to it a .safetensors file with the weights that the model does not store as plain bytes; on standard "
      "output one document with all.";
  spec.plugins = {plugin::Kind::frontend};
  spec.declare = [&o](cli::OptionSet& set) { declare(set, o); };
  spec.run = [&o](cli::ToolHost& host) { return run(o, host); };
  spec.also_read = [&o] {
    std::vector<std::string> out = o.values;
    out.push_back(o.model);
    out.push_back(o.parameters);
    return out;
  };
  spec.products = [&o] {
    std::string path = output_path(o);
    if (!o.list_ops.empty()) return std::vector<std::string>{std::string(io::kStdStream)};
    if (path == io::kStdStream) return std::vector<std::string>{path};
    return std::vector<std::string>{path, graph::tensor_file_for(path)};
  };
  return spec;
}

}  // namespace buda::importer
