// Declaration of the importer's options.
#include "apps/importer/options.hpp"

#include "apps/importer/run.hpp"

#include <buda/cli/product_name.hpp>
#include <buda/graph/graph_file.hpp>

namespace buda::importer {
namespace {

void declare(cli::OptionSet& set, Options& o) {
  set.positional("MODEL", o.model, "the model file; - reads standard input");
  set.path("output", o.output, "FILE", "the graph; default: the model's name with .graph.json, in the current folder; - is standard output")
      .also("-o");
  set.text("frontend", o.frontend, "NAME", "frontend to read the model with; default: the one that recognises it best");
  set.texts("dim", o.dims, "NAME=N", "value of a symbolic dimension; an unnamed one is called INPUT.AXIS");
  set.texts(
      "value", o.values, "NAME=FILE",
      "fixes the value of an input that decides about shapes, from a file with one tensor (.npy, ONNX .pb, …); the graph keeps the input");
  set.flag(
      "copy-tensors", o.copy_tensors,
      "puts all weights beside the graph, which then needs no other file; default: it refers to those that the model holds as they are");
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
      "Every node names its origin in the model, which later tools report. Shapes must be known: symbolic "
      "dimensions get their values by --dim, and inputs that decide about shapes by --value.\n"
      "All that is wrong with a model is reported at once; nothing is written then.";
  spec.example =
      "importer mlp.onnx\n"
      "importer mlp.onnx --dim batch=64 -o - | optimizer - --device n150 -o mlp.opt.json";
  spec.reads = "the model, and files that it names (external data); the frontend plugins.";
  spec.writes =
      "the graph (JSON), and beside it a .safetensors file with the weights that are not in the model as they are; to standard output all "
      "in one.";
  spec.plugins = {plugin::Kind::frontend};
  spec.declare = [&o](cli::OptionSet& set) { declare(set, o); };
  spec.run = [&o](cli::ToolHost& host) { return run(o, host); };
  spec.products = [&o] {
    std::string path = output_path(o);
    if (path == io::kStdStream) return std::vector<std::string>{path};
    return std::vector<std::string>{path, graph::tensor_file_for(path)};
  };
  return spec;
}

}  // namespace buda::importer
