// SPDX-License-Identifier: Apache-2.0
// Declaration of the balancer's options.
#include "apps/balancer/options.hpp"

#include "apps/balancer/output.hpp"
#include "apps/balancer/run.hpp"

namespace buda::balancer {
namespace {

void declare(cli::OptionSet& set, Options& o) {
  set.positional("GRAPH", o.graph, "graph at device level, as the optimizer writes it; - for standard input");
  set.flag("from-netlist", o.from_netlist,
           "GRAPH is a netlist for one chip: place its ops anew, with the same formats and inputs per epoch, and compare the plans");
  set.path("output", o.output, "FILE",
           "the netlist; default: GRAPH's name with .yaml, in the current folder; - for standard output; then plan and report are written "
           "only if their options are given")
      .also("-o");
  set.path("plan", o.plan, "FILE", "the host plan; default: the netlist's name with .plan.json");
  set.path("report", o.report, "FILE", "the placement report; default: the netlist's name with .report.json");
  set.path("picture", o.picture, "FILE", "draw each epoch's placement on the grid of workers, as SVG");
  set.path("write-overrides", o.overrides, "FILE", "write the plan to FILE as options, with which --config makes the same netlist");
  set.path("settings", o.settings, "FILE", "write the options in effect to FILE, as tti-pack --settings reads them");
  set.path(
      "misfits", o.misfits, "FILE",
      "where ops have no room on the device, write their names, the reasons and where they stem from to FILE in place of the netlist, and "
      "end without error: the driver then takes to the host what it can run as well");
  cli::declare_device(set, o.device, "device to place for: a name of share/buda/devices or a descriptor file");
  compiler::declare(set, o);
}

}  // namespace

cli::ToolSpec tool(Options& o) {
  cli::ToolSpec spec;
  spec.name = "balancer";
  spec.summary = "place the ops of a device graph on a chip's cores and write the netlist";
  spec.description =
      "Lists for each op the implementations that are legal on the device (grid, blocking, buffers), lets a policy choose and place them "
      "epoch by epoch, creates the queues and assigns their addresses in DRAM. Besides the netlist it writes the host plan, which assigns "
      "tensors to queues, and the placement report. An op that does not fit is reported with what it needs, what is available, and the "
      "smallest change that makes it fit.";
  spec.reads = "the graph and its tensor files, or a netlist; the device descriptor; the policy plugin.";
  spec.writes =
      "the netlist; NETLIST.plan.json; NETLIST.report.json; the picture, if asked for; and, if the graph contains tensors that are not in "
      "a file, NETLIST.safetensors.";
  spec.example =
      "balancer digits.device.graph.json --device n150 -o digits.yaml\n"
      "optimizer digits.graph.json -o - | balancer - -o digits.yaml --set op.fc1.grid=[1,2] -v\n"
      "balancer --from-netlist bert.yaml --device e150 -o better.yaml";
  spec.plugins = {plugin::Kind::policy};
  spec.declare = [&o](cli::OptionSet& set) { declare(set, o); };
  // At tensor level: a model that the host runs as a whole.
  spec.inputs = [&o] {
    if (o.from_netlist) return std::vector<cli::InputFile>{{o.graph, {cli::FileKind::netlist}}};
    return std::vector<cli::InputFile>{{o.graph, {cli::FileKind::device_graph, cli::FileKind::tensor_graph}}};
  };
  spec.check = [&o](cli::ToolHost& host) { return check(o, host); };
  spec.run = [&o](cli::ToolHost& host) { return run(o, host); };
  spec.products = [&o] { return products(o); };
  return spec;
}

}  // namespace buda::balancer
