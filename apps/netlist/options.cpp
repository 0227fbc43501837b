// Declaration of netlist's commands and their options.
#include "apps/netlist/options.hpp"

#include "apps/netlist/run.hpp"

namespace buda::netlist_tool {
namespace {

using Work = Result<void> (*)(const Options&, Host&);

std::vector<cli::InputFile> netlists(const Options& o) {
  std::vector<cli::InputFile> out;
  for (const auto& file : o.files) out.push_back({file, {cli::FileKind::netlist}});
  for (const auto& file : {o.netlist, o.other}) out.push_back({file, {cli::FileKind::netlist}});
  return out;
}

cli::ToolSpec base(Options& o, const char* name, const char* summary, const char* description, const char* example, Work work) {
  cli::ToolSpec spec;
  spec.name = std::string("netlist ") + name;
  spec.summary = summary;
  spec.description = description;
  spec.reads = "the netlist.";
  spec.example = example;
  spec.inputs = [&o] { return netlists(o); };
  spec.run = [&o, work](cli::ToolHost& host) { return work(o, host); };
  spec.products = [&o] { return std::vector<std::string>{o.output}; };
  return spec;
}

void declare_format(Options& o, cli::OptionSet& set, const char* product) {
  set.path("output", o.output, "FILE", product).also("-o");
  set.choice("format", o.format, {"text", "json"}, "for people, or for programs");
}

// Commands that make one product of one netlist.
cli::ToolSpec command(Options& o, const char* name, const char* summary, const char* description, const char* product, const char* example,
                      Work work, bool has_format) {
  auto spec = base(o, name, summary, description, example, work);
  spec.writes = product;
  spec.declare = [&o, product, has_format](cli::OptionSet& set) {
    set.positional("NETLIST", o.netlist, "the netlist; - for standard input");
    if (has_format)
      declare_format(o, set, product);
    else
      set.path("output", o.output, "FILE", product).also("-o");
  };
  return spec;
}

cli::ToolSpec check_command(Options& o) {
  auto spec = base(
      o, "check", "validate netlists by all rules",
      "A netlist is validated on each architecture that it is for, on its full grid and with as many chips as it uses, or on the device "
      "that "
      "--device names. All that is wrong with it is reported, with file, line and column; the report has a line for each netlist and "
      "architecture: file, architecture, ok or refused, and the codes of the rules that it breaks. A netlist that only does not fit is "
      "refused too (exit code 3).",
      "netlist check net.yaml\nnetlist check -q --format json nets/*.yaml -o verdicts.jsonl", check);
  spec.reads = "the netlists and the device descriptor.";
  spec.writes = "the report; diagnostics go to standard error.";
  spec.declare = [&o](cli::OptionSet& set) {
    set.positionals("NETLIST", o.files, 1, "netlists; - for standard input");
    declare_format(o, set, "the report");
    set.text("device", o.device, "NAME|FILE", "validate on this device; default: the full grid of each of the netlist's architectures");
    set.integer("chips", o.chips, "N", "chips that there are; 0: as the device has, or without --device as the netlist uses").range(0, 256);
    set.flag("for-run", o.for_run, "rules that matter only when a netlist is run are errors too, not warnings");
    set.flag("fit", o.fit, "also lay out L1, streams and phases of each core, with the code of netlist2pipe and pipegen");
  };
  return spec;
}

cli::ToolSpec diff_command(Options& o) {
  auto spec = base(
      o, "diff", "say what differs between two netlists",
      "Queues, graphs, ops and programs are the same by name; their order, the order of keys and the layout of the text do not count. A "
      "line "
      "each: '-' for what only the first netlist has, '+' for what only the second has, '~' for what both have with a difference. Exit "
      "code 4 when there is one.",
      "netlist diff before.yaml after.yaml", diff);
  spec.reads = "both netlists.";
  spec.writes = "the differences.";
  spec.declare = [&o](cli::OptionSet& set) {
    set.positional("BEFORE", o.netlist, "the netlist; - for standard input");
    set.positional("AFTER", o.other, "netlist to compare with");
    declare_format(o, set, "the differences");
  };
  return spec;
}

cli::ToolSpec plan_command(Options& o) {
  auto spec =
      command(o, "plan", "unroll programs into the epochs that they execute",
              "Runs the programs without their ops: each executed epoch with the slots that it reads and writes, the pointers of its queue "
              "settings, allocations, and the entries that a program gives back to a queue's writer. JSON is a line per step.",
              "the epochs", "netlist plan net.yaml --program run_fwd --param p_loop_count=4", plan, true);
  auto declare = spec.declare;
  spec.declare = [&o, declare](cli::OptionSet& set) {
    declare(set);
    set.texts("program", o.programs, "NAME", "run this program, several in the order given; default: all in file order, each once");
    set.texts("param", o.params, "NAME=VALUE", "a program's parameter; those that are not given are 1");
  };
  return spec;
}

cli::ToolSpec cost_command(Options& o) {
  auto spec =
      command(o, "cost", "estimate the cycles of each epoch and of its ops",
              "What the balancer would estimate: for each op the cycles of its kernel for one input, from the measurements behind the "
              "device's file, and of the ways in and out; what is slowest limits the op, and the slowest op, or all its DRAM "
              "traffic, limits the epoch. JSON is a line per epoch with all of its ops.",
              "the estimate", "netlist cost net.yaml --slowest 3", cost, true);
  auto declare = spec.declare;
  spec.reads = "the netlist and the device descriptor.";
  spec.declare = [&o, declare](cli::OptionSet& set) {
    declare(set);
    set.text("device", o.device, "NAME|FILE", "the device; default: the full grid of each of the netlist's architectures");
    set.integer("slowest", o.slowest, "N", "ops shown of each epoch, the slowest first; 0: all").range(0, 1000000);
  };
  return spec;
}

}  // namespace

cli::ToolSpec tool(Options& o) {
  cli::ToolSpec spec;
  spec.name = "netlist";
  spec.summary = "validate netlists, look into them, compare them, and write them in one form";
  spec.description = "Netlists are read as TT-Buda reads them, whoever wrote them.";
  spec.reads = "netlists.";
  spec.writes = "what the command says.";
  spec.example = "netlist check net.yaml\nnetlist print net.yaml -o tidy.yaml";
  spec.commands = {
      check_command(o),
      command(
          o, "print", "write a netlist in its canonical form",
          "Keys in one order, an element or two per line, numbers in their shortest form; what is printed prints as itself. Lists of chips "
          "stay lists. Comments are not kept.",
          "the netlist", "netlist print net.yaml -o tidy.yaml", print, false),
      command(o, "stats", "count what a netlist holds",
              "Queues and their bytes, graphs, ops by type with the cores they take, formats, fidelities, programs and the epochs they "
              "execute.",
              "the counts", "netlist stats net.yaml --format json", stats, true),
      diff_command(o),
      command(
          o, "expand", "replace queues and graphs of several chips by an instance per chip",
          "What `target_device: [0, 1]` means, written out: an instance X.0 and X.1 of each queue, graph and op, and programs that execute "
          "them all.",
          "the netlist", "netlist expand net.yaml -o each-chip.yaml", expand, false),
      plan_command(o),
      cost_command(o),
  };
  return spec;
}

}  // namespace buda::netlist_tool
