// SPDX-License-Identifier: Apache-2.0
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
  set.choice("format", o.format, {"text", "json"}, "text is for people, JSON for programs");
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
  auto spec = base(o, "check", "validate netlists by all rules",
                   "A netlist is validated for each architecture that it lists, for its full grid and with as many chips as the netlist "
                   "uses, or for the device that --device names. All violations are reported, with file, line and column; the report has a "
                   "line for each netlist and architecture: file, architecture, ok or refused, and the codes of the rules that it "
                   "violates. If some netlists only do not fit, the exit code is 3.",
                   "netlist check net.yaml\nnetlist check -q --format json nets/*.yaml -o verdicts.jsonl", check);
  spec.reads = "the netlists and the device descriptor.";
  spec.writes = "the report; diagnostics go to standard error.";
  spec.declare = [&o](cli::OptionSet& set) {
    set.positionals("NETLIST", o.files, 1, "netlists; - for standard input");
    declare_format(o, set, "the report");
    cli::declare_device(set, o.device, "validate for this device; default: the full grid of each of the netlist's architectures");
    set.integer("chips", o.chips, "N", "number of chips; 0: that of the device, or without --device as many as the netlist uses")
        .range(0, 256);
    set.flag("for-run", o.for_run, "violations of rules that only concern execution are errors instead of warnings");
    set.flag("fit", o.fit, "also lay out L1, streams and phases of each core, with the code of netlist2pipe and pipegen");
    set.flag("liveness", o.liveness, "decide whether the epochs can deadlock; also lays them out, as --fit does");
  };
  return spec;
}

cli::ToolSpec diff_command(Options& o) {
  auto spec = base(o, "diff", "compare two netlists",
                   "Queues, graphs, ops and programs are matched by name; their order, the order of keys and the layout of the text are "
                   "ignored. One line per difference: '-' for items that only the first netlist has, '+' for items that only the second "
                   "has, '~' for items that differ. Exit code 4 if there is a difference.",
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
  auto spec = command(
      o, "plan", "unroll programs into the epochs that they execute",
      "Executes the programs without their ops, and lists each executed epoch with the slots that it reads and writes and the pointers of "
      "its queue settings, allocations, and the entries that a program frees for a queue's writer. JSON has one line per step.",
      "the epochs", "netlist plan net.yaml --program run_fwd --param p_loop_count=4", plan, true);
  auto declare = spec.declare;
  spec.declare = [&o, declare](cli::OptionSet& set) {
    declare(set);
    set.texts("program", o.programs, "NAME", "run this program, several in the order given; default: all in file order, each once");
    set.texts("param", o.params, "NAME=VALUE", "a program's parameter; the default of all is 1");
  };
  return spec;
}

cli::ToolSpec cost_command(Options& o) {
  auto spec =
      command(o, "cost", "estimate the cycles of each epoch and of its ops",
              "The estimates of the balancer: for each op the cycles of its kernel for one input, fitted to measurements, and of "
              "the transfers of its inputs and its result. The slowest of these limits the op; the slowest op, or the busiest "
              "DRAM channel, link, Ethernet link or direction of PCIe, limits the epoch. JSON has one line per epoch with all of its ops.",
              "the estimate", "netlist cost net.yaml --slowest 3", cost, true);
  auto declare = spec.declare;
  spec.reads = "the netlist and the device descriptor.";
  spec.declare = [&o, declare](cli::OptionSet& set) {
    declare(set);
    cli::declare_device(set, o.device, "the device; default: the full grid of each of the netlist's architectures");
    set.integer("slowest", o.slowest, "N", "number of ops to show of each epoch, the slowest first; 0: all").range(0, 1000000);
  };
  return spec;
}

}  // namespace

cli::ToolSpec tool(Options& o) {
  cli::ToolSpec spec;
  spec.name = "netlist";
  spec.summary = "validate, inspect and compare netlists, and write them in their canonical form";
  spec.description = "All netlists that TT-Buda accepts are accepted.";
  spec.reads = "netlists.";
  spec.writes = "the product of the command.";
  spec.example = "netlist check net.yaml\nnetlist print net.yaml -o tidy.yaml";
  spec.commands = {
      check_command(o),
      command(o, "print", "write a netlist in its canonical form",
              "A fixed order of keys, one line per queue and three per op, numbers in their shortest form; printing is idempotent. Lists "
              "of chips stay lists. Comments are not preserved.",
              "the netlist", "netlist print net.yaml -o tidy.yaml", print, false),
      command(o, "stats", "count the queues, ops and epochs of a netlist",
              "Queues and their bytes, graphs, ops by type with the cores they take, formats, fidelities, programs and the epochs they "
              "execute.",
              "the counts", "netlist stats net.yaml --format json", stats, true),
      diff_command(o),
      command(o, "expand", "replace queues and graphs of several chips by an instance per chip",
              "Replaces `target_device: [0, 1]` by an instance X.0 and X.1 of each such queue, graph and op, and adapts the programs.",
              "the netlist", "netlist expand net.yaml -o each-chip.yaml", expand, false),
      plan_command(o),
      cost_command(o),
  };
  return spec;
}

}  // namespace buda::netlist_tool
