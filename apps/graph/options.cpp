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
      command(o, "cut", "cut a part out of a graph",
              "The part that computes some values from some others. A value is written NODE, or NODE:PORT for a further result of the "
              "node. The values of --from become inputs, those of --to outputs; without --from all inputs of the graph are kept as far "
              "as they are needed, and without --to all outputs. Weights are referred to where they are, or written into the product "
              "when it goes to standard output.",
              "the part as a graph", "graph cut model.graph.json --from embed.out --to layer.3 -o part.graph.json", cut);
  auto declare = spec.declare;
  spec.declare = [&o, declare](cli::OptionSet& set) {
    declare(set);
    set.texts("from", o.from, "VALUE", "value that becomes an input");
    set.texts("to", o.to, "VALUE", "value that becomes an output; an output of the graph may be named too");
  };
  return spec;
}

cli::ToolSpec draw_command(Options& o) {
  auto spec = command(o, "draw", "draw a graph for Graphviz",
                      "Text that Graphviz' dot makes a picture of. Weights are named in the nodes that use them, blocks that follow one "
                      "another several times, such as the layers of a transformer, are drawn once, and long texts are cut. Where more than "
                      "400 nodes remain, up to 150 parts of the graph are drawn, with the number of each op. --full draws every node "
                      "with all attributes and types.",
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
  spec.summary = "say what differs between two graphs";
  spec.description =
      "Nodes are the same by name; places in files and the order of nodes do not count, tensors do by their bytes. A line each: '-' for "
      "what "
      "only the first graph has, '+' for what only the second has, '~' for what both have with a difference. Exit code 4 when there is "
      "one.";
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
  spec.summary = "look into graph files, compare them, and cut parts out of them";
  spec.description = "Every command takes graphs of both levels: as imported, and lowered to ops of the device.";
  spec.reads = "graphs.";
  spec.writes = "what the command says.";
  spec.example = "graph print model.graph.json\ngraph draw model.graph.json | dot -Tsvg > model.svg";
  spec.commands = {
      command(o, "print", "list the nodes of a graph, a line each",
              "In an order in which each node comes after its inputs, with attributes, manipulations on edges, types and precision. "
              "For people; the graph file itself is the format for programs.",
              "the listing", "graph print model.graph.json | less -S", print),
      command(o, "stats", "count what a graph holds",
              "Nodes by op with their floating-point operations, weights and their bytes, and the longest path through the graph.",
              "the counts", "graph stats model.graph.json", stats),
      draw_command(o), cut_command(o), diff_command(o)};
  return spec;
}

}  // namespace buda::graph_tool
