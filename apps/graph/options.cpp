// SPDX-License-Identifier: Apache-2.0
// Declaration of graph's commands and their options.
#include "apps/graph/options.hpp"

#include "apps/graph/run.hpp"

namespace buda::graph_tool {
namespace {

using Work = Result<void> (*)(const Options&, Host&);

std::vector<cli::InputFile> graphs(const Options& o) {
  const std::vector<cli::FileKind> levels = {cli::FileKind::tensor_graph, cli::FileKind::device_graph};
  return {{o.graph, levels}, {o.other, levels}};
}

// What all commands that make one product of one graph have in common.
cli::ToolSpec command(Options& o, const char* name, const char* summary, const char* description, const char* product, const char* example,
                      Work work) {
  cli::ToolSpec spec;
  spec.name = std::string("graph ") + name;
  spec.summary = summary;
  spec.description = description;
  spec.reads = "the graph and, where tensors matter, the files that it refers to.";
  spec.writes = product;
  spec.example = example;
  spec.declare = [&o, product](cli::OptionSet& set) {
    set.positional("GRAPH", o.graph, "graph file; - for standard input");
    set.path("output", o.output, "FILE", product).also("-o");
  };
  spec.inputs = [&o] { return graphs(o); };
  spec.run = [&o, work](cli::ToolHost& host) { return work(o, host); };
  spec.products = [&o] { return std::vector<std::string>{o.output}; };
  return spec;
}

cli::ToolSpec cut_command(Options& o) {
  auto spec =
      command(o, "cut", "extract a subgraph",
              "Extracts the subgraph that computes the values of --to from the values of --from. A value is written NODE, or NODE:PORT for "
              "a further result of the node. The values of --from become inputs, those of --to outputs; inputs of the graph that are still "
              "needed are kept, and without --to all outputs. Weights are not copied, except into a product on standard output.",
              "the subgraph", "graph cut model.graph.json --from embed.out --to layer.3 -o part.graph.json", cut);
  auto declare = spec.declare;
  spec.declare = [&o, declare](cli::OptionSet& set) {
    declare(set);
    set.texts("from", o.from, "VALUE", "value that becomes an input");
    set.texts("to", o.to, "VALUE", "value that becomes an output; an output of the graph may be named too");
  };
  return spec;
}

cli::ToolSpec draw_command(Options& o) {
  auto spec = command(
      o, "draw", "draw a graph for Graphviz",
      "Writes the input of Graphviz's dot. Weights are listed in the nodes that use them, consecutive repetitions of a block, such as the "
      "layers of a transformer, are drawn once, and long texts are truncated. If more than 400 nodes remain, the graph is divided into up "
      "to 150 parts, drawn with the number of their ops of each type. --full draws every node with all attributes and types.",
      "the drawing's text", "graph draw model.graph.json | dot -Tsvg > model.svg", draw);
  auto declare = spec.declare;
  spec.declare = [&o, declare](cli::OptionSet& set) {
    declare(set);
    set.flag("full", o.full, "every node, attribute and type");
  };
  return spec;
}

cli::ToolSpec diff_command(Options& o) {
  cli::ToolSpec spec;
  spec.name = "graph diff";
  spec.summary = "compare two graphs";
  spec.description =
      "Nodes are matched by name; their order and the locations of tensors in files are ignored; tensors are compared by their bytes. One "
      "line per difference: '-' for nodes that only the first graph has, '+' for nodes that only the second has, '~' for nodes that "
      "differ. Exit code 4 if there is a difference.";
  spec.reads = "both graphs and the tensor files that they refer to.";
  spec.writes = "the differences on standard output.";
  spec.example = "graph diff before.graph.json after.graph.json";
  spec.declare = [&o](cli::OptionSet& set) {
    set.positional("BEFORE", o.graph, "graph file; - for standard input");
    set.positional("AFTER", o.other, "graph file to compare with");
  };
  spec.inputs = [&o] { return graphs(o); };
  spec.run = [&o](cli::ToolHost& host) { return diff(o, host); };
  return spec;
}

}  // namespace

cli::ToolSpec tool(Options& o) {
  cli::ToolSpec spec;
  spec.name = "graph";
  spec.summary = "inspect graph files, compare them, and extract subgraphs";
  spec.description = "Every command takes graphs of both levels: as imported, and lowered to ops of the device.";
  spec.reads = "graphs.";
  spec.writes = "the product of the command.";
  spec.example = "graph print model.graph.json\ngraph draw model.graph.json | dot -Tsvg > model.svg";
  spec.commands = {
      command(o, "print", "list the nodes of a graph, one per line",
              "Each node comes after its inputs, with attributes, manipulations on edges, types and precision. The listing is for people; "
              "programs read the graph file.",
              "the listing", "graph print model.graph.json | less -S", print),
      command(o, "stats", "count the nodes, operations and weights of a graph",
              "Nodes by op with their floating-point operations, weights and their bytes, and the longest path through the graph.",
              "the counts", "graph stats model.graph.json", stats),
      draw_command(o), cut_command(o), diff_command(o)};
  return spec;
}

}  // namespace buda::graph_tool
